import Synchronization

/// The first stage: writes what waits as one frame, and begins the next one the moment the last is durable.
///
/// Nothing is timed. An idle log commits each group at once; under load the groups that come in during one `fdatasync`
/// are the next frame.
final class GroupCommit: Sendable {
    private let wal: Mutex<WriteAheadLog>
    private let queue: AppendQueue
    private let publisher: CheckpointPublisher
    private let latch: FailureLatch
    private let stage = Stage("signet.log.commit")
    private let commits = Atomic<UInt64>(0)

    init(_ wal: WriteAheadLog, queue: AppendQueue, publisher: CheckpointPublisher, latch: FailureLatch) {
        self.wal = Mutex(wal)
        self.queue = queue
        self.publisher = publisher
        self.latch = latch
    }

    /// How many frames have been written.
    var commitCount: UInt64 { commits.load(ordering: .relaxed) }

    /// Puts a group in the queue.
    func submit(_ group: PendingGroup) throws(LogAppendError) {
        try queue.push(group)
        stage.schedule { [self] in drain() }
    }

    /// Returns when everything in the queue has been written.
    func finish() async { await stage.finish() }

    private func drain() {
        while latch.failure == nil {
            let groups = queue.take()
            guard !groups.isEmpty else { return }
            commit(groups)
        }
    }

    private func commit(_ groups: [PendingGroup]) {
        do throws(LogFileError) {
            var index = try write(groups)
            publisher.absorb(groups)
            for group in groups {
                let end = index + UInt64(group.entries.count)
                group.waiter.resume(returning: .success(index..<end))
                index = end
            }
        } catch {
            latch.fail(.writeAheadLog(error))
            for group in groups { group.waiter.resume(returning: .failure(.stopped)) }
        }
    }

    /// Makes the groups durable and returns the index of the first entry.
    private func write(_ groups: [PendingGroup]) throws(LogFileError) -> UInt64 {
        commits.add(1, ordering: .relaxed)
        return try wal.withLock { (wal) throws(LogFileError) in
            let first = wal.nextIndex
            try wal.append(groups.map(\.entries))
            return first
        }
    }
}
