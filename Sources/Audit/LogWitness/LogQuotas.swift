// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// How often each log may be cosigned: a token bucket a log that has a rate, with the tokens of an hour at most, and
/// always ten.
///
/// A bucket is one number, the time at which it will be full again.
final class LogQuotas: Sendable {
    private struct Quota {
        let interval: UInt64
        let burst: UInt64
        var fullAgainAt: UInt64 = 0
    }

    private let quotas: Mutex<[[UInt8]: Quota]>

    init(_ logs: WitnessedLogs) {
        var quotas: [[UInt8]: Quota] = [:]
        for entry in logs.entries {
            guard let rate = logs.requestsPerDay(ofOrigin: entry.origin) else { continue }
            let interval = max(1, 86_400_000_000_000 / max(1, rate))
            quotas[entry.origin] = Quota(interval: interval, burst: interval * max(10, min(rate, 1 << 32) / 24))
        }
        self.quotas = Mutex(quotas)
    }

    /// Takes a token of a log; if there is none, says after how many nanoseconds there will be.
    func take(of origin: [UInt8], at now: UInt64) -> UInt64? {
        quotas.withLock { quotas in
            guard var quota = quotas[origin] else { return nil }
            let next = max(quota.fullAgainAt, now) + quota.interval
            guard next - now <= quota.burst else { return next - now - quota.burst }
            quota.fullAgainAt = next
            quotas[origin] = quota
            return nil
        }
    }
}
