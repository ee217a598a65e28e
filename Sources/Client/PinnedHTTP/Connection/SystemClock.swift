// SPDX-License-Identifier: Apache-2.0

import Platform

/// The device's clock, which decides whether a certificate or a rule has expired unless another clock is given.
public enum SystemClock {
    /// Seconds since 1970.
    public static let now: @Sendable () -> UInt64 = { UInt64(max(0, time(nil))) }
}
