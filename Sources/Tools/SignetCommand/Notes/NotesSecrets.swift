// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SealedNotes
import SecretMemory
import Signet

/// The second secret of a login.
struct LoginKeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Use the login key in this file besides the password.", valueName: "file"))
    var loginKeyFile: String?

    func existing() throws -> LoginKey? {
        guard let path = loginKeyFile else { return nil }
        var bytes = try InputFile.read(path, maximumByteCount: 4096)
        defer { bytes.wipe() }
        do { return try LoginKey(typed: Array(bytes)) } catch {
            throw CommandFailure(.badFile, error.sentence(of: "login key", groupCount: LoginKey.groupCount))
        }
    }
}

/// Where the notes password comes from: `--password-file`, else `SIGNET_NOTES_PASSWORD`, else the terminal.
struct PasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the notes password from the first line of this file.", valueName: "file"))
    var passwordFile: String?

    @Flag(help: .hidden)  // what every password is now; scripts may still say it
    var strong = false

    func existing() throws -> SecretBytes {
        try Passphrase.secret(
            file: passwordFile, option: "--password-file", variable: "SIGNET_NOTES_PASSWORD", prompt: "Notes password: "
        ).composed
    }

    /// Typed, it is asked for twice.
    func new() throws -> SecretBytes {
        let password = try Passphrase.newSecret(
            file: passwordFile, option: "--password-file", variable: "SIGNET_NOTES_PASSWORD",
            prompt: "New notes password: ", noun: "passwords")
        guard password.count > 0 else {
            throw CommandFailure(.usage, "The password is empty.", "Choose one with at least a few words.")
        }
        return password.composed
    }
}

extension SecretBytes {
    /// In normal form C, so that a password is the same on every keyboard. ASCII is that already.
    fileprivate var composed: SecretBytes {
        withBytes { bytes in
            guard bytes.contains(where: { $0 >= 0x80 }) else { return self }
            return SecretBytes(
                copying: String(decoding: bytes, as: UTF8.self).precomposedStringWithCanonicalMapping.utf8)
        }
    }
}

extension SecretWeakness {
    var sentence: Sentence {
        let remedy =
            "Anyone with unlimited tries finds it soon. Choose four or five words that have nothing to do with "
            + "each other."
        return switch self {
        case .short(let count):
            Sentence("That has \(count) characters; at least \(Self.minimumCount) are needed.", remedy)
        case .digits:
            Sentence(
                "Digits alone offer too few possibilities: use \(Self.minimumDigitCount) of them, or words.", remedy)
        case .predictable: Sentence("Most of that repeats itself or is a sequence such as 'abcd' or 'qwerty'.", remedy)
        case .wellKnown: Sentence("Apart from your name and what everyone tries first, little of that is left.", remedy)
        }
    }
}

extension PrintedKeyError {
    func sentence(of noun: String, groupCount: Int) -> Sentence {
        switch self {
        case .invalidCharacter:
            Sentence("A \(noun) never contains such a character.", "Type what was printed: letters and digits.")
        case .wrongLength(let count):
            Sentence(
                "A \(noun) has \(groupCount * 5) letters and digits; this one has \(count).",
                "Type all \(groupCount) groups.")
        case .wrongGroup(let number):
            Sentence("There is a typing error in group \(number).", "Compare it with what was printed.")
        }
    }
}
