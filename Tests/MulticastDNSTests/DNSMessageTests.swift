// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

@testable import MulticastDNS

/// Messages that zeroconf 0.154.0 (PyPI) wrote, and messages that anyone in the network may send.
@Suite struct DNSMessageTests {
    /// An answer: PTR, and beside it SRV, TXT, A and AAAA, with compressed names.
    private static let answer = """
        0000840000000001000000040c5f7369676e65742d6d656574045f746370056c6f63616c00000c00010000119400131030313233343536373839616263646566\
        c00cc02f0021800100000078000f00000000126706612d486f7374c01ec02f00108001000011940000c05400018001000000780004c0000201c054001c80010000\
        0078001020010db8000000000000000000000001
        """
    /// A query with two questions, the first of which wants an answer for itself, and a known answer.
    private static let query = """
        0000000000020001000000000c5f7369676e65742d6d656574045f746370056c6f63616c00000c800106612d686f7374c01e00ff0001c00c000c00010000119400\
        131030313233343536373839616263646566c00c
        """

    private func bytes(_ text: String) throws -> [UInt8] { try Hex.decode(Array(text.utf8)) }

    private func name(_ text: String) throws -> MulticastName { try #require(MulticastName(text)) }

    private func fault(_ bytes: [UInt8]) -> MulticastDNSFault? {
        do throws(MulticastDNSFault) {
            _ = try DNSMessage(decoding: bytes)
            return nil
        } catch { return error }
    }

    @Test func anAnswerOfAnotherImplementationIsRead() throws {
        let message = try DNSMessage(decoding: bytes(Self.answer))
        let (service, host) = (try name("_signet-meet._tcp.local"), try name("a-host.local"))
        let instance = try #require(service.below(Array("0123456789abcdef".utf8)))
        #expect(message.isAnswer && message.id == 0 && message.questions.isEmpty)
        #expect(message.answers == [DNSRecord(service, .pointer(instance), lifetime: 4500, isUnique: false)])
        #expect(
            message.additional == [
                DNSRecord(instance, .service(port: 4711, host: host), lifetime: 120, isUnique: true),
                DNSRecord(instance, .text([]), lifetime: 4500, isUnique: true),
                DNSRecord(host, .address4([192, 0, 2, 1]), lifetime: 120, isUnique: true),
                DNSRecord(
                    host, .address6([0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]), lifetime: 120,
                    isUnique: true),
            ])
    }

    @Test func aQueryOfAnotherImplementationIsRead() throws {
        let message = try DNSMessage(decoding: bytes(Self.query))
        #expect(!message.isAnswer)
        #expect(
            message.questions == [
                DNSQuestion(try name("_signet-meet._tcp.local"), DNSType.pointer, wantsUnicast: true),
                DNSQuestion(try name("A-HOST.local"), DNSType.any),
            ])
        #expect(message.answers.count == 1 && message.answers.first?.lifetime == 4500)
    }

    @Test func whatIsWrittenIsRead() throws {
        for text in [Self.answer, Self.query] {
            let message = try DNSMessage(decoding: bytes(text))
            #expect(try DNSMessage(decoding: message.encoded) == message)
        }
    }

    @Test func namesAreEqualWithoutRegardToCase_andHaveBounds() throws {
        #expect(try name("A.b") == name("a.B") && name("A.b").hashValue == name("a.B").hashValue)
        #expect(try name("a.b") != name("a.c"))
        #expect(MulticastName("") == nil && MulticastName("a..b") == nil && MulticastName("a.") == nil)
        #expect(MulticastName(labels: [[UInt8](repeating: 65, count: 64)]) == nil)
        func long(endingIn count: Int) -> MulticastName? {
            MulticastName(labels: [63, 63, 63, count].map { [UInt8](repeating: 65, count: $0) })
        }
        #expect(long(endingIn: 61) != nil && long(endingIn: 62) == nil)
    }

    // MARK: What anyone may send

    @Test func aMessageThatIsCutAnywhereIsRefused() throws {
        for text in [Self.answer, Self.query] {
            let whole = try bytes(text)
            for count in whole.indices { #expect(fault(Array(whole.prefix(count))) != nil, "\(count)") }
            #expect(fault(whole + [0]) == .trailing)
        }
    }

    /// A message with one question whose name is these bytes.
    private func asking(_ name: [UInt8]) -> [UInt8] {
        [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 255, 0, 1]
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            [0xC0, 12], [0xC0, 13], [0xC0, 0], [0xC0, 11], [1, 65, 0xC0, 12], [0xC0, 14, 0xC0, 12], [0xFF, 0xFF],
        ] as [[UInt8]]) func pointersThatDoNotLeadBackAreRefused(name: [UInt8])
    {
        #expect(fault(asking(name)) == .pointer)
    }

    /// Each name of a chain points to the one before; the last would have more than 255 bytes.
    @Test func aChainOfPointersMakesNoNameThatIsTooLong() {
        var message: [UInt8] = [0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0]
        var before: Int?
        for _ in 0..<5 {
            let place = message.count
            message += [60] + [UInt8](repeating: 65, count: 60)
            message += before.map { [0xC0 | UInt8($0 >> 8), UInt8($0 & 255)] } ?? [0]
            message += [0, 255, 0, 1]
            before = place
        }
        #expect(fault(message) == .name)
    }

    @Test(arguments: [[0x40, 65, 0], [0x80, 65, 0], [64] + [UInt8](repeating: 65, count: 64) + [0]] as [[UInt8]])
    func labelsOfAnotherKindAreRefused(name: [UInt8]) {
        #expect(fault(asking(name)) == .name)
    }

    @Test func moreThanIsReadIsRefused() throws {
        let question: [UInt8] = [1, 65, 0, 0, 255, 0, 1]
        var many: [UInt8] = [0, 0, 0, 0, 0, 65, 0, 0, 0, 0, 0, 0]
        for _ in 0..<65 { many += question }
        #expect(fault(many) == .tooMany)
        #expect(fault([0, 0, 0x84, 0, 0, 0, 0, 200, 0, 0, 0, 57]) == .tooMany)
        #expect(fault([UInt8](repeating: 0, count: 9001)) == .tooLong)
    }

    @Test func dataOfAnotherFormIsRefused() {
        func record(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
            [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0] + [1, 65, 0, 0, type, 0, 1, 0, 0, 0, 1, 0, UInt8(data.count)] + data
        }
        for (type, data) in [
            (1, [1, 2, 3]), (1, [1, 2, 3, 4, 5]), (28, [1]), (12, [1, 65, 0, 0]), (33, [0, 0, 0, 0, 0, 1]),
            (33, [0, 0, 0, 0, 0, 1, 1, 65, 0, 0]),
        ] as [(UInt8, [UInt8])] {
            #expect(fault(record(type, data)) == .data, "\(type) \(data)")
        }
        #expect(fault(record(99, [1, 2, 3])) == nil, "another type is passed over")
    }

    @Test func anotherKindOfQueryAndAnErrorAreIgnored() throws {
        for (high, low) in [(0x08, 0), (0x84, 3), (0x28, 0)] as [(UInt8, UInt8)] {
            var message = try bytes(Self.answer)
            (message[2], message[3]) = (high, low)
            #expect(fault(message) == .kind)
        }
    }

    /// Nothing that is changed makes the reader trap, read beyond its end, or write something else than it read.
    @Test func changedMessagesAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 6762)
        for text in [Self.answer, Self.query] {
            let whole = try bytes(text)
            for _ in 0..<4000 {
                var changed = whole
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    changed[Int.random(in: changed.indices, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                guard let message = try? DNSMessage(decoding: changed),
                    message.encoded.count <= DNSMessage.maximumByteCount,
                    !(message.answers + message.additional).contains(where: {
                        if case .other = $0.value { true } else { false }
                    })
                else { continue }
                let again = try DNSMessage(decoding: message.encoded)
                #expect(again == message)
            }
        }
    }
}
