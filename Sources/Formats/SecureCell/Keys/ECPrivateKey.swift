// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretMemory

/// A private key on a NIST curve, for signing messages and for agreeing on a key with another's owner.
///
/// Security: the scalar stays in swift-crypto. The key prints nothing; ``container`` is the only way out.
public struct ECPrivateKey: Sendable {
    /// The key in the form of swift-crypto.
    enum Scalar: Sendable {
        case p256(P256.KeyAgreement.PrivateKey, P256.Signing.PrivateKey)
        case p384(P384.KeyAgreement.PrivateKey, P384.Signing.PrivateKey)
        case p521(P521.KeyAgreement.PrivateKey, P521.Signing.PrivateKey)
    }

    /// The key that others verify with and encrypt to.
    public let publicKey: ECPublicKey
    let scalar: Scalar

    /// A new key on P-256, the curve on which Themis makes keys.
    ///
    /// - Throws: ``KeyError/invalidScalar``: the cryptographic library refused the key it made, a bug.
    public static func generate() throws(KeyError) -> ECPrivateKey {
        let key = P256.KeyAgreement.PrivateKey()
        do {
            return ECPrivateKey(.p256(key, try .init(rawRepresentation: key.rawRepresentation)))
        } catch { throw .invalidScalar }
    }

    /// The key of a container.
    ///
    /// - Throws: ``KeyError``: another kind of key, or no scalar of the curve.
    public init(_ container: KeyContainer) throws(KeyError) {
        guard case .ecPrivate(let curve) = container.kind else { throw .wrongKind }
        let scalar = try container.withBody { body throws(KeyError) in
            if body.count > curve.fieldByteCount { guard body.first == 0 else { throw .invalidScalar } }
            return try Self.scalar(body.suffix(curve.fieldByteCount), on: curve)
        }
        self.init(scalar)
    }

    private init(_ scalar: Scalar) {
        self.scalar = scalar
        switch scalar {
        case .p256(let key, _): publicKey = ECPublicKey(.p256(key.publicKey))
        case .p384(let key, _): publicKey = ECPublicKey(.p384(key.publicKey))
        case .p521(let key, _): publicKey = ECPublicKey(.p521(key.publicKey))
        }
    }

    /// The container as Themis prints it: the scalar after a zero byte.
    public var container: KeyContainer {
        var body: [UInt8]
        switch scalar {
        case .p256(let key, _): body = [0] + key.rawRepresentation
        case .p384(let key, _): body = [0] + key.rawRepresentation
        case .p521(let key, _): body = [0] + key.rawRepresentation
        }
        defer { body.wipe() }
        return KeyContainer(.ecPrivate(publicKey.curve), body: SymmetricKey(data: body))
    }

    /// ECDSA over the SHA-256 of `message`, DER; on all curves.
    func signature(over message: [UInt8]) throws -> [UInt8] {
        let digest = SHA256.hash(data: message)
        return switch scalar {
        case .p256(_, let key): Array(try key.signature(for: digest).derRepresentation)
        case .p384(_, let key): Array(try key.signature(for: digest).derRepresentation)
        case .p521(_, let key): Array(try key.signature(for: digest).derRepresentation)
        }
    }

    /// The x-coordinate of the common point, which Themis takes as a key as it is; nil on different curves.
    func agreement(with peer: ECPublicKey) -> SymmetricKey? {
        let secret: SharedSecret?
        switch (scalar, peer.point) {
        case (.p256(let key, _), .p256(let peer)): secret = try? key.sharedSecretFromKeyAgreement(with: peer)
        case (.p384(let key, _), .p384(let peer)): secret = try? key.sharedSecretFromKeyAgreement(with: peer)
        case (.p521(let key, _), .p521(let peer)): secret = try? key.sharedSecretFromKeyAgreement(with: peer)
        default: secret = nil
        }
        return secret.map { $0.withUnsafeBytes { SymmetricKey(data: $0) } }
    }

    private static func scalar(_ bytes: ArraySlice<UInt8>, on curve: ECCurve) throws(KeyError) -> Scalar {
        do {
            switch curve {
            case .p256: return .p256(try .init(rawRepresentation: bytes), try .init(rawRepresentation: bytes))
            case .p384: return .p384(try .init(rawRepresentation: bytes), try .init(rawRepresentation: bytes))
            case .p521: return .p521(try .init(rawRepresentation: bytes), try .init(rawRepresentation: bytes))
            }
        } catch { throw .invalidScalar }
    }
}
