// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyDirectory
import KeyTransparency
import SignetAPI
import SignetServer
import TransparencyLog

/// `signetd succeed`
struct Succeed: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "succeed", abstract: "End a log, and make a new one that continues with the same people.",
        discussion: """
            Use this to change the log's name or the key that hides handles. The new directory has a new log key, a \
            new clock key and a new key behind the labels; URL and TLS identity are those of the old one. The old log's \
            last record names the new one; the new log's first entry is the old one's last checkpoint, and every person's \
            newest state follows when the new server starts.

            Clients follow by themselves if the new quorum requires what the old one did: that holds for independent \
            witnesses, but not for the server's own clock, because its key is new. Otherwise people have to run \
            `signet directory update --accept`.

            1. Stop the old server. Run this, with --bind if auditors are among the witnesses. Disks, space and \
            databases are checked before the log ends; if it is interrupted afterwards, run the same command again to \
            complete it. Until it is done, guard the folder NEW.draft: it holds the only keys that can continue. \
            Notes, letters of guardians and inboxes move along; to another disk they are copied, and those left in the \
            old directory may then be deleted.
            2. Tell the witnesses about the new log's key (`signetd witness add-log`), and auditors about the new \
            directory.signet.
            3. Start the new server with `signetd run`; the old one does not start again, but keep its data: it \
            proves the past.

            Suspended accounts stay suspended, and their trail, invitations and quotas go along. Handles of erased people can be registered \
            again: there is no longer any record of which they were. A signer of wallet cards stays behind, because it is one of the old \
            log: run `signetd cards set` for the new directory.
            """)

    @Option(help: ArgumentHelp("The data directory of the log that ends.", valueName: "directory"))
    var from: String

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The permanent name of the new log, such as example.org/signet2.", valueName: "name"))
    var origin: String

    @Option(
        help: ArgumentHelp(
            "Witnesses, groups and the quorum of the new log. Default: those of the old one.", valueName: "file"))
    var witnesses: String?

    @OptionGroup var surroundings: Rotate.Serving

    var places: [String] { [from, data.data] }

    func run() async throws {
        guard let name = try? KeyName(Array(origin.utf8)), (try? DirectoryKeys.clockName(of: name)) != nil else {
            throw ValidationError("--origin: a name without spaces or plus signs, such as example.org/signet")
        }
        let lines = try witnesses.map { try OptionFile.read($0, "--witnesses") }
        let rotation = try surroundings.rotation(of: DataDirectory(path: from))
        let successor = DataDirectory(path: data.data)
        do {
            let profile = try await rotation.handOver(
                to: successor, origin: name, witnesses: lines, at: Diagnostics.now())
            print("the log has ended; \(successor.path) continues it")
            for key in profile.trust.policy.logs {
                print("for the witnesses: \(String(decoding: key.encoded, as: UTF8.self))")
            }
            print("for new clients: \(successor.profile)")
            if access(from + "/cards/statement", F_OK) == 0 {
                print("wallet cards: the new log has no signer yet; run `signetd cards set --data \(successor.path)`")
            }
        } catch { throw Diagnostics.exit(error) }
    }
}
