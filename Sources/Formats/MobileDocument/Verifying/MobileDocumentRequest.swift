// SPDX-License-Identifier: Apache-2.0

public import CBOR
public import JOSE

/// The name of an element of a document.
///
/// Spec: ISO/IEC 18013-5:2021, section 8.3.2.1.2.
public struct ElementName: Hashable, Sendable {
    /// The name space.
    public let space: CBORText
    /// The element's name in it.
    public let identifier: CBORText

    /// The name of an element.
    public init(_ space: CBORText, _ identifier: CBORText) { (self.space, self.identifier) = (space, identifier) }
}

/// What a verifier requires of an answer. It decides this before the answer arrives.
public struct MobileDocumentRequest: Sendable {
    /// The type of document.
    public var documentType: CBORText
    /// The elements that the answer must have.
    public var requiredElements: [ElementName]
    /// The session that the device signs.
    public var session: SessionTranscript

    /// A request.
    public init(documentType: CBORText, requiredElements: [ElementName] = [], session: SessionTranscript) {
        self.documentType = documentType
        self.requiredElements = requiredElements
        self.session = session
    }
}

/// A document that passed every check of ``MobileDocumentVerifier``.
///
/// Security: whether the document was withdrawn is not checked; ``status`` names the status list, if the issuer named
/// one.
public struct VerifiedMobileDocument: Sendable {
    /// The elements that were shown.
    public let elements: [ElementName: CBORValue]
    /// The type of the document.
    public let documentType: CBORText
    /// The issuer of the document.
    public let issuer: CertifiedSigner
    /// The last second at which it is valid, since 1970.
    public let validUntil: Int64
    /// The `status` of the security object.
    public let status: CBORMap?
}
