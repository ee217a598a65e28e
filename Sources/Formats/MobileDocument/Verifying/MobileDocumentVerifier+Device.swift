// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto

extension MobileDocumentVerifier {
    /// The device's signature; a MAC, which the verifier could have made itself, is none.
    static func deviceSignature(_ document: CBORMap) throws(MobileDocumentFault) -> COSESign1 {
        guard let sent = document["deviceSigned"] else { throw .deviceMissing }
        guard let proofs = sent.map?["deviceAuth"]?.map, proofs.entries.count == 1,
            let value = proofs["deviceSignature"]
        else { throw .deviceForm }
        let signed: COSESign1
        do { signed = try COSESign1(value) } catch { throw fault(error, otherwise: .deviceForm) }
        guard signed.unverifiedPayload == nil else { throw .deviceForm }
        return signed
    }

    static func checkDeviceHeader(_ signed: COSESign1) throws(MobileDocumentFault) {
        guard signed.isES256 else { throw .deviceAlgorithm }
        guard !signed.hasCriticalParameters else { throw .deviceCritical }
    }

    /// What a device states itself is not the issuer's word, and nothing here asks for it.
    static func checkDeviceStatesNothing(_ document: CBORMap) throws(MobileDocumentFault) {
        guard document["deviceSigned"]?.map?["nameSpaces"] == SessionTranscript.nothingSaid else {
            throw .deviceNameSpaces
        }
    }

    /// The device whose key the issuer signed has signed this session.
    static func checkDeviceSignature(
        _ signed: COSESign1, _ object: SecurityObject, _ session: SessionTranscript
    ) throws(MobileDocumentFault) {
        guard let key = COSEKey.signingKey(object.deviceKey) else { throw .deviceKey }
        do {
            try signed.verify(by: key, detached: session.deviceAuthentication(object.documentType))
        } catch { throw .deviceSignature }
    }
}
