// SPDX-License-Identifier: Apache-2.0

import Testing
import VerifiableMap

struct SnapshotTests {
    let version: MapVersion
    let bytes: [UInt8]

    init() throws {
        version = try VerifiableMapTests.version(numbered(0..<20))
        bytes = version.snapshot(position: 77)
    }

    /// The root and position of a snapshot that is given in pieces of this length.
    private func load(_ bytes: [UInt8], pieces: Int? = nil) throws -> (root: MapHash, position: UInt64?) {
        var reader = MapSnapshotReader()
        let length = pieces ?? max(1, bytes.count)
        for start in stride(from: 0, to: bytes.count, by: length) {
            try reader.read(Array(bytes[start..<min(bytes.count, start + length)]))
        }
        let position = reader.position
        let trie = try reader.finish()
        return (trie.current.root, position)
    }

    /// The bytes with a checksum that fits them.
    private func sealed(_ body: some Sequence<UInt8>) -> [UInt8] { Array(body) + sha256(Array(body)) }

    @Test func theBytesAreLaidOutAsDescribed() {
        let entries = version.entries.flatMap { $0.key.bytes + $0.value.bytes }
        let numbers: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 77] + [0, 0, 0, 0, 0, 0, 0, 20]
        let header = Array("signet-map-snapshot/v1\n".utf8) + numbers + version.root.bytes
        #expect(bytes == sealed(header + entries))
    }

    @Test func aSnapshotGivesTheSameMapBack() throws {
        for count in [0, 1, 2, 3, 1_023, 1_024, 1_025, 20_000] {
            let version = try VerifiableMapTests.version(numbered(0..<count))
            let bytes = version.snapshot(position: .max)
            let trie = try MapTrie.decoding(snapshot: bytes)
            let loaded = trie.current
            #expect(loaded.root == version.root && loaded.count == count)
            #expect(loaded.snapshot(position: .max) == bytes)
        }
    }

    @Test func aLoadedTrieGoesOn() throws {
        var trie = try MapTrie.decoding(snapshot: bytes)
        try trie.update(numbered(20..<40))
        let root = trie.current.root
        #expect(root == (try VerifiableMapTests.version(numbered(0..<40)).root))
    }

    @Test(arguments: [1, 2, 63, 64, 65, 1_000]) func piecesOfAnyLengthAreRead(length: Int) throws {
        let loaded = try load(bytes, pieces: length)
        #expect(loaded.root == version.root && loaded.position == 77)
    }

    @Test func itIsWrittenInPiecesThatMakeTheWhole() throws {
        let version = try VerifiableMapTests.version(numbered(0..<5_000))
        var pieces: [[UInt8]] = []
        version.writeSnapshot(position: 1) { pieces.append($0) }
        #expect(pieces.map(\.count).max() ?? 0 <= 1 << 16 + 71)
        #expect(Array(pieces.joined()) == version.snapshot(position: 1))
    }

    @Test func aFailingSinkStopsTheWriting() {
        var count = 0
        #expect(throws: WrongLength.self) {
            try version.writeSnapshot(position: 1) { _ throws(WrongLength) in
                count += 1
                throw WrongLength()
            }
        }
        #expect(count == 1)
    }

    @Test func damageToAnyByteIsRefused() throws {
        for index in bytes.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] ^= change
                #expect(throws: MapSnapshotError.self, "byte \(index)") { try load(damaged) }
            }
        }
    }

    @Test func everyCutIsRefused() throws {
        for count in bytes.indices {
            #expect {
                try load(Array(bytes.prefix(count)))
            } throws: { error in
                if case .truncated(let missing)? = error as? MapSnapshotError { return missing > 0 }
                return false
            }
        }
    }

    @Test func trailingBytesAreRefused() {
        #expect(throws: MapSnapshotError.leftOverBytes(1)) { try load(bytes + [0]) }
        #expect(throws: MapSnapshotError.leftOverBytes(1)) { try load(bytes + [0], pieces: 1) }
    }

    @Test func anotherFirstLineIsRefused() {
        let next = Array("signet-map-snapshot/v2\n".utf8) + bytes.dropLast(32).dropFirst(23)
        #expect(throws: MapSnapshotError.unknownFormat) { try load(sealed(next)) }
    }

    @Test func aDamagedChecksumIsRefused() {
        var damaged = bytes
        damaged[bytes.count - 1] ^= 1
        #expect(throws: MapSnapshotError.checksumMismatch) { try load(damaged) }
    }

    @Test func anotherPositionIsRefusedByTheChecksumAlone() {
        var damaged = bytes
        damaged[30] ^= 1
        #expect(throws: MapSnapshotError.checksumMismatch) { try load(damaged) }
    }

    @Test func aRootThatTheEntriesDoNotHaveIsRefused() {
        var body = Array(bytes.dropLast(32))
        body[39] ^= 1
        #expect(throws: MapSnapshotError.rootMismatch) { try load(sealed(body)) }
    }

    @Test func entriesOutOfOrderAreRefused() {
        var body = Array(bytes.dropLast(32))
        let (first, second) = (71..<135, 135..<199)
        let swapped = Array(body[second]) + Array(body[first])
        body.replaceSubrange(71..<199, with: swapped)
        #expect(throws: MapSnapshotError.keysNotAscending(entry: 1)) { try load(sealed(body)) }
    }

    @Test func aKeyTwiceIsRefused() {
        var body = Array(bytes.dropLast(32))
        body.replaceSubrange(135..<167, with: body[71..<103])
        #expect(throws: MapSnapshotError.keysNotAscending(entry: 1)) { try load(sealed(body)) }
    }

    /// Refused by the number alone, before any memory is taken for it.
    @Test func moreEntriesThanTheTrieHoldsAreRefused() {
        var body = Array(bytes.dropLast(32))
        body.replaceSubrange(31..<39, with: [UInt8](repeating: 0xFF, count: 8))
        #expect(throws: MapSnapshotError.tooManyEntries(.max)) { try load(sealed(body)) }
    }

    @Test func mutatedSnapshotsNeverTrapAndAreRefused() throws {
        var mutator = Mutator(seed: 21)
        for _ in 0..<2_000 {
            let mutant = mutator.mutate(bytes)
            if mutant != bytes { #expect(throws: MapSnapshotError.self) { try load(mutant) } }
        }
    }
}
