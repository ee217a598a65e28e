// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyTransparency
import SQLStores
import TransparencyLog
import VRF

/// A state as it was accepted, whether or not the log has it yet.
struct StateRow: Sendable {
    let version: UInt64
    let kind: StateKind
    /// The state with the X-Wing keys of its devices beside it.
    let encoding: [UInt8]
    let opening: [UInt8]
    /// Leaf hash of the state record.
    let leaf: TreeHash

    static let columns = "version, kind, encoding, opening, leaf"

    /// The newest state of an account.
    static func newest(of account: Int64, in database: SQLTransaction) throws -> StateRow? {
        try newest(of: account, in: database) { _ in true }
    }

    /// The newest state of an account whose record's leaf hash passes `isWanted`.
    static func newest(
        of account: Int64, in database: SQLTransaction, where isWanted: (TreeHash) throws -> Bool
    ) throws -> StateRow? {
        // A server sends all rows that a query asks for: the first one is nearly always the wanted one.
        var (bound, count) = (Int64.max, 1)
        while true {
            let rows = try database.rows(
                "SELECT \(columns) FROM states WHERE account = ? AND version <= ? ORDER BY version DESC LIMIT ?",
                [account, bound, count])
            for row in rows where try isWanted(row.leaf(4)) { return try StateRow(row) }
            guard rows.count == count, let last = try rows.last?.integer(0), last > 0 else { return nil }
            (bound, count) = (last - 1, 16)
        }
    }

    /// The first state of an account that this log has.
    static func oldest(of account: Int64, in database: SQLTransaction) throws -> StateRow? {
        try database.row("SELECT \(columns) FROM states WHERE account = ? ORDER BY version LIMIT 1", [account])
            .map { try StateRow($0) }
    }

    /// One state of an account.
    static func find(version: UInt64, of account: Int64, in database: SQLTransaction) throws -> StateRow? {
        try database.row(
            "SELECT \(columns) FROM states WHERE account = ? AND version = ?", [account, Int64(clamping: version)]
        ).map { try StateRow($0) }
    }

    /// When a state was accepted, in seconds since 1970; nil if the account has none of this version.
    static func time(ofVersion version: UInt64, of account: Int64, in database: SQLTransaction) throws -> UInt64? {
        try database.row(
            "SELECT time FROM states WHERE account = ? AND version = ?", [account, Int64(clamping: version)]
        ).map { UInt64(clamping: try $0.integer(0)) }
    }

    /// What was accepted since a time.
    static func encodings(of account: Int64, since time: UInt64, in database: SQLTransaction) throws -> [[UInt8]] {
        try database.rows(
            "SELECT encoding FROM states WHERE account = ? AND time >= ?", [account, Int64(clamping: time)]
        ).map { try $0.bytes(0) }
    }

    /// Reads the columns of ``columns`` from `first` on.
    init(_ row: SQLRow, from first: Int = 0) throws {
        let kindNumber = try row.integer(first + 1)
        guard let kind = UInt8(exactly: kindNumber).flatMap(StateKind.init) else { throw DamagedRow() }
        version = try row.version(first)
        self.kind = kind
        encoding = try row.bytes(first + 2)
        opening = try row.bytes(first + 3)
        leaf = try row.leaf(first + 4)
    }

    /// What is signed and committed to.
    var stateBytes: [UInt8] { AccountState.withoutKeys(encoding) }

    /// The state, with the keys of its devices.
    func state() throws(AccountStateError) -> AccountState { try AccountState(decodingWithKeys: encoding) }

    /// The row of a new state.
    ///
    /// - Parameters:
    ///   - current: the state before it, whose devices' keys are known; those of new devices are on their cards.
    ///   - kind: what the log is to call the step.
    init(_ statement: Statement, label: VRFHash, after current: AccountState? = nil, kind: StateKind = .set) {
        version = statement.state.version
        self.kind = kind
        encoding = statement.state(after: current).encodedWithKeys
        opening = statement.opening
        leaf = TreeHash.leaf(
            LogEntries.record(label: label, state: statement.state, kind: kind, opening: opening).entry)
    }

    /// Whether this is the state of a submission that came before.
    func isState(of submission: Statement) -> Bool {
        stateBytes == submission.state.encoded && opening == submission.opening
    }
}
