// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import SignetAPI
import Testing

/// Device cards and submissions: one spelling, and every signature checked on the way in.
@Suite struct SubmissionTests {
    let device: TestDevice
    let card: DeviceCard
    let submission: StateSubmission

    init() throws {
        device = try TestDevice()
        card = try device.card(sealingKey: SymmetricKey(size: .bits256))
        let identity = P256.Signing.PrivateKey()
        let state = try AccountState(
            signing: AccountStateBody(
                first: device.request.handle, identityKey: Array(identity.publicKey.compressedRepresentation),
                devices: [DeviceRecord(number: 1, addedAt: 5, keys: device.keys)])
        ) { try Array(identity.signature(for: $0).rawRepresentation) }
        submission = try StateSubmission(
            state: state, opening: [UInt8](repeating: 4, count: 32), cards: [card])
    }

    @Test func submissionsOfBothKindsRoundTrip() throws {
        #expect(try DeviceCard(decoding: card.encoded) == card)
        #expect(try StateSubmission(decoding: submission.encoded) == submission)
        #expect(submission.encoded.count < Route.maximumRequestByteCount)
    }

    @Test func everyBitOfACardIsSigned() throws {
        for index in card.encoded.indices {
            var bytes = card.encoded
            bytes[index] ^= 1 << (index % 8)
            #expect(throws: SubmissionError.self, "byte \(index)") { try DeviceCard(decoding: bytes) }
        }
    }

    @Test func aCardSignedByAnotherDeviceIsRefused() throws {
        let other = Curve25519.Signing.PrivateKey()
        #expect(throws: SubmissionError.invalidSignature) {
            try DeviceCard(device.request, proof: card.proof) { try Array(other.signature(for: $0)) }
        }
    }

    @Test func truncationsAndSurplusAreRefused() throws {
        for count in stride(from: 0, to: submission.encoded.count, by: 7) {
            #expect(throws: SubmissionError.self) {
                try StateSubmission(decoding: Array(submission.encoded.prefix(count)))
            }
        }
        #expect(throws: SubmissionError.malformed(.trailingBytes(1))) {
            try StateSubmission(decoding: submission.encoded + [0])
        }
        #expect(throws: SubmissionError.malformed(.trailingBytes(1))) {
            try DeviceCard(decoding: card.encoded + [0])
        }
    }

    @Test func otherFormatsAreRefusedByName() throws {
        var bytes = submission.encoded
        bytes[0] ^= 1
        #expect(throws: SubmissionError.unknownFormat) { try StateSubmission(decoding: bytes) }
        bytes = card.encoded
        bytes[0] ^= 1
        #expect(throws: SubmissionError.unknownFormat) { try DeviceCard(decoding: bytes) }
    }

    @Test func anUnsignedStateIsRefused() throws {
        var bytes = submission.encoded
        let endOfState = 21 + 32 + 2 + submission.state.encoded.count
        bytes[endOfState - 1] ^= 1
        #expect(throws: SubmissionError.state(.invalidSignature)) { try StateSubmission(decoding: bytes) }
    }

    @Test func anOpeningHasThirtyTwoBytes() throws {
        #expect(throws: SubmissionError.invalidOpening) {
            try StateSubmission(state: submission.state, opening: [1], cards: [])
        }
    }

    @Test func receiptReadsBack() throws {
        let receipt = StateReceipt(index: 7, size: 1 << 50)
        #expect(try StateReceipt(decoding: receipt.encoded) == receipt)
        #expect(throws: SubmissionError.malformed(.truncated(needed: 8, remaining: 7))) {
            try StateReceipt(decoding: receipt.encoded.dropLast())
        }
        #expect(throws: SubmissionError.malformed(.trailingBytes(1))) {
            try StateReceipt(decoding: receipt.encoded + [0])
        }
    }
}
