// SPDX-License-Identifier: Apache-2.0

import CBOR
public import JOSE

/// Decides whether an answer with a mobile document is what a verifier requested. This page is the whole decision.
///
/// Spec: ISO/IEC 18013-5:2021, sections 8.3.2.1.2, 9.1.2, 9.1.3 and 9.3; OpenID for Verifiable Presentations 1.0, annex B.2. The
/// profile is narrower: one document, one certificate, only ES256 and SHA-256, a signature of the device instead of a
/// MAC, and no element that the device states itself.
public enum MobileDocumentVerifier {
    /// Judges an answer.
    ///
    /// - Parameters:
    ///   - bytes: a DeviceResponse, CBOR; at most 262,144 bytes.
    ///   - request: what the verifier requires.
    ///   - trust: decides which certificates of issuers are trusted.
    ///   - now: seconds since 1970.
    /// - Throws: ``MobileDocumentFault``, the first check that fails. A retry cannot help.
    ///
    /// Security: the caller must accept a request's nonce only once, and must ask separately whether the document was
    /// withdrawn.
    public static func verify(
        _ bytes: [UInt8], for request: MobileDocumentRequest, trusting trust: any CertificateTrust, at now: Int64
    ) throws(MobileDocumentFault) -> VerifiedMobileDocument {
        let document = try document(bytes)  // ISO/IEC 18013-5, section 8.3.2.1.2.2
        try checkType(document, request)  // section 8.3.2.1.2.2
        let issued = try issuerSignature(document)  // section 9.1.2.4; RFC 9052, section 4.2
        try checkIssuerHeader(issued)  // section 9.1.2.4; RFC 9052, section 3.1
        let chain = try certificates(of: issued)  // section 9.1.2.4; RFC 9360, section 2
        let issuer = try signer(of: chain, trust, now)  // section 9.3.1, step 1
        try checkIssuerSignature(issued, issuer)  // section 9.3.1, step 2

        let object = try securityObject(issued)  // section 9.1.2.4
        try checkSignedType(object, document)  // section 9.3.1, step 4
        try checkValidity(object, chain, trust, now)  // section 9.3.1, step 5
        let elements = try elements(document, object)  // section 9.3.1, step 3

        let signed = try deviceSignature(document)  // section 9.1.3.6
        try checkDeviceHeader(signed)  // section 9.1.3.6; RFC 9052, section 3.1
        try checkDeviceStatesNothing(document)  // section 9.1.2.4 (keyAuthorizations)
        try checkDeviceSignature(signed, object, request.session)  // sections 9.1.3.4 and 9.1.3.6
        try checkRequired(elements, request)  // OpenID4VP, section 8.6
        return VerifiedMobileDocument(
            elements: elements, documentType: object.documentType, issuer: issuer, validUntil: object.validity.until,
            status: object.status)
    }
}
