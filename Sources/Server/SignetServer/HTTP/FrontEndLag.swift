// SPDX-License-Identifier: Apache-2.0

/// Whether one of several front ends has come far enough to answer: what is published, and known to be, must be shown here soon.
///
/// A pure decision. Whoever uses it says what is known, and when, by a clock that does not go back.
package struct FrontEndLag: Sendable {
    /// What follows from a lag.
    package enum Standing: Hashable, Sendable {
        /// It answers.
        case ready
        /// It answers, and `/ready` says that it is not ready, so that a balancer prefers others.
        case notReady
        /// It answers nothing: what it would show is too old.
        case silent
    }

    /// After more seconds than this it is not ready.
    package static let readySeconds: UInt64 = 5
    /// After more seconds than this it answers nothing. A client takes less for a rollback only after ten times as long
    /// (`KnownSize.patience`).
    package static let silentSeconds: UInt64 = 60

    /// How much is shown here.
    private var shown: UInt64
    /// Sizes known to be published and not shown here, each with the second at which it was first known, in rising order of both.
    private var missing: [(size: UInt64, since: UInt64)] = []
    /// When the published size was last asked for with success.
    private var askedAt: UInt64

    /// A front end that shows this much.
    ///
    /// - Parameter now: seconds of a clock that does not go back.
    package init(showing shown: UInt64, at now: UInt64) {
        self.shown = shown
        askedAt = now
    }

    /// It is known that this much is published. A smaller size than one known before says nothing.
    package mutating func published(_ size: UInt64, at now: UInt64) {
        askedAt = max(askedAt, now)
        guard size > max(shown, missing.last?.size ?? 0) else { return }
        missing.append((size, now))
        // The oldest says how long something is missing, the newest how much.
        if missing.count > Self.keptCount { missing.remove(at: missing.count - 2) }
    }

    /// This much is shown here. It never gets less.
    package mutating func shows(_ size: UInt64) {
        shown = max(shown, size)
        missing.removeAll { $0.size <= shown }
    }

    /// For how many seconds something that is published has been missing here. A front end that cannot ask what is published does not know
    /// that nothing is missing, so the time since it last could counts as well.
    package func seconds(at now: UInt64) -> UInt64 {
        let missing = missing.first.map { now - min(now, $0.since) } ?? 0
        return max(missing, now - min(now, askedAt))
    }

    /// What follows.
    package func standing(at now: UInt64) -> Standing {
        switch seconds(at: now) {
        case 0...Self.readySeconds: .ready
        case 0...Self.silentSeconds: .notReady
        default: .silent
        }
    }

    private static let keptCount = 256
}
