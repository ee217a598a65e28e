// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogFencing
import TransparencyLog

/// Creating a log, and opening one: everything that is checked before anything is signed.
struct LogOpening: Sendable {
    let fileSystem: any LogFileSystem
    let configuration: LogConfiguration

    /// Makes a log without entries. The lock record comes last: a directory that has one is a log.
    func create() throws(LogOpenError) {
        let directoryLock = try lockDirectory()
        try withExtendedLifetime(directoryLock) { () throws(LogOpenError) in
            try requireNothingThere()
            let first: PublishedCheckpoint
            do throws(LogSigningError) { first = try configuration.keys.sign(.empty) } catch { throw .signing(error) }
            do throws(LogFileError) {
                try WriteAheadLog.createFirstSegment(in: fileSystem)
                try LockRecordFile.create(
                    LockRecord(generation: 0, head: first.head, note: first.bytes), in: fileSystem)
            } catch {
                throw LogOpenError(opening: error)
            }
        }
    }

    /// Replays, checks, repairs and publishes, in this order.
    func open() throws(LogOpenError) -> LogParts {
        let hold = DirectoryHold(try lockDirectory())
        let lockRecord = try readLockRecord()
        try requireOurOrigin(in: lockRecord.current)
        let (tree, lacking, end) = try replay(shown: shownSize(lockRecord))
        let head = try consistentHead(of: tree.merkle, with: lockRecord.current.head)
        let wal = try settle(end, lockRecord)
        try restore(lacking, of: tree.merkle)
        var memory = lockRecord
        let first = try firstCheckpoint(head, tree.merkle, &memory)
        return LogParts(
            configuration, stores: FileStores(fileSystem, hold: hold, wal: wal, lockRecord: memory),
            tree: SharedTree(tree), first: first, placed: head.size, showsAnew: configuration.witnessing != nil)
    }

    /// What the log shows first: without witnesses the present tree, and otherwise what it showed last.
    private func firstCheckpoint(
        _ head: TreeHead, _ tree: MerkleTree, _ lockRecord: inout LockRecordFile
    ) throws(LogOpenError) -> PublishedCheckpoint {
        let published = PublishedFile(fileSystem: fileSystem)
        guard configuration.witnessing == nil else { return try lastPublished(lockRecord, published, tree) }
        return try publish(head, in: &lockRecord, published)
    }

    /// What the log showed last. A log that had no witnesses before showed what it signed last; so does one whose file is damaged, until the
    /// witnesses have cosigned that.
    private func lastPublished(
        _ lockRecord: LockRecordFile, _ published: PublishedFile, _ tree: MerkleTree
    ) throws(LogOpenError) -> PublishedCheckpoint {
        let origin = configuration.keys.origin
        let key = configuration.keys.log.verifierKey
        let content = try published.read(origin: origin, tree: tree) { note in
            note.signatures.contains {
                $0.isClaimed(by: key) && (try? key.verifyLogSignature($0, of: note.text)) != nil
            }
        }
        if case .checkpoint(let checkpoint) = content { return checkpoint }
        guard let checkpoint = PublishedFile.checkpoint(lockRecord.current.note, origin: origin) else {
            throw .lockRecordDamaged
        }
        do throws(LogFileError) { try published.write(checkpoint) } catch { throw LogOpenError(opening: error) }
        return checkpoint
    }

    /// Signs a head that was found to be consistent with the lock record, and records it.
    private func publish(
        _ head: TreeHead, in lockRecord: inout LockRecordFile, _ published: PublishedFile
    ) throws(LogOpenError) -> PublishedCheckpoint {
        do throws(LogFileError) { try published.remove() } catch { throw LogOpenError(opening: error) }
        let checkpoint: PublishedCheckpoint
        do throws(LogSigningError) { checkpoint = try configuration.keys.sign(head) } catch { throw .signing(error) }
        do throws(LockRecordError) {
            try lockRecord.swap(to: head, note: checkpoint.bytes, ancestor: lockRecord.current.head.root)
        } catch {
            throw .lockRecord(error)
        }
        return checkpoint
    }

    // MARK: The directory

    private func lockDirectory() throws(LogOpenError) -> any LogDirectoryLock {
        do throws(LogFileError) {
            if let lock = try fileSystem.lockDirectory() { return lock }
        } catch {
            throw LogOpenError(opening: error)
        }
        throw .inUse
    }

    /// A directory may hold anything but a log. What a creation left that did not come to its end is not a log yet.
    private func requireNothingThere() throws(LogOpenError) {
        let isFree: Bool
        do throws(LogFileError) {
            let names = try fileSystem.list(LogPath.root)
            let hasNoSegments = names.contains(LogPath.segments) ? try WriteAheadLog.hasNoEntries(in: fileSystem) : true
            isFree = hasNoSegments && !names.contains(LogPath.lockRecord)
        } catch {
            throw LogOpenError(opening: error)
        }
        guard isFree else { throw .logExists }
    }

    // MARK: The lock record

    private func readLockRecord() throws(LogOpenError) -> LockRecordFile {
        do throws(LockRecordFile.ReadError) {
            return try LockRecordFile(in: fileSystem)
        } catch {
            switch error {
            case .missing: throw WriteAheadLog.hasEntries(in: fileSystem) ? .lockRecordMissing : .noLog
            case .damaged: throw .lockRecordDamaged
            case .file(let error): throw LogOpenError(opening: error)
            }
        }
    }

    private func requireOurOrigin(in record: LockRecord) throws(LogOpenError) {
        guard let note = try? SignedNote(decoding: record.note), let checkpoint = try? Checkpoint(decoding: note.text),
            checkpoint.head == record.head
        else { throw .lockRecordDamaged }
        guard checkpoint.origin == configuration.keys.origin else {
            throw .lockRecordOfOtherLog(origin: checkpoint.origin)
        }
    }

    // MARK: The tree

    /// The size of the checkpoint that will be shown first, or less: that was signed last, or less while witnesses are away.
    private func shownSize(_ lockRecord: LockRecordFile) -> UInt64 {
        let signed = lockRecord.current.head.size
        guard configuration.witnessing != nil else { return signed }
        return min(signed, PublishedFile(fileSystem: fileSystem).claimedSize ?? signed)
    }

    /// The tree, the tiles of it that are not in files, and the end of the write-ahead log.
    private typealias Replayed = (LogTree, [Tile], WriteAheadLogReplay.End)

    private func replay(shown: UInt64) throws(LogOpenError) -> Replayed {
        do throws(LogOpenError) { return try replayOnce(shown: shown) } catch {
            guard case .breaksRule(let fault) = error, configuration.sealing?.beginsAgain(after: fault) == true else {
                throw error
            }
            return try replayOnce(shown: shown)
        }
    }

    private func replayOnce(shown: UInt64) throws(LogOpenError) -> Replayed {
        let replay = FrameReplay(sealing: configuration.sealing, shown: shown)
        let end = try WriteAheadLogReplay(fileSystem: fileSystem).run { (frame) throws(LogOpenError) in
            try replay.take(frame)
        }
        // The sealer makes the index meanwhile.
        replay.indexLeaves()
        let full = Tile.added(from: 0, to: replay.size).filter(\.isFull)
        let lacking = TileFiles(fileSystem: fileSystem).lacking(full, of: replay.tree.merkle)
        try replay.finishSealing()
        return (replay.tree, lacking, end)
    }

    /// The head of the whole tree, which must extend what was signed last: on one machine the lock record is the second memory.
    private func consistentHead(of tree: MerkleTree, with locked: TreeHead) throws(LogOpenError) -> TreeHead {
        guard let head = try? tree.head(size: tree.size) else {
            throw .lockRecordAhead(locked: locked, replayed: tree.size)
        }
        do throws(HeadConflict) {
            try SeenHead(locked, in: .secondMemory).requireExtended(by: head) { try? tree.root(size: $0) }
        } catch {
            switch error {
            case .databaseBehind: throw .lockRecordAhead(locked: locked, replayed: tree.size)
            case .forked(_, let own): throw .rootMismatch(locked: locked, computed: own)
            }
        }
        return head
    }

    // MARK: Repairs

    private func settle(
        _ end: WriteAheadLogReplay.End, _ lockRecord: LockRecordFile
    ) throws(LogOpenError) -> WriteAheadLog {
        do throws(LogFileError) {
            let wal = try end.settle(in: fileSystem, sizes: configuration.walSizes)
            try lockRecord.settle()
            return wal
        } catch {
            throw LogOpenError(opening: error)
        }
    }

    /// Writes the full tiles and bundles that are missing or wrong.
    private func restore(_ lacking: [Tile], of tree: MerkleTree) throws(LogOpenError) {
        let files = TileFiles(fileSystem: fileSystem)
        var bundles: Set<UInt64> = []
        for tile in lacking {
            if tile.content == .entries {
                bundles.insert(tile.index)
            } else if let bytes = try? tree.bytes(of: tile) {
                try write(tile, bytes, to: files)
            }
        }
        if !bundles.isEmpty { try restoreBundles(bundles, to: files) }
    }

    /// Reads the write-ahead log once more for the entries of the missing bundles.
    private func restoreBundles(_ missing: Set<UInt64>, to files: TileFiles) throws(LogOpenError) {
        var bundle: [UInt8] = []
        _ = try WriteAheadLogReplay(fileSystem: fileSystem).run { (frame) throws(LogOpenError) in
            var index = frame.firstIndex
            try frame.forEachEntry { (entry) throws(LogOpenError) in
                Frame.appendEntry(entry, to: &bundle)
                index += 1
                guard index % UInt64(Tile.fullWidth) == 0 else { return }
                let number = index / UInt64(Tile.fullWidth) - 1
                if missing.contains(number), let tile = try? Tile(.entries, index: number) {
                    try write(tile, bundle, to: files)
                }
                bundle = []
            }
        }
    }

    private func write(_ tile: Tile, _ bytes: [UInt8], to files: TileFiles) throws(LogOpenError) {
        do throws(LogFileError) { try files.write(tile, bytes) } catch { throw LogOpenError(opening: error) }
    }
}
