// SPDX-License-Identifier: Apache-2.0

import Testing
import VerifiableMap

struct PredictionTests {
    let entries: [MapEntry]

    init() throws { entries = try numbered(0..<1_000) }

    /// A trie with the first `count` entries.
    private func trie(_ count: Int) throws -> MapTrie {
        var trie = MapTrie()
        try trie.update(Array(entries.prefix(count)))
        return trie
    }

    @Test func aPredictionHasTheRootThatTheMapWillHave() throws {
        var trie = try trie(800)
        let changed = MapEntry(key: entries[5].key, value: entries[6].value)
        let prediction = try trie.predict(Array(entries[800...]) + [changed])
        try trie.commit(prediction)
        let version = trie.current
        #expect(version.root == prediction.root)
        #expect(
            version.root
                == (try VerifiableMapTests.version(entries.map { $0.key == changed.key ? changed : $0 }).root)
        )
        #expect(version.count == 1_000)
    }

    @Test func aPredictionLeavesTheServedVersionAlone() throws {
        var trie = try trie(800)
        let before = trie.current
        let root = before.root
        let proofs = entries.map { before.proof(of: $0.key) }
        let prediction = try trie.predict(Array(entries[700...]))
        let served = trie.current
        #expect(served.root == root && served.count == 800)
        #expect(entries.map { served.proof(of: $0.key) } == proofs)
        #expect(prediction.next.proof(of: entries[900].key) != proofs[900])
    }

    @Test func anEarlierVersionStaysWholeThroughManyCommits() throws {
        var trie = try trie(500)
        let early = trie.current
        let proofs = entries.map { early.proof(of: $0.key) }
        for start in stride(from: 500, to: 1_000, by: 25) {
            try trie.update(Array(entries[start..<start + 25]))
        }
        #expect(entries.map { early.proof(of: $0.key) } == proofs)
        #expect(early.root == (try version(Array(entries.prefix(500))).root))
    }

    @Test func theNextBatchIsLaidOutOnAPredictionNotYetCommitted() throws {
        var trie = try trie(800)
        let first = try trie.predict(Array(entries[800..<900]))
        let second = try trie.predict(Array(entries[900...]), on: first.next)
        #expect(throws: MapCommitError.notOnCurrentVersion) { try trie.commit(second) }
        let served = trie.current.count
        #expect(served == 800)
        try trie.commit(first)
        try trie.commit(second)
        let root = trie.current.root
        #expect(root == (try version(entries).root))
    }

    @Test func aPredictionOnAVersionThatWasReplacedIsRefused() throws {
        var trie = try trie(800)
        let late = try trie.predict(Array(entries[800..<900]))
        try trie.update(Array(entries[900...]))
        #expect(throws: MapCommitError.notOnCurrentVersion) { try trie.commit(late) }
        let count = trie.current.count
        #expect(count == 900)
    }

    @Test func aPredictionOfAnotherTrieIsRefused() throws {
        var trie = try trie(10)
        var other = try self.trie(10)
        let foreign = try other.predict([entries[20]])
        #expect(throws: MapCommitError.notOnCurrentVersion) { try trie.commit(foreign) }
        #expect(throws: MapBatchError.versionOfAnotherTrie) {
            try trie.predict([entries[20]], on: foreign.next)
        }
    }

    @Test func aKeyTwiceInABatchIsRefusedAndNothingChanges() throws {
        var trie = try trie(10)
        let root = trie.current.root
        let twice = [entries[20], entries[3], MapEntry(key: entries[20].key, value: entries[1].value)]
        #expect(throws: MapBatchError.duplicateKey(entries[20].key)) { try trie.predict(twice) }
        #expect(throws: MapBatchError.duplicateKey(entries[20].key)) { try trie.update(twice) }
        let after = trie.current.root
        #expect(after == root)
    }

    @Test func anEmptyBatchChangesNothing() throws {
        var trie = MapTrie()
        try trie.update([])
        #expect(try trie.predict([]).root == .emptyTrie)
        try trie.update([entries[0]])
        let root = trie.current.root
        #expect(try trie.predict([]).root == root)
    }

    /// n leaves and n - 1 inner nodes, whatever went before.
    @Test func nodesOfVersionsThatAreGoneAreFreed() throws {
        var trie = try trie(0)
        var kept: [MapVersion] = []
        for start in stride(from: 0, to: 1_000, by: 50) {
            _ = try trie.predict(Array(entries.suffix(400)))
            try trie.update(Array(entries[start..<start + 50]))
            kept.append(trie.current)
        }
        let held = trie.nodeCount()
        #expect(held > 1_999)
        kept.removeAll()
        let left = trie.nodeCount()
        #expect(left == 1_999)
    }

    @Test func updatesInPlaceDoNotGrowTheTrie() throws {
        var trie = try trie(1_000)
        for round in 0..<20 {
            try trie.update(
                entries.prefix(100).map { MapEntry(key: $0.key, value: try value(sha256("\(round)"))) })
        }
        let count = trie.nodeCount()
        #expect(count == 1_999)
    }

    @Test func aVersionOutlivesItsTrie() throws {
        let version = try version(entries)
        #expect(
            try version.proof(of: entries[9].key).verify(entries[9].key, in: version.root).outcome
                == .present(entries[9].value))
    }

    @Test func readersOfManyVersionsAreUndisturbedByTheWriter() async throws {
        var trie = try trie(500)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in stride(from: 500, to: 1_000, by: 10) {
                let version = trie.current
                group.addTask { [entries] in
                    for entry in entries {
                        _ = try version.proof(of: entry.key).verify(entry.key, in: version.root)
                    }
                }
                let prediction = try trie.predict(Array(entries[start..<start + 10]))
                try trie.commit(prediction)
                if start.isMultiple(of: 50) { try await group.next() }
            }
            try await group.waitForAll()
        }
        let count = trie.nodeCount()
        #expect(count == 1_999)
    }
}
