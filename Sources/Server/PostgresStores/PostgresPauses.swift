// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The pauses between the runs of a transaction that others disturb.
package struct PostgresPauses: Sendable {
    /// How often a transaction is run again: for about five seconds. A server that is merely busy then refuses nobody.
    package static let maximumCount = 24
    /// From which repeat on the pauses grow no more.
    private static let longest = 8

    private let random: @Sendable (ClosedRange<Double>) -> Double
    private let sleep: @Sendable (Duration) -> Void

    /// - Parameters:
    ///   - random: a number of the range, each as likely as the others.
    ///   - sleep: holds the thread for that long.
    package init(
        random: @escaping @Sendable (ClosedRange<Double>) -> Double = { .random(in: $0) },
        sleep: @escaping @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }
    ) {
        self.random = random
        self.sleep = sleep
    }

    /// The pause before a transaction is run again for the `count`th time, from 1: half to all of 2, 4, 8 … 256 ms, and then of 256 ms.
    package func length(_ count: Int) -> Duration {
        .milliseconds(1) * (Double(1 << min(count, Self.longest)) * random(0.5...1))
    }

    func wait(_ count: Int) { sleep(length(count)) }
}
