// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Logging
import Synchronization

/// Lines about registrations, refusals and limits for an operator: what happened and how often, never to whom.
///
/// A kind of event has one line a minute, however often it happens: who floods the server does not fill its disk. The first one
/// is written at once; a later line says how many it stands for. Those that no line has told of yet are in the metrics.
final class EventLines: Sendable {
    /// The kinds, a closed set: limits, and routes with the statuses that we send.
    enum Event: Hashable, Sendable {
        /// An account was registered.
        case registered
        /// A client ran into a limit.
        case limit(Limit)
        /// A request was answered with this status, 400 or more.
        case refused(Destination.Name, status: Int)
    }

    /// Between two lines about one kind, in nanoseconds.
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
    /// nil: a line would say nothing. A connection that is not used any more is no remark.
    fileprivate var level: Logger.Level? {
        switch self {
        case .registered: .info
        case .limit(.idleTime): nil
        case .limit: .notice
        case .refused(_, let status): status < 500 ? .info : .warning
        }
    }

    fileprivate var message: Logger.Message {
        switch self {
        case .registered: "accounts were registered"
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
