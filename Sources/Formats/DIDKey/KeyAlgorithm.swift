// SPDX-License-Identifier: Apache-2.0

/// The kinds of public key that a did:key of ours may name.
///
/// Spec: multiformats/multicodec table (`p256-pub`, `p384-pub`, `ed25519-pub`, `x25519-pub`); did-key, section
/// "Signature Method Creation Algorithm" (lengths).
public enum KeyAlgorithm: Hashable, Sendable, CaseIterable {
    /// Multicodec 0x1200, a compressed point of 33 bytes; the text begins with `zDn`.
    case p256
    /// Multicodec 0x1201, a compressed point of 49 bytes; the text begins with `z82`.
    case p384
    /// Multicodec 0xED, 32 bytes; the text begins with `z6Mk`.
    case ed25519
    /// Multicodec 0xEC, 32 bytes; the text begins with `z6LS`.
    case x25519

    /// The number before the key bytes, a varint.
    public var multicodec: UInt64 {
        switch self {
        case .p256: 0x1200
        case .p384: 0x1201
        case .ed25519: 0xED
        case .x25519: 0xEC
        }
    }

    /// How many bytes a key has.
    public var byteCount: Int {
        switch self {
        case .p256: 33
        case .p384: 49
        case .ed25519, .x25519: 32
        }
    }

    init?(multicodec: UInt64) {
        guard let algorithm = Self.allCases.first(where: { $0.multicodec == multicodec }) else { return nil }
        self = algorithm
    }

    /// Name of the curve and key type in a JSON Web Key (RFC 7518, section 6.2.1.1; RFC 8037, section 2).
    var jsonWebKeyNames: (type: StaticString, curve: StaticString) {
        switch self {
        case .p256: ("EC", "P-256")
        case .p384: ("EC", "P-384")
        case .ed25519: ("OKP", "Ed25519")
        case .x25519: ("OKP", "X25519")
        }
    }

    var signs: Bool { self != .x25519 }
    var agrees: Bool { self != .ed25519 }
}
