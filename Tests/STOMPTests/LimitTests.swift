// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import STOMP

struct LimitTests {
    private let limits = StompLimits(headByteCount: 40, headerCount: 2, bodyByteCount: 4)

    @Test func aHeadOfTheLimitPasses_oneMoreByteDoesNot() {
        let fitting = utf8("SEND\ndestination:") + [UInt8](repeating: 97, count: 40 - 17 - 2) + utf8("\n\n") + [0]
        #expect(decode(fitting, limits: limits).fault == nil)
        let longer = utf8("SEND\ndestination:") + [UInt8](repeating: 97, count: 40 - 17 - 1) + utf8("\n\n") + [0]
        #expect(decode(longer, limits: limits).fault == .headTooLong(maximum: 40))
    }

    @Test func aHeadWithoutEndIsRefusedAtTheLimit() {
        #expect(decode([UInt8](repeating: 65, count: 41), limits: limits).fault == .headTooLong(maximum: 40))
        #expect(decode([UInt8](repeating: 65, count: 41), inPiecesOf: 1, limits: limits).fault != nil)
    }

    @Test func aThirdHeaderIsRefused_contentLengthCountsToo() {
        let three = wire("SEND\ndestination:/\na:1\nb:2\n\n␀")
        #expect(decode(three, limits: limits).fault == .tooManyHeaders(maximum: 2))
        let counted = wire("SEND\ndestination:/\ncontent-length:0\nb:2\n\n␀")
        #expect(decode(counted, limits: StompLimits(headerCount: 2)).fault == .tooManyHeaders(maximum: 2))
    }

    @Test func aBodyIsRefusedBeforeItArrives() {
        let promised = wire("SEND\ndestination:/\ncontent-length:5\n\n")
        #expect(decode(promised, limits: StompLimits(bodyByteCount: 4)).fault == .bodyTooLong(maximum: 4))
        #expect(decode(wire("SEND\ndestination:/\n\nabcd␀"), limits: limits).fault == nil)
        #expect(decode(wire("SEND\ndestination:/\n\nabcde"), limits: limits).fault == .bodyTooLong(maximum: 4))
    }

    @Test func afterAFaultNothingIsReadAnyMore() {
        var decoder = StompDecoder()
        decoder.append(utf8("NONSENSE\n"))
        #expect(throws: StompDecodingError.unknownCommand) { try decoder.next() }
        decoder.append(wire("DISCONNECT\n\n␀"))
        #expect(throws: StompDecodingError.unknownCommand) { try decoder.next() }
    }
}
