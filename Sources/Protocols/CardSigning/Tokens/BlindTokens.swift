// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import CryptoExtras

/// The right to have one card signed: a number that the signer has not seen before, signed by the signer without seeing it. So the signer
/// knows that it is one of those that it gave out, and not to whom.
///
/// Spec: RFC 9474, RSABSSA-SHA384-PSS-Deterministic, over 32 random bytes, as RFC 9578, section 6, has it. Tokens of draft-yun-cfrg-arc would
/// be shorter in their making, but the library's cannot be kept from one run of a program to the next.
public struct SigningToken: Hashable, Sendable {
    /// The length of ``number``, in bytes.
    public static let numberByteCount = 32

    /// 32 random bytes.
    public let number: [UInt8]
    /// The signer's signature of it, as long as the key's modulus.
    public let signature: [UInt8]

    /// A token, which is not verified.
    public init(number: [UInt8], signature: [UInt8]) { (self.number, self.signature) = (number, signature) }
}

/// The public key of tokens: RSA with 2048 to 4096 bits.
public struct TokenKey: Sendable {
    private let key: _RSA.BlindSigning.PublicKey<SHA384>

    /// Reads a SubjectPublicKeyInfo, DER; nil if it is not such a key.
    public init?(_ der: [UInt8]) {
        guard let key = try? _RSA.BlindSigning.PublicKey(derRepresentation: der, parameters: TokenSigner.parameters),
            TokenSigner.bits.contains(key.keySizeInBits)
        else { return nil }
        self.key = key
    }

    /// The length of tokens' signatures, in bytes.
    public var signatureByteCount: Int { (key.keySizeInBits + 7) / 8 }

    /// Makes a number, and hides it from the signer; nil if the library cannot.
    public func begin() -> BlindedToken? {
        let number = (0..<SigningToken.numberByteCount).map { _ in UInt8.random(in: 0...255) }
        let message = key.prepare(number)
        guard let blinded = try? key.blind(message) else { return nil }
        return BlindedToken(number: number, key: key, message: message, blinded: blinded)
    }

    /// Whether the signer signed a token.
    public func isValid(_ token: SigningToken) -> Bool {
        token.number.count == SigningToken.numberByteCount && token.signature.count == signatureByteCount
            && key.isValidSignature(.init(rawRepresentation: token.signature), for: key.prepare(token.number))
    }
}

/// A token that waits for its signature.
public struct BlindedToken {
    private let number: [UInt8]
    private let key: _RSA.BlindSigning.PublicKey<SHA384>
    private let message: _RSA.BlindSigning.PreparedMessage
    private let blinded: _RSA.BlindSigning.BlindingResult

    fileprivate init(
        number: [UInt8], key: _RSA.BlindSigning.PublicKey<SHA384>, message: _RSA.BlindSigning.PreparedMessage,
        blinded: _RSA.BlindSigning.BlindingResult
    ) { (self.number, self.key, self.message, self.blinded) = (number, key, message, blinded) }

    /// What the signer signs: it says nothing about the number.
    public var request: [UInt8] { Array(blinded.blindedMessage) }

    /// The token, once the signer has signed ``request``; nil if that is no signature of it.
    public func token(signed signature: [UInt8]) -> SigningToken? {
        let signature = _RSA.BlindSigning.BlindSignature(rawRepresentation: signature)
        guard let made = try? key.finalize(signature, for: message, blindingInverse: blinded.inverse) else {
            return nil
        }
        return SigningToken(number: number, signature: Array(made.rawRepresentation))
    }
}

/// The private key of tokens.
public struct TokenSigner: Sendable {
    static var parameters: _RSA.BlindSigning.Parameters<SHA384> { .RSABSSA_SHA384_PSS_Deterministic }
    static let bits = 2048...4096
    private let key: _RSA.BlindSigning.PrivateKey<SHA384>

    /// Makes a key of 2048 bits.
    ///
    /// - Throws: what the library throws.
    public init() throws { key = try _RSA.BlindSigning.PrivateKey(keySize: .bits2048, parameters: Self.parameters) }

    /// Reads a key, PEM; nil if it is none, or its length is not one that clients take.
    public init?(pem: String) {
        guard let key = try? _RSA.BlindSigning.PrivateKey(pemRepresentation: pem, parameters: Self.parameters),
            Self.bits.contains(key.keySizeInBits)
        else { return nil }
        self.key = key
    }

    /// PKCS #8, PEM.
    ///
    /// Security: secret. Whoever has it can make tokens.
    public var pem: String { key.pkcs8PEMRepresentation }

    /// SubjectPublicKeyInfo, DER.
    public var publicKey: [UInt8] { Array(key.publicKey.derRepresentation) }

    /// Signs a request without learning its number; nil if it is not a request for this key.
    public func signature(for request: [UInt8]) -> [UInt8]? {
        (try? key.blindSignature(for: request)).map { Array($0.rawRepresentation) }
    }
}
