// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandWords
import KeyTransparency
import Platform
import Signet

/// Where the account lives, and where its passphrase comes from.
protocol HomeChoice: Sendable {
    var home: String? { get }
    var passphraseFile: String? { get }
}

extension HomeChoice {
    var folder: HomeFolder { home.map { HomeFolder(path: $0) } ?? .standard }
}

/// Where the account lives, for commands that ask for its passphrase.
struct HomeOptions: ParsableArguments, HomeChoice {
    @Option(help: ArgumentHelp("The home folder of the account.", valueName: "dir"))
    var home: String?

    @Option(
        help: ArgumentHelp(
            "Read the passphrase from the first line of this file, which only you may read.", valueName: "file"))
    var passphraseFile: String?
}

/// Where the account lives, for commands that ask for no passphrase. Scripts may give them one all the same.
struct ClosedHomeOptions: ParsableArguments, HomeChoice {
    @Option(help: ArgumentHelp("The home folder of the account.", valueName: "dir"))
    var home: String?

    @Option(help: .hidden) var passphraseFile: String?
}

/// Where new keys are to be.
struct KeystoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What holds the keys: file, under your passphrase; keyring, that and a secret in the desktop's keyring; tpm, that \
            and this machine's TPM 2.0, which makes the identity key and never gives it away.
            """))
    var keystore: KeystoreChoice = .file
}

/// A word for each place.
enum KeystoreChoice: String, CaseIterable, ExpressibleByArgument {
    case file, keyring, tpm

    init(_ place: KeystorePlaceKind?) {
        self =
            switch place {
            case nil: .file
            case .keyring: .keyring
            case .tpm: .tpm
            }
    }

    var place: KeystorePlaceKind? {
        switch self {
        case .file: nil
        case .keyring: .keyring
        case .tpm: .tpm
        }
    }
}

extension Keystore {
    /// Where the private keys are, in words.
    var words: String {
        switch place {
        case nil: "sealed under your passphrase"
        case .keyring: "sealed under your passphrase and a secret in this desktop's keyring"
        case .tpm where isIdentityInPlace:
            "sealed under your passphrase and a secret in this machine's TPM; the identity key is in the TPM itself"
        case .tpm: "sealed under your passphrase and a secret in this machine's TPM"
        }
    }

    /// What a copy of the folder is good for.
    var backup: String {
        switch place {
        case nil: "Back that folder up: there is no other copy of your identity."
        case .keyring: "Back up that folder and the keyring: one without the other opens nothing."
        case .tpm: "No backup brings them to another machine: choose guardians ('signet guardians set')."
        }
    }
}

/// Where the account lives, for commands that only keep out of it.
struct HomePlace: ParsableArguments {
    @Option(help: ArgumentHelp("The home folder of the account; nothing is written into it.", valueName: "dir"))
    var home: String?

    var folder: HomeFolder { home.map { HomeFolder(path: $0) } ?? .standard }
}

extension HomeFolder {
    /// The one that a command without `--home` uses.
    static var standard: HomeFolder {
        HomeFolder(path: Environment.value("SIGNET_HOME") ?? (Environment.value("HOME") ?? ".") + "/.signet")
    }
}

/// Another directory than the home folder's.
struct DirectoryOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Use this directory file instead of the home folder's.", valueName: "file"))
    var directory: String?
}

extension Handle {
    /// What a person typed.
    static func typed(_ text: String) throws -> Handle {
        do { return try Handle(typed: Array(text.utf8)) } catch {
            throw CommandFailure(
                .usage, "'\(PrintedValue.printable(text))' is not a handle.",
                "A handle looks like alice@example.org: letters a-z, digits and . _ + - before the @, the name of a domain behind it."
            )
        }
    }
}

extension PrintedValue {
    /// Text that cannot move the cursor or change colours.
    static func printable(_ text: String) -> String { Typo.printable(text) }

    /// Bytes as text that cannot move the cursor or change colours.
    static func printable(_ bytes: [UInt8]) -> String { printable(String(decoding: bytes, as: UTF8.self)) }
}

/// Reads files that the user names.
enum InputFile {
    /// - Parameter isSecret: refuses a file that others may read.
    static func read(_ path: String, maximumByteCount: Int, isSecret: Bool = false) throws -> [UInt8] {
        do { return try DurableFile(path: path).read(maximumByteCount: maximumByteCount, isSecret: isSecret) } catch {
            throw CommandFailure(error, path: path)
        }
    }
}
