import Synchronization
import TransparencyLog

/// The second stage: grows the tree by what is durable, signs it, records what was signed, and only then publishes.
///
/// It runs while the next group commit is being written.
final class CheckpointPublisher: Sendable {
    private let tree: SharedTree
    private let lockRecord: Mutex<LockRecordFile>
    private let keys: CheckpointKeys
    private let publications: Publications
    private let archiver: TileArchiver
    private let latch: FailureLatch
    private let onPublished: @Sendable (PublishedCheckpoint) -> Void
    private let durable = Mutex<[DurableEntries]>([])
    private let stage = Stage("signet.log.publish")

    init(
        tree: SharedTree, lockRecord: LockRecordFile, keys: CheckpointKeys, publications: Publications,
        archiver: TileArchiver, latch: FailureLatch, onPublished: @escaping @Sendable (PublishedCheckpoint) -> Void
    ) {
        self.tree = tree
        self.lockRecord = Mutex(lockRecord)
        self.keys = keys
        self.publications = publications
        self.archiver = archiver
        self.latch = latch
        self.onPublished = onPublished
    }

    /// Takes groups that are durable, in the order of the log.
    func absorb(_ groups: [DurableEntries]) {
        durable.withLock { $0.append(contentsOf: groups) }
        wake()
    }

    /// Looks for work soon: durable groups, or somebody who wants a fresh signature.
    func wake() { stage.schedule { [self] in drain() } }

    /// Returns when everything that was durable has been published.
    func finish() async { await stage.finish() }

    /// Signs and records the present tree.
    private func publish() throws(LogFailure) -> PublishedCheckpoint {
        try lockRecord.withLock { (lockRecord) throws(LogFailure) in
            let (head, ancestor) = try heads(lockedSize: lockRecord.current.head.size)
            let checkpoint = try sign(head)
            do throws(LockRecordError) {
                try lockRecord.swap(to: head, note: checkpoint.bytes, ancestor: ancestor)
            } catch {
                throw .lockRecord(error)
            }
            return checkpoint
        }
    }

    private func drain() {
        while latch.failure == nil {
            let groups = durable.withLock { groups in
                defer { groups = [] }
                return groups
            }
            guard publications.beginRound() || !groups.isEmpty else { return }
            for group in groups { tree.append(group) }
            publishRound()
        }
    }

    private func publishRound() {
        do throws(LogFailure) {
            let checkpoint = try publish()
            publications.complete(checkpoint)
            onPublished(checkpoint)
            archiver.archive(upTo: checkpoint.head.size)
        } catch {
            latch.fail(error)
        }
    }

    /// The head of the whole tree, and the root of the same tree at the size signed last.
    private func heads(lockedSize: UInt64) throws(LogFailure) -> (TreeHead, ancestor: TreeHash) {
        do throws(MerkleTreeError) {
            return try tree.read { (tree) throws(MerkleTreeError) in
                (try tree.merkle.head(size: tree.merkle.size), try tree.merkle.root(size: lockedSize))
            }
        } catch {
            throw .tree(error)
        }
    }

    private func sign(_ head: TreeHead) throws(LogFailure) -> PublishedCheckpoint {
        do throws(LogSigningError) { return try keys.sign(head) } catch { throw .signing(error) }
    }
}
