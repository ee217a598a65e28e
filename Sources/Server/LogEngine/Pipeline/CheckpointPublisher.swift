// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The second stage: grows the tree by what is durable, signs it, records what was signed, has it witnessed, and only
/// then publishes.
///
/// It runs while the next group commit is being written. While a checkpoint is with the witnesses the tree grows on; the
/// next one covers all of that.
final class CheckpointPublisher: Sendable {
    /// How long to wait after a round below the quorum.
    private static let pause = Duration.seconds(1)

    private let tree: SharedTree
    private let lockRecord: Mutex<LockRecordFile>
    private let keys: CheckpointKeys
    private let publications: Publications
    private let archiver: TileArchiver
    private let latch: FailureLatch
    private let witnessing: (any CheckpointWitnessing)?
    private let sealing: (any LogSealing)?
    private let published: PublishedFile
    private let onPublished: @Sendable (PublishedCheckpoint) -> Void
    private let durable = Mutex<[HashedEntries]>([])
    private let round = WitnessRound()
    private let isClosed = Atomic<Bool>(false)
    private let stage = Stage("signet.log.publish")

    init(
        tree: SharedTree, lockRecord: LockRecordFile, published: PublishedFile, publications: Publications,
        archiver: TileArchiver, latch: FailureLatch, _ configuration: LogConfiguration
    ) {
        self.tree = tree
        self.lockRecord = Mutex(lockRecord)
        self.published = published
        self.publications = publications
        self.archiver = archiver
        self.latch = latch
        keys = configuration.keys
        witnessing = configuration.witnessing
        sealing = configuration.sealing
        onPublished = configuration.onPublished
    }

    /// Takes groups that are durable, in the order of the log.
    func absorb(_ groups: [HashedEntries]) {
        durable.withLock { $0.append(contentsOf: groups) }
        wake()
    }

    /// Looks for work soon: durable groups, or a request for a fresh signature.
    func wake() { stage.schedule { [self] in drain() } }

    /// Returns when everything that was durable has been signed, and published unless that takes witnesses.
    func finish() async {
        await stage.finish()
        isClosed.store(true, ordering: .releasing)
        await round.end()
        await stage.finish()
    }

    private func drain() {
        if let outcome = round.take() { finish(outcome) }
        while latch.failure == nil, !round.isUnderWay, !isClosed.load(ordering: .acquiring) {
            let groups = durable.withLock { groups in
                defer { groups = [] }
                return groups
            }
            guard publications.beginRound() || !groups.isEmpty else { return }
            for group in groups { tree.append(group) }
            if let sealing, !groups.isEmpty { tree.read { sealing.share($0.merkle) } }
            beginRound()
        }
    }

    private func beginRound() {
        do throws(LogFailure) {
            let checkpoint = try signAndRecord()
            guard let witnessing else { return publish(checkpoint) }
            round.begin(checkpoint, witnessing, consistency: consistency(to: checkpoint.head.size)) { [self] in wake() }
        } catch {
            latch.fail(error)
        }
    }

    private func finish(_ outcome: WitnessRound.Outcome) {
        switch outcome {
        case .success(let checkpoint):
            do throws(LogFileError) {
                try published.write(checkpoint)
                publish(checkpoint)
            } catch { latch.fail(.publishedFile(error)) }
        case .failure(.shortfall(let shortfall, let size)):
            publications.failRound(ofSize: size, .belowQuorum(missing: shortfall.missing))
            stage.schedule(after: Self.pause) { [self] in
                publications.want()
                drain()
            }
        case .failure(.note(let error)): latch.fail(.signing(.note(error)))
        }
    }

    private func publish(_ checkpoint: PublishedCheckpoint) {
        publications.complete(checkpoint)
        onPublished(checkpoint)
        archiver.archive(upTo: checkpoint.head.size)
    }

    /// Signs and records the present tree.
    private func signAndRecord() throws(LogFailure) -> PublishedCheckpoint {
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

    private func consistency(to size: UInt64) -> @Sendable (UInt64) -> ConsistencyProof? {
        { [tree] old in tree.read { try? $0.merkle.consistencyProof(from: old, to: size) } }
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
