// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Asks for the signature of a digest. Wire form: 32 number of the token, u16 length and signature of the token, 32 digest.
public struct CardDigestRequest: Hashable, Sendable {
    /// In bytes.
    public static let maximumByteCount = 66 + TokensRequest.maximumLength

    /// The right to it.
    public let token: SigningToken
    /// SHA-256 of a card's manifest, 32 bytes: all that the signer sees of the card.
    public let digest: [UInt8]

    /// A question; nil if the digest does not have 32 bytes.
    public init?(token: SigningToken, digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        (self.token, self.digest) = (token, digest)
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(token.number)
        writer.write(UInt16(truncatingIfNeeded: token.signature.count))
        writer.write(token.signature)
        writer.write(digest)
        return writer.bytes
    }

    /// Reads the wire form, all of it; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let number = try? reader.bytes(SigningToken.numberByteCount), let length = try? reader.uint16(),
            length <= TokensRequest.maximumLength, let signature = try? reader.bytes(Int(length)),
            let digest = try? reader.bytes(32), (try? reader.end()) != nil
        else { return nil }
        token = SigningToken(number: Array(number), signature: Array(signature))
        self.digest = Array(digest)
    }
}

/// A signature. Wire form: u64 time, u16 length and signature.
public struct SignedCardDigest: Hashable, Sendable {
    /// The minute, in seconds since 1970.
    public let time: UInt64
    /// Of the attributes of a cryptographic message: RSA PKCS #1 version 1.5, or ECDSA as DER.
    public let signature: [UInt8]

    /// A signature.
    public init(time: UInt64, signature: [UInt8]) { (self.time, self.signature) = (time, signature) }
}

/// Wire form: u8 1 and a ``SignedCardDigest``; u8 2; or u8 3.
public enum CardDigestAnswer: Hashable, Sendable {
    /// Signed.
    case signed(SignedCardDigest)
    /// The token was used for another digest.
    case used
    /// The token is none of this signer's.
    case unknown

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .signed(let signed):
            writer.write(UInt8(1))
            writer.write(signed.time)
            writer.write(UInt16(truncatingIfNeeded: signed.signature.count))
            writer.write(signed.signature)
        case .used: writer.write(UInt8(2))
        case .unknown: writer.write(UInt8(3))
        }
        return writer.bytes
    }

    /// Reads the wire form, all of it; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        switch try? reader.uint8() {
        case 1:
            guard let time = try? reader.uint64(), let length = try? reader.uint16(),
                let signature = try? reader.bytes(Int(length))
            else { return nil }
            self = .signed(SignedCardDigest(time: time, signature: Array(signature)))
        case 2: self = .used
        case 3: self = .unknown
        default: return nil
        }
        guard (try? reader.end()) != nil else { return nil }
    }
}
