// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import NotesClient

/// Which new records follow a chain, tested with records that hold a number only.
@Suite struct NewsSieveTests {
    private struct Record: Hashable {
        let number: UInt64
        var isGood = true
        var copy = 0
    }

    private func sieve(_ known: [UInt64], _ news: [Record]) -> NewsSieve<Record> {
        NewsSieve(known: known.map { Record(number: $0) }, news: news, number: \.number) { $0.last?.isGood ?? false }
    }

    @Test func aBadRecordIsSkippedAndTheGoodOneOfItsNumberKept() {
        let junk = Record(number: 2, isGood: false)
        let found = sieve([1], [junk, Record(number: 2), Record(number: 3)])
        #expect(found.kept.map(\.number) == [2, 3])
        #expect(found.refuted == [junk])
    }

    @Test func aBadRecordOfAKnownNumberIsRefuted() {
        let junk = Record(number: 1, isGood: false)
        #expect(sieve([1], [junk]).refuted == [junk])
        #expect(sieve([1], [Record(number: 1)]).refuted.isEmpty, "the same once more")
    }

    @Test func twoGoodRecordsOfOneNumberAreNeitherKeptNorRefuted() {
        let found = sieve([1], [Record(number: 2), Record(number: 2, copy: 1), Record(number: 3)])
        #expect(found.kept.isEmpty && found.refuted.isEmpty)
        #expect(sieve([1], [Record(number: 1, copy: 1)]).refuted.isEmpty)
    }

    @Test func recordsThatMayFollowLaterAreNotRefuted() {
        let found = sieve([1], [Record(number: 2, isGood: false), Record(number: 3), Record(number: 0)])
        #expect(found.kept.isEmpty && found.refuted.isEmpty)
    }
}
