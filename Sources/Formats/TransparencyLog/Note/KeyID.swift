// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The short identifier that, with the key name, tells which key made a signature.
///
/// Four bytes of a hash: anyone can find a key with the same ID, so it selects a key and proves nothing.
///
/// Spec: C2SP signed-note, "Signatures".
public struct KeyID: Hashable, Sendable {
    /// The number, written big-endian in notes and as 8 hexadecimal digits in verifier keys.
    public let rawValue: UInt32

    /// The key ID with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The recommended ID: the first four bytes of `SHA-256(name || LF || type || public key)`.
    ///
    /// `keyMaterial` is the signature type byte and the public key.
    public init(name: KeyName, keyMaterial: [UInt8]) {
        let digest = SHA256.hash(data: name.bytes + [0x0A] + keyMaterial)
        rawValue = digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The four bytes, big-endian.
    public var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> UInt32(24 - 8 * $0)) } }
}
