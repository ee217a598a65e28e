// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Logging
import Synchronization

/// Log lines about registrations, refusals and limits. They tell the operator what happened and how often, and name no
/// person.
///
/// Each kind of event gets at most one line a minute, so that a flood of requests does not fill the disk. The first
/// event is written at once; a later line counts the events since the line before. The metrics also count events
/// without a line.
final class EventLines: Sendable {
    /// The kinds of events. The set is closed: its values are limits, and routes with the statuses that the server
    /// sends.
    enum Event: Hashable, Sendable {
        /// An account was registered.
        case registered
        /// A client reached a limit.
        case limit(Limit)
        /// The server answered a request with this status, 400 or more.
        case refused(Destination.Name, status: Int)
    }

    /// The shortest time between two lines about one kind, in nanoseconds.
    static let interval: UInt64 = 60_000_000_000

    private struct Count: Sendable {
        /// When the next line may be written.
        var next: UInt64 = 0
        var unwritten = 0
    }

    private let counts = Mutex<[Event: Count]>([:])
    private let logger: Logger
    private let uptime: @Sendable () -> UInt64

    /// - Parameter uptime: nanoseconds of a clock that does not go back.
    init(_ logger: Logger, uptime: @escaping @Sendable () -> UInt64) {
        self.logger = logger
        self.uptime = uptime
    }

    func note(_ event: Event) {
        guard let level = event.level, level >= logger.logLevel else { return }
        let now = uptime()
        let count = counts.withLock { counts in
            counts[event, default: Count()].unwritten += 1
            guard let count = counts[event], now >= count.next else { return 0 }
            counts[event] = Count(next: now + Self.interval)
            return count.unwritten
        }
        guard count > 0 else { return }
        logger.log(level: level, event.message, metadata: event.values.merging(["count": "\(count)"]) { $1 })
    }
}

extension EventLines.Event {
    /// The level of the event's line; nil if it gets none. Connections often become idle, so a line about that would
    /// tell nothing.
    fileprivate var level: Logger.Level? {
        switch self {
        case .registered: .info
        case .limit(.idleTime): nil
        case .limit(.proxyHeader): .warning
        case .limit: .notice
        case .refused(_, let status): status < 500 ? .info : .warning
        }
    }

    fileprivate var message: Logger.Message {
        switch self {
        case .registered: "accounts were registered"
        case .limit(.proxyHeader):
            "a proxy of --behind sent no PROXY header: have it send one, and see the guide, configure.md"
        case .limit: "clients ran into a limit"
        case .refused: "requests were refused"
        }
    }

    fileprivate var values: Logger.Metadata {
        switch self {
        case .registered: [:]
        case .limit(let limit): ["limit": "\(limit.rawValue)"]
        case .refused(let name, let status): ["route": "\(name.rawValue)", "status": "\(status)"]
        }
    }
}
