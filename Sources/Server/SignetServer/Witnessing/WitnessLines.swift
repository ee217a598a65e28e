// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Log lines about witnesses that did not cosign. While one is away, a round is tried every second.
///
/// Each kind of event gets at most one line a minute: the first at once, and later ones with the number of events since the line
/// before, as in ``EventLines``.
final class WitnessLines: Sendable {
    enum Event: Hashable, Sendable {
        /// A witness did not cosign: its name in the policy, and a word out of a closed set.
        case missing(String, why: String)
        /// A checkpoint was not published.
        case belowQuorum
    }

    private let throttle = Mutex<[Event: (next: UInt64, unwritten: Int)]>([:])
    private let logger: Logger
    private let uptime: @Sendable () -> UInt64

    /// - Parameter uptime: nanoseconds of a clock that does not go back.
    init(_ logger: Logger, uptime: @escaping @Sendable () -> UInt64) {
        self.logger = logger
        self.uptime = uptime
    }

    /// - Parameter size: of the checkpoint, in entries.
    func note(_ event: Event, size: UInt64) {
        let now = uptime()
        let count = throttle.withLock { events in
            let (next, unwritten) = events[event, default: (0, 0)]
            let isDue = now >= next
            events[event] = isDue ? (now + EventLines.interval, 0) : (next, unwritten + 1)
            return isDue ? unwritten + 1 : 0
        }
        guard count > 0 else { return }
        let values: Logger.Metadata = ["size": "\(size)", "count": "\(count)"]
        switch event {
        case .missing(let name, let why):
            logger.warning(
                "a witness did not cosign", metadata: values.merging(["witness": "\(name)", "why": "\(why)"]) { $1 })
        case .belowQuorum: logger.error("not published: below the quorum of witnesses", metadata: values)
        }
    }
}
