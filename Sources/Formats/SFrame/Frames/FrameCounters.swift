// SPDX-License-Identifier: Apache-2.0

/// Which counters under one key were seen. One frame moves them by a bounded step only, because a holder of the key can
/// give a frame any number: without the bound, a single forged frame would make all later frames of its owner look old.
///
/// A frame further ahead is opened like any other, and remembered apart. Eight such in a row, near one another and with none from
/// near the newest between, are what the counters go on from: then so many frames were lost.
struct FrameCounters: Sendable {
    /// How far one frame may be ahead of the newest, or of zero while there is none, in counters: 20 minutes of 50 frames a second.
    static let maximumLeap: UInt64 = 1 << 16
    /// This many frames in a row are believed together.
    static let believedCount = 8

    private var window = ReplayWindow()
    private var ahead = ReplayWindow()
    private var aheadCount = 0

    /// Demands that the counter was not seen and is not behind all that are remembered.
    ///
    /// - Throws: ``ReplayError``. A retry cannot help.
    func check(_ counter: UInt64) throws(ReplayError) {
        guard window.isLeap(to: counter) else { return try window.check(counter) }
        if isNearAhead(counter) { try ahead.check(counter) }
    }

    /// Records the counter of a frame that was authentic and that ``check(_:)`` let through.
    mutating func record(_ counter: UInt64) {
        guard window.isLeap(to: counter) else {
            window.record(counter)
            aheadCount = 0
            return
        }
        if !isNearAhead(counter) { (ahead, aheadCount) = (ReplayWindow(), 0) }
        ahead.record(counter)
        aheadCount += 1
        if aheadCount == Self.believedCount { (window, ahead, aheadCount) = (ahead, ReplayWindow(), 0) }
    }

    /// Whether a counter belongs to the frames that are remembered apart.
    private func isNearAhead(_ counter: UInt64) -> Bool {
        guard let newest = ahead.newestSeen else { return false }
        return counter <= newest ? newest - counter < ReplayWindow.width : !ahead.isLeap(to: counter)
    }
}

extension ReplayWindow {
    fileprivate func isLeap(to counter: UInt64) -> Bool {
        let newest = newestSeen ?? 0
        return counter > newest && counter - newest > FrameCounters.maximumLeap
    }
}
