// SPDX-License-Identifier: Apache-2.0

/// Of records that came for a numbered chain, those that follow it, and those that never will.
///
/// Where two records of one number both hold, their author signed two histories: then nothing from there on is taken, and
/// both stay, so that the contradiction is seen.
struct NewsSieve<Record: Hashable> {
    /// What follows what is known, in order.
    private(set) var kept: [Record] = []
    /// What does not hold in its place, which is taken.
    private(set) var refuted: [Record] = []

    /// - Parameter holds: whether the last record of a chain may stand there; the ones before are known to.
    init(known: [Record], news: [Record], number: (Record) -> UInt64, holds: ([Record]) -> Bool) {
        var chain = known
        let byNumber = Dictionary(grouping: news, by: number)
        while let candidates = byNumber[UInt64(chain.count) + 1] {
            let good = candidates.filter { holds(chain + [$0]) }
            guard good.count == 1 else { break }
            chain += good
            kept += good
        }
        for record in news where number(record) > 0 && number(record) <= UInt64(chain.count) {
            let place = Int(number(record)) - 1
            if chain[place] != record, !holds(Array(chain[..<place]) + [record]) { refuted.append(record) }
        }
    }
}
