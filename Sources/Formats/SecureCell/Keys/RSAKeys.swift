// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

/// An RSA public key of 2048 bits or more, for verifying old messages.
public struct RSAPublicKey: Sendable, Hashable {
    /// Big-endian, as long as ``RSASize/modulusByteCount``; odd, its top bit set.
    public let modulus: [UInt8]
    /// 3 or 65537.
    public let exponent: UInt32

    /// The key of a container.
    ///
    /// - Throws: ``KeyError``: another kind of key, too small, or no RSA key.
    public init(_ container: KeyContainer) throws(KeyError) {
        guard case .rsaPublic(let size) = container.kind else { throw .wrongKind }
        guard size != .bits1024 else { throw .modulusTooSmall }
        self = try container.withBody { body throws(KeyError) in
            try RSAPublicKey(modulus: body.dropLast(4), exponent: body.suffix(4))
        }
    }

    init(modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) throws(KeyError) {
        self.modulus = Array(modulus)
        self.exponent = exponent.reduce(0) { $0 << 8 | UInt32($1) }
        guard let first = modulus.first, first >= 0x80, let last = modulus.last, last & 1 == 1,
            self.exponent == 3 || self.exponent == 65_537
        else { throw .invalidNumbers }
    }
}

/// An RSA private key of 2048 bits or more, for decrypting old messages.
///
/// Security: the numbers stay in swift-crypto. The key prints nothing and signs nothing: sign with an ``ECPrivateKey``.
public struct RSAPrivateKey: Sendable {
    /// The public half.
    public let publicKey: RSAPublicKey
    private let container: KeyContainer

    /// The key of a container.
    ///
    /// - Throws: ``KeyError``: another kind of key, too small, or no RSA key.
    public init(_ container: KeyContainer) throws(KeyError) {
        guard case .rsaPrivate(let size) = container.kind else { throw .wrongKind }
        guard size != .bits1024 else { throw .modulusTooSmall }
        self.container = container
        publicKey = try container.withBody { body throws(KeyError) in
            try RSAPublicKey(
                modulus: body.dropLast(4).suffix(size.modulusByteCount), exponent: body.suffix(4))
        }
        guard (try? numbers()) != nil else { throw .invalidNumbers }
    }

    /// RSAES-OAEP with SHA-1 and MGF1-SHA-1, empty label.
    ///
    /// Spec: RFC 8017, section 7.1.2.
    func decrypt(_ ciphertext: ArraySlice<UInt8>) -> SymmetricKey? {
        guard let plaintext = try? numbers().decrypt(ciphertext, padding: .PKCS1_OAEP) else { return nil }
        return SymmetricKey(data: plaintext)
    }

    /// Body: d, p, q, d mod p−1, d mod q−1, q⁻¹ mod p, n, e; swift-crypto computes the middle three itself.
    private func numbers() throws -> _RSA.Encryption.PrivateKey {
        let size = publicKey.modulus.count
        return try container.withBody { body in
            try _RSA.Encryption.PrivateKey(
                n: publicKey.modulus, e: Array(body.suffix(4)), d: Array(body.prefix(size)),
                p: Array(body.dropFirst(size).prefix(size / 2)),
                q: Array(body.dropFirst(size + size / 2).prefix(size / 2)))
        }
    }
}
