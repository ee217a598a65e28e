// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling

/// Notices that anyone can cause as often as they like: each kind is reported at most once a second for each member,
/// and once for all non-members together. The counts are in ``CallTally``.
struct NoticePace {
    enum Kind: Hashable {
        case stranger
        case refused
        case dropped(FrameDropReason)
    }

    private struct Key: Hashable {
        let kind: Kind
        let device: CallDevice?
    }

    /// In milliseconds.
    private static let pause: UInt64 = 1000

    private var told: [Key: UInt64] = [:]

    /// Counts a notice; false if it is one too many.
    ///
    /// - Parameter device: whose it is, if it is a member's.
    mutating func takes(_ kind: Kind, of device: CallDevice?, at now: UInt64) -> Bool {
        let key = Key(kind: kind, device: device)
        guard told[key].map({ now >= $0 + Self.pause }) ?? true else { return false }
        told[key] = now
        return true
    }
}

/// Frames of each member that are counted, and told of from fifty on, each ten seconds at most: a few are lost, doubled or late on any
/// network.
struct PacedCount {
    private static let least = 50
    /// In milliseconds.
    private static let pause: UInt64 = 10_000

    private var told: [CallDevice: (count: Int, at: UInt64)] = [:]

    /// Of how many a person is to hear now.
    ///
    /// - Parameter total: how many there have been altogether.
    /// - Returns: how many came since the last time; nil if it is not time.
    mutating func due(_ total: Int, of device: CallDevice, at now: UInt64) -> Int? {
        let last = told[device]
        let more = total - (last?.count ?? 0)
        guard more >= Self.least, last.map({ now >= $0.at + Self.pause }) ?? true else { return nil }
        told[device] = (total, now)
        return more
    }
}
