import KeyTransparency
import Synchronization

/// Accounts that were asked for lately, so that most lookups do not touch the database.
///
/// An account that is being changed is not in it from before its new state goes to the log until that is published, and
/// whoever read the database before that cannot put the old state in afterwards.
final class AccountCache: Sendable {
    /// What the cache was like before the database was read.
    struct Ticket: Sendable {
        fileprivate let changes: UInt64
    }

    private struct Shelf {
        var changes: UInt64 = 0
        var underChange = 0
    }

    private struct State {
        var shelves = [Shelf](repeating: Shelf(), count: 256)
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
            let ticket = Ticket(changes: state.shelves[Self.shelf(of: handle)].changes)
            guard let account = state.present[handle] ?? state.past[handle], account.neededSize <= size else {
                return (nil, ticket)
            }
            if state.present[handle] == nil { keep(account, handle, in: &state) }
            return (account, ticket)
        }
    }

    /// Keeps what was read from the database, unless the account has begun to change since the ticket was given.
    func keep(_ account: PublishedAccount, _ ticket: Ticket) {
        let handle = account.account.handle
        state.withLock { state in
            let shelf = state.shelves[Self.shelf(of: handle)]
            guard shelf.underChange == 0, shelf.changes == ticket.changes else { return }
            keep(account, handle, in: &state)
        }
    }

    /// Takes the account out until ``endChange(of:)``.
    func beginChange(of handle: Handle) {
        state.withLock { state in
            state.shelves[Self.shelf(of: handle)].changes += 1
            state.shelves[Self.shelf(of: handle)].underChange += 1
            state.present[handle] = nil
            state.past[handle] = nil
        }
    }

    /// Lets the account in again.
    func endChange(of handle: Handle) {
        state.withLock { $0.shelves[Self.shelf(of: handle)].underChange -= 1 }
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
