// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
public import TransparencyLog

/// What a replay of a whole log found.
public struct LogReplay: Hashable, Sendable {
    /// The checkpoint whose root was computed.
    public let checkpoint: VerifiedCheckpoint
    /// Seconds since the quorum vouched for it.
    public let age: UInt64
    /// The number of entries of each kind.
    public let counts: Counts

    /// Numbers of entries by kind.
    public struct Counts: Hashable, Sendable {
        /// Device leaves.
        public internal(set) var devices: UInt64 = 0
        /// State records.
        public internal(set) var states: UInt64 = 0
        /// Epoch records.
        public internal(set) var epochs: UInt64 = 0
        /// Records about the directory's own keys.
        public internal(set) var keys: UInt64 = 0
        /// Entries that this program does not know.
        public internal(set) var others: UInt64 = 0

        mutating func count(_ entry: [UInt8]) {
            switch try? LogEntry(decoding: entry) {
            case .device: devices += 1
            case .state: states += 1
            case .epoch: epochs += 1
            case .succession, .predecessor: keys += 1
            case nil: others += 1
            }
        }
    }
}

extension Client {
    /// A larger log is not replayed, because it would not fit into memory.
    private static var maximumReplaySize: UInt64 { 1 << 28 }

    /// Downloads every entry up to the published checkpoint, recomputes every hash of the tree, and compares the root with the
    /// signature, the tiles with the entries, and everything with the view of this client, which then moves forward.
    ///
    /// - Parameter progress: called with the entries read so far and the size of the log.
    /// - Throws: ``ClientError``.
    public func verifyLog(
        progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) async throws(ClientError) -> LogReplay {
        let known = try await logView()
        let files = LogFiles(calls: calls)
        let (checkpoint, age) = try await files.checkpoint(profile.trust, knowing: known, at: surroundings.now())
        let size = checkpoint.checkpoint.head.size
        guard size <= Self.maximumReplaySize else { throw .log(.tooLarge(size)) }
        var tree = MerkleTree()
        var counts = LogReplay.Counts()
        while tree.size < size {
            for entry in try await files.entries(bundle: tree.size / UInt64(Tile.fullWidth), size: size) {
                tree.append(.leaf(entry))
                counts.count(entry)
            }
            progress(tree.size, size)
        }
        try Self.compareRoot(of: tree, with: checkpoint)
        try await compareTiles(of: tree, files)
        // The entries themselves give the consistency proof.
        let proof = try? tree.consistencyProof(from: known?.head.size ?? 0, to: tree.size)
        guard try await advance(known, to: checkpoint, proof ?? ConsistencyProof(hashes: [])) else {
            throw .viewKeepsMoving
        }
        return LogReplay(checkpoint: checkpoint, age: age, counts: counts)
    }

    /// The newest entries, each proven to be in the published tree, oldest first.
    ///
    /// Before any entry is read, the tree is compared with the view of this client, which then moves forward.
    ///
    /// - Parameters:
    ///   - count: the maximum number of entries.
    ///   - start: only entries from this index on.
    /// - Throws: ``ClientError``.
    public func logTail(
        _ count: UInt64, from start: UInt64 = 0
    ) async throws(ClientError) -> (entries: [LoggedEntry], size: UInt64) {
        let files = LogFiles(calls: calls)
        for _ in 0..<8 {
            // Read before the checkpoint, so that an honest log is never behind it.
            let known = try await logView()
            let (checkpoint, _) = try await files.checkpoint(profile.trust, knowing: known, at: surroundings.now())
            let head = checkpoint.checkpoint.head
            var reader = files.tiles.reader(size: head.size)
            let proof = try await reader.consistencyProof(from: known?.head.size ?? 0)
            guard try await advance(known, to: checkpoint, proof) else { continue }
            let first = max(start, head.size > count ? head.size - count : 0)
            return (try await entries(from: first, in: head, files, &reader), head.size)
        }
        throw .viewKeepsMoving
    }

    func entries(
        from start: UInt64, in head: TreeHead, _ files: LogFiles, _ reader: inout TileReader<ClientError>
    ) async throws(ClientError) -> [LoggedEntry] {
        var entries: [LoggedEntry] = []
        var index = start
        while index < head.size {
            let bundle = index / UInt64(Tile.fullWidth)
            let first = bundle * UInt64(Tile.fullWidth)
            for entry in try await files.entries(bundle: bundle, size: head.size).dropFirst(
                Int(index - first))
            {
                let proof = try await reader.inclusionProof(index: index)
                do { try proof.verify(leaf: .leaf(entry), in: head) } catch {
                    throw .log(.inclusion(index: index, error))
                }
                entries.append(LoggedEntry(index: index, bytes: entry))
                index += 1
            }
        }
        return entries
    }

    private static func compareRoot(
        of tree: MerkleTree, with checkpoint: VerifiedCheckpoint
    ) throws(ClientError) {
        guard let root = try? tree.root(size: tree.size), root == checkpoint.checkpoint.head.root else {
            throw .log(.otherRoot(computed: (try? tree.root(size: tree.size)) ?? .emptyTree))
        }
    }

    private func compareTiles(of tree: MerkleTree, _ files: LogFiles) async throws(ClientError) {
        for level in 0..<8 {
            let count = tree.size >> UInt64(8 * level)
            guard count > 0 else { return }
            for index in 0...(count - 1) / UInt64(Tile.fullWidth) {
                let (tile, hashes) = try await files.hashes(level: level, index: index, size: tree.size)
                guard let computed = try? tree.hashes(of: tile), computed == hashes else {
                    throw .log(.otherHashes(tile))
                }
            }
        }
    }

    /// Moves the view to a checkpoint, or stores both as evidence.
    ///
    /// - Returns: false if another process has moved the view meanwhile.
    private func advance(
        _ known: LogView?, to checkpoint: VerifiedCheckpoint, _ proof: ConsistencyProof
    ) async throws(ClientError) -> Bool {
        var view = LogView(checkpoint)
        if let known {
            do { view = try known.advanced(to: checkpoint, proof: proof) } catch {
                guard let fault = await keep(error) else { throw .log(.contradiction(error)) }
                throw .log(.contradictionNotKept(error, fault))
            }
        }
        let next = view
        return try await stored { () throws(StoreError) in try await store.advance(to: next, from: known) }
    }
}

/// An entry that was proven to be in the log.
public struct LoggedEntry: Hashable, Sendable {
    /// Its index in the log, from zero.
    public let index: UInt64
    /// The raw entry.
    public let bytes: [UInt8]
}
