// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Synchronization
import TransparencyLog

/// The first stage: writes what waits as one frame, and begins the next one the moment the last is durable.
///
/// Without an interval nothing is timed. An idle log commits each group at once; under load the groups that come in
/// during one `fdatasync` are the next frame. With one, frames begin at least that far apart unless a full batch waits.
final class GroupCommit: Sendable {
    private let stores: any LogStores
    private let queue: AppendQueue
    private let publisher: CheckpointPublisher
    private let latch: FailureLatch
    private let sealing: (any LogSealing)?
    private let interval: Duration
    private let last = Mutex<ContinuousClock.Instant?>(nil)
    private let stage = Stage("signet.log.commit")
    private let commits = Atomic<UInt64>(0)

    init(
        _ stores: any LogStores, queue: AppendQueue, publisher: CheckpointPublisher, latch: FailureLatch,
        sealing: (any LogSealing)?, interval: Duration
    ) {
        self.stores = stores
        self.queue = queue
        self.publisher = publisher
        self.latch = latch
        self.sealing = sealing
        self.interval = interval
    }

    /// How many frames have been written.
    var commitCount: UInt64 { commits.load(ordering: .relaxed) }

    /// Puts a group in the queue.
    func submit(_ group: PendingGroup) throws(LogAppendError) {
        try queue.push(group)
        stage.schedule { [self] in drain() }
    }

    /// Ends a frame soon, whether or not anything waits.
    func seal() throws(LogAppendError) {
        try queue.askForSeal()
        stage.schedule { [self] in drain() }
    }

    /// Writes what is in the queue, without regard to the interval, and returns when it has been written.
    func finish() async { await stage.run { [self] in drain(isLast: true) } }

    private func drain(isLast: Bool = false) {
        while latch.failure == nil {
            let demand = queue.demand
            guard !demand.isEmpty else { return }
            if !isLast, !demand.isFull, let rest = restOfInterval() {
                return stage.schedule(after: rest) { [self] in drain() }
            }
            let work = queue.take { sealing?.fitting($0) ?? $0.count }
            commit(work)
        }
    }

    /// How long the next frame must wait; nil when it need not. Says nil once for each frame.
    private func restOfInterval() -> Duration? {
        guard interval > .zero else { return nil }
        return last.withLock { last in
            let now = ContinuousClock.now
            if let last, last + interval > now { return last + interval - now }
            last = now
            return nil
        }
    }

    private func commit(_ work: AppendQueue.Work) {
        let groups = accepted(work.groups)
        guard !groups.isEmpty || work.wantsSeal else { return }
        do throws(LogFailure) {
            let seal = try seal(groups).map { HashedEntries(seal: $0) }
            let entries = groups.map(\.entries) + (seal.map { [$0] } ?? [])
            var index = try write(entries)
            publisher.absorb(entries)
            for group in groups {
                let end = index + UInt64(group.entries.count)
                group.waiter.resume(returning: .success(index..<end))
                index = end
            }
        } catch {
            latch.fail(error)
            for group in groups { group.waiter.resume(returning: .failure(.stopped)) }
        }
    }

    /// The groups that keep the rules; the others are sent away.
    private func accepted(_ groups: [PendingGroup]) -> [PendingGroup] {
        guard let sealing else { return groups }
        return groups.filter { group in
            do throws(IndexFault) {
                try sealing.check(group)
                return true
            } catch {
                group.waiter.resume(returning: .failure(.breaksRule(error)))
                return false
            }
        }
    }

    private func seal(_ groups: [PendingGroup]) throws(LogFailure) -> [UInt8]? {
        guard let sealing else { return nil }
        queue.countSeal()
        do throws(IndexFault) { return try sealing.seal(groups) } catch { throw .sealing(error) }
    }

    /// Makes the groups and the seal durable and returns the index of the first entry.
    private func write(_ entries: [HashedEntries]) throws(LogFailure) -> UInt64 {
        commits.add(1, ordering: .relaxed)
        return try stores.commit(entries)
    }
}
