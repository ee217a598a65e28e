// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The stages of an open log, connected.
struct LogParts: Sendable {
    let fileSystem: any LogFileSystem
    let hold: DirectoryHold
    let tree: SharedTree
    let queue: AppendQueue
    let commit: GroupCommit
    let publisher: CheckpointPublisher
    let publications: Publications
    let archiver: TileArchiver

    /// Connects the stages and publishes the first checkpoint of this run.
    ///
    /// - Throws: ``LogOpenError/signing(_:)``, ``LogOpenError/lockRecord(_:)``.
    init(
        _ configuration: LogConfiguration, fileSystem: any LogFileSystem, hold: DirectoryHold,
        tree: LogTree, head: TreeHead, wal: WriteAheadLog, lockRecord: LockRecordFile
    ) throws(LogOpenError) {
        self.fileSystem = fileSystem
        self.hold = hold
        self.tree = SharedTree(tree)
        var lockRecord = lockRecord
        let published = PublishedFile(fileSystem: fileSystem)
        let first =
            if configuration.witnessing == nil {
                try Self.publish(head, in: &lockRecord, published, configuration.keys)
            } else { try Self.lastPublished(lockRecord, published, tree.merkle, configuration.keys.origin) }
        queue = AppendQueue(size: head.size, limits: configuration.limits)
        publications = Publications(first)
        let latch = FailureLatch { [queue, publications] failure in
            queue.stop()
            publications.end(.stopped)
            configuration.onFatal(failure)
        }
        archiver = TileArchiver(
            files: TileFiles(fileSystem: fileSystem), tree: self.tree, size: head.size, hold: hold, latch: latch)
        publisher = CheckpointPublisher(
            tree: self.tree, lockRecord: lockRecord, published: published, publications: publications,
            archiver: archiver, latch: latch, configuration)
        commit = GroupCommit(
            wal, queue: queue, publisher: publisher, latch: latch, sealing: configuration.sealing,
            interval: configuration.frameInterval)
        configuration.onPublished(first)
        if configuration.witnessing != nil {
            publications.want()
            publisher.wake()
        }
    }

    /// What the log showed last. A log that had no witnesses before showed what it signed last.
    private static func lastPublished(
        _ lockRecord: LockRecordFile, _ published: PublishedFile, _ tree: MerkleTree, _ origin: KeyName
    ) throws(LogOpenError) -> PublishedCheckpoint {
        if let checkpoint = try published.read(origin: origin, tree: tree) { return checkpoint }
        guard let checkpoint = PublishedFile.checkpoint(lockRecord.current.note, origin: origin) else {
            throw .lockRecordDamaged
        }
        do throws(LogFileError) { try published.write(checkpoint) } catch { throw LogOpenError(opening: error) }
        return checkpoint
    }

    /// Signs a head that was found to be consistent with the lock record, and records it.
    private static func publish(
        _ head: TreeHead, in lockRecord: inout LockRecordFile, _ published: PublishedFile, _ keys: CheckpointKeys
    ) throws(LogOpenError) -> PublishedCheckpoint {
        do throws(LogFileError) { try published.remove() } catch { throw LogOpenError(opening: error) }
        let checkpoint: PublishedCheckpoint
        do throws(LogSigningError) { checkpoint = try keys.sign(head) } catch { throw .signing(error) }
        do throws(LockRecordError) {
            try lockRecord.swap(to: head, note: checkpoint.bytes, ancestor: lockRecord.current.head.root)
        } catch {
            throw .lockRecord(error)
        }
        return checkpoint
    }
}
