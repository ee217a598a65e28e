// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What one process counts of a shared log: for operators, and for nothing else.
package final class SharedLogMeters: Sendable {
    /// What became of a transaction with which a leader writes the log, or what is published. The raw value is the label in the metrics.
    package enum Commit: String, CaseIterable, Sendable {
        case committed
        /// Another process had claimed the log.
        case refused
        /// The connection broke, or the server gave a warning.
        case unknown
    }

    /// What became of an object that the leader puts into the store. The raw value is the label in the metrics.
    package enum Placing: String, CaseIterable, Sendable {
        case written
        /// The same bytes were there.
        case same
        /// Other bytes were there, at a path that has one content for ever.
        case different
        /// Another version was there, of an object that changes.
        case changed
        /// There was no answer, or none that says what became of it.
        case failed
    }

    /// Everything, at one moment.
    package struct Readings: Hashable, Sendable {
        /// Whether this process leads, as far as it knows.
        package var leads = false
        /// How often it has begun to lead.
        package var takeovers: UInt64 = 0
        package var commits: [Commit: UInt64] = [:]
        /// How long the transactions took.
        package var committing = Duration.zero
        package var placings: [Placing: UInt64] = [:]
        /// How often a transaction was run again because another one disturbed it.
        package var repeats: UInt64 = 0
        /// Why this process leads without the parts that log something; nil: it leads with them, or not.
        package var missingParts: String?
    }

    private let readings = Mutex(Readings())

    package init() {}

    /// What was counted so far.
    package var now: Readings { readings.withLock { $0 } }

    /// Counts a transaction that was run again.
    package func repeated() { readings.withLock { $0.repeats += 1 } }

    /// Notes why this process leads without its parts; nil: it does not.
    ///
    /// - Returns: what was noted before.
    @discardableResult
    package func parts(missing reason: String?) -> String? {
        readings.withLock { readings in
            defer { readings.missingParts = reason }
            return readings.missingParts
        }
    }

    func leads(_ leads: Bool) {
        readings.withLock { readings in
            if leads { readings.takeovers += 1 }
            readings.leads = leads
        }
    }

    func count(_ commit: Commit, lasting duration: Duration) {
        readings.withLock { readings in
            readings.commits[commit, default: 0] += 1
            readings.committing += duration
        }
    }

    func count(_ placing: Placing) { readings.withLock { $0.placings[placing, default: 0] += 1 } }
}
