// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing
import VerifiableMap

/// Our trie beside the recursive definition, on keys that are made to have much in common.
struct ModelTests {
    /// Keys that differ in a few bits only, at any depth down to the last.
    private func clusteredKey(_ generator: inout SeededGenerator) throws -> MapKey {
        var bytes = [UInt8](repeating: UInt8.random(in: 0...1, using: &generator) * 0xFF, count: 32)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let bit =
                [0, 1, 7, 8, 63, 64, 100, 127, 128, 191, 192, 254, 255].randomElement(using: &generator) ?? 0
            bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
        }
        return try key(bytes)
    }

    private func batch(_ generator: inout SeededGenerator) throws -> [MapEntry] {
        var batch: [MapKey: MapEntry] = [:]
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let key = try clusteredKey(&generator)
            batch[key] = MapEntry(key: key, value: try value(sha256("\(generator.next())")))
        }
        return batch.values.sorted { $0.value.bytes.lexicographicallyPrecedes($1.value.bytes) }
    }

    private func check(_ version: MapVersion, _ model: RecursiveMap, _ keys: [MapKey]) throws {
        #expect(version.root.bytes == model.root)
        #expect(version.count == model.entries.count)
        for key in keys {
            let proof = version.proof(of: key)
            #expect(proof.encoded == model.proof(of: key.bytes))
            let expected = try model.entries[key.bytes].map { try value($0) }
            #expect(version.value(of: key) == expected)
            #expect(
                try proof.verify(key, in: version.root).outcome == (expected.map { .present($0) } ?? .absent))
        }
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func anyRunOfBatchesAgreesWithTheDefinition(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var trie = MapTrie()
        var model = RecursiveMap()
        var kept: [(MapVersion, RecursiveMap)] = []
        for _ in 0..<12 {
            let batch = try batch(&generator)
            let prediction = try trie.predict(batch)
            if Int.random(in: 0..<4, using: &generator) == 0 { continue }
            kept.append((trie.current, model))
            try trie.commit(prediction)
            model.update(batch)
            let keys = try batch.map(\.key) + (0..<8).map { _ in try clusteredKey(&generator) }
            try check(trie.current, model, keys)
            if kept.count > 3 { kept.remove(at: Int.random(in: 0..<kept.count, using: &generator)) }
            await Task.yield()  // Tests of real servers share the threads.
            for (version, model) in kept { try check(version, model, keys) }
        }
        let version = trie.current
        #expect(
            version.entries.map(\.key.bytes) == model.entries.keys.sorted { $0.lexicographicallyPrecedes($1) }
        )
        #expect(version.entries.allSatisfy { model.entries[$0.key.bytes] == $0.value.bytes })
    }

    @Test func theRootDoesNotDependOnTheOrderOfInsertion() throws {
        let entries = try numbered(0..<2_000)
        let root = try version(entries).root
        var generator = SeededGenerator(seed: 3)
        for order in [entries, entries.reversed(), entries.shuffled(using: &generator)] {
            for batchCount in [1, 7, 1_999, 2_000] {
                var trie = MapTrie()
                for start in stride(from: 0, to: order.count, by: batchCount) {
                    try trie.update(Array(order[start..<min(order.count, start + batchCount)]))
                }
                let found = trie.current.root
                #expect(found == root)
            }
        }
    }

    @Test func aTrieAsDeepAsAKeyHasBitsIsProvedAndRead() throws {
        let lone = try (0..<256).map { bit in
            var bytes = [UInt8](repeating: 0, count: 32)
            bytes[bit / 8] = 0x80 >> UInt8(bit % 8)
            return MapEntry(key: try key(bytes), value: try value(sha256("\(bit)")))
        }
        let zero = MapEntry(key: try key([UInt8](repeating: 0, count: 32)), value: try value(sha256("zero")))
        let version = try version(lone + [zero])
        let proof = version.proof(of: zero.key)
        #expect(proof.encoded.count == 256 * 33)
        #expect(
            try MapProof(decoding: proof.encoded, value: zero.value).verify(zero.key, in: version.root)
                .outcome == .present(zero.value))
        var model = RecursiveMap()
        model.update(lone + [zero])
        #expect(version.root.bytes == model.root)
    }

    @Test func aKeyOfTheLastBitsNeighbourIsAbsentUntilItIsSet() throws {
        let entry = try numbered(1)
        var bytes = entry.key.bytes
        bytes[31] ^= 1
        let neighbour = MapEntry(key: try key(bytes), value: entry.value)
        #expect(try version([entry]).proof(of: neighbour.key) == .absent(beside: entry, path: MapPath([])))
        #expect(try version([entry, neighbour]).proof(of: neighbour.key).path?.steps.map(\.bit) == [255])
    }
}
