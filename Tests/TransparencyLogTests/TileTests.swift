// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

struct TileTests {
    @Test(
        arguments: [
            (Tile.Content.hashes(level: 0), 0, 256, "tile/0/000"),
            (.hashes(level: 0), 0, 1, "tile/0/000.p/1"),
            (.hashes(level: 1), 999, 255, "tile/1/999.p/255"),
            (.hashes(level: 0), 1000, 256, "tile/0/x001/000"),
            (.hashes(level: 63), 1_234_067, 256, "tile/63/x001/x234/067"),
            (.entries, 1_234_067, 7, "tile/entries/x001/x234/067.p/7"),
            (.entries, 0, 256, "tile/entries/000"),
            (.hashes(level: 3), .max, 256, "tile/3/x018/x446/x744/x073/x709/x551/615"),
        ] as [(Tile.Content, UInt64, Int, String)])
    func aTileHasItsPath(content: Tile.Content, index: UInt64, width: Int, path: String) throws {
        let tile = try Tile(content, index: index, width: width)
        #expect(tile.path == Array(path.utf8))
        #expect(try Tile(decodingPath: Array(path.utf8)) == tile)
        #expect(tile.isFull == (width == 256))
        #expect(try tile.full == Tile(content, index: index))
    }

    @Test(arguments: [
        "", "tile", "tile/", "tile/0", "tile/0/", "/tile/0/000", "tile/0/000/", "tile//000", "tiles/0/000",
        "tile/00/000", "tile/64/000", "tile/-1/000", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/x000",
        "tile/0/x000/000", "tile/0/001/000", "tile/0/x001", "tile/0/x001/x000", "tile/0/x1/000",
        "tile/0/X001/000",
        "tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01",
        "tile/0/000.p/1/",
        "tile/0/000.p/-1", "tile/0/000.P/1", "tile/0.p/1", "tile/0/.p/1", "tile/0/0a0", "tile/0/+00",
        "tile/entry/000",
        "tile/entries/x018/x446/x744/x073/x709/x551/616",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/x999/000",
        "tile/0/x001/000.p/1/x", "tile/data/000", "tile/0/000.p/1.p/1",
    ])
    func tilePath_refusesMalformedPaths(path: String) {
        #expect(throws: TileError.malformedPath) { try Tile(decodingPath: Array(path.utf8)) }
    }

    @Test func levelsAndWidthsHaveBounds() {
        for level in [-1, 64] {
            #expect(throws: TileError.levelOutOfRange(level)) { try Tile(.hashes(level: level), index: 0) }
        }
        for width in [-1, 0, 257] {
            #expect(throws: TileError.widthOutOfRange(width)) { try Tile(.entries, index: 0, width: width) }
        }
    }

    /// The two examples of the specification.
    @Test func aTreeHasTheTilesThatTheSpecificationCounts() throws {
        let tiles = Tile.added(from: 0, to: 70_000)
        func count(_ content: Tile.Content, full: Bool) -> Int {
            tiles.filter { $0.content == content && $0.isFull == full }.count
        }
        for content in [Tile.Content.hashes(level: 0), .entries] {
            #expect(count(content, full: true) == 273)
            #expect(tiles.contains(try Tile(content, index: 273, width: 112)))
            #expect(count(content, full: false) == 1)
        }
        #expect(count(.hashes(level: 1), full: true) == 1)
        #expect(tiles.contains(try Tile(.hashes(level: 1), index: 1, width: 17)))
        #expect(
            tiles.filter { $0.content == .hashes(level: 2) } == [
                try Tile(.hashes(level: 2), index: 0, width: 1)
            ])
        #expect(tiles.count == 274 + 274 + 2 + 1)

        let small = Tile.added(from: 0, to: 256)
        #expect(
            small == [
                try Tile(.hashes(level: 0), index: 0), try Tile(.hashes(level: 1), index: 0, width: 1),
                try Tile(.entries, index: 0),
            ])
    }

    @Test func growthAddsOnlyWhatChanged() throws {
        #expect(Tile.added(from: 5, to: 5).isEmpty)
        #expect(Tile.added(from: 6, to: 5).isEmpty)
        #expect(
            Tile.added(from: 255, to: 257) == [
                try Tile(.hashes(level: 0), index: 0), try Tile(.hashes(level: 0), index: 1, width: 1),
                try Tile(.hashes(level: 1), index: 0, width: 1),
                try Tile(.entries, index: 0), try Tile(.entries, index: 1, width: 1),
            ])
        #expect(Tile.added(from: .max - 1, to: .max).count == 2)
    }

    @Test func aTileHoldsTheNodesOfItsLevel() throws {
        var tree = MerkleTree()
        let leaves = (0..<600).map { TreeHash.leaf(Array("\($0)".utf8)) }
        for leaf in leaves { tree.append(leaf) }
        let tile = try Tile(.hashes(level: 0), index: 1)
        let hashes = try tree.hashes(of: tile)
        #expect(hashes == Array(leaves[256..<512]))
        #expect(try tree.hashes(of: Tile(.entries, index: 1)) == hashes)
        let above = try tree.hashes(of: Tile(.hashes(level: 1), index: 0, width: 2))
        #expect(above == [TreeHash.root(of: Array(leaves[..<256])), TreeHash.root(of: hashes)])
        let bytes = try tile.encode(hashes)
        #expect(bytes.count == 8192)
        #expect(try tile.hashes(decoding: bytes) == hashes)
        #expect(throws: TileError.wrongLength(expected: 256, actual: 2)) { try tile.encode(above) }
        #expect(throws: TileError.wrongLength(expected: 8192, actual: 8191)) {
            try tile.hashes(decoding: Array(bytes.dropLast()))
        }
        #expect(throws: MerkleTreeError.noSuchNode(level: 0, index: 600)) {
            try tree.hashes(of: Tile(.hashes(level: 0), index: 2))
        }
        #expect(throws: MerkleTreeError.noSuchNode(level: 0, index: .max)) {
            try tree.hashes(of: Tile(.hashes(level: 0), index: .max))
        }
    }
}

struct EntryBundleTests {
    @Test func aBundleIsLengthsAndEntries() throws {
        let bundle = try EntryBundle(entries: [[], [1, 2, 3]])
        #expect(bundle.encoded == [0, 0, 0, 3, 1, 2, 3])
        #expect(try EntryBundle(decoding: bundle.encoded, width: 2) == bundle)
        #expect(bundle.leafHashes == [TreeHash.leaf([UInt8]()), TreeHash.leaf([1, 2, 3])])
        let longest = try EntryBundle(entries: [[UInt8](repeating: 1, count: 65_535)])
        #expect(try EntryBundle(decoding: longest.encoded, width: 1) == longest)
    }

    @Test func eachMalformedBundleHasItsReason() {
        #expect(throws: TileError.truncatedEntry) { try EntryBundle(decoding: [0], width: 1) }
        #expect(throws: TileError.truncatedEntry) { try EntryBundle(decoding: [0, 1], width: 1) }
        #expect(throws: TileError.wrongLength(expected: 2, actual: 1)) {
            try EntryBundle(decoding: [0, 0], width: 2)
        }
        #expect(throws: TileError.wrongLength(expected: 1, actual: 2)) {
            try EntryBundle(decoding: [0, 0, 0, 0], width: 1)
        }
        for width in [-1, 0, 257] {
            #expect(throws: TileError.widthOutOfRange(width)) { try EntryBundle(decoding: [], width: width) }
        }
        #expect(throws: TileError.widthOutOfRange(0)) { try EntryBundle(entries: []) }
        #expect(throws: TileError.widthOutOfRange(257)) {
            try EntryBundle(entries: Array(repeating: [], count: 257))
        }
        #expect(throws: TileError.entryTooLong(byteCount: 65_536)) {
            try EntryBundle(entries: [[UInt8](repeating: 1, count: 65_536)])
        }
    }
}

/// Tessera's published log of 15 entries.
@Suite("A log of other software", .enabled(if: OutsideVectors.present, "the outside vectors are not here"))
struct OutsideLogTests {
    static let key = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"

    @Test func everyCheckpointTileAndBundleFitsTogether() throws {
        let bundle = try EntryBundle(
            decoding: OutsideVectors.bytes("tiles-log/tile/entries/000.p/15"), width: 15)
        var tree = MerkleTree()
        for leaf in bundle.leafHashes { tree.append(leaf) }
        let paths = try OutsideVectors.files(below: "tiles-log/tile").filter { $0.contains(".p/") }
        #expect(paths.count == 30)
        for path in paths {
            let tile = try Tile(decodingPath: Array("tile/\(path)".utf8))
            let bytes = try OutsideVectors.bytes("tiles-log/tile/\(path)")
            if tile.content == .entries {
                let read = try EntryBundle(decoding: bytes, width: tile.width)
                #expect(read.encoded == bytes)
                #expect(try read.leafHashes == tree.hashes(of: tile))
            } else {
                #expect(try tile.encode(tree.hashes(of: tile)) == bytes)
                #expect(try tile.hashes(decoding: bytes) == tree.hashes(of: tile))
            }
        }
        let key = try VerifierKey(decoding: Array(Self.key.utf8))
        let policy = try Policy(logs: [.init(key: key)], quorum: .none)
        for size in 0...15 {
            let bytes = try OutsideVectors.bytes("tiles-log/checkpoint.\(size)")
            let note = try SignedNote(decoding: bytes)
            let checkpoint = try Checkpoint(decoding: note.text)
            #expect(checkpoint.head == (try tree.head(size: UInt64(size))))
            #expect(note.encoded == bytes && checkpoint.text == note.text)
            #expect(try policy.verify(note).checkpoint == checkpoint)
        }
    }

    /// Ed25519 is deterministic where swift-crypto brings its own; CryptoKit adds randomness.
    @Test func ourSignatureWithAPublishedKeyIsThePublishedOne() throws {
        let seed = try Base64.decode(Array("AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg".utf8)).dropFirst()
        let signer = try NoteSigner(
            name: keyName("example.com/log/testdata"), algorithm: .ed25519, seed: Array(seed))
        #expect(signer.verifierKey.encoded == Array(Self.key.utf8))
        let note = try SignedNote(decoding: OutsideVectors.bytes("tiles-log/checkpoint.15"))
        #if !canImport(Darwin)
            #expect(try signer.sign(note.text) == note.signatures[0])
        #endif
    }
}
