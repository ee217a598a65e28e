// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
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
            configuration, stores: stores, tree: replay.tree, first: shown, placed: shown.head.size, showsAnew: true)
        return DurableLog(parts, configuration)
    }

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
        let outcome = await follow.run { [self] in
            Result { () throws(SharedLogFault) in try takeNext(frames, checkpoint) }
        }
        do throws(SharedLogFault) { try outcome.get() } catch {
            parts.latch.fail(.sharedStore(error))
            throw error
        }
    }

    private func takeNext(_ frames: [Frame], _ checkpoint: PublishedCheckpoint) throws(SharedLogFault) {
        let shown = published.head
        guard checkpoint.head.size >= shown.size else {
            throw .shrinks(from: shown.size, to: checkpoint.head.size)
        }
        for frame in frames { try take(frame, shown: shown.size) }
        let (size, root) = parts.tree.read { ($0.merkle.size, try? $0.merkle.root(size: checkpoint.head.size)) }
        guard size == checkpoint.head.size, root == checkpoint.head.root else {
            throw .rootDiffers(size: checkpoint.head.size)
        }
        parts.tree.read { sealing?.share($0.merkle) }
        parts.publications.beginRound()
        parts.publications.complete(checkpoint)
        onPublished(checkpoint)
        // Bundles are kept before a checkpoint over them is signed.
        parts.tree.removeRecent(before: size / UInt64(Tile.fullWidth))
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
