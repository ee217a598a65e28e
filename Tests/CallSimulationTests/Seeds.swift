// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The number of simulated calls: `SIGNET_SEEDS=10000` plays all that `Documentation/calls.md` states. Without it a
/// tenth is played, which takes a minute of one core.
enum Seeds {
    static let all: UInt64 = 10_000
    static let count = ProcessInfo.processInfo.environment["SIGNET_SEEDS"].flatMap { UInt64($0) } ?? all / 10
    static let isEverything = count >= all

    /// The same share of a longer series, and never fewer than `least`.
    static func share(of full: UInt64, atLeast least: UInt64) -> UInt64 { max(least, min(full, full * count / all)) }
}
