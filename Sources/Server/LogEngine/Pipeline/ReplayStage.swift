// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeyTransparency
import Synchronization
import TransparencyLog

/// Hands the frames of a log that is being opened to its sealer, in order and on a thread of its own, while the next ones are read.
final class ReplayStage: Sendable {
    /// How many frames wait at most: each may have megabytes.
    private static let waiting = 4

    private let sealing: any LogSealing
    private let shown: UInt64
    private let queue = DispatchQueue(label: "signet.log.replay")
    private let room = DispatchSemaphore(value: waiting)
    private let fault = Mutex<IndexFault?>(nil)

    init(_ sealing: any LogSealing, shown: UInt64) {
        self.sealing = sealing
        self.shown = shown
    }

    /// Takes the next frame.
    ///
    /// - Throws: ``LogOpenError/breaksRule(_:)``: an earlier frame was refused.
    func take(_ frame: Frame, _ leaves: [TreeHash]) throws(LogOpenError) {
        try check()
        room.wait()
        queue.async { [self] in
            replay(frame, leaves)
            room.signal()
        }
    }

    /// Waits until every frame was taken.
    ///
    /// - Throws: ``LogOpenError/breaksRule(_:)``: one was refused.
    func finish() throws(LogOpenError) {
        drain()
        try check()
    }

    /// Waits until nothing is under way.
    func drain() { queue.sync {} }

    private func check() throws(LogOpenError) {
        if let fault = fault.withLock({ $0 }) { throw .breaksRule(fault) }
    }

    private func replay(_ frame: Frame, _ leaves: [TreeHash]) {
        guard fault.withLock({ $0 }) == nil else { return }
        do throws(IndexFault) { try sealing.replay(frame.entries, leaves: leaves, shown: shown) } catch {
            fault.withLock { $0 = error }
        }
    }
}
