// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// Somebody guesses codes, or uses one for something else.
@Suite struct MailCodesTests {
    private static let second: UInt64 = 1_000_000_000
    private let alice: MailCodes.Subject
    private let codes = MailCodes(random: { MailCode(number: 123_456) })
    private let right = MailCode(number: 123_456)
    private let wrong = MailCode(number: 654_321)

    init() throws { alice = try Self.subject("alice", 1) }

    private static func subject(_ name: String, _ key: UInt8) throws -> MailCodes.Subject {
        MailCodes.Subject(
            handle: try Handle(typed: Array("\(name)@example.org".utf8)), deviceKey: [UInt8](repeating: key, count: 32))
    }

    @Test func theCodeThatWasSentIsRight_evenTwice() {
        #expect(!codes.isRight(right, for: alice, at: 0), "none was sent")
        #expect(codes.make(for: alice, at: 0) == right)
        #expect(codes.isRight(right, for: alice, at: 1))
        #expect(codes.isRight(right, for: alice, at: 2), "the answer was lost")
        codes.drop(alice)
        #expect(!codes.isRight(right, for: alice, at: 3), "the handle is registered")
    }

    @Test func aCodeIsForOneHandleAndOneDeviceKey() throws {
        _ = codes.make(for: alice, at: 0)
        #expect(!codes.isRight(right, for: try Self.subject("bob", 1), at: 1))
        #expect(!codes.isRight(right, for: try Self.subject("alice", 2), at: 1))
        #expect(codes.isRight(right, for: alice, at: 1), "and what others try counts against nobody else")
    }

    @Test func threeWrongCodesEndTheCode() {
        _ = codes.make(for: alice, at: 0)
        for _ in 0..<2 { #expect(!codes.isRight(wrong, for: alice, at: 1)) }
        #expect(codes.isRight(right, for: alice, at: 1))
        #expect(!codes.isRight(wrong, for: alice, at: 1))
        #expect(!codes.isRight(right, for: alice, at: 1))
    }

    @Test func aCodeIsGoodForAQuarterOfAnHour() {
        _ = codes.make(for: alice, at: 0)
        #expect(codes.isRight(right, for: alice, at: 900 * Self.second - 1))
        #expect(!codes.isRight(right, for: alice, at: 900 * Self.second))
        #expect(!codes.isRight(right, for: alice, at: 1), "it is gone for good")
    }

    @Test func aHandleGetsThreeCodes_whateverTheDeviceKeys_andOneMoreEachFourHours() throws {
        for key in 1...3 { #expect(codes.make(for: try Self.subject("alice", UInt8(key)), at: 0) != nil) }
        #expect(codes.make(for: try Self.subject("alice", 4), at: 0) == nil)
        #expect(codes.make(for: try Self.subject("bob", 4), at: 0) != nil, "others get theirs")
        #expect(codes.make(for: alice, at: 14_400 * Self.second - 1) == nil)
        #expect(codes.make(for: alice, at: 14_400 * Self.second) != nil)
    }

    @Test func aNewCodeReplacesTheOneBefore() {
        let next = Atomic<UInt32>(0)
        let codes = MailCodes(random: { MailCode(number: next.wrappingAdd(1, ordering: .relaxed).newValue) })
        _ = codes.make(for: alice, at: 0)
        _ = codes.make(for: alice, at: 1)
        #expect(!codes.isRight(MailCode(number: 1), for: alice, at: 2))
        #expect(codes.isRight(MailCode(number: 2), for: alice, at: 2))
    }

    @Test func theOldestIsForgottenFirst() throws {
        let codes = MailCodes(remembering: 2, random: { MailCode(number: 7) })
        let people = try (1...3).map { try Self.subject("p\($0)", 1) }
        for person in people { _ = codes.make(for: person, at: 0) }
        #expect(people.map { codes.isRight(MailCode(number: 7), for: $0, at: 1) } == [false, true, true])
    }

    @Test func codesDiffer() {
        let made = Set(
            (0..<64).compactMap { _ in
                MailCodes().make(for: alice, at: 0)
            })
        #expect(made.count > 32)
    }

    @Test func aCodeHasSixDigits() {
        #expect(MailCode(number: 7).headerValue == "000007")
        #expect(MailCode(typed: "000-007") == MailCode(number: 7))
        for text in ["", "00007", "0000007", "00000a", "٠٠٠٠٠٧"] { #expect(MailCode(typed: text) == nil, "\(text)") }
    }
}
