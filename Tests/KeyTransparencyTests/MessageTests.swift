// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VerifiableMap

/// Request and response: read back, and never a trap on anything.
@Suite struct LookupMessageTests {
    let scene: PaperScene
    /// One of each shape, to a client that has seen log and label before.
    let answers: [PaperAnswer]

    init() throws {
        scene = try PaperScene()
        var directory = scene.directory
        try directory.publish(scene.bob.closed())
        answers = [
            try directory.answer(about: scene.alice, knowing: (7, 2)),
            try directory.answer(about: scene.bob.closed(), knowing: (7, 2)),
            try directory.answer(aboutAbsent: scene.carol, knowing: 7),
            try PaperDirectory(filler: 0).answer(aboutAbsent: scene.carol),
        ]
    }

    @Test func requestReadsBackAndRefusesOtherForms() throws {
        let request = LookupRequest(handle: scene.alice.handle, knownSize: 1 << 40, knownCount: 3)
        #expect(try LookupRequest(decoding: request.encoded) == request)
        #expect(throws: LookupMessageError.unknownFormat) {
            try LookupRequest(decoding: Array("signet-lookup-request/v2\n".utf8) + [UInt8](repeating: 0, count: 20))
        }
        #expect(throws: LookupMessageError.malformed(.truncated(needed: 8, remaining: 3))) {
            try LookupRequest(decoding: Array(request.encoded.prefix(25 + 8 + 3)))
        }
        #expect(throws: LookupMessageError.invalidHandle(.notOneAtSign)) {
            try LookupRequest(decoding: request.encoded + Array("@x".utf8))
        }
    }

    @Test func responseOfEachShapeReadsBack() throws {
        for answer in answers {
            #expect(try LookupResponse(decoding: answer.response.encoded) == answer.response)
        }
    }

    /// How the answer is refused with one byte replaced; nil if it is not.
    func refusal(_ answer: PaperAnswer, _ offset: Int, _ byte: UInt8) -> LookupMessageError? {
        var bytes = answer.response.encoded
        bytes[offset] = byte
        do throws(LookupMessageError) {
            _ = try LookupResponse(decoding: bytes)
            return nil
        } catch { return error }
    }

    @Test func responseRefusesEachPartByName() throws {
        let epochPath = 17 + 80 + 72
        let kind = epochPath + 1 + 32 * answers[0].epochPath.count
        #expect(refusal(answers[0], 0, 0) == .unknownFormat)
        #expect(refusal(answers[0], 15, UInt8(ascii: "1")) == .unknownFormat)
        #expect(refusal(answers[0], epochPath, 64) == .pathTooLong(64))
        #expect(refusal(answers[0], kind, 9) == .unknownAnswer(9))
        #expect(refusal(answers[0], kind + 1, 2) == .pathTooLong(512 + answers[0].indexPath.steps.count))
        #expect(refusal(answers[0], kind + 3, 0) == .invalidIndexPath(.bitNotDecreasing(step: 1)))
        guard case .invalidVRFProof = refusal(answers[0], 17 + 31, 0xFF) else {
            Issue.record("a proof that is no point was taken")
            return
        }
        let flag = 17 + 80 + 72 + 1 + 32 * answers[2].epochPath.count + 1
        #expect(refusal(answers[2], flag, 2) == .unknownAnswer(2))
    }

    @Test func aPathOf63HashesIsTheLongest() throws {
        var answer = answers[0]
        answer.epochPath = Array(repeating: .emptyTree, count: 63)
        #expect(try LookupResponse(decoding: answer.response.encoded) == answer.response)
        answer.epochPath.append(.emptyTree)
        #expect(throws: LookupMessageError.pathTooLong(64)) {
            try LookupResponse(decoding: answer.response.encoded)
        }
    }

    /// Accepted bytes must print back unchanged, whatever was mutated.
    @Test(arguments: 0..<8) func mutatedMessagesNeverTrapAndNeverHaveTwoSpellings(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let golden = answers.map(\.response.encoded)
        let request = LookupRequest(handle: scene.alice.handle, knownSize: 5).encoded
        for _ in 0..<200 {
            for answer in golden {
                let response = random.mutated(answer)
                if let read = try? LookupResponse(decoding: response) { #expect(read.encoded == response) }
            }
            let question = random.mutated(request)
            if let read = try? LookupRequest(decoding: question) { #expect(read.encoded == question) }
            let body = random.mutated(scene.bob.encodedState)
            if let read = try? AccountState(decoding: body) { #expect(read.encoded == body) }
        }
    }
}
