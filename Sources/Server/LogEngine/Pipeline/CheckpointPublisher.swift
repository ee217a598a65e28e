// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The second stage: grows the tree by what is durable, signs it, records what was signed, has it witnessed, and only
/// then publishes.
///
/// It runs while the next group commit is being written. While a checkpoint is with the witnesses the tree grows on; the
/// next one covers all of that.
final class CheckpointPublisher: Sendable {
    /// How long to wait after a round below the quorum, and before looking again for files that are not in their places.
    private static let pause = Duration.seconds(1)

    private let tree: SharedTree
    private let stores: any LogStores
    private let keys: CheckpointKeys
    private let publications: Publications
    private let archiver: TileArchiver
    private let latch: FailureLatch
    private let witnessing: (any CheckpointWitnessing)?
    private let sealing: (any LogSealing)?
    private let onPublished: @Sendable (PublishedCheckpoint) -> Void
    private let durable = Mutex<[HashedEntries]>([])
    private let round = WitnessRound()
    private let isClosed = Atomic<Bool>(false)
    /// Whether it will look again for files that are not in their places.
    private let looksAgain = Atomic<Bool>(false)
    private let stage = Stage("signet.log.publish")

    init(
        tree: SharedTree, stores: any LogStores, publications: Publications, archiver: TileArchiver,
        latch: FailureLatch, _ configuration: LogConfiguration
    ) {
        self.tree = tree
        self.stores = stores
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
            do throws(LogFailure) {
                let isWanted = publications.isRoundWanted
                let end = try stores.nextSize(isWanted: isWanted)
                let groups = takeDurable(upTo: end ?? .max)
                for group in groups { tree.append(group) }
                if let sealing, !groups.isEmpty { tree.read { sealing.share($0.merkle) } }
                // The rest of what is to be shown is durable, and on its way here.
                if let end, tree.read({ $0.merkle.size }) < end { return }
                guard isWanted || !groups.isEmpty else { return }
                publications.beginRound()
                try beginRound()
            } catch { latch.fail(error) }
        }
    }

    /// The groups that were written and not taken yet, up to a size of the log.
    private func takeDurable(upTo end: UInt64) -> [HashedEntries] {
        var size = tree.read { $0.merkle.size }
        return durable.withLock { groups in
            let taken = groups.prefix { group in
                size += UInt64(group.count)
                return size <= end
            }
            groups.removeFirst(taken.count)
            return [HashedEntries](taken)
        }
    }

    private func beginRound() throws(LogFailure) {
        guard witnessing == nil || stores.areKept else { return hold() }
        let checkpoint = try signAndRemember()
        guard let witnessing else { return try publish(checkpoint, isWitnessed: false) }
        round.begin(checkpoint, witnessing, consistency: consistency(to: checkpoint.head.size)) { [self] in wake() }
    }

    private func finish(_ outcome: WitnessRound.Outcome) {
        switch outcome {
        case .success(let checkpoint):
            do throws(LogFailure) { try publish(checkpoint, isWitnessed: true) } catch { latch.fail(error) }
        case .failure(.shortfall(let shortfall, _)) where shortfall.isContradicted: latch.fail(.contradicted)
        case .failure(.shortfall(let shortfall, let size)):
            publications.failRound(ofSize: size, .belowQuorum(missing: shortfall.missing))
            stage.schedule(after: Self.pause) { [self] in
                publications.want()
                drain()
            }
        case .failure(.note(let error)): latch.fail(.signing(.note(error)))
        }
    }

    private func publish(_ checkpoint: PublishedCheckpoint, isWitnessed: Bool) throws(LogFailure) {
        guard try isPutDown(checkpoint, isWitnessed: isWitnessed) else { return hold() }
        publications.complete(checkpoint)
        onPublished(checkpoint)
        if !stores.placesBeforeSigning { archiver.archive(upTo: checkpoint.head.size) }
    }

    /// Puts down that a checkpoint is shown from now on; false if it is not to be shown, because files are not in their places: the next start
    /// would show an earlier one, or another log would have a checkpoint that is not its own.
    private func isPutDown(_ checkpoint: PublishedCheckpoint, isWitnessed: Bool) throws(LogFailure) -> Bool {
        guard !isWitnessed || stores.areKept else { return false }
        do throws(LogFailure) { try stores.publish(checkpoint, isWitnessed: isWitnessed) } catch {
            guard !stores.areKept else { throw error }
            return false
        }
        return true
    }

    /// Publishes nothing while files are not in their places, tells those who wait, and looks again a little later.
    private func hold() {
        publications.failRound(ofSize: tree.read { $0.merkle.size }, .displaced)
        guard !looksAgain.exchange(true, ordering: .acquiringAndReleasing) else { return }
        stage.schedule(after: Self.pause) { [self] in
            looksAgain.store(false, ordering: .releasing)
            publications.want()
            drain()
        }
    }

    /// Signs the present tree, and puts down what was signed.
    private func signAndRemember() throws(LogFailure) -> PublishedCheckpoint {
        let head = try wholeHead()
        if stores.placesBeforeSigning { try archiver.place(head) }
        let checkpoint = try sign(head)
        try stores.remember(checkpoint) { [tree] size in tree.read { try? $0.merkle.root(size: size) } }
        return checkpoint
    }

    private func consistency(to size: UInt64) -> @Sendable (UInt64) -> ConsistencyProof? {
        { [tree] old in tree.read { try? $0.merkle.consistencyProof(from: old, to: size) } }
    }

    private func wholeHead() throws(LogFailure) -> TreeHead {
        do throws(MerkleTreeError) {
            return try tree.read { (tree) throws(MerkleTreeError) in try tree.merkle.head(size: tree.merkle.size) }
        } catch {
            throw .tree(error)
        }
    }

    private func sign(_ head: TreeHead) throws(LogFailure) -> PublishedCheckpoint {
        do throws(LogSigningError) { return try keys.sign(head) } catch { throw .signing(error) }
    }
}
