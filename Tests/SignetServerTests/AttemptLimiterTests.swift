// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignetServer

struct AttemptLimiterTests {
    /// Numbers that `signetd config check` accepts.
    @Test(arguments: [1_000_000_000, 4_294_967_295, 1 << 55, UInt64.max], [1, 10, 60])
    func anyNumberOfAttemptsIsALimit(_ burst: UInt64, _ seconds: UInt64) {
        let limiter = AttemptLimiter<Int>(
            LoginLimits.Rate(burst: burst, secondsPerAttempt: seconds), remembering: 4)
        #expect(limiter.take(of: 1, at: 0))
        #expect(limiter.take(of: 1, at: 1))
    }

    @Test func anAttemptThatComesBackAfterCenturiesIsOne() {
        let limiter = AttemptLimiter<Int>(LoginLimits.Rate(burst: 1, secondsPerAttempt: .max), remembering: 4)
        #expect(limiter.take(of: 1, at: 0))
        #expect(!limiter.take(of: 1, at: 1 << 40))
    }

    @Test func attemptsComeBackOneByOne() {
        let limiter = AttemptLimiter<Int>(LoginLimits.Rate(burst: 2, secondsPerAttempt: 10), remembering: 4)
        #expect(limiter.take(of: 1, at: 0) && limiter.take(of: 1, at: 0))
        #expect(!limiter.take(of: 1, at: 9_999_999_999))
        #expect(limiter.take(of: 1, at: 10_000_000_000))
        #expect(!limiter.take(of: 1, at: 10_000_000_000))
    }
}
