// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Synchronization

/// Accounts that were asked for lately, so that most lookups do not touch the database.
///
/// It never gives an old state under a checkpoint that covers a newer one. A new state is written to the database,
/// then the account is forgotten here, then the state goes to the log. Who read the database before it was written has
/// a ticket from before the account was forgotten; who read it afterwards saw that there is a newer state.
final class AccountCache: Sendable {
    /// What the cache was like before the database was read.
    struct Ticket: Sendable {
        fileprivate let changes: UInt64
    }

    private struct State {
        /// How often any account with the same last byte of its hash was forgotten.
        var changes = [UInt64](repeating: 0, count: 256)
        var present: [Handle: PublishedAccount] = [:]
        var past: [Handle: PublishedAccount] = [:]
        var byteCount = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// A cache of at most about twice `capacity` bytes.
    init(capacity: Int = 24 << 20) { self.capacity = capacity }

    /// The account, if it is here and the checkpoint of this size covers it; or a ticket for bringing it.
    func find(_ handle: Handle, size: UInt64) -> (PublishedAccount?, Ticket) {
        state.withLock { state in
            let ticket = Ticket(changes: state.changes[Self.shelf(of: handle)])
            guard let account = state.present[handle] ?? state.past[handle], account.neededSize <= size else {
                return (nil, ticket)
            }
            if state.present[handle] == nil { keep(account, handle, in: &state) }
            return (account, ticket)
        }
    }

    /// Keeps what was read from the database, if that was the account's newest state and still is.
    func keep(_ account: PublishedAccount, _ ticket: Ticket) {
        guard account.isNewest else { return }
        let handle = account.account.handle
        state.withLock { state in
            guard state.changes[Self.shelf(of: handle)] == ticket.changes else { return }
            keep(account, handle, in: &state)
        }
    }

    /// Forgets an account whose change is written to the database and not yet in the log.
    func forget(_ handle: Handle) {
        state.withLock { state in
            state.changes[Self.shelf(of: handle)] += 1
            state.present[handle] = nil
            state.past[handle] = nil
        }
    }

    private func keep(_ account: PublishedAccount, _ handle: Handle, in state: inout State) {
        if state.byteCount > capacity {
            state.past = state.present
            state.present = [:]
            state.byteCount = 0
        }
        state.byteCount += account.state.encoding.count + account.devices.count * 160 + 1024
        state.present[handle] = account
    }

    private static func shelf(of handle: Handle) -> Int { Int(UInt(bitPattern: handle.hashValue) % 256) }
}
