// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Crypto
import KeyTransparency
import Synchronization

/// Counts guesses for all front ends of a directory, so that their number is not multiplied by that of the front ends, nor forgotten when
/// one starts again.
package protocol AttemptCounter: Sendable {
    /// Takes an attempt of each of these keys, or of none.
    ///
    /// In SQL a key is a row with one number, the time at which all its attempts will be there again, and all keys are one transaction: with
    /// `next = greatest(whole, now) + interval`, by the database's clock, `INSERT … ON CONFLICT (name) DO UPDATE SET whole = next WHERE
    /// next - now <= interval * burst`, where each has to write its row. A `whole` after `now + interval * burst` is of a clock that was ahead,
    /// and is set to that, also where no attempt is taken.
    ///
    /// - Returns: whether there was one of each. Of several front ends that ask at once, as many are told so as there were attempts.
    /// - Throws: what kept it from being known; then no login begins.
    func take(_ keys: [AttemptKey]) async throws -> Bool

    /// Undoes a ``take(_:)`` that succeeded: the login did.
    func giveBack(_ keys: [AttemptKey]) async throws
}

/// What is counted, and how much of it there may be.
package struct AttemptKey: Hashable, Sendable {
    /// 32 bytes that say nothing of the account or the address to who does not have the front ends' secret. Another limit has another name: a
    /// front end with a narrower one would take what was counted under a wider one for a clock that was ahead, and write it down to its own.
    package let name: [UInt8]
    /// How many, and how fast they come back.
    package let rate: LoginLimits.Rate

    init(_ kind: UInt8, _ content: [UInt8], _ rate: LoginLimits.Rate, under key: SymmetricKey) {
        let limit = [rate.burst, rate.secondsPerAttempt].flatMap { number in
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
        name = Array(HMAC<SHA256>.authenticationCode(for: [kind] + limit + content, using: key))
        self.rate = rate
    }
}

/// The counts in the memory of one process, for tests with several front ends in it.
package final class LocalAttemptCounter: AttemptCounter {
    private let clock: @Sendable () -> UInt64
    private let wholeAgainAt: Mutex<RecencyTable<[UInt8], UInt64>>

    /// - Parameter clock: nanoseconds; it does not go back.
    package init(remembering capacity: Int, clock: @escaping @Sendable () -> UInt64) {
        self.clock = clock
        wholeAgainAt = Mutex(RecencyTable(capacity: capacity))
    }

    package func take(_ keys: [AttemptKey]) async throws -> Bool {
        let now = clock()
        return wholeAgainAt.withLock { table in
            let next = keys.map { max(table.value(of: $0.name) ?? 0, now) + $0.interval }
            guard zip(keys, next).allSatisfy({ $1 - now <= $0.interval * $0.rate.burst }) else { return false }
            for (key, whole) in zip(keys, next) { table.withValue(of: key.name, initial: 0) { $0 = whole } }
            return true
        }
    }

    package func giveBack(_ keys: [AttemptKey]) async throws {
        wholeAgainAt.withLock { table in
            for key in keys {
                table.withValue(of: key.name, initial: 0) { $0 = $0 > key.interval ? $0 - key.interval : 0 }
            }
        }
    }
}

extension AttemptKey {
    /// After so many nanoseconds an attempt comes back; 0: there is no limit.
    fileprivate var interval: UInt64 { rate.burst == 0 ? 0 : rate.secondsPerAttempt * 1_000_000_000 }
}

extension LoginAttempts.Attempt {
    /// What it counts for at all front ends together.
    func keys(_ limits: LoginLimits, under key: SymmetricKey) -> [AttemptKey] {
        let (handle, network) = (place.handle.bytes, place.client.network)
        return [
            AttemptKey(1, network, limits.address, under: key),
            AttemptKey(2, network + handle, limits.account, under: key),
        ] + (isStrange ? [AttemptKey(3, handle, limits.strangers, under: key)] : [])
    }
}
