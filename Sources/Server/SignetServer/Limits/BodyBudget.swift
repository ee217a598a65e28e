// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Synchronization

/// Counts the bytes of long bodies that are read or worked on, over all clients and of each.
///
/// A body that is not longer than the directory's own routes take is not counted: a server full of notes goes on taking
/// registrations, revocations and objections. The number of connections bounds those.
final class BodyBudget: Sendable {
    private struct Counts {
        var total = 0
        var byAddress: [ClientAddress: Int] = [:]
    }

    private let free: Int
    private let total: Int
    private let perAddress: Int
    private let counts = Mutex(Counts())

    init(_ limits: ServerLimits) {
        free = limits.bodyByteCount
        total = limits.bodiesInFlight
        perAddress = limits.bodiesInFlightPerAddress
    }

    /// The bytes counted now.
    var byteCount: Int { counts.withLock { $0.total } }

    /// Counts a body of at most so many bytes; whether there was room for it.
    func take(_ byteCount: Int, of address: ClientAddress) -> Bool {
        guard byteCount > free else { return true }
        return counts.withLock { counts in
            let own = counts.byAddress[address, default: 0]
            guard counts.total + byteCount <= total, own + byteCount <= perAddress else { return false }
            counts.total += byteCount
            counts.byAddress[address] = own + byteCount
            return true
        }
    }

    /// Forgets a body that ``take(_:of:)`` counted.
    func giveBack(_ byteCount: Int, of address: ClientAddress) {
        guard byteCount > free else { return }
        counts.withLock { counts in
            guard let own = counts.byAddress[address] else { return }
            counts.total -= byteCount
            counts.byAddress[address] = own > byteCount ? own - byteCount : nil
        }
    }
}
