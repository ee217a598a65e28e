// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import STOMP

/// The specification, sentence by sentence. `Documentation/stomp.md` lists which rule each test holds.
struct ConformanceTests {
    @Test func aFrameIsCommandHeadersEmptyLineBodyAndZero() throws {
        let sent = try #require(frame("SEND\ndestination:/topic/a\ncontent-type:text/plain\n\nhello␀"))
        #expect(sent.command == .send)
        #expect(sent.headers.map(\.name) == [.destination, .contentType])
        #expect(sent.value(of: .destination) == utf8("/topic/a"))
        #expect(sent.body == utf8("hello"))
    }

    @Test func linesMayEndWithCarriageReturnAndLineFeed() {
        #expect(
            frame("SEND\r\ndestination:/a\r\n\r\nhi\r\n␀")
                == frame("SEND\ndestination:/a\n\nhi\r\n␀"))
    }

    @Test func aLineFeedAloneEndsALine_aCarriageReturnAloneDoesNot() {
        #expect(decode("SEND\rdestination:/a\n\n␀").fault == .strayCarriageReturn)
        #expect(decode("SEND\ndestination:/a\rb\n\n␀").fault == .strayCarriageReturn)
        #expect(decode("SEND\ndestination:/a\r\r\n\n␀").fault == .strayCarriageReturn)
        #expect(decode("\rSEND\n").fault == .strayCarriageReturn)
    }

    @Test func lineEndsBetweenFramesAreHeartBeats() {
        let (elements, fault) = decode("\n\r\nDISCONNECT\n\n␀\n\r\n\nDISCONNECT\n\n␀")
        #expect(fault == nil)
        #expect(elements.filter { $0 == .heartBeat }.count == 5)
        #expect(elements.count == 7)
    }

    @Test func everyCommandOfTheSpecificationIsKnown_inUpperCaseOnly() {
        let words = [
            "CONNECT", "STOMP", "CONNECTED", "SEND", "SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "BEGIN", "COMMIT",
            "ABORT", "DISCONNECT", "MESSAGE", "RECEIPT", "ERROR",
        ]
        #expect(StompCommand.allCases.map(\.bytes) == words.map(utf8))
        for word in ["send", "Send", "SENDX", "GET / HTTP/1.1", " SEND", "SEND "] {
            #expect(decode("\(word)\n").fault == .unknownCommand)
        }
    }

    @Test func escapesStandForReturnLineFeedColonAndBackslash() throws {
        let sent = try #require(frame("SEND\ndestination:/a\na\\cb:\\r\\n\\c\\\\\n\n␀"))
        #expect(sent.value(of: "a:b") == utf8("\r\n:\\"))
        #expect(frame(String(decoding: sent.encoded.dropLast(), as: UTF8.self) + "␀") == sent)
    }

    @Test func undefinedEscapesAreFatal() {
        for escape in ["\\t", "\\", "\\C", "\\0"] {
            #expect(decode("SEND\ndestination:\(escape)\n\n␀").fault == .undefinedEscape)
            #expect(decode("SEND\n\(escape):1\n\n␀").fault == .undefinedEscape)
        }
    }

    @Test func connectAndConnectedAreNotEscaped() throws {
        for word in ["CONNECT", "CONNECTED"] {
            let text = "\(word)\naccept-version:1.2\nversion:1.2\nhost:a:b\\c\\\\\n\n␀"
            #expect(try #require(frame(text)).value(of: .host) == utf8("a:b\\c\\\\"))
        }
        #expect(throws: StompFrameError.cannotBeEscaped(.connected, "x")) {
            try StompFrame(.connected, [.init(.version, utf8("1.2")), .init("x", utf8("a\nb"))])
        }
        #expect(throws: StompFrameError.cannotBeEscaped(.connected, "x:y")) {
            try StompFrame(.connected, [.init(.version, utf8("1.2")), .init("x:y", [])])
        }
    }

    @Test func theFrameStompIsEscaped() throws {
        let begin = try #require(frame("STOMP\naccept-version:1.2\nhost:a\\cb\n\n␀"))
        #expect(begin.value(of: .host) == utf8("a:b"))
    }

    @Test func anUnescapedColonInAValueIsRefused() {
        #expect(decode("SEND\ndestination:a:b\n\n␀").fault == .unescapedColon)
    }

    @Test func spacesBelongToNameAndValue() throws {
        let sent = try #require(frame("SEND\ndestination:/a\n x : y \n\n␀"))
        #expect(sent.value(of: " x ") == utf8(" y "))
        #expect(sent.value(of: "x") == nil)
    }

    @Test func headerNamesDifferInCase() {
        #expect(decode("SEND\nDestination:/a\n\n␀").fault == .frame(.missingHeader(.send, .destination)))
    }

    @Test func ofARepeatedHeaderTheFirstCounts() throws {
        let sent = try #require(frame("SEND\ndestination:/a\nfoo:World\nfoo:Hello\n\n␀"))
        #expect(sent.value(of: "foo") == utf8("World"))
        #expect(sent.headers.count == 3)
    }

    @Test func contentLengthLetsABodyHoldZeros() throws {
        let sent = try #require(frame("SEND\ndestination:/a\ncontent-length:5\n\na␀b␀c␀"))
        #expect(sent.body == [97, 0, 98, 0, 99])
        #expect(sent.value(of: .contentLength) == nil)
        #expect(frame("SEND\ndestination:/a\ncontent-length:0\n\n␀")?.body == [])
    }

    @Test func withoutContentLengthTheFirstZeroEndsTheBody() {
        #expect(decode("SEND\ndestination:/a\n\na␀\n").elements.count == 2)
    }

    @Test func aBodyOfAnotherLengthIsRefused() {
        #expect(decode("SEND\ndestination:/a\ncontent-length:2\n\nabc␀").fault == .missingEnd)
        #expect(decode("SEND\ndestination:/a\ncontent-length:4\n\nabc␀\n").fault == .missingEnd)
    }

    @Test func aContentLengthHasOneSpellingAndIsThereOnce() {
        for text in ["", "-1", "+1", "01", "1 ", "0x1", "18446744073709551616"] {
            #expect(decode("SEND\ndestination:/a\ncontent-length:\(text)\n\n").fault == .invalidContentLength)
        }
        #expect(
            decode("SEND\ndestination:/a\ncontent-length:1\ncontent-length:1\n\na␀").fault == .repeatedContentLength)
    }

    @Test(arguments: StompCommand.allCases)
    func onlySendMessageAndErrorHaveABody(_ command: StompCommand) throws {
        let headers = command.requiredHeaders.map { StompHeader($0, utf8("1")) }
        let empty = try StompFrame(command, headers).encoded
        #expect(decode(empty).fault == nil)
        let expected: StompDecodingError? = command.mayHaveBody ? nil : .frame(.bodyNotAllowed(command))
        #expect(decode(empty.dropLast() + [1, 0]).fault == expected)
        #expect(command.mayHaveBody == [.send, .message, .error].contains(command))
        if !command.mayHaveBody {
            #expect(throws: StompFrameError.bodyNotAllowed(command)) { try StompFrame(command, headers, body: [1]) }
            let head = empty.dropLast(2) + utf8("content-length:1\n\n")
            #expect(decode(head + [1, 0]).fault == .frame(.bodyNotAllowed(command)))
        }
    }

    @Test(arguments: StompCommand.allCases)
    func aRequiredHeaderMustBeThere(_ command: StompCommand) throws {
        for missing in command.requiredHeaders {
            let headers = command.requiredHeaders.filter { $0 != missing }.map { StompHeader($0, utf8("1")) }
            #expect(throws: StompFrameError.missingHeader(command, missing)) { try StompFrame(command, headers) }
            let lines = headers.map { String(decoding: $0.name.bytes, as: UTF8.self) + ":1\n" }.joined()
            let word = String(decoding: command.bytes, as: UTF8.self)
            #expect(decode("\(word)\n\(lines)\n␀").fault == .frame(.missingHeader(command, missing)))
        }
    }

    @Test func headersAreUTF8WithoutZeros() {
        let start = utf8("SEND\ndestination:")
        #expect(decode(start + [0xFF] + utf8("\n\n") + [0]).fault == .frame(.notText))
        #expect(decode(start + [0xC0, 0x80] + utf8("\n\n") + [0]).fault == .frame(.notText))
        #expect(decode(start + [0] + utf8("\n\n") + [0]).fault == .frame(.notText))
        #expect(frame("SEND\ndestination:/é\n\n␀")?.value(of: .destination) == utf8("/é"))
    }

    @Test func aHeaderHasANameAndAColon() {
        #expect(decode("SEND\nabc\n\n␀").fault == .noColon)
        #expect(decode("SEND\ndestination:/a\n:x\n\n␀").fault == .frame(.emptyHeaderName))
    }

    @Test func aFrameIsWrittenWithItsContentLength() throws {
        let sent = try StompFrame(.send, [.init(.destination, utf8("/a:b"))], body: [1, 0, 2])
        #expect(sent.encoded == wire("SEND\ndestination:/a\\cb\ncontent-length:3\n\n\u{1}␀\u{2}␀"))
        #expect(throws: StompFrameError.reservedHeader(.contentLength)) {
            try StompFrame(.send, [.init(.destination, []), .init(.contentLength, utf8("1"))])
        }
    }

    @Test func heartBeatsAreTheLargerOfPromiseAndWish() throws {
        let (client, server) = (HeartBeat(canSend: 500, wants: 2000), HeartBeat(canSend: 3000, wants: 1000))
        #expect(client.sendInterval(to: server) == 1000)
        #expect(client.receiveInterval(from: server) == 3000)
        #expect(HeartBeat.none.sendInterval(to: server) == nil)
        for promise in [HeartBeat.longest, HeartBeat.longest + 1, 1 << 63, .max] as [UInt64] {
            let forEver = HeartBeat(canSend: promise, wants: promise)
            #expect(client.receiveInterval(from: forEver) == HeartBeat.longest)
            #expect(client.sendInterval(to: forEver) == HeartBeat.longest)
        }
        #expect(client.sendInterval(to: HeartBeat(canSend: 1, wants: 0)) == nil)
        #expect(client.receiveInterval(from: .none) == nil)
        #expect(try HeartBeat(decoding: utf8("0,10000")) == HeartBeat(canSend: 0, wants: 10_000))
        for text in ["", "0", "0,", ",0", "0, 0", "01,0", "0,0,0", "-1,0"] {
            #expect(throws: (any Error).self) { try HeartBeat(decoding: utf8(text)) }
        }
        #expect(client.encoded == utf8("500,2000"))
    }

    @Test func acknowledgmentModesAreTheThreeOfTheSpecification() {
        #expect(AcknowledgmentMode(utf8("client-individual")) == .individual)
        #expect(AcknowledgmentMode(utf8("client")) == .cumulative)
        #expect(AcknowledgmentMode(utf8("auto")) == .auto)
        #expect(AcknowledgmentMode(utf8("Client")) == nil)
    }
}
