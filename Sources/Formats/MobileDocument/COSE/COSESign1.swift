// SPDX-License-Identifier: Apache-2.0

public import CBOR
public import Crypto

/// A COSE_Sign1 structure, read and not yet verified.
///
/// Spec: RFC 9052, sections 3 and 4.2; RFC 9053, section 2.1 (ES256).
///
/// Security: headers and payload are whatever the sender wrote until ``verify(by:detached:)`` returns, and the unprotected header
/// is so even then.
public struct COSESign1: Sendable {
    /// The protected header as it is signed.
    public let protectedBytes: [UInt8]
    /// The protected header; without entries when there are no bytes.
    public let protected: CBORMap
    /// The header that no signature covers.
    public let unprotected: CBORMap
    /// The payload, of which nothing is verified; nil when it is sent elsewhere.
    public let unverifiedPayload: [UInt8]?
    /// r and s, 32 bytes each, if the sender follows the specification.
    public let signature: [UInt8]

    /// Reads the four parts, which stand under no tag.
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

    /// Whether the protected header says ES256, the one algorithm that is spoken here.
    public var isES256: Bool { protected[1] == -7 }

    /// Whether the header demands that the reader understands an extension. None is understood here.
    ///
    /// Spec: RFC 9052, section 3.1, `crit`.
    public var hasCriticalParameters: Bool { protected[2] != nil || unprotected[2] != nil }

    /// Demands that the holder of this key signed protected header and payload.
    ///
    /// - Parameter detached: the payload, if it is not in the structure.
    /// - Throws: ``COSEFault/form`` when there is no payload or there are two, ``COSEFault/signature``. A retry cannot help.
    ///
    /// Security: a signature is no identifier: from one that verifies, anybody makes a second one (n − s for s).
    public func verify(by key: P256.Signing.PublicKey, detached: [UInt8]? = nil) throws(COSEFault) {
        guard (detached == nil) != (unverifiedPayload == nil), let payload = detached ?? unverifiedPayload else {
            throw .form
        }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Self.signedBytes(protectedBytes, payload))
        else { throw .signature }
    }

    /// What the signature is over.
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

/// Why a value is no structure signed by a key. None is worth a retry.
public enum COSEFault: Error, Hashable, Sendable {
    /// Not four parts of the right kinds, or a payload where there must be none, or none where there must be one.
    case form
    /// A protected header that cannot be read.
    case header(CBORFault)
    /// Not 64 bytes, or no signature of the key over header and payload.
    case signature
}
