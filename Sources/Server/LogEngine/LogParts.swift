// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The stages of an open log, connected.
struct LogParts: Sendable {
    /// Those of a log that is written here.
    struct Writing: Sendable {
        let queue: AppendQueue
        let commit: GroupCommit
        let publisher: CheckpointPublisher
        let archiver: TileArchiver
    }

    let tree: SharedTree
    let stores: any LogStores
    let publications: Publications
    let latch: FailureLatch
    /// Nil in a log that another process writes.
    let writing: Writing?

    /// Connects the stages of a log that is written here.
    ///
    /// - Parameters:
    ///   - first: what the log shows first.
    ///   - placed: up to this size every full tile is kept.
    ///   - showsAnew: whether the present tree is to be signed at once, even if it is what is shown.
    init(
        _ configuration: LogConfiguration, stores: any LogStores, tree shared: SharedTree,
        first: PublishedCheckpoint, placed: UInt64, showsAnew: Bool
    ) {
        let publications = Publications(first)
        let queue = AppendQueue(size: shared.read { $0.merkle.size }, limits: configuration.limits)
        let latch = FailureLatch { failure in
            queue.stop()
            publications.end(.stopped)
            configuration.onFatal(failure)
        }
        let archiver = TileArchiver(stores: stores, tree: shared, size: placed, latch: latch)
        let publisher = CheckpointPublisher(
            tree: shared, stores: stores, publications: publications, archiver: archiver, latch: latch, configuration)
        let commit = GroupCommit(
            stores, queue: queue, publisher: publisher, latch: latch, sealing: configuration.sealing,
            interval: configuration.frameInterval)
        self.tree = shared
        self.stores = stores
        self.publications = publications
        self.latch = latch
        writing = Writing(queue: queue, commit: commit, publisher: publisher, archiver: archiver)
        configuration.onPublished(first)
        if showsAnew {
            publications.want()
            publisher.wake()
        }
    }

    /// The parts of a log that another process writes.
    init(
        following stores: any LogStores, tree: LogTree, first: PublishedCheckpoint,
        onFatal: @escaping @Sendable (LogFailure) -> Void
    ) {
        let publications = Publications(first)
        self.tree = SharedTree(tree)
        self.stores = stores
        self.publications = publications
        latch = FailureLatch { failure in
            publications.end(.stopped)
            onFatal(failure)
        }
        writing = nil
    }
}
