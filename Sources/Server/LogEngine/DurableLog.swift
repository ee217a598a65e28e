// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import TransparencyLog

/// An append-only log on one disk that acknowledges only what is durable and never signs two histories.
///
/// Entries go into a write-ahead log first; ``append(_:)`` returns after the `fdatasync` that made them durable. A
/// checkpoint over everything durable is then signed, put down in a lock record, and only then published. Tiles and
/// bundles are derived. An idle append costs one `fdatasync` to be acknowledged and one more to be published.
///
/// When a write fails the log has failed for good: see ``LogConfiguration/onFatal``. When one of its files is removed or replaced under it,
/// nothing more is appended: what was acknowledged is whole in the file that is still open, and can be copied from there.
///
/// Security: one process at a time may hold a data directory, which must be on a local disk. `wal/` and
/// `checkpoint.lock` are backed up and restored together; a restored older copy of both is a fork that this machine
/// cannot see, and that witnesses will.
///
/// Spec: C2SP tlog-checkpoint, tlog-cosignature, tlog-tiles.
public final class DurableLog: Sendable {
    let parts: LogParts
    private let groupByteCount: Int
    let sealing: (any LogSealing)?
    private let reads = Stage("signet.log.read")
    let follow = Stage("signet.log.follow")
    /// Whether a log that was followed is written by this process now, as another value.
    let isPromoted = Atomic<Bool>(false)
    let onPublished: @Sendable (PublishedCheckpoint) -> Void

    init(_ parts: LogParts, _ configuration: LogConfiguration) {
        self.parts = parts
        sealing = configuration.sealing
        onPublished = configuration.onPublished
        groupByteCount = min(configuration.limits.groupByteCount, Frame.maximumPayloadByteCount)
    }

    init(_ parts: LogParts, following: LogFollowing) {
        self.parts = parts
        sealing = following.sealing
        onPublished = following.onPublished
        groupByteCount = 0
    }
}

// MARK: Opening and closing

extension DurableLog {
    /// Makes a log without entries in an existing directory. Done once in the life of a log.
    ///
    /// - Throws: ``LogOpenError``; ``LogOpenError/remedy`` says what to do.
    public static func create(at directory: String, _ configuration: LogConfiguration) async throws(LogOpenError) {
        try await create(in: POSIXFileSystem(root: directory), configuration)
    }

    /// Opens the log in a directory: replays and verifies all of it, repairs what a crash left, and publishes.
    ///
    /// Takes two or three seconds for a million entries.
    ///
    /// - Throws: ``LogOpenError``; ``LogOpenError/remedy`` says what to do.
    public static func open(
        at directory: String, _ configuration: LogConfiguration
    ) async throws(LogOpenError) -> DurableLog {
        try await open(in: POSIXFileSystem(root: directory), configuration)
    }

    /// Makes a log on any storage.
    package static func create(
        in fileSystem: any LogFileSystem, _ configuration: LogConfiguration
    ) async throws(LogOpenError) {
        let opening = LogOpening(fileSystem: fileSystem, configuration: configuration)
        let outcome = await Stage("signet.log.create").run {
            Result { () throws(LogOpenError) in try opening.create() }
        }
        try outcome.get()
    }

    /// Opens a log on any storage.
    package static func open(
        in fileSystem: any LogFileSystem, _ configuration: LogConfiguration
    ) async throws(LogOpenError) -> DurableLog {
        let opening = LogOpening(fileSystem: fileSystem, configuration: configuration)
        let outcome = await Stage("signet.log.open").run {
            Result { () throws(LogOpenError) in try opening.open() }
        }
        return DurableLog(try outcome.get(), configuration)
    }

    /// Writes and publishes what was accepted, then lets go of the directory. Questions are still answered.
    public func close() async {
        await follow.finish()
        if let writing = parts.writing {
            writing.queue.close()
            await writing.commit.finish()
            await writing.publisher.finish()
            await writing.archiver.finish()
        }
        parts.publications.end(.closed)
        await parts.stores.release()
    }
}

// MARK: Writing

extension DurableLog {
    /// Whether this process writes the log. Otherwise it shows what another one has published.
    public var isWritable: Bool { parts.writing != nil }

    /// Why the log has failed for good; nil if it has not.
    package var failure: LogFailure? { parts.latch.failure }

    /// Appends entries at consecutive indexes, all or none, and returns their indexes when they are durable.
    ///
    /// Groups of several callers share a write. They are published a little later: see ``awaitPublished(size:)``.
    ///
    /// - Parameter entries: at least one; each of 1 to 65,535 bytes.
    /// - Throws: ``LogAppendError``; only ``LogAppendError/queueFull(waiting:)`` is worth a retry.
    public func append(_ entries: [[UInt8]]) async throws(LogAppendError) -> Range<UInt64> {
        guard let writing = parts.writing else { throw .writtenElsewhere }
        guard parts.stores.areKept else { throw .displaced }
        let group = try PreparedGroup(entries, maximumByteCount: groupByteCount, sealing: sealing)
        let outcome = await withCheckedContinuation { waiter in
            do throws(LogAppendError) {
                try writing.commit.submit(group.awaited(by: waiter))
            } catch {
                waiter.resume(returning: .failure(error))
            }
        }
        return try outcome.get()
    }

    /// Ends a frame, and with it an epoch, even if nothing waits to be written. It is published a little later.
    ///
    /// - Throws: ``LogAppendError``.
    package func seal() throws(LogAppendError) {
        guard let writing = parts.writing else { throw .writtenElsewhere }
        guard parts.stores.areKept else { throw .displaced }
        try writing.commit.seal()
    }

    /// The checkpoint published last.
    public var published: PublishedCheckpoint { parts.publications.published }

    /// Waits for a published checkpoint of at least `size` entries.
    ///
    /// - Throws: ``LogWaitError``.
    public func awaitPublished(size: UInt64) async throws(LogWaitError) -> PublishedCheckpoint {
        try await parts.publications.wait(for: .size(size))
    }

    /// Signs the present tree again with the time of now, records and publishes it. Where another process writes the log, waits until that
    /// has shown something new.
    ///
    /// - Throws: ``LogWaitError``.
    @discardableResult
    public func republish() async throws(LogWaitError) -> PublishedCheckpoint {
        try await parts.publications.wait(for: .freshSignature) { [parts] in parts.writing?.publisher.wake() }
    }
}

// MARK: Reading

extension DurableLog {
    /// The bytes of a hash tile, full or partial: `width` times 32.
    ///
    /// Tiles and bundles are there from the moment a checkpoint over them is signed, which is before it is published:
    /// witnesses that audit what they cosign must be able to read it.
    ///
    /// - Throws: ``DurableLogReadError/beyondPublished(size:)``, ``DurableLogReadError/tile(_:)``.
    /// Spec: C2SP tlog-tiles, "Merkle Tree".
    public func tile(level: Int, index: UInt64, width: Int = Tile.fullWidth) throws(DurableLogReadError) -> [UInt8] {
        let tile = try available(.hashes(level: level), index: index, width: width)
        return try readTree { (tree) throws(MerkleTreeError) in try tree.merkle.bytes(of: tile) }
    }

    /// The bytes of an entry bundle, full or partial.
    ///
    /// - Throws: ``DurableLogReadError``.
    /// Spec: C2SP tlog-tiles, "Log entries".
    public func entryBundle(index: UInt64, width: Int = Tile.fullWidth) async throws(DurableLogReadError) -> [UInt8] {
        let tile = try available(.entries, index: index, width: width)
        let bytes = try await bundle(index, width: width)
        guard let entries = try? EntryBundle(decoding: bytes, width: width),
            try entries.leafHashes == readTree({ (tree) throws(MerkleTreeError) in try tree.merkle.hashes(of: tile) })
        else { throw .bundleDamaged(index: index) }
        return bytes
    }

    /// One entry.
    ///
    /// - Throws: ``DurableLogReadError``.
    public func entry(at index: UInt64) async throws(DurableLogReadError) -> [UInt8] {
        let (number, place) = (index / UInt64(Tile.fullWidth), Int(index % UInt64(Tile.fullWidth)))
        guard index < published.head.size else { throw .beyondPublished(size: published.head.size) }
        let bytes = try await bundle(number, width: place + 1)
        let entry = [UInt8](bytes.dropFirst(RecentEntries.end(of: place, in: bytes) + 2))
        guard
            try readTree({ (tree) throws(MerkleTreeError) in try tree.merkle.hash(level: 0, index: index) })
                == TreeHash.leaf(entry)
        else { throw .bundleDamaged(index: number) }
        return entry
    }

    /// The first entries of a bundle, from memory or from its file, where they may be damaged.
    private func bundle(_ index: UInt64, width: Int) async throws(DurableLogReadError) -> [UInt8] {
        if let recent = parts.tree.read({ $0.recent.bundle(index, width: width) }) { return recent }
        let full = try available(.entries, index: index, width: Tile.fullWidth)
        let outcome = await reads.run { [parts] in
            Result { () throws(DurableLogReadError) in try parts.stores.bundle(full) }
        }
        let bytes = try outcome.get()
        return [UInt8](bytes[..<RecentEntries.end(of: width, in: bytes)])
    }

    /// The path from entry `index` to the root of the first `size` entries.
    ///
    /// - Throws: ``DurableLogReadError/beyondPublished(size:)``, ``DurableLogReadError/tree(_:)``.
    public func inclusionProof(index: UInt64, size: UInt64) throws(DurableLogReadError) -> InclusionProof {
        try requirePublished(size)
        return try readTree { (tree) throws(MerkleTreeError) in
            try tree.merkle.inclusionProof(index: index, size: size)
        }
    }

    /// The hashes that show that the first `to` entries begin with the first `from` entries.
    ///
    /// - Throws: ``DurableLogReadError/beyondPublished(size:)``, ``DurableLogReadError/tree(_:)``.
    public func consistencyProof(from: UInt64, to: UInt64) throws(DurableLogReadError) -> ConsistencyProof {
        try requirePublished(to)
        return try readTree { (tree) throws(MerkleTreeError) in try tree.merkle.consistencyProof(from: from, to: to) }
    }

    /// The root of the first `size` entries.
    ///
    /// - Throws: ``DurableLogReadError/beyondPublished(size:)``.
    public func root(size: UInt64) throws(DurableLogReadError) -> TreeHash {
        try requirePublished(size)
        return try readTree { (tree) throws(MerkleTreeError) in try tree.merkle.root(size: size) }
    }

    /// The index of the first published entry with this leaf hash.
    public func index(ofLeaf leaf: TreeHash) -> UInt64? {
        let size = published.head.size
        return parts.tree.read { $0.index(of: leaf) }.flatMap { $0 < size ? $0 : nil }
    }

    private func available(_ content: Tile.Content, index: UInt64, width: Int) throws(DurableLogReadError) -> Tile {
        let tile: Tile
        do throws(TileError) { tile = try Tile(content, index: index, width: width) } catch { throw .tile(error) }
        let size = parts.tree.read { $0.merkle.size }
        let level = if case .hashes(let level) = content { level } else { 0 }
        let available = size >> UInt64(8 * level)
        guard index <= available / 256, index * 256 + UInt64(width) <= available else {
            throw .beyondPublished(size: size)
        }
        return tile
    }

    private func requirePublished(_ size: UInt64) throws(DurableLogReadError) {
        let published = published.head.size
        guard size <= published else { throw .beyondPublished(size: published) }
    }

    private func readTree<Value: Sendable>(
        _ body: (LogTree) throws(MerkleTreeError) -> Value
    ) throws(DurableLogReadError) -> Value {
        do throws(MerkleTreeError) { return try parts.tree.read(body) } catch { throw .tree(error) }
    }
}

// MARK: Observing

/// Numbers about an open log, for metrics.
public struct LogStatistics: Hashable, Sendable {
    /// How many entries are durable and in the tree.
    public let durableSize: UInt64
    /// How many entries are published.
    public let publishedSize: UInt64
    /// How many entries wait for a group commit.
    public let queuedEntries: Int
    /// How many group commits there were since the log was opened: `fdatasync` calls on the write-ahead log.
    public let commits: UInt64
}

extension DurableLog {
    /// Files of the log that somebody removed or replaced under it.
    package var displaced: DisplacedFiles { parts.stores.displaced }

    /// Whether what is appended now is there after the process has ended.
    package var isKept: Bool { parts.stores.areKept }

    /// The numbers of this moment.
    public var statistics: LogStatistics {
        LogStatistics(
            durableSize: parts.tree.read { $0.merkle.size }, publishedSize: published.head.size,
            queuedEntries: parts.writing?.queue.entryCount ?? 0, commits: parts.writing?.commit.commitCount ?? 0)
    }
}
