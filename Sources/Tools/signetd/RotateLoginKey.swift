// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import SignetServer

extension Rotate {
    /// `signetd rotate login-key`
    struct LoginKey: AsyncParsableCommand, FolderCommand {
        static let configuration = CommandConfiguration(
            commandName: "login-key",
            abstract: "Make another notes/login.key, after it was lost. Every notes password is unset.",
            discussion: """
                Nobody can log in with a password that was registered under the lost key. People set theirs again on a \
                device that has their notes, with 'signet notes password'; who has none opens them with the recovery key \
                or through guardians. The server must not be running.
                """)

        @Flag(help: "Unset every notes password: it cannot be undone.")
        var yes = false

        @OptionGroup var data: DataOption

        func run() async throws {
            guard yes else {
                throw ValidationError("Every notes password is unset, which cannot be undone. To go on, add --yes.")
            }
            do {
                try await StoredNotes.replaceLoginKeys(
                    of: DataDirectory(path: data.data), logger: Diagnostics.logger(.warning))
            } catch { throw Diagnostics.exit(error) }
            print("notes/login.key is another one; ask people to set their notes passwords again")
        }
    }
}
