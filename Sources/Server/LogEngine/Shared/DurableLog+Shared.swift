// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Synchronization
package import TransparencyLog

// A log that several machines share: one of them writes it, and all show it.
extension DurableLog {
    /// The log of the process that may write it.
    ///
    /// - Parameters:
    ///   - replay: all frames.
    ///   - stores: where this process writes.
    ///   - shown: what was published last. The present tree is signed and published at once.
    package static func lead(
        _ replay: FrameReplay, in stores: any LogStores, shown: PublishedCheckpoint, _ configuration: LogConfiguration
    ) -> DurableLog {
        let parts = LogParts(
            configuration, stores: stores, tree: SharedTree(replay.tree), first: shown, placed: shown.head.size,
            showsAnew: true)
        return DurableLog(parts, configuration)
    }

    /// The log of a process that followed it until now and may write it from now on: with the tree and the sealer that are in memory.
    /// The one that was followed answers on, and takes nothing any more.
    ///
    /// - Parameters:
    ///   - stores: where this process writes.
    ///   - shown: what was published last; at least what is shown here.
    ///   - configuration: its sealer is the one of this log, whatever it says.
    package func promoted(
        in stores: any LogStores, shown: PublishedCheckpoint, _ configuration: LogConfiguration
    ) async -> DurableLog {
        await follow.run { [self] in isPromoted.store(true, ordering: .releasing) }
        parts.publications.end(.closed)
        var configuration = configuration
        configuration.sealing = sealing
        let parts = LogParts(
            configuration, stores: stores, tree: parts.tree, first: shown, placed: shown.head.size, showsAnew: true)
        return DurableLog(parts, configuration)
    }

    /// Whether this process writes the log by now, as another value.
    package var isOver: Bool { isPromoted.load(ordering: .acquiring) }

    /// Ends a log that this process may write no more, also while nothing of it is under way. It is reported to
    /// ``LogConfiguration/onFatal`` as every failure is. Does nothing if the log has failed already.
    package func fail(_ failure: LogFailure) { parts.latch.fail(failure) }

    /// The log of a process that shows what another one writes.
    ///
    /// - Parameters:
    ///   - replay: the frames of the checkpoint, and no more.
    ///   - stores: where bundles are read.
    ///   - shown: the checkpoint; its signatures were verified.
    /// - Throws: ``SharedLogFault/rootDiffers(size:)``.
    package static func follow(
        _ replay: FrameReplay, in stores: any LogStores, shown: PublishedCheckpoint, _ following: LogFollowing
    ) throws(SharedLogFault) -> DurableLog {
        let head = shown.head
        guard replay.size == head.size, replay.root(size: head.size) == head.root else {
            throw .rootDiffers(size: head.size)
        }
        let parts = LogParts(following: stores, tree: replay.tree, first: shown, onFatal: following.onFatal)
        following.onPublished(shown)
        return DurableLog(parts, following: following)
    }

    /// Takes the frames that lead to the next checkpoint, compares their root with it, and shows it. One call at a time.
    ///
    /// - Parameter checkpoint: verified.
    /// - Throws: ``SharedLogFault``: the frames are not those of the checkpoint. This log shows nothing new from then on, and its process
    ///   has to end.
    package func advance(by frames: [Frame], to checkpoint: PublishedCheckpoint) async throws(SharedLogFault) {
        try await following { [self] () throws(SharedLogFault) in try takeNext(frames, checkpoint) }
    }

    /// Takes frames that are committed, and shows nothing of them: what a process has to know that is about to write the log. One call at a
    /// time, and none during ``advance(by:to:)``.
    ///
    /// - Throws: ``SharedLogFault``: they do not follow what is here. This log shows nothing new from then on.
    package func prepare(by frames: [Frame]) async throws(SharedLogFault) {
        try await following { [self] () throws(SharedLogFault) in
            let shown = published.head.size
            for frame in frames { try take(frame, shown: shown) }
            parts.tree.read { sealing?.share($0.merkle) }
        }
    }

    private func following(
        _ body: @escaping @Sendable () throws(SharedLogFault) -> Void
    ) async throws(SharedLogFault) {
        let outcome = await follow.run { [self] in
            Result { () throws(SharedLogFault) in
                guard !isOver else { throw SharedLogFault.unavailable("this process writes the log") }
                do throws(SharedLogFault) { try body() } catch {
                    parts.latch.fail(.sharedStore(error))
                    throw error
                }
            }
        }
        try outcome.get()
    }

    /// The right edge of the tree that is in memory, which may be larger than what is shown; nil if the tree lacks a node that it must
    /// have: our bug, or bad memory.
    package var frontier: MerkleFrontier? { parts.tree.read { $0.merkle.frontier } }

    /// The root of the first entries that are in memory, shown or not; nil beyond them.
    package func committedRoot(size: UInt64) -> TreeHash? { parts.tree.read { try? $0.merkle.root(size: size) } }

    private func takeNext(_ frames: [Frame], _ checkpoint: PublishedCheckpoint) throws(SharedLogFault) {
        let shown = published.head
        guard checkpoint.head.size >= shown.size else {
            throw .shrinks(from: shown.size, to: checkpoint.head.size)
        }
        for frame in frames { try take(frame, shown: shown.size) }
        let end = checkpoint.head.size
        let (size, root) = parts.tree.read { ($0.merkle.size, try? $0.merkle.root(size: end)) }
        // What was prepared is there already, and may be more.
        guard size == end || frames.isEmpty && size > end, root == checkpoint.head.root else {
            throw .rootDiffers(size: end)
        }
        parts.tree.read { sealing?.share($0.merkle) }
        parts.publications.beginRound()
        parts.publications.complete(checkpoint)
        onPublished(checkpoint)
        // Bundles are kept before a checkpoint over them is signed.
        parts.tree.removeRecent(before: end / UInt64(Tile.fullWidth))
    }

    private func take(_ frame: Frame, shown: UInt64) throws(SharedLogFault) {
        let size = parts.tree.read { $0.merkle.size }
        guard frame.firstIndex == size else { throw .frameMissing(firstIndex: size) }
        guard frame.endIndex <= LeafIndex.capacity else { throw .frameDamaged(firstIndex: size) }
        let entries = HashedEntries(frame)
        parts.tree.append(entries)
        do throws(IndexFault) {
            try sealing?.replay(frame.entries, leaves: entries.leaves, shown: shown)
        } catch { throw .frameDamaged(firstIndex: size) }
    }
}

/// What a log that another process writes needs.
package struct LogFollowing: Sendable {
    /// Reads every frame; nil for a log without an index.
    package var sealing: (any LogSealing)?
    /// Called after each checkpoint that is shown, in order. Must be short.
    package var onPublished: @Sendable (PublishedCheckpoint) -> Void = { _ in }
    /// Called once, when the log shows nothing new any more: the process must end.
    package var onFatal: @Sendable (LogFailure) -> Void = { _ in }

    package init() {}
}
