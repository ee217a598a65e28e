// SPDX-License-Identifier: Apache-2.0

/// How many bytes the broker holds for whom: on their way to a connection, in a queue, or in a transaction.
///
/// Bytes are counted before anything is done with them, and until the connection has written them, also after it has ended.
struct Holdings: Sendable {
    private(set) var total = 0
    private(set) var ofAccounts: [Int64: Int] = [:]
    private(set) var ofSessions: [SessionID: Int] = [:]
    private var accounts: [SessionID: Int64] = [:]

    mutating func open(_ id: SessionID, of account: Int64) { accounts[id] = account }

    func of(_ account: Int64) -> Int { ofAccounts[account] ?? 0 }

    func of(_ id: SessionID) -> Int { ofSessions[id] ?? 0 }

    /// - Parameter change: in bytes; below zero when they are gone.
    mutating func add(_ change: Int, to id: SessionID) {
        guard let account = accounts[id] else { return }
        total += change
        Self.add(change, to: account, in: &ofAccounts)
        Self.add(change, to: id, in: &ofSessions)
    }

    /// A connection is gone, and everything that was on its way to it.
    mutating func drop(_ id: SessionID) {
        add(-of(id), to: id)
        accounts[id] = nil
    }

    /// The connection for which most is held, of the account for which most is held.
    var greediest: SessionID? {
        guard let account = ofAccounts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return nil }
        return ofSessions.filter { accounts[$0.key] == account }.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    private static func add<Key>(_ change: Int, to key: Key, in counts: inout [Key: Int]) {
        let count = (counts[key] ?? 0) + change
        counts[key] = count > 0 ? count : nil
    }
}
