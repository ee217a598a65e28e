// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// What a private key is called in a ``PrivateKeyStore``: it says what the key is for, and nothing of whom it is used with.
public struct PrivateKeyName: Hashable, Sendable {
    /// 1 to 96 bytes of `a-z 0-9 -`.
    public let bytes: [UInt8]

    /// The account's identity key.
    public static let identity = PrivateKeyName(Array("identity".utf8))
    /// This device's signing key.
    public static let deviceSigning = PrivateKeyName(Array("device-signing".utf8))
    /// This device's agreement key.
    public static let deviceAgreement = PrivateKeyName(Array("device-agreement".utf8))

    /// The secret under which the list of sites is sealed.
    public static let siteList = PrivateKeyName(Array("site-list".utf8))

    /// The secret under which the list of carried cards is sealed.
    public static let cardList = PrivateKeyName(Array("card-list".utf8))

    /// The secret under which the tokens for wallet cards are sealed.
    public static let cardTokens = PrivateKeyName(Array("card-tokens".utf8))

    /// The key of one copy of a card: `card-` and the number of the key, decimal.
    public static func card(_ number: UInt64) -> PrivateKeyName {
        PrivateKeyName(Array("card-".utf8) + Decimal.encode(number))
    }

    /// The key for one site: `site-` and the SHA-256 of the host in hex, so that no two hosts share a name.
    ///
    /// - Parameter generation: counts up when the site gets another key; from 1 on it is written behind, `-` and decimal.
    public static func site(_ host: VerifiedHost, generation: UInt32 = 0) -> PrivateKeyName {
        PrivateKeyName(Array("site-".utf8) + Self.suffix(host, generation))
    }

    /// The secret half of the recovery key for one site, as ``site(_:generation:)`` behind `rsite-`.
    public static func siteRecovery(_ host: VerifiedHost, generation: UInt32 = 0) -> PrivateKeyName {
        PrivateKeyName(Array("rsite-".utf8) + Self.suffix(host, generation))
    }

    private static func suffix(_ host: VerifiedHost, _ generation: UInt32) -> [UInt8] {
        let digest = Hex.encode(Array(SHA256.hash(data: host.text)))
        return generation == 0 ? digest : digest + [UInt8(ascii: "-")] + Decimal.encode(UInt64(generation))
    }

    /// A name that a store kept; nil for anything but 1 to 96 bytes of `a-z 0-9 -`.
    public init?(stored bytes: [UInt8]) {
        guard (1...96).contains(bytes.count),
            bytes.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
        else { return nil }
        self.bytes = bytes
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// The kinds of private key that a ``PrivateKeyStore`` makes.
public enum PrivateKeyKind: UInt8, Hashable, Sendable, CaseIterable {
    /// P-256 for ECDSA with SHA-256; public key 33 bytes, compressed; signature 64 bytes, r || s.
    case p256Signing = 1
    /// P-256 for key agreement; public key 33 bytes, compressed.
    case p256Agreement = 2
    /// Ed25519; public key 32 bytes, signature 64.
    case ed25519Signing = 3
}
