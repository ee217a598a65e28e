// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyDirectory
import KeyTransparency
import Logging
import Platform
import RecoveryStore
import SignetAPI
import SignetServer

/// `signetd erase`
struct Erase: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erase a person's data from the database.",
        discussion: """
            The log keeps what it has: hidden labels, hashes and device keys. Only someone who holds the server's VRF \
            key, or kept an answer about the person, can still link them to the person. This log never gives the handle \
            out again, which tells anyone who tries to register it that it existed. Their notes are erased too, for \
            everyone with whom they were shared; what they wrote in other people's notes stays there. \
            Signals of calls that wait for them, sealed, stay until they have waited an hour. The server must not be \
            running.
            """)

    @Argument(help: "The person's handle, such as alice@example.org.")
    var handle: String

    @Flag(help: "Erase them: it cannot be undone.")
    var yes = false

    @OptionGroup var data: DataOption

    @OptionGroup var offline: LogWritingOptions

    func run() async throws {
        guard let handle = try? Handle(typed: Array(handle.utf8)) else {
            throw ValidationError(Handle.explanation)
        }
        guard yes else {
            throw ValidationError("An erasure cannot be undone, and nobody gets the handle again. To go on, add --yes.")
        }
        let logger = Diagnostics.logger(.warning)
        let stored: StoredDirectory
        let (roots, guarding) = (try offline.roots(), try offline.guarding(DataDirectory(path: data.data)))
        do {
            stored = try await StoredDirectory.open(
                DataDirectory(path: data.data), witnessRoots: roots, guarding: guarding, logger: logger)
        } catch {
            let code = Diagnostics.exit(error)
            if DirectoryCheck.isInUse(DataDirectory(path: data.data)) {
                Diagnostics.complain("Beside a running server, `signetd accounts erase \(handle)` does the same.")
            }
            throw code
        }
        do {
            // Afterwards nothing shows any more that a person of that name was here.
            try await StoredNotes.erase(handle, from: DataDirectory(path: data.data), logger: logger)
            try await Self.eraseLetters(of: handle, from: DataDirectory(path: data.data))
            try await CardSignerFiles(DataDirectory(path: data.data)).erase(handle)
            try await stored.directory.erase(handle, by: Self.administrator)
        } catch {
            await stored.directory.close()
            if case DirectoryError.refused(.unwitnessed) = error {
                throw Diagnostics.exit(AdministrationError.refused(.unwitnessed))
            }
            throw Diagnostics.exit(error)
        }
        await stored.directory.close()
        print("erased")
    }

    /// Whose process this is, and who used `sudo` as far as it can be known.
    private static var administrator: Administrator {
        let user = getuid()
        let claim = ProcessInfo.processInfo.environment[Accounts.sudoUser]
        return Administrator(userID: user, userName: UserName.of(user), claim: claim)
    }

    /// What guardians, owners and new devices left for each other.
    private static func eraseLetters(of handle: Handle, from data: DataDirectory) async throws(MailboxStoreError) {
        let store = try MailboxStore(at: data.recovery)
        defer { store.close() }
        try await store.erase(handle)
    }
}
