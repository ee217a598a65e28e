// SPDX-License-Identifier: Apache-2.0

import Platform
import SecretMemory
import Signet

/// Where the passphrase comes from: `--passphrase-file`, else `SIGNET_PASSPHRASE`, else the terminal.
enum Passphrase {
    private static let maximumByteCount = 4096

    /// The passphrase of a keystore that is there.
    ///
    /// - Parameter purpose: what it is asked for, such as `to sign in at shop.example`.
    static func existing(_ options: any HomeChoice, _ purpose: String? = nil) throws -> SecretBytes {
        try secret(
            file: options.passphraseFile, variable: "SIGNET_PASSPHRASE",
            prompt: purpose.map { "Passphrase, \($0): " } ?? "Passphrase: ")
    }

    /// A passphrase for a new keystore; typed, it is asked for twice.
    ///
    /// - Parameter names: what others know of its owner.
    static func new(_ options: any HomeChoice, knowing names: [String]) throws -> SecretBytes {
        let passphrase = try newSecret(
            file: options.passphraseFile, variable: "SIGNET_PASSPHRASE", prompt: "New passphrase: ")
        guard passphrase.count > 0 else {
            throw CommandFailure(.usage, KeystoreError.emptyPassphrase.sentence(""))
        }
        try check(passphrase, names)
        return passphrase
    }

    /// Refuses a new secret that is guessed too soon, and says why.
    static func check(_ secret: SecretBytes, _ names: [String] = []) throws {
        guard let weakness = SecretWeakness.first(of: secret, knowing: names) else { return }
        throw CommandFailure(.usage, weakness.sentence)
    }

    /// A secret that is there.
    ///
    /// - Parameter option: that which names a file with it.
    static func secret(
        file: String?, option: String = "--passphrase-file", variable: String, prompt: String
    ) throws -> SecretBytes {
        try given(file, variable) ?? typed(prompt, elseBy: option, variable)
    }

    /// A new secret; typed, it is asked for twice.
    ///
    /// - Parameters:
    ///   - option: that which names a file with it.
    ///   - noun: what it is, in the plural.
    static func newSecret(
        file: String?, option: String = "--passphrase-file", variable: String, prompt: String,
        noun: String = "passphrases"
    ) throws -> SecretBytes {
        if let given = try given(file, variable) { return given }
        let secret = try typed(prompt, elseBy: option, variable)
        let again = try typed("The same again: ", elseBy: option, variable)
        guard equal(secret, again) else {
            throw CommandFailure(.usage, differing(noun))
        }
        return secret
    }

    /// That a new secret was typed in two ways.
    ///
    /// - Parameter noun: what it is, in the plural.
    static func differing(_ noun: String) -> Sentence {
        Sentence("The two \(noun) differ.", "Try again; nothing was made.")
    }

    private static func given(_ file: String?, _ variable: String) throws -> SecretBytes? {
        if let path = file {
            // A pipe is read by those who have its ends; a file by all whom its mode lets.
            let isKept = FileStatus(of: path)?.isFile == true
            var bytes = try InputFile.read(path, maximumByteCount: maximumByteCount, isSecret: isKept)
            defer { bytes.wipe() }
            return SecretBytes(copying: bytes.prefix { $0 != UInt8(ascii: "\n") })
        }
        return environment[variable]
    }

    /// Whether the user need not be asked for it.
    static func isGiven(_ options: any HomeChoice) -> Bool { options.passphraseFile != nil || isInEnvironment }

    /// Whether the passphrase came in the environment.
    static var isInEnvironment: Bool { environment["SIGNET_PASSPHRASE"] != nil }

    /// The secrets that came in the environment, which this process and its children have no more.
    ///
    /// Editors, hooks and tools of the system start programs of their own, which have no business with them.
    private static let environment: [String: SecretBytes] = {
        var secrets: [String: SecretBytes] = [:]
        for variable in ["SIGNET_PASSPHRASE", "SIGNET_EXPORT_PASSPHRASE", "SIGNET_NOTES_PASSWORD"] {
            guard let value = getenv(variable) else { continue }
            let buffer = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
            secrets[variable] = SecretBytes(copying: buffer)
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            unsetenv(variable)
        }
        return secrets
    }()

    /// Takes the secrets out of the environment. Called first of all, while there is one thread.
    static func takeFromEnvironment() { _ = environment }

    private static func equal(_ first: SecretBytes, _ second: SecretBytes) -> Bool {
        first.withBytes { first in second.withBytes { first.elementsEqual($0) } }
    }

    /// Reads a line from the terminal without showing it. Signals are keys while it waits, so that the
    /// terminal is always put back as it was.
    private static func typed(
        _ prompt: String, elseBy option: String, _ variable: String
    ) throws -> SecretBytes {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw CommandFailure(
                .usage, "A passphrase is needed, but there is no terminal on which to ask.",
                "Use \(option) or set \(variable).")
        }
        defer { close(terminal) }
        var before = termios()
        tcgetattr(terminal, &before)
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(terminal, TCSAFLUSH, &hidden)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &before)
            write(terminal, "\n", 1)
        }
        write(terminal, prompt, prompt.utf8.count)
        return try line(from: terminal)
    }

    private static func line(from terminal: Int32) throws -> SecretBytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(maximumByteCount)
        defer { bytes.wipe() }
        while bytes.count < maximumByteCount {
            var byte: UInt8 = 0
            let count = read(terminal, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            switch byte {
            case _ where count <= 0, 3, 4, 28:
                throw CommandFailure(.interrupted, "Interrupted.", "Nothing was done.")
            case 10, 13: return SecretBytes(copying: bytes)
            case 8, 127: dropCharacter(&bytes)
            case 21: bytes.removeAll(keepingCapacity: true)
            default: bytes.append(byte)
            }
        }
        throw CommandFailure(.usage, "That passphrase is too long.", "At most \(maximumByteCount) bytes.")
    }

    private static func dropCharacter(_ bytes: inout [UInt8]) {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
