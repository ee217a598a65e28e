// SPDX-License-Identifier: Apache-2.0

import ContactMatching
import Crypto
import KeyTransparency
import Meeting
import MeetingClient
import Testing

@testable import Signet

@Suite struct ContactBookTests {
    private let key = SymmetricKey(data: [UInt8](repeating: 3, count: 32))
    private let nonce = [UInt8](repeating: 4, count: 12)

    private func handle(_ name: String) throws -> Handle { try Handle(canonical: Array("\(name)@example.org".utf8)) }

    /// People who were met within half a year have a token of the user's in common.
    @Test func aTokenIsGivenForNinetyDays_andTheOneBeforeGoesWithIt() {
        var book = ContactBook()
        var given: [UInt64: [ContactToken]] = [:]
        for day: UInt64 in [100, 189, 190, 279, 280, 500] { given[day] = book.tokens(on: day) { .fresh() } }
        #expect(given[100] == given[189])
        #expect(given[100]?.count == 1)
        #expect(given[190]?.count == 2 && given[190]?.last == given[100]?.first)
        #expect(given[190] == given[279])
        #expect(given[280]?.last == given[190]?.first && given[280]?.first != given[190]?.first)
        #expect(given[280]?.contains { given[100]?.contains($0) == true } == false)
        #expect(given[500]?.count == 1, "a token that is older than half a year is given to nobody")
    }

    @Test func aClockThatWentBackMakesAnotherToken() {
        var book = ContactBook()
        let later = book.tokens(on: 200) { .fresh() }
        let earlier = book.tokens(on: 100) { .fresh() }
        #expect(earlier.first != later.first)
    }

    /// A device that ends the connection once the meeting is kept. Nobody is told that they have not met.
    @Test func giftsThatAreLostLeaveTheMeetingAsItIs() {
        for error in [MeetingLinkError.timedOut, .closed, .tooMuch] as [any Error] + [
            MeetingError.notOpened, .malformed,
        ] {
            #expect(MeetingRefusal(ofGift: error) == .giftsLost)
        }
        #expect(MeetingRefusal(ofGift: MatchingError.notAPoint) == .matching(.notAPoint))
        #expect(MeetingRefusal(ofGift: MeetingRefusal.cardOfAnother) == .cardOfAnother)
        #expect("\(SignetError.meeting(.giftsLost))".contains("The meeting stands"))
    }

    @Test func hiddenPeopleAreNotCompared() throws {
        var book = ContactBook()
        let (cleo, dan) = (try handle("cleo"), try handle("dan"))
        let tokens: [ContactToken] = [.fresh(), .fresh(), .fresh()]
        book.keep(ContactBook.Person(day: 1, tokens: [tokens[0], tokens[1]], card: nil), of: cleo)
        book.keep(ContactBook.Person(day: 1, tokens: [tokens[2]], card: nil), of: dan)
        #expect(book.owners(except: []) == [tokens[0]: cleo, tokens[1]: cleo, tokens[2]: dan])
        #expect(book.owners(except: [cleo]) == [tokens[2]: dan])
    }

    @Test func theBookOpensOnThisDeviceAlone_andUnchanged() throws {
        var book = ContactBook()
        _ = book.tokens(on: 1) { .fresh() }
        book.keep(ContactBook.Person(day: 2, tokens: [.fresh()], card: [1, 2, 3]), of: try handle("cleo"))
        book.keep(ContactBook.Person(day: 3, tokens: [.fresh()], card: nil), of: try handle("cleo"))
        #expect(book.people[try handle("cleo")]?.card == [1, 2, 3], "a card stays until there is another")
        let sealed = try #require(book.sealed(under: key, nonce: nonce))
        #expect(sealed.count == 4096 + 28)
        #expect(ContactBook(opening: sealed, with: key) == book)
        #expect(ContactBook(opening: sealed, with: SymmetricKey(data: nonce + nonce + nonce.prefix(8))) == nil)
        for spot in stride(from: 0, to: sealed.count, by: 97) {
            var changed = sealed
            changed[spot] ^= 1
            #expect(ContactBook(opening: changed, with: key) == nil)
        }
        #expect(ContactBook(opening: [], with: key) == nil)
    }
}
