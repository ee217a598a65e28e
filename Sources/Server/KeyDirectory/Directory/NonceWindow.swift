// SPDX-License-Identifier: Apache-2.0

import Crypto
import SignetAPI
import Synchronization

/// Remembers the nonces of signed requests for as long as the requests would still pass the check of time.
///
/// Two generations, each as long as a request can stay in time; the older one is forgotten as a whole. When a
/// generation is full, requests are refused rather than nonces forgotten.
///
/// No account fills it for the others: each may hold a small part of what is still free, so that the shares shrink as the
/// generation fills; and each may hold a few more that no other account's use shrinks, beyond the capacity if
/// necessary: a thousand accounts that fill it cannot keep an account from revoking a device. Those without an account
/// hold none: a registration or a new device's step of a recovery that comes again has the receipt that it had, so
/// clients without an account cannot fill the window.
///
/// The window is in memory and empty after a start. A signed request that is replayed after a restart must therefore change
/// nothing that it did not change before; a letter is the exception, which may be kept once more.
final class NonceWindow: Sendable {
    private struct Key: Hashable {
        let high: UInt64
        let low: UInt64
    }

    private struct Generations {
        var start: UInt64
        var present: Set<Key> = []
        var past: Set<Key> = []
        /// How many of the present ones each account has taken.
        var taken: [Int64: Int] = [:]
    }

    enum Outcome {
        case new
        case replayed
        /// The account has had its share.
        case overShare
        case full
    }

    /// A request signed as far ahead as allowed stays in time this long, in seconds.
    static let lifetime = 2 * RequestSignature.maximumClockDifference + 1

    /// An account may hold this fraction of what is free: 1 in so many. Of a window of 2^20 that is 8,192 at first, more
    /// than an account's rate allows in a generation.
    static let divisor = 128

    /// An account may hold this many regardless of the others: one in 2^16, 16 of a window of 2^20.
    private var floor: Int { capacity >> 16 }

    private let capacity: Int
    private let generations: Mutex<Generations>

    /// A window of at most twice `capacity` nonces of about 16 bytes, and a few for each account that asks.
    init(capacity: Int, at now: UInt64) {
        self.capacity = capacity
        generations = Mutex(Generations(start: now))
    }

    /// Takes a request's nonce, once for each device key.
    func take(_ signature: RequestSignature, for account: Int64, at now: UInt64) -> Outcome {
        let key = Self.key(of: signature)
        return generations.withLock { generations in
            Self.turn(&generations, at: now)
            guard !generations.present.contains(key), !generations.past.contains(key) else { return .replayed }
            let taken = generations.taken[account, default: 0]
            if taken >= floor {
                guard generations.present.count < capacity else { return .full }
                guard taken < Self.share(free: capacity - generations.present.count) else { return .overShare }
            }
            generations.taken[account] = taken + 1
            generations.present.insert(key)
            return .new
        }
    }

    /// How many nonces are remembered.
    var count: Int { generations.withLock { $0.present.count + $0.past.count } }

    private static func share(free: Int) -> Int { max(1, free / divisor) }

    /// A clock that goes back keeps everything.
    private static func turn(_ generations: inout Generations, at now: UInt64) {
        guard now >= generations.start, now - generations.start >= lifetime else { return }
        let isLongAgo = now - generations.start >= 2 * lifetime
        generations.past = isLongAgo ? [] : generations.present
        generations.present = []
        generations.taken = [:]
        generations.start = now
    }

    private static func key(of signature: RequestSignature) -> Key {
        SHA256.hash(data: signature.deviceKey + signature.nonce).withUnsafeBytes {
            Key(high: $0.loadUnaligned(as: UInt64.self), low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}
