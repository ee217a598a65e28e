// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyDirectory
import SignetServer

extension Rotate {
    /// `signetd rotate shared-secret`
    struct FrontEnds: AsyncParsableCommand, FolderCommand {
        static let configuration = CommandConfiguration(
            commandName: "shared-secret", abstract: "Make or change the secret that several front ends share.",
            discussion: """
                Every front end of a directory has the same files keys/shared-secret*. First run it with --announce on one of \
                them: it makes the secret, or one that is accepted and not used yet. Copy the files to all, mode 0600, and start \
                each again. Then run it without --announce on one, copy the files, and start each again: what was sealed under the \
                former secret is accepted for 65 minutes more.

                --stolen replaces the secret at once. Logins and challenges that are under way fail, and their clients begin again.
                """)

        @OptionGroup var data: DataOption

        @Flag(help: "Only make the next secret.")
        var announce = false

        @Flag(help: "The secret was stolen: accept nothing that was sealed under it.")
        var stolen = false

        func validate() throws {
            guard !(announce && stolen) else { throw ValidationError("--announce and --stolen exclude each other") }
        }

        func run() async throws {
            let keys = DataDirectory(path: data.data).keys
            do throws(KeyFileError) {
                if stolen {
                    try FrontEndSecret.replaceStolen(in: keys)
                    print(
                        "keys/shared-secret is another one; copy it and keys/shared-secret.replaced to all front ends now, and start them again"
                    )
                } else if announce {
                    let file = try FrontEndSecret.announce(in: keys)
                    print("keys/\(file.name) is made; copy it to all front ends, and start them again")
                } else {
                    try FrontEndSecret.rotate(in: keys)
                    print("the next secret is in use; copy keys/shared-secret* to all front ends, and start them again")
                }
            } catch { throw Diagnostics.exit(error) }
        }
    }
}
