// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import CallSignalling

struct LegacyTests {
    private let ann = LegacyParty(participant: "ann", device: "phone-1")
    private let bob = LegacyParty(participant: "bob", device: "tablet")

    private func refusal(_ text: String) -> LegacySignalError? {
        do throws(LegacySignalError) { _ = try LegacySignal(decoding: Array(text.utf8)) } catch { return error }
        return nil
    }

    @Test func theThreeMessagesHaveTheFieldsOfTheGuide() {
        let texts: [(LegacySignal, String)] = [
            (
                .keyRotation(callID: "c1", encryptedAESKey: [1, 2, 3], keyRotationTimestamp: 17),
                #"{"callId":"c1","encryptedAESKey":"AQID","keyRotationTimestamp":17,"type":"key_rotation"}"#
            ),
            (
                .requestAESKey(callID: "c1", host: ann, requester: bob),
                #"{"callId":"c1","participantDeviceId":"phone-1","participantId":"ann","senderDeviceId":"tablet","#
                    + #""senderId":"bob","type":"request_aes_key"}"#
            ),
            (
                .sendAESKey(callID: "c1", requester: bob, encryptedAESKey: [1, 2, 3]),
                #"{"callId":"c1","encryptedAESKey":"AQID","participantDeviceId":"tablet","participantId":"bob","#
                    + #""type":"send_aes_key"}"#
            ),
        ]
        for (signal, text) in texts {
            #expect(signal.encoded == Array(text.utf8))
            #expect((try? LegacySignal(decoding: Array(text.utf8))) == signal)
        }
    }

    @Test func otherSpellingsAreRefused() {
        #expect(
            refusal(#"{"type":"key_rotation","callId":"c1","encryptedAESKey":"AQID","keyRotationTimestamp":17}"#)
                == .malformed)
        #expect(
            refusal(#"{"callId":"c1","encryptedAESKey":"AQID","keyRotationTimestamp":017,"type":"key_rotation"}"#)
                == .malformed)
        #expect(refusal(#"{"callId": "c1","type":"key_rotation"}"#) == .malformed)
        #expect(refusal(#"{"callId":"c1","callId":"c2","type":"key_rotation"}"#) == .malformed)
        #expect(refusal(#"{"callId":"c\u0031","type":"key_rotation"}"#) == .malformed)
        #expect(refusal("{") == .malformed)
        #expect(refusal("") == .malformed)
        #expect(refusal(#"{"callId":"c1",}"#) == .malformed)
    }

    @Test func missingAndUnknownMembersAreRefused() {
        #expect(refusal(#"{"callId":"c1","encryptedAESKey":"AQID","type":"key_rotation"}"#) == .missingMember)
        #expect(
            refusal(#"{"callId":"c1","encryptedAESKey":"AQIDX","keyRotationTimestamp":17,"type":"key_rotation"}"#)
                == .missingMember)
        #expect(
            refusal(
                #"{"callId":"c1","encryptedAESKey":"AQID","extra":"x","keyRotationTimestamp":17,"type":"key_rotation"}"#
            ) == .unknownMember)
        #expect(refusal(#"{"callId":"c1","type":"hello"}"#) == .unknownType)
        #expect(refusal(String(repeating: "x", count: 4097)) == .tooLong(4097))
    }

    @Test func damagedMessagesAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 8)
        let start = LegacySignal.requestAESKey(callID: "c1", host: ann, requester: bob).encoded
        for _ in 0..<20_000 {
            var bytes = start
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
                Array("{}\",:ax1".utf8).randomElement(using: &generator) ?? 0
            bytes.removeSubrange(Int.random(in: bytes.count / 2...bytes.count, using: &generator)...)
            if let signal = try? LegacySignal(decoding: bytes) { #expect(signal.encoded == bytes) }
        }
    }
}
