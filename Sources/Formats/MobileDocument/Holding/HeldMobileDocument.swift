// SPDX-License-Identifier: Apache-2.0

public import CBOR

/// A document that its holder keeps: the issuer's signature and every element.
///
/// Spec: ISO/IEC 18013-5:2021, section 8.3.2.1.2.2 (IssuerSigned).
public struct HeldMobileDocument: Sendable {
    /// The type of the document.
    public let documentType: CBORText
    let items: [(name: ElementName, item: SignedItem)]
    let proof: CBORValue

    /// Shows some of the document to one verifier, in one session.
    ///
    /// - Parameters:
    ///   - chosen: the names of the elements to show.
    ///   - sign: gives r and s of the ECDSA signature by the device's key.
    /// - Returns: a DeviceResponse, CBOR.
    /// - Throws: what `sign` throws.
    public func presented<Failure: Error>(
        disclosing chosen: (ElementName) -> Bool, in session: SessionTranscript,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let signature = try COSESign1.encoded(
            payload: session.deviceAuthentication(documentType), isDetached: true, sign: sign)
        let issued: CBORValue = .fields(["nameSpaces": spaces(chosen), "issuerAuth": proof])
        let signed: CBORValue = .fields([
            "nameSpaces": SessionTranscript.nothingSaid, "deviceAuth": .fields(["deviceSignature": signature]),
        ])
        let document: CBORValue = .fields([
            "docType": .text(documentType), "issuerSigned": issued, "deviceSigned": signed,
        ])
        return CBORValue.fields(["version": "1.0", "documents": .array([document]), "status": 0]).encoded
    }

    private func spaces(_ chosen: (ElementName) -> Bool) -> CBORValue {
        let shown = items.filter { chosen($0.name) }
        var spaces: [(CBORValue, CBORValue)] = []
        for space in ElementName.spaces(shown.map(\.name)) {
            let items = shown.filter { $0.name.space == space }
            spaces.append((CBORValue.text(space), CBORValue.array(items.map(\.item.sent))))
        }
        return .fields(of: spaces)
    }
}
