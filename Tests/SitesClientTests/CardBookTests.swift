// SPDX-License-Identifier: Apache-2.0

import Foundation
import Issuance
import KeyPinning
import PinScenarios
import PinnedChains
import PinnedHTTP
import SignetClient
import StrictJSON
import Testing

@testable import SitesClient

/// The keys for cards, without an issuer.
@Suite struct CardBookTests {
    @Test func keysForTooFewOrTooManyCopiesAreNotMade() async throws {
        let device = try await Device()
        let book = CardBook(keys: device.keys, list: DurableFile(path: device.list.path() + "-cards"))
        for count in [Int.min, 0, CardBook.maximumCopyCount + 1, Int.max] {
            await #expect(throws: SitesError.card(.tooManyKeys)) { try await book.keys(forCopies: count, grant()) }
        }
        let keys = try await book.keys(forCopies: 2, grant())
        #expect(Set(keys).count == 2)
    }

    /// The connection is to one issuer, and the link to another's offer. Nothing is sent, because nobody listens there.
    @Test func anOfferIsFetchedOnlyFromItsIssuer() async throws {
        let offer = try CredentialOffer(
            of: "member-card", by: IssuerName("https://club.example"), code: "abcdefghijklmnopqrstuvwxyz012345",
            transactionCode: nil)
        let anchors = try TrustAnchors(try #require(try PinScenario.all(at: Date()).first).anchors)
        let address = try ServerAddress("https://localhost:1")
        let connection = try IssuerConnection(address, through: .withoutPins(for: address, trusting: anchors))
        #expect(try CardOffer.authority(of: offer.link) == "club.example")
        await #expect(throws: SitesError.card(.anotherIssuer)) {
            try await CardOffer.fetch(offer.link, from: connection)
        }
    }

    @Test func anOfferThatWasBegunIsReadAsItWasWritten() throws {
        var ledger = CardLedger()
        let before = ledger.encoded
        #expect(before.firstRange(of: Array("offers".utf8)) == nil, "older programs read it")
        ledger.nextKey = 4
        ledger.waiting = [2, 3]
        ledger.offers = [.init(identifier: "of club.example", wallet: 1, keys: [2, 3])]
        let read = try CardLedger(decoding: ledger.encoded)
        #expect(read.encoded == ledger.encoded && read.offers.first?.keys == [2, 3])
        #expect(read.offers.first?.wallet == 1 && read.offers.first?.identifier == "of club.example")
        ledger.close([2])
        #expect(ledger.waiting == [3] && ledger.offers.count == 1)
        ledger.close([3])
        #expect(ledger.waiting.isEmpty && ledger.offers.isEmpty)
    }
}
