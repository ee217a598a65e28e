// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import Crypto
public import StrictJSON

/// A JSON Web Signature in compact form, read and not yet verified: header, payload and signature, with a full stop between.
///
/// Spec: RFC 7515, sections 3.1, 5.2 and 7.1; RFC 7518, section 3.4 (ES256).
///
/// Security: header and payload are unverified text from the sender until ``verify(by:)`` returns. Keys and addresses
/// of keys in the header (`jwk`, `jku`, `x5u`, `kid`) are never followed; which key counts is the caller's decision.
public struct SignedToken: Sendable {
    /// The JOSE header.
    public let header: JSONObject
    /// The bytes of the payload, of which nothing is verified.
    public let unverifiedPayload: [UInt8]
    /// What the signature is over: header and payload as sent, ASCII.
    public let signedBytes: [UInt8]
    /// r and s, 32 bytes each, if the sender follows the specification.
    public let signature: [UInt8]

    /// Reads the three parts.
    ///
    /// - Parameter limits: for the whole text, and for the depth of the header.
    /// - Throws: ``SignedTokenFault``, all but ``SignedTokenFault/signature``. A retry cannot help.
    public init(decoding text: [UInt8], limits: JSONLimits = .token) throws(SignedTokenFault) {
        guard text.count <= limits.byteCount else { throw .tooLong(text.count) }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .parts(parts.count) }
        let decoded = try Self.decoded(parts)
        do { header = try JSONObject(decoding: decoded[0], limits: limits) } catch { throw .header(error) }
        unverifiedPayload = decoded[1]
        signature = decoded[2]
        signedBytes = Array(text[..<(parts[2].startIndex - 1)])
    }

    private static func decoded(_ parts: [ArraySlice<UInt8>]) throws(SignedTokenFault) -> [[UInt8]] {
        var decoded: [[UInt8]] = []
        for part in parts {
            do { decoded.append(try Base64URL.decode(Array(part))) } catch { throw .encoding(error) }
        }
        return decoded
    }

    /// Whether the header says ES256, the one algorithm that is spoken here.
    public var isES256: Bool { header["alg"] == .string("ES256") }

    /// Whether the header says just this type, in this case of letters.
    public func hasType(_ type: JSONText) -> Bool { header["typ"] == .string(type) }

    /// Whether the header demands that the reader understands an extension. None is understood here.
    ///
    /// Spec: RFC 7515, section 4.1.11.
    public var hasCriticalParameters: Bool { header["crit"] != nil }

    /// Demands that the holder of this key signed header and payload.
    ///
    /// - Throws: ``SignedTokenFault/signature``. A retry cannot help.
    ///
    /// Security: a signature does not identify a token: from one that verifies, anyone can make a second one (n − s for
    /// s).
    public func verify(by key: P256.Signing.PublicKey) throws(SignedTokenFault) {
        guard signature.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: signedBytes)
        else { throw .signature }
    }

    /// The compact form of a payload under a signature.
    ///
    /// - Parameters:
    ///   - header: as it will appear, `alg` ES256 included.
    ///   - sign: gives r and s, 32 bytes each, of the ECDSA signature over SHA-256 of the bytes.
    /// - Throws: what `sign` throws.
    public static func encoded<Failure: Error>(
        header: JSONObject, payload: [UInt8], sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let dot = UInt8(ascii: ".")
        let signed = Base64URL.encode(header.encoded) + [dot] + Base64URL.encode(payload)
        return signed + [dot] + Base64URL.encode(try sign(signed))
    }
}

/// Why bytes are not a token signed by a key. None is worth a retry.
public enum SignedTokenFault: Error, Hashable, Sendable {
    /// More bytes than the limit.
    case tooLong(Int)
    /// This many parts where there must be three.
    case parts(Int)
    /// A part that is not base64url without padding.
    case encoding(CanonicalCodingError)
    /// A header that is not a JSON object.
    case header(JSONFault)
    /// Not 64 bytes, or no signature of the key over header and payload.
    case signature
}
