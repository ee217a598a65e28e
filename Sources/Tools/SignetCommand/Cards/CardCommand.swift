// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import SelectiveDisclosure
import Signet

/// `signet card`
struct CardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "card",
        abstract: "Make your business card, show it, and check a card that another person shows you.",
        discussion: """
            You sign the card with your identity key. All who see the card see the same key, so show it only to people \
            whom you meet. No one else confirms what it says.

            Example: signet card make my.card --name Alice
            """,
        subcommands: [CardMake.self, CardShow.self, CardVerify.self, CardPass.self, CardReceived.self])
}

extension BusinessCard.Field {
    /// The field that a person named on the command line.
    static func typed(_ text: String) throws -> BusinessCard.Field {
        guard let field = allCases.first(where: { $0.words == text }) else {
            throw ValidationError("A line is one of: \(allCases.map(\.words).joined(separator: ", ")).")
        }
        return field
    }
}

/// A card that its owner keeps in a file.
struct CardFile {
    let card: HeldCredential

    /// The longest file that is read, in bytes.
    static let maximumByteCount = 131_073

    /// The bytes of a file, or of standard input for `-`, without the line end after them.
    static func text(_ path: String, maximumByteCount: Int = Self.maximumByteCount) throws -> [UInt8] {
        let bytes =
            path == "-"
            ? try StandardInput.read(maximumByteCount) : try InputFile.read(path, maximumByteCount: maximumByteCount)
        return bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }

    /// Reads a card that this account's identity key made, and refuses every other.
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
    /// Signs with the identity key. If that fails, returns nil and leaves the error in `failure`.
    func signature(_ bytes: [UInt8], failure: inout KeystoreError?) -> [UInt8]? {
        do throws(KeystoreError) { return try signAsIdentity(bytes) } catch {
            failure = error
            return nil
        }
    }
}

extension Session {
    /// The keystore of a device that holds the identity key, and that key: it signs the account's cards.
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
