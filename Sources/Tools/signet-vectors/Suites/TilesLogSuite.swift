// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TransparencyLog

/// A whole log in a folder: its checkpoints, hash tiles and entry bundles must fit together.
struct TilesLogSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "tiles-log",
        abstract: "A tlog-tiles folder: rebuilds the tree from its bundles and compares every file.",
        discussion:
            "Reads checkpoint and checkpoint.*, tile/<L>/… and tile/entries/…; other files are ignored.")

    /// The key of the log that the Tessera project publishes as test data.
    static let testdataKey = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"

    @Argument(help: "The folder.") var path: String
    @Option(help: "The log's verifier key. Without it, Tessera's test log is known and no other.")
    var vkey = Self.testdataKey

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let folder = VectorFile(path)
        guard folder.isFolder else { throw .unreadable(path: path) }
        guard let key = try? VerifierKey(decoding: Array(vkey.utf8)) else {
            throw .malformed(path: "--vkey", reason: "not a verifier key")
        }
        var check = TilesLogCheck(folder: folder, key: key)
        try check.readTiles(&report)
        try check.readCheckpoints(&report)
        check.checkGrowth(&report)
        guard report.passed + report.failed > 0 else { throw .noCases(path: path) }
    }
}

/// The state of one run over a log's folder.
struct TilesLogCheck {
    let folder: VectorFile
    let key: VerifierKey
    private var tree = MerkleTree()
    private var heads: [TreeHead] = []
    private var present: Set<Tile> = []

    init(folder: VectorFile, key: VerifierKey) {
        self.folder = folder
        self.key = key
    }

    mutating func readTiles(_ report: inout VectorReport) throws(VectorFileError) {
        let paths = folder.contents.filter { $0.hasPrefix("tile/") && !folder.appending($0).isFolder }
        var tiles: [(path: String, tile: Tile)] = []
        for path in paths {
            guard let tile = try? Tile(decodingPath: Array(path.utf8)) else {
                report.add(path, failure: "not the path of a tile")
                continue
            }
            tiles.append((path, tile))
            present.insert(tile)
        }
        try buildTree(of: tiles.filter { $0.tile.content == .entries })
        for (path, tile) in tiles { report.add(path, failure: try failure(of: tile, at: path)) }
    }

    /// Takes the leaves from the widest bundle of each index, up to the first that is missing or not full.
    private mutating func buildTree(of bundles: [(path: String, tile: Tile)]) throws(VectorFileError) {
        var widest: [UInt64: (path: String, tile: Tile)] = [:]
        for bundle in bundles where bundle.tile.width > widest[bundle.tile.index]?.tile.width ?? 0 {
            widest[bundle.tile.index] = bundle
        }
        var index: UInt64 = 0
        while let (path, tile) = widest[index] {
            guard let bundle = try? EntryBundle(decoding: folder.appending(path).bytes(), width: tile.width)
            else { return }
            for leaf in bundle.leafHashes { tree.append(leaf) }
            guard tile.isFull else { return }
            index += 1
        }
    }

    private func failure(of tile: Tile, at path: String) throws(VectorFileError) -> String? {
        let bytes = try folder.appending(path).bytes()
        guard let expected = try? tree.hashes(of: tile) else { return "the bundles do not reach this far" }
        if tile.content == .entries {
            guard let bundle = try? EntryBundle(decoding: bytes, width: tile.width) else {
                return "malformed bundle"
            }
            guard bundle.encoded == bytes else { return "prints back differently" }
            return bundle.leafHashes == expected ? nil : "holds other entries than a wider bundle"
        }
        guard let hashes = try? tile.hashes(decoding: bytes) else { return "not 32 bytes for each hash" }
        return hashes == expected ? nil : "holds other hashes than the entries give"
    }

    mutating func readCheckpoints(_ report: inout VectorReport) throws(VectorFileError) {
        for path in folder.contents where path == "checkpoint" || path.hasPrefix("checkpoint.") {
            let bytes = try folder.appending(path).bytes()
            do {
                let note = try SignedNote(decoding: bytes)
                let checkpoint = try Checkpoint(decoding: note.text)
                report.add(path, failure: failure(of: checkpoint, note, bytes))
                if !note.signatures.contains(where: { $0.isClaimed(by: key) }) {
                    report.remark(
                        "\(path): no line of \(String(decoding: key.encoded, as: UTF8.self)), signature not checked"
                    )
                }
                heads.append(checkpoint.head)
            } catch {
                report.add(path, failure: "\(error)")
            }
        }
    }

    private func failure(of checkpoint: Checkpoint, _ note: SignedNote, _ bytes: [UInt8]) -> String? {
        guard note.encoded == bytes && checkpoint.text == note.text else { return "prints back differently" }
        guard let head = try? tree.head(size: checkpoint.head.size) else {
            return "the bundles do not reach this far"
        }
        guard head == checkpoint.head else { return "another root than the entries give" }
        for signature in note.signatures where signature.isClaimed(by: key) {
            guard (try? key.verify(signature, of: note.text)) != nil else {
                return "the log's signature does not verify"
            }
        }
        return nil
    }

    /// Consistency from each checkpoint to the next, inclusion of the last entry, and a tile for each right edge.
    func checkGrowth(_ report: inout VectorReport) {
        let heads = Set(heads).sorted { $0.size < $1.size }
        for (old, new) in zip(heads, heads.dropFirst()) where old.size > 0 {
            report.add("consistency \(old.size) to \(new.size)", failure: consistencyFailure(old, new))
        }
        for head in heads where head.size > 0 {
            report.add("last entry of \(head.size)", failure: inclusionFailure(head))
            let missing = Tile.added(from: head.size - 1, to: head.size)
                .first { !present.contains($0) && !present.contains($0.full) }
            report.add(
                "tiles of \(head.size)",
                failure: missing.map { "no \(String(decoding: $0.path, as: UTF8.self))" })
        }
    }

    private func consistencyFailure(_ old: TreeHead, _ new: TreeHead) -> String? {
        do {
            try tree.consistencyProof(from: old.size, to: new.size).verify(from: old, to: new)
            return nil
        } catch { return "\(error)" }
    }

    private func inclusionFailure(_ head: TreeHead) -> String? {
        do {
            let index = head.size - 1
            let leaf = try tree.hash(level: 0, index: index)
            try tree.inclusionProof(index: index, size: head.size).verify(leaf: leaf, in: head)
            return nil
        } catch { return "\(error)" }
    }
}
