// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A connection is one too many: it is closed, and nothing is set up for it.
package struct TooManyConnections: Error {
    package init() {}
}

/// Counts open connections, over all clients and of each.
package final class ConnectionLedger: Sendable {
    private struct Counts {
        var mostTotal: Int
        var mostPerAddress: Int
        var total = 0
        var byAddress: [ClientAddress: Int] = [:]
    }

    private let counts: Mutex<Counts>

    /// - Parameter total: fewer are let in if the process may not have so many files open (``OpenFiles/connections(atMost:)``).
    package init(total: Int, perAddress: Int) {
        counts = Mutex(Counts(mostTotal: OpenFiles.connections(atMost: total), mostPerAddress: perAddress))
    }

    /// Changes the limits for connections that are opened from now on.
    package func change(total: Int, perAddress: Int) {
        let total = OpenFiles.connections(atMost: total)
        counts.withLock { ($0.mostTotal, $0.mostPerAddress) = (total, perAddress) }
    }

    /// The connections open now.
    package var openCount: Int { counts.withLock { $0.total } }

    /// Counts a connection, unless there are enough.
    ///
    /// - Parameter address: nil if it is not known yet; then the connection counts among all of them only, until ``name(_:)``.
    /// - Returns: nil, or the limit that keeps it out; then it is not counted.
    package func open(_ address: ClientAddress?) -> Limit? {
        counts.withLock { counts in
            guard counts.total < counts.mostTotal else { return .connections }
            if let address, let limit = take(address, &counts) { return limit }
            counts.total += 1
            return nil
        }
    }

    /// Counts a connection that is open, and whose address was not known, for the address that it now has.
    ///
    /// - Returns: nil, or the limit that keeps it out; then it still counts among all of them only.
    package func name(_ address: ClientAddress) -> Limit? { counts.withLock { take(address, &$0) } }

    /// No longer counts for an address what ``name(_:)`` counted for it; the connection stays open.
    package func unname(_ address: ClientAddress) { counts.withLock { Self.giveBack(address, &$0) } }

    /// Forgets a connection that ``open(_:)`` counted.
    ///
    /// - Parameter address: nil if it was not known.
    package func close(_ address: ClientAddress?) {
        counts.withLock { counts in
            if let address, !Self.giveBack(address, &counts) { return }
            counts.total -= 1
        }
    }

    /// - Returns: whether something was counted for it.
    @discardableResult private static func giveBack(_ address: ClientAddress, _ counts: inout Counts) -> Bool {
        guard let own = counts.byAddress[address] else { return false }
        counts.byAddress[address] = own > 1 ? own - 1 : nil
        return true
    }

    private func take(_ address: ClientAddress, _ counts: inout Counts) -> Limit? {
        let own = counts.byAddress[address, default: 0]
        guard own < counts.mostPerAddress else { return .connectionsPerAddress }
        counts.byAddress[address] = own + 1
        return nil
    }
}
