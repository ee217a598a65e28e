// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not an Ed25519 public key that anything may rest on. None is worth a retry.
public enum Ed25519KeyError: Error, Hashable, Sendable {
    /// A key has 32 bytes, not this many.
    case wrongLength(Int)
    /// The y-coordinate is not below 2^255 - 19: a second spelling of another key.
    case notCanonical
    /// One of the eight points whose order divides 8, for which anyone can sign.
    case smallOrder
}

/// Tells Ed25519 public keys from bytes that only look like one.
///
/// Neither RFC 8032 nor BoringSSL refuses them: with such a "key", anyone can make signatures that verify, so it
/// identifies no signer. Every reader of a key that others will be asked to trust looks for them.
///
/// Spec: RFC 8032, sections 5.1.3 (decoding) and 5.1.7; the points are those that libsodium refuses
/// (`ge25519_has_small_order`), computed independently by `Scripts/interop/small-order.py`.
///
/// Security: says only that it is none of those. That the rest is a point of the curve shows in its use: no signature verifies
/// under bytes that are none.
public enum Ed25519Key {
    /// Refuses what is not a key: another length, a y-coordinate that is not below the prime, a point of small order.
    ///
    /// - Throws: ``Ed25519KeyError``. A retry cannot help.
    public static func check(_ key: [UInt8]) throws(Ed25519KeyError) {
        guard key.count == 32 else { throw .wrongLength(key.count) }
        let y = Array(key[..<31]) + [key[31] & 0x7F]
        guard isBelowPrime(y) else { throw .notCanonical }
        guard !smallOrder.contains(y) else { throw .smallOrder }
    }

    /// Whether a little-endian number of 255 bits is below 2^255 - 19.
    private static func isBelowPrime(_ y: [UInt8]) -> Bool {
        y[0] < 0xED || y[31] < 0x7F || y[1..<31].contains { $0 < 0xFF }
    }

    /// The y-coordinates of the eight points, little-endian. Each but 1 and -1 belongs to two of them, told apart by the
    /// sign in the highest bit, which is left out here; with 1 and -1, whose x is zero, a sign is a second spelling.
    static let smallOrder: [[UInt8]] = [
        [0] + zeros(31),
        [1] + zeros(31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
