// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto

extension MobileDocumentVerifier {
    /// The device's signature. A MAC is refused, because the verifier could have made it itself.
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

    /// The issuer did not sign what a device states itself, and no request asks for it.
    static func checkDeviceStatesNothing(_ document: CBORMap) throws(MobileDocumentFault) {
        guard document["deviceSigned"]?.map?["nameSpaces"] == SessionTranscript.nothingSaid else {
            throw .deviceNameSpaces
        }
    }

    /// Requires a signature over this session by the device whose key the issuer signed.
    static func checkDeviceSignature(
        _ signed: COSESign1, _ object: SecurityObject, _ session: SessionTranscript
    ) throws(MobileDocumentFault) {
        guard let key = COSEKey.signingKey(object.deviceKey) else { throw .deviceKey }
        do {
            try signed.verify(by: key, detached: session.deviceAuthentication(object.documentType))
        } catch { throw .deviceSignature }
    }
}
