// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing
import VerifiableMap

/// The index and its epochs: laying out and checking lead to the same, and what is refused changes nothing.
@Suite struct EpochIndexTests {
    static func entry(_ key: UInt8, _ value: UInt8) throws -> MapEntry {
        MapEntry(
            key: try #require(MapKey([UInt8](repeating: key, count: 32))),
            value: try #require(MapValue([UInt8](repeating: value, count: 32))))
    }

    static let epochs: [[(UInt8, UInt8)]] = [[(1, 1), (2, 1)], [], [(2, 2), (3, 1)], [(1, 3)]]

    @Test func aReplayedIndexIsTheOneThatWasLaidOut() throws {
        var laid = EpochIndex()
        var replayed = EpochIndex()
        var plain: [UInt8: UInt8] = [:]
        for (place, epoch) in Self.epochs.enumerated() {
            let changes = try epoch.map { try Self.entry($0, $1) }
            let index = UInt64(place) * 5
            let record = try laid.close(changes, at: 1000 + UInt64(place), index: index)
            try replayed.close(changes, with: record, index: index)
            #expect(replayed.epochs == laid.epochs)
            #expect(replayed.current.root == laid.current.root && record.root == laid.current.root)
            plain.merge(epoch) { $1 }
            var whole = MapTrie()
            try whole.update(plain.map { try Self.entry($0, $1) })
            #expect(record.root == whole.current.root)
            #expect(record.labelCount == UInt64(plain.count))
        }
    }

    @Test func aRefusedEpochChangesNothing() throws {
        var index = EpochIndex()
        _ = try index.close([Self.entry(1, 1)], at: 1000, index: 0)
        let (root, epochs) = (index.current.root, index.epochs)
        let lie = index.epochs.next(at: 2000, index: 3, labelCount: 2, root: root)
        let changes = try [Self.entry(2, 1)]
        do throws(IndexFault) {
            try index.close(changes, with: lie, index: 3)
            Issue.record("a wrong root was taken")
        } catch {
            guard case .indexRoot(let found, let expected) = error else {
                Issue.record("refused by \(error)")
                return
            }
            #expect(found == lie && expected != root)
        }
        #expect(index.current.root == root && index.epochs == epochs)
        let record = try index.close(changes, at: 2000, index: 3)
        #expect(record.number == 2 && record.labelCount == 2)
    }
}
