// SPDX-License-Identifier: Apache-2.0

import Dispatch
import DurableStorage
import KeyTransparency
import LogEngine
import Logging
import Synchronization

/// When a snapshot of the index is written.
package struct IndexSnapshotPolicy: Sendable {
    /// At most once in this many epochs.
    package var epochs: UInt64 = 64
    /// Only when the log has grown by at least this many entries,
    package var entries: UInt64 = 4096
    /// and by at least one part in this many of its size, so that all writing together stays in proportion to the log.
    package var part: UInt64 = 16

    /// The policy of a server: without the snapshot's help, a start replays at most a sixteenth of the log or 64 epochs, whichever is more.
    package init() {}

    /// For tests: at every epoch.
    package static var always: Self {
        var policy = Self()
        (policy.epochs, policy.entries, policy.part) = (1, 1, .max)
        return policy
    }

    func isDue(_ epoch: LoggedEpoch, after last: (number: UInt64, size: UInt64)) -> Bool {
        guard epoch.record.number >= last.number + epochs, epoch.size > last.size else { return false }
        return epoch.size - last.size >= max(entries, epoch.size / part)
    }
}

/// Writes snapshots of the index of a published epoch, on a thread of its own. A failure costs the next start some time and nothing else.
final class IndexSnapshotWriter: Sendable {
    private struct State {
        var last: (number: UInt64, size: UInt64) = (0, 0)
        var isWriting = false
        var isClosed = false
    }

    private let files: any LogFileSystem
    private let epochs: EpochSealer
    private let policy: IndexSnapshotPolicy
    private let reserve: DiskReserve
    private let logger: Logger
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "signet.index.snapshot", qos: .utility)

    init(
        files: any LogFileSystem, epochs: EpochSealer, policy: IndexSnapshotPolicy, reserve: DiskReserve, logger: Logger
    ) {
        self.files = files
        self.epochs = epochs
        self.policy = policy
        self.reserve = reserve
        self.logger = logger
    }

    /// A checkpoint of this size was published. Returns at once.
    func published(size: UInt64) {
        guard let epoch = epochs.epoch(size: size) else { return }
        let isDue = state.withLock { state in
            if let used = epochs.usedSnapshot, used > state.last.size {
                // What the start used need not be written again. Its epoch's number is not known, and is less than this.
                state.last = (epoch.record.number, used)
            }
            guard !state.isClosed, !state.isWriting, policy.isDue(epoch, after: state.last) else { return false }
            state.isWriting = true
            state.last = (epoch.record.number, size)
            return true
        }
        if isDue { queue.async { [self] in write(epoch) } }
    }

    /// Returns when nothing is being written, and nothing more will be.
    func finish() async {
        state.withLock { $0.isClosed = true }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func write(_ epoch: LoggedEpoch) {
        defer { state.withLock { $0.isWriting = false } }
        // A start without it takes longer; a full disk stops registrations.
        guard !reserve.isReached else { return logger.notice("index snapshot not written: the disk is nearly full") }
        do throws(LogFileError) {
            try IndexSnapshot.write(
                size: epoch.size, labelCount: Int(epoch.record.labelCount), to: files, from: epochs)
        } catch {
            logger.warning("index snapshot not written", metadata: ["error": "\(error)"])
        }
    }
}
