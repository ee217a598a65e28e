// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SealedNotes
import SecretMemory
import Signet

extension Notes {
    /// `signet notes password`
    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Set or change your notes password, which opens your notes on a new device.",
            discussion: """
                An eavesdropper learns nothing with which to check a guess. The server's operator can guess, and each \
                guess costs them 256 MiB of memory and half a second: choose several words, or add a login key.

                With --new-login-key a login needs a second secret besides the password, which is printed once. The \
                server's copy is then useless for guessing. Keep the login key where you keep your recovery key; if \
                you lose it, you need a device that still opens the notes, or the recovery key. To change the password \
                later and keep the login key, give it with --login-key-file; without either option a login needs the \
                password alone.

                A new password is one new wrap of your account's key; no note is touched. It is not the same as the \
                passphrase of this device.

                Example: signet notes password
                """)

        @Flag(help: "Make a login key, which every login needs besides the password.")
        var newLoginKey = false
        @OptionGroup var loginKey: LoginKeyOptions
        @OptionGroup var secret: PasswordOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !newLoginKey || loginKey.loginKeyFile == nil else {
                throw ValidationError(
                    "--new-login-key makes a key other than the one in --login-key-file: give only one of them")
            }
        }

        func run() async throws {
            let known = try loginKey.existing()
            var notes = try await NotesSession(home)
            let password = try secret.new()
            let key = newLoginKey ? LoginKey.generate() : known
            try await notes.run { book throws(NotesError) in try await book.setPassword(password, loginKey: key) }
            let set =
                "\(Paint.output.good("✓")) Your notes password is set. 'signet notes unlock' accepts it on a new device"
            guard let key else {
                return output.emit(
                    ["password": "set", "loginKey": .null],
                    "\(set).\n  The server's operator can try to guess it. --new-login-key adds a secret that "
                        + "prevents this."
                )
            }
            guard newLoginKey else {
                return output.emit(["password": "set", "loginKey": "kept"], "\(set), with the login key.")
            }
            key.withPrinted { text in
                output.emit(
                    ["password": "set", "loginKey": .text(text)],
                    """
                    \(String(decoding: text, as: UTF8.self))
                    \(set), together with the login key above. It is shown once.
                    """)
            }
        }
    }

    /// `signet notes recovery`
    struct Recovery: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recovery",
            abstract: "Make a recovery key to print and put away; an earlier one no longer opens anything.",
            discussion: "Example: signet notes recovery")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let key = try await notes.run { book throws(NotesError) in try await book.makeRecoveryKey() }
            key.withPrinted { text in
                output.emit(
                    ["recoveryKey": .text(text)],
                    """
                    \(String(decoding: text, as: UTF8.self))
                      Anyone who has this key and your account's row at the server can read your notes. It is shown \
                    once.
                    """)
            }
        }
    }

    /// `signet notes rotate`
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Give your notes new keys, after one of your devices was lost.",
            discussion: """
                Remove the device first, with 'signet devices revoke'. Your notes password and your recovery key end with the \
                old key: set new ones. Ask the owners of notes that are shared with you to rekey them.

                Example: signet notes rotate
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            let passphrase = try Passphrase.existing(home)
            let count = try await session.with(session.secrets(with: passphrase)) { account in
                try await account.rotateNotes(knowing: passphrase)
            }
            output.emit(
                ["rekeyed": .number(UInt64(count))],
                """
                \(Paint.output.good("✓")) \(Moment.count(UInt64(count), "note")) of yours under new keys.
                  Set your notes password again, and print a new recovery key.
                """)
        }
    }

    /// `signet notes unlock`
    struct Unlock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock", abstract: "Open your notes on a new device, or a locked one.",
            discussion: """
                Give the notes password, and the login key if there is one, or a file with the recovery key. The \
                device must belong to the account: a handle and a password alone do not open the notes.

                Example: signet notes unlock
                """)

        @Option(help: ArgumentHelp("Use the recovery key in this file.", valueName: "file"))
        var recoveryKeyFile: String?
        @OptionGroup var loginKey: LoginKeyOptions
        @OptionGroup var secret: PasswordOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard recoveryKeyFile == nil || loginKey.loginKeyFile == nil else {
                throw ValidationError("the recovery key needs no login key: give one of the two files")
            }
        }

        func run() async throws {
            let known = try loginKey.existing()
            var notes = try await NotesSession(home, isUnlocking: true)
            if let file = recoveryKeyFile {
                let key = try recoveryKey(in: file)
                try await notes.run { book throws(NotesError) in try await book.unlock(recoveryKey: key) }
            } else {
                let password = try secret.existing()
                try await notes.run { book throws(NotesError) in
                    try await book.unlock(password: password, loginKey: known)
                }
            }
            _ = try await notes.send(unless: false)
            output.emit(["unlocked": true], "\(Paint.output.good("✓")) Your notes open on this device.")
        }

        private func recoveryKey(in path: String) throws -> RecoveryKey {
            var bytes = try InputFile.read(path, maximumByteCount: 4096)
            defer { bytes.wipe() }
            do { return try RecoveryKey(typed: Array(bytes)) } catch {
                throw CommandFailure(.badFile, error.sentence(of: "recovery key", groupCount: RecoveryKey.groupCount))
            }
        }
    }

    /// `signet notes lock`
    struct Lock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: "Forget the key to your notes on this device, until 'signet notes unlock'.",
            discussion: """
                This locks out other users of this device, not someone who takes its keys and knows its passphrase. No \
                command leaves opened notes behind, locked or not.

                Example: signet notes lock
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            try await notes.run { book throws(NotesError) in try await book.lock() }
            output.emit(["locked": true], "\(Paint.output.good("✓")) Your notes are locked on this device.")
        }
    }
}
