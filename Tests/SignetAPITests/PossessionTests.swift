// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import SignetAPI
import Testing

/// Proof that a device holds the private half of every key it registers.
@Suite struct PossessionTests {
    let sealingKey = SymmetricKey(size: .bits256)
    let device: TestDevice
    let challenge: PossessionChallenge

    init() throws {
        device = try TestDevice()
        challenge = try PossessionChallenge(for: device.request, sealingKey: sealingKey, at: 1000)
    }

    func verify(
        _ proof: PossessionProof, for request: PossessionRequest? = nil, at now: UInt64 = 1000
    ) throws(SubmissionError) {
        try proof.verify(for: request ?? device.request, sealingKey: sealingKey, at: now)
    }

    @Test func theHolderOfBothKeysPasses() throws {
        let received = try PossessionChallenge(decoding: challenge.encoded)
        #expect(received == challenge)
        try verify(device.answer(received))
    }

    @Test func anotherAgreementKeyCannotAnswer() throws {
        let proof = try challenge.answer(
            for: device.request, agreementKey: P256.KeyAgreement.PrivateKey(), kemKey: device.kem)
        #expect(throws: SubmissionError.possessionNotProven) { try verify(proof) }
    }

    @Test func anotherKEMKeyCannotAnswer() throws {
        let proof = try challenge.answer(
            for: device.request, agreementKey: device.agreement, kemKey: .generate())
        #expect(throws: SubmissionError.possessionNotProven) { try verify(proof) }
    }

    @Test func anAnswerForAnotherAccountIsRefused() throws {
        let other = PossessionRequest(
            handle: try Handle(typed: Array("mallory@example.org".utf8)), keys: device.keys)
        let proof = try device.answer(challenge)
        #expect(throws: SubmissionError.unknownToken) { try verify(proof, for: other) }
    }

    @Test func anAnswerToAnotherServersChallengeIsRefused() throws {
        let other = try PossessionChallenge(
            for: device.request, sealingKey: SymmetricKey(size: .bits256), at: 1000)
        let proof = try device.answer(other)
        #expect(throws: SubmissionError.unknownToken) { try verify(proof) }
    }

    @Test func aChallengeLastsAnHour() throws {
        let proof = try device.answer(challenge)
        try verify(proof, at: 1000 + PossessionChallenge.lifetime)
        #expect(throws: SubmissionError.challengeExpired) {
            try verify(proof, at: 1000 + PossessionChallenge.lifetime + 1)
        }
    }

    @Test func aKEMKeyThatIsNoneGetsNoChallenge() throws {
        let keys = try DeviceKeys(
            signing: device.keys.signing, agreement: device.keys.agreement,
            kem: [UInt8](repeating: 0xFF, count: 1216))
        #expect(throws: SubmissionError.invalidDeviceKey) {
            try PossessionChallenge(
                for: PossessionRequest(handle: device.request.handle, keys: keys), sealingKey: sealingKey, at: 0)
        }
    }

    @Test func messagesReadBackAndEveryTruncationIsRefused() throws {
        #expect(try PossessionRequest(decoding: device.request.encoded) == device.request)
        let request = device.request.encoded
        for count in 0..<request.count {
            #expect(throws: SubmissionError.self) { try PossessionRequest(decoding: Array(request.prefix(count))) }
        }
        for count in 0..<(65 + 1120) {
            #expect(throws: SubmissionError.self) {
                try PossessionChallenge(decoding: Array(challenge.encoded.prefix(count)))
            }
        }
        #expect(throws: SubmissionError.tokenTooLong) {
            try PossessionChallenge(decoding: challenge.encoded + [UInt8](repeating: 0, count: 512))
        }
    }
}
