// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing
import VerifiableMap

struct MapValueTests {
    @Test func onlyThirtyTwoBytesMakeAKeyAValueOrAHash() {
        for count in 0...70 where count != 32 {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(MapKey(bytes) == nil && MapKey(bytes.span) == nil)
            #expect(MapValue(bytes) == nil && MapValue(bytes.span) == nil)
            #expect(MapHash(bytes) == nil && MapHash(bytes.span) == nil)
        }
    }

    @Test func bytesComeBackInTheirOrder() throws {
        let bytes = Array(UInt8(1)...32)
        #expect(try key(bytes).bytes == bytes)
        #expect(try value(bytes[...]).bytes == bytes)
        #expect(try hash(bytes).bytes == bytes)
        #expect(MapKey(bytes.span)?.bytes == bytes)
        #expect(MapValue(bytes.span)?.bytes == bytes)
        #expect(MapHash(bytes.span)?.bytes == bytes)
    }

    @Test func keysAreOrderedByTheirBytes() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let left = (0..<32).map { _ in UInt8.random(in: 0...1, using: &generator) }
            var right = left
            right[Int.random(in: 0..<32, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            #expect((try key(left) < key(right)) == left.lexicographicallyPrecedes(right))
        }
    }

    @Test func theRootOfNothingIsTheHashOfNothing() {
        let trie = MapTrie()
        let version = trie.current
        #expect(version.root == .emptyTrie)
        #expect(version.root.bytes == sha256([]))
        #expect(version.count == 0)
    }
}
