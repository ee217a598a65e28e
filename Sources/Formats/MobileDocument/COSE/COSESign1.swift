// SPDX-License-Identifier: Apache-2.0

public import CBOR
public import Crypto

/// A COSE_Sign1 structure that was read and is not yet verified.
///
/// Spec: RFC 9052, sections 3 and 4.2; RFC 9053, section 2.1 (ES256).
///
/// Security: until ``verify(by:detached:)`` returns, headers and payload are only what the sender wrote. No signature
/// covers the unprotected header, so it stays unverified even then.
public struct COSESign1: Sendable {
    /// The protected header as it is signed.
    public let protectedBytes: [UInt8]
    /// The protected header; an empty map if there are no bytes.
    public let protected: CBORMap
    /// The header that no signature covers.
    public let unprotected: CBORMap
    /// The payload, unverified; nil if it is sent separately.
    public let unverifiedPayload: [UInt8]?
    /// r and s, 32 bytes each, if the sender follows the specification.
    public let signature: [UInt8]

    /// Reads the four parts of an untagged structure.
    ///
    /// - Throws: ``COSEFault``, all but ``COSEFault/signature``. A retry cannot help.
    public init(_ value: CBORValue) throws(COSEFault) {
        guard let parts = value.array, parts.count == 4, let protectedBytes = parts[0].bytes,
            let unprotected = parts[1].map, let signature = parts[3].bytes
        else { throw .form }
        guard parts[2] == .null || parts[2].bytes != nil else { throw .form }
        protected = try Self.protectedHeader(protectedBytes)
        unverifiedPayload = parts[2].bytes
        (self.protectedBytes, self.unprotected, self.signature) = (protectedBytes, unprotected, signature)
    }

    private static func protectedHeader(_ bytes: [UInt8]) throws(COSEFault) -> CBORMap {
        guard !bytes.isEmpty else { return CBORMap() }
        let value: CBORValue
        do { value = try CBORValue(decoding: bytes) } catch { throw .header(error) }
        guard let map = value.map else { throw .form }
        return map
    }

    /// Whether the protected header names ES256, the only algorithm that is supported.
    public var isES256: Bool { protected[1] == -7 }

    /// Whether the header requires the reader to understand an extension. This reader understands none.
    ///
    /// Spec: RFC 9052, section 3.1, `crit`.
    public var hasCriticalParameters: Bool { protected[2] != nil || unprotected[2] != nil }

    /// Requires that the holder of this key signed the protected header and the payload.
    ///
    /// - Parameter detached: the payload, if it is not in the structure.
    /// - Throws: ``COSEFault/form`` when there is no payload or there are two, ``COSEFault/signature``. A retry cannot help.
    ///
    /// Security: a signature does not identify a structure: an attacker who has a valid one can make a second (n − s
    /// for s).
    public func verify(by key: P256.Signing.PublicKey, detached: [UInt8]? = nil) throws(COSEFault) {
        guard (detached == nil) != (unverifiedPayload == nil), let payload = detached ?? unverifiedPayload else {
            throw .form
        }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Self.signedBytes(protectedBytes, payload))
        else { throw .signature }
    }

    /// The bytes that the signature covers.
    ///
    /// Spec: RFC 9052, section 4.4 (Sig_structure), without external data.
    private static func signedBytes(_ protected: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        CBORValue.array(["Signature1", .bytes(protected), .bytes([]), .bytes(payload)]).encoded
    }

    /// The structure of a payload under an ES256 signature.
    ///
    /// - Parameters:
    ///   - isDetached: whether the payload is left out, to be sent elsewhere.
    ///   - sign: gives r and s, 32 bytes each, of the ECDSA signature over SHA-256 of the bytes.
    /// - Throws: what `sign` throws.
    public static func encoded<Failure: Error>(
        payload: [UInt8], isDetached: Bool = false, unprotected: CBORMap = CBORMap(),
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> CBORValue {
        let protected: [UInt8] = [0xA1, 0x01, 0x26]  // {1: -7}
        let signature = try sign(signedBytes(protected, payload))
        return .array([
            .bytes(protected), .map(unprotected), isDetached ? .null : .bytes(payload), .bytes(signature),
        ])
    }
}

/// Why a value is not a structure that a key signed. A retry cannot help.
public enum COSEFault: Error, Hashable, Sendable {
    /// The value does not have four parts of the right kinds, or its payload is missing or unexpected.
    case form
    /// The protected header cannot be read.
    case header(CBORFault)
    /// The signature is not 64 bytes long, or is not one by the key over header and payload.
    case signature
}
