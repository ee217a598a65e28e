// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import SelectiveDisclosure
import Signet

/// `signet card`
struct CardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "card",
        abstract: "Your business card: make it, show it, and check one that you are shown.",
        discussion: """
            You sign it with your identity key, so that it is for people whom you meet: everybody who sees the card sees the same \
            key. No one else confirms what it says.
            """,
        subcommands: [CardMake.self, CardShow.self, CardVerify.self])
}

extension BusinessCard.Field {
    /// What a person typed.
    static func typed(_ text: String) throws -> BusinessCard.Field {
        guard let field = allCases.first(where: { $0.words == text }) else {
            throw ValidationError("A line is one of: \(allCases.map(\.words).joined(separator: ", ")).")
        }
        return field
    }

    /// On a page.
    var words: String {
        switch self {
        case .telephone: "phone"
        default: rawValue
        }
    }
}

/// A card in a file, as its owner keeps it.
struct CardFile {
    let card: HeldCredential

    /// The longest file that is read, in bytes.
    static let maximumByteCount = 131_073

    /// Bytes of a file, or of standard input for `-`, without a line end after them.
    static func text(_ path: String) throws -> [UInt8] {
        let bytes =
            path == "-"
            ? try StandardInput.read(maximumByteCount) : try InputFile.read(path, maximumByteCount: maximumByteCount)
        return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }

    /// Reads the card of this account.
    init(_ path: String, of keystore: Keystore) throws {
        do { card = try HeldCredential(decoding: try Self.text(path)) } catch let fault as PresentationFault {
            throw CommandFailure(card: fault)
        }
        guard BusinessCard.isCard(card, of: keystore.identityKey ?? []) else {
            throw CommandFailure(
                .badFile, "\(PrintedValue.printable(path)) is not a card that your identity made.",
                "Make one with 'signet card make'.")
        }
    }
}

extension DeviceSecrets {
    /// Signs with the identity key, whatever that takes; what went wrong is kept.
    func signature(_ bytes: [UInt8], failure: inout KeystoreError?) -> [UInt8]? {
        do throws(KeystoreError) { return try signAsIdentity(bytes) } catch {
            failure = error
            return nil
        }
    }
}

extension Session {
    /// The account of a device that holds the identity key, which cards are signed with.
    func cardOwner() throws -> (keystore: Keystore, key: [UInt8]) {
        let keystore = try owner()
        guard let key = keystore.identityKey else {
            throw CommandFailure(
                .usage, "Your digital identity is on another device, and this one cannot sign cards.",
                "Use the device on which you made your account.")
        }
        return (keystore, key)
    }
}
