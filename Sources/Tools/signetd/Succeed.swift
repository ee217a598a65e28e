import ArgumentParser
import Foundation
import KeyDirectory
import KeyTransparency
import SignetAPI
import SignetServer
import TransparencyLog

/// `signetd succeed`
struct Succeed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End a log, and make a new one that goes on with the same people.",
        discussion: """
            For when the log's name or the key that hides handles is to change. The new directory has a new log key, a \
            new clock key and a new key behind the labels; URL and TLS identity are those of the old one. The old log's \
            last record names the new one; the new log's first entry is the old one's last checkpoint, and every person's \
            newest state follows when the new server starts.

            Clients follow by themselves if the new quorum demands what the old one did: independent witnesses do, the \
            server's own clock does not, for its key is new. Else people say `signet directory update --accept`.

            1. Stop the old server. Run this; with --bind if auditors are among the witnesses. Disks, room and databases \
            are tried before the log ends; whatever interrupts it afterwards, the same command again completes it. Until it \
            is done, guard the folder NEW.draft: it holds the only keys that can go on. Notes, letters of guardians and \
            inboxes move along; to another disk they are copied, and those left in the old directory may be deleted then.
            2. Tell the witnesses of the new log's key (`signetd witness add-log`), and auditors of the new \
            directory.signet.
            3. Start the new server with `signetd run`; the old one does not start again, but keep its data: it is what \
            proves the past.

            Handles of erased people can be registered again: nobody knows any more which they were.
            """)

    @Option(help: ArgumentHelp("The data directory of the log that ends.", valueName: "directory"))
    var from: String

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The name of the new log, for ever, such as example.org/signet2.", valueName: "name"))
    var origin: String

    @Option(
        help: ArgumentHelp(
            "Witnesses, groups and the quorum of the new log. Default: those of the old one.", valueName: "file"))
    var witnesses: String?

    @OptionGroup var surroundings: Rotate.Serving

    func run() async throws {
        guard let name = try? KeyName(Array(origin.utf8)), (try? DirectoryKeys.clockName(of: name)) != nil else {
            throw ValidationError("--origin: a name without spaces and plus signs, such as example.org/signet")
        }
        let lines = try witnesses.map { try OptionFile.read($0, "--witnesses") }
        let rotation = try surroundings.rotation(of: DataDirectory(path: from))
        let successor = DataDirectory(path: data.data)
        do {
            let profile = try await rotation.handOver(
                to: successor, origin: name, witnesses: lines, at: Diagnostics.now())
            print("the log has ended; \(successor.path) goes on")
            for key in profile.trust.policy.logs {
                print("for the witnesses: \(String(decoding: key.encoded, as: UTF8.self))")
            }
            print("for new clients: \(successor.profile)")
        } catch { throw Diagnostics.exit(error) }
    }
}
