// SPDX-License-Identifier: Apache-2.0

/// How often something is tried, and how long to wait in between.
package struct ObjectRetry: Sendable {
    /// How often at most; 1 or more.
    package let attempts: Int
    /// Waits after so many failures; 1 or more.
    package let pause: @Sendable (Int) async -> Void

    package init(attempts: Int, pause: @escaping @Sendable (Int) async -> Void) {
        (self.attempts, self.pause) = (attempts, pause)
    }

    /// Five attempts; before the next, a random part of 100 ms, then of twice as much, and so on: writers that failed together do not
    /// come back together.
    package static let standard = ObjectRetry(attempts: 5) { failures in
        let longest = 100 << min(max(failures, 1) - 1, 5)
        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...longest)))
    }

    /// Once.
    package static let none = ObjectRetry(attempts: 1) { _ in }
}
