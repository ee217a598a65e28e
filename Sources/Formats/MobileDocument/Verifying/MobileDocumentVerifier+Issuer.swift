// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto
import JOSE

extension MobileDocumentVerifier {
    /// The one document of an answer.
    static func document(_ bytes: [UInt8]) throws(MobileDocumentFault) -> CBORMap {
        guard let response = try MobileDocumentFault.reading(bytes).map else { throw .response }
        guard response["version"] == "1.0", response["status"] == 0 else { throw .response }
        guard let documents = response["documents"]?.array, documents.count == 1, let document = documents.first?.map
        else {
            throw .response
        }
        return document
    }

    static func checkType(_ document: CBORMap, _ request: MobileDocumentRequest) throws(MobileDocumentFault) {
        guard document["docType"] == .text(request.documentType) else { throw .documentType }
    }

    static func issuerSignature(_ document: CBORMap) throws(MobileDocumentFault) -> COSESign1 {
        guard let value = document["issuerSigned"]?.map?["issuerAuth"] else { throw .issuerForm }
        do { return try COSESign1(value) } catch { throw fault(error, otherwise: .issuerForm) }
    }

    static func fault(_ fault: COSEFault, otherwise form: MobileDocumentFault) -> MobileDocumentFault {
        if case .header(let fault) = fault { MobileDocumentFault(fault) } else { form }
    }

    static func checkIssuerHeader(_ issued: COSESign1) throws(MobileDocumentFault) {
        guard issued.isES256 else { throw .issuerAlgorithm }
        guard !issued.hasCriticalParameters else { throw .issuerCritical }
    }

    /// The issuer's certificate, which comes without a chain.
    static func certificates(of issued: COSESign1) throws(MobileDocumentFault) -> [[UInt8]] {
        guard let certificate = issued.unprotected[33]?.bytes else { throw .issuerChain }
        return [certificate]
    }

    static func signer(
        of chain: [[UInt8]], _ trust: any CertificateTrust, _ now: Int64
    ) throws(MobileDocumentFault) -> CertifiedSigner {
        do { return try trust.signer(of: chain, at: now) } catch { throw MobileDocumentFault(error) }
    }

    static func checkIssuerSignature(
        _ issued: COSESign1, _ issuer: CertifiedSigner
    ) throws(MobileDocumentFault) {
        do { try issued.verify(by: issuer.key) } catch { throw error == .form ? .issuerForm : .issuerSignature }
    }

    static func securityObject(_ issued: COSESign1) throws(MobileDocumentFault) -> SecurityObject {
        guard let payload = issued.unverifiedPayload else { throw .issuerForm }
        return try SecurityObject(payload)
    }

    static func checkSignedType(_ object: SecurityObject, _ document: CBORMap) throws(MobileDocumentFault) {
        guard document["docType"] == .text(object.documentType) else { throw .securityObjectType }
    }

    /// Requires that the document is valid now, and that the issuer's certificate was valid when the issuer signed.
    static func checkValidity(
        _ object: SecurityObject, _ chain: [[UInt8]], _ trust: any CertificateTrust, _ now: Int64
    ) throws(MobileDocumentFault) {
        let validity = object.validity
        guard validity.from <= now, now <= validity.until else { throw .validity }
        guard (try? trust.signer(of: chain, at: validity.signed)) != nil else { throw .validity }
    }

    /// The elements that were sent. The issuer signed each one in its name space under its number.
    static func elements(
        _ document: CBORMap, _ object: SecurityObject
    ) throws(MobileDocumentFault) -> [ElementName: CBORValue] {
        guard let spaces = document["issuerSigned"]?.map?["nameSpaces"] else { return [:] }
        guard let spaces = spaces.map else { throw .item }
        var elements: [ElementName: CBORValue] = [:]
        for space in spaces.entries {
            guard let name = space.key.text, let values = space.value.array else { throw .item }
            for value in values {
                let item = try SignedItem(value)
                try item.checkDigest(in: object.digests[name])
                let element = ElementName(name, item.identifier)
                guard elements.updateValue(item.value, forKey: element) == nil else { throw .itemDuplicate }
            }
        }
        return elements
    }

    static func checkRequired(
        _ elements: [ElementName: CBORValue], _ request: MobileDocumentRequest
    ) throws(MobileDocumentFault) {
        guard request.requiredElements.allSatisfy({ elements[$0] != nil }) else { throw .claimsMissing }
    }
}
