// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A public point of P-256 other than the identity: a public key, a commitment, a share's public half.
///
/// Spec: SEC 1, sections 2.3.3 and 2.3.4.
public struct CurvePoint: Hashable, Sendable {
    /// 33.
    public static let byteCount = 33

    /// 33 bytes: 2 or 3, then x big-endian.
    public let encoded: [UInt8]
    let affine: AffinePoint

    /// Reads 33 bytes.
    ///
    /// - Throws: ``CurvePointError``: another length, another first byte, or no point of the curve.
    public init(_ bytes: [UInt8]) throws(CurvePointError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        guard bytes[0] == 2 || bytes[0] == 3,
            let key = try? P256.Signing.PublicKey(compressedRepresentation: bytes),
            let point = CurvePoint(uncompressed: Array(key.x963Representation))
        else { throw .notAPoint }
        self = point
    }

    /// What swift-crypto printed: 4, x, y; it is a point of the curve. Nil for another form.
    init?(uncompressed bytes: [UInt8]) {
        guard bytes.count == 65, bytes[0] == 4 else { return nil }
        encoded = [2 | (bytes[64] & 1)] + bytes[1...32]
        affine = bytes.withUnsafeBytes { memory in
            AffinePoint(
                x: Residue(reduced: Words256(bigEndian: UnsafeRawBufferPointer(rebasing: memory[1...32]))),
                y: Residue(reduced: Words256(bigEndian: UnsafeRawBufferPointer(rebasing: memory[33...64]))))
        }
    }

    /// A sum of points; nil for the identity.
    init?(_ sum: JacobianPoint) {
        guard let affine = sum.affine else { return nil }
        self.affine = affine
        encoded = [UInt8(truncatingIfNeeded: 2 | (affine.y.words.word0 & 1))] + affine.x.words.bigEndian
    }

    /// Two points are equal when their encodings are.
    public static func == (a: CurvePoint, b: CurvePoint) -> Bool { a.encoded == b.encoded }

    /// Hashes the encoding.
    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

/// Why bytes are not a ``CurvePoint``. A retry cannot help.
public enum CurvePointError: Error, Hashable, Sendable {
    /// Not 33 bytes.
    case invalidLength(Int)
    /// The first byte is neither 2 nor 3, or no point has this x.
    case notAPoint
}
