// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SignetAPI

/// A device with all of its private keys, for tests of what it signs and proves.
struct TestDevice {
    let signing = Curve25519.Signing.PrivateKey()
    let agreement = P256.KeyAgreement.PrivateKey()
    let kem: XWingMLKEM768X25519.PrivateKey
    let keys: DeviceKeys
    let request: PossessionRequest

    init(_ handle: String = "alice@example.org") throws {
        kem = try .generate()
        keys = try DeviceKeys(
            signing: Array(signing.publicKey.rawRepresentation),
            agreement: Array(agreement.publicKey.compressedRepresentation),
            kem: Array(kem.publicKey.rawRepresentation))
        request = PossessionRequest(handle: try Handle(typed: Array(handle.utf8)), keys: keys)
    }

    func answer(_ challenge: PossessionChallenge) throws -> PossessionProof {
        try challenge.answer(for: request, agreementKey: agreement, kemKey: kem)
    }

    func card(sealingKey: SymmetricKey, at now: UInt64 = 1000) throws -> DeviceCard {
        let challenge = try PossessionChallenge(for: request, sealingKey: sealingKey, at: now)
        return try DeviceCard(request, proof: answer(challenge)) { try Array(signing.signature(for: $0)) }
    }
}
