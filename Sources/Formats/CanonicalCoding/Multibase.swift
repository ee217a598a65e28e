// SPDX-License-Identifier: Apache-2.0

/// Self-describing text encodings: one prefix character, then the encoding it names.
///
/// Only what did:key and the other formats here use: base58btc (`z`) and unpadded base64url (`u`).
///
/// Spec: draft-multiformats-multibase-08, section 2 and the registry in appendix D.
public enum Multibase {
    /// The encodings we speak, by prefix character.
    public enum Encoding: UInt8, Hashable, Sendable, CaseIterable {
        /// Prefix `z`.
        case base58btc = 0x7A
        /// Prefix `u`, no padding.
        case base64url = 0x75
    }

    /// The prefix and the text of `bytes`.
    ///
    /// - Throws: ``CanonicalCodingError/invalidLength(_:)``: too long for base58btc.
    public static func encode(
        _ bytes: [UInt8], as encoding: Encoding
    ) throws(CanonicalCodingError) -> [UInt8] {
        switch encoding {
        case .base58btc: [encoding.rawValue] + (try Base58.encode(bytes))
        case .base64url: [encoding.rawValue] + Base64URL.encode(bytes)
        }
    }

    /// The encoding and the bytes that `text` stands for.
    ///
    /// - Throws: ``CanonicalCodingError``: empty, another prefix, or text that is not canonical.
    public static func decode(
        _ text: [UInt8]
    ) throws(CanonicalCodingError) -> (encoding: Encoding, bytes: [UInt8]) {
        guard let prefix = text.first else { throw .truncated(needed: 1, remaining: 0) }
        guard let encoding = Encoding(rawValue: prefix) else { throw .unknownMultibase(prefix) }
        let rest = Array(text.dropFirst())
        switch encoding {
        case .base58btc: return (encoding, try Base58.decode(rest))
        case .base64url: return (encoding, try Base64URL.decode(rest))
        }
    }
}
