// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The affine coordinates of a public key, for JSON Web Keys.
struct CurveCoordinates {
    /// Big-endian, as long as the field.
    let x: [UInt8]
    /// The same; empty for the keys of Curve25519, which have one coordinate.
    let y: [UInt8]

    /// Whether `key`, of the right length, is a key of this kind.
    static func isKey(_ key: [UInt8], of algorithm: KeyAlgorithm) -> Bool {
        CurveCoordinates(key, of: algorithm) != nil
    }

    /// The coordinates; nil when the bytes are not a compressed point of the curve.
    init?(_ key: [UInt8], of algorithm: KeyAlgorithm) {
        switch algorithm {
        case .ed25519, .x25519: (x, y) = (key, [])
        case .p256, .p384:
            guard let pair = Self.pair(key, of: algorithm) else { return nil }
            x = Array(pair.prefix(pair.count / 2))
            y = Array(pair.suffix(pair.count / 2))
        }
    }

    private static func pair(_ key: [UInt8], of algorithm: KeyAlgorithm) -> [UInt8]? {
        guard key.first == 2 || key.first == 3 else { return nil }
        return algorithm == .p256
            ? (try? P256.Signing.PublicKey(compressedRepresentation: key)).map { Array($0.rawRepresentation) }
            : (try? P384.Signing.PublicKey(compressedRepresentation: key)).map { Array($0.rawRepresentation) }
    }
}
