// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A public key on a NIST curve, for verifying messages and for agreeing on a key with its owner.
public struct ECPublicKey: Sendable {
    /// The key in the form of swift-crypto.
    enum Point: Sendable {
        case p256(P256.KeyAgreement.PublicKey)
        case p384(P384.KeyAgreement.PublicKey)
        case p521(P521.KeyAgreement.PublicKey)
    }

    /// Its curve.
    public let curve: ECCurve
    let point: Point

    /// The key of a container.
    ///
    /// - Throws: ``KeyError``: another kind of key, or not a point of the curve.
    public init(_ container: KeyContainer) throws(KeyError) {
        guard case .ecPublic(let curve) = container.kind else { throw .wrongKind }
        self.curve = curve
        point = try container.withBody { body throws(KeyError) in try Self.point(body, on: curve) }
    }

    init(_ point: Point) {
        self.point = point
        switch point {
        case .p256: curve = .p256
        case .p384: curve = .p384
        case .p521: curve = .p521
        }
    }

    /// The container as Themis prints it by default: the point compressed.
    public var container: KeyContainer { KeyContainer(.ecPublic(curve), body: SymmetricKey(data: compressed)) }

    /// SEC 1, section 2.3.3, compressed: 33, 49 or 67 bytes.
    public var compressed: [UInt8] {
        switch point {
        case .p256(let key): Array(key.compressedRepresentation)
        case .p384(let key): Array(key.compressedRepresentation)
        case .p521(let key): Array(key.compressedRepresentation)
        }
    }

    /// Whether `signature` (DER) is an ECDSA signature of this key over the SHA-256 of `message`; on all curves.
    func isValid(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>) -> Bool {
        let digest = SHA256.hash(data: message)
        do {
            switch point {
            case .p256(let key):
                return try P256.Signing.PublicKey(x963Representation: key.x963Representation)
                    .isValidSignature(.init(derRepresentation: signature), for: digest)
            case .p384(let key):
                return try P384.Signing.PublicKey(x963Representation: key.x963Representation)
                    .isValidSignature(.init(derRepresentation: signature), for: digest)
            case .p521(let key):
                return try P521.Signing.PublicKey(x963Representation: key.x963Representation)
                    .isValidSignature(.init(derRepresentation: signature), for: digest)
            }
        } catch { return false }
    }

    private static func point(_ body: ArraySlice<UInt8>, on curve: ECCurve) throws(KeyError) -> Point {
        let isCompressed = body.count == 1 + curve.fieldByteCount
        guard let form = body.first, isCompressed ? [2, 3].contains(form) : form == 4 else { throw .invalidPoint }
        do {
            switch (curve, isCompressed) {
            case (.p256, true): return .p256(try .init(compressedRepresentation: body))
            case (.p256, false): return .p256(try .init(x963Representation: body))
            case (.p384, true): return .p384(try .init(compressedRepresentation: body))
            case (.p384, false): return .p384(try .init(x963Representation: body))
            case (.p521, true): return .p521(try .init(compressedRepresentation: body))
            case (.p521, false): return .p521(try .init(x963Representation: body))
            }
        } catch { throw .invalidPoint }
    }
}
