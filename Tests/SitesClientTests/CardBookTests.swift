// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetClient
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
}
