// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import LogEngine
import SQLStores
import TransparencyLog
import VRF

// What other processes have accepted, and this one logs.
extension Reconciliation {
    /// How many steps are taken at once: so many that those of accounts with one device are a full batch of the log, which does not wait for the
    /// end of an epoch.
    static let stepsAtOnce = 2_048

    /// Logs what waits, oldest first, and takes out of the table what is durable in the log. A step that was logged before, by this process or
    /// by the one that led before it, is only taken out. One that cannot be logged stays there, and keeps nobody waiting but its own account.
    ///
    /// - Returns: how many steps were taken out.
    /// - Throws: ``DirectoryOpenError``.
    @discardableResult
    func logWaiting() async throws(DirectoryOpenError) -> Int { try await log(try await waiting()) }

    /// The steps that wait, oldest first.
    ///
    /// - Parameter first: the lowest number of a step that is looked for.
    func waiting(from first: Int64 = 0) async throws(DirectoryOpenError) -> WaitingTurn {
        try await reaching {
            try await database.rows.read {
                WaitingTurn(states: try Self.states(from: first, $0), closings: try Self.closings(from: first, $0))
            }
        }
    }

    /// The numbers of the steps that wait, the oldest first.
    func waitingNumbers() async throws(DirectoryOpenError) -> [Int64] {
        try await reaching {
            try await database.rows.read { database in
                try database.rows("SELECT id FROM waiting ORDER BY id LIMIT ?", [Self.stepsAtOnce]).map {
                    try $0.integer(0)
                }
            }
        }
    }

    /// Logs steps, and takes out of the table what is durable in the log.
    ///
    /// - Returns: how many steps were taken out.
    func log(_ turn: WaitingTurn) async throws(DirectoryOpenError) -> Int {
        var done: [Int64] = []
        // One step of an account after the other, and those of different accounts together.
        var rest = turn.states[...]
        while !rest.isEmpty {
            var accounts: Set<Int64> = []
            let together = rest.prefix { accounts.insert($0.account).inserted }
            done += try await logTogether(together)
            rest = rest.dropFirst(together.count)
        }
        for closing in turn.closings {
            do throws(DirectoryOpenError) {
                try await close(closing)
                done.append(closing.id)
            } catch { guard error.isOfOneStep else { throw error } }
        }
        let logged = done
        if !logged.isEmpty {
            try await reaching { try await database.rows.write { try WaitingRows.remove(logged, in: $0) } }
        }
        return logged.count
    }

    /// - Returns: those that are logged.
    private func logTogether(_ states: ArraySlice<WaitingTurn.State>) async throws(DirectoryOpenError) -> [Int64] {
        let pending = states.map { ($0.id, $0.pending) }
        do {
            return try await withThrowingTaskGroup(of: Int64?.self) { group in
                for (id, state) in pending { group.addTask { try await logged(state) ? id : nil } }
                return try await group.reduce(into: []) { done, id in if let id { done.append(id) } }
            }
        } catch let error as DirectoryOpenError { throw error } catch { throw .logStopped }
    }

    private func logged(_ state: PendingState) async throws(DirectoryOpenError) -> Bool {
        do throws(DirectoryOpenError) {
            try await append(state)
            return true
        } catch {
            guard error.isOfOneStep else { throw error }
            return false
        }
    }

    /// The process that erased the account may not have seen its last step: the version is that of the log's writer, and is written down before
    /// it is logged, so that nobody closes a label twice.
    private func close(_ closing: WaitingTurn.Closing) async throws(DirectoryOpenError) {
        guard let label = LabelIndex(closing.label) else { throw .database(.damaged) }
        func isLogged(_ version: UInt64) -> Bool {
            let leaf = TreeHash.leaf(StateRecord(closing: label, version: version).entry)
            return log.index(ofLeaf: leaf) != nil
                || epochs.isLast(StateRecord(closing: label, version: version))
        }
        guard !isLogged(closing.version) else { return }
        let version = epochs.version(of: label) + 1
        if version != closing.version {
            guard !isLogged(version - 1) else { return }
            try await reaching {
                try await database.rows.write {
                    _ = try $0.run(
                        "UPDATE erased SET version = ? WHERE label = ?", [Int64(clamping: version), closing.label])
                }
            }
        }
        try await append([StateRecord(closing: label, version: version).entry])
    }

    private static func states(from first: Int64, _ database: SQLTransaction) throws -> [WaitingTurn.State] {
        try database.rows(
            """
            SELECT waiting.id, accounts.id, accounts.vrf_hash,
                states.version, states.kind, states.encoding, states.opening, states.leaf
            FROM waiting JOIN states ON states.id = waiting.state JOIN accounts ON accounts.id = states.account
            WHERE waiting.id >= ? ORDER BY waiting.id LIMIT ?
            """, [first, stepsAtOnce]
        ).map { row in
            guard let label = VRFHash(try row.bytes(2)) else { throw DamagedRow() }
            return (
                try row.integer(0), try row.integer(1), PendingState(label: label, row: try StateRow(row, from: 3))
            )
        }
    }

    private static func closings(from first: Int64, _ database: SQLTransaction) throws -> [WaitingTurn.Closing] {
        try database.rows(
            """
            SELECT waiting.id, waiting.label, erased.version FROM waiting JOIN erased ON erased.label = waiting.label
            WHERE waiting.id >= ? ORDER BY waiting.id LIMIT ?
            """, [first, stepsAtOnce]
        ).map { (try $0.integer(0), try $0.bytes(1), try $0.version(2)) }
    }
}

extension DirectoryOpenError {
    /// Whether one row is at fault, and not the database or the log.
    fileprivate var isOfOneStep: Bool { if case .database(.damaged) = self { true } else { false } }
}
