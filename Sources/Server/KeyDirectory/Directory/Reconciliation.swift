// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import LogEngine
import SQLStores
import TransparencyLog
import VRF

/// Compares database and log when a directory is opened, and completes what a crash interrupted.
///
/// Each start looks only at what is newer than the last comparison, on both sides. The mark by a state's number is right as
/// long as one process writes: where several do, a lower number can be committed after a higher one, and the process that
/// writes the log takes its work from ``DirectoryDatabase/waiting(limit:)`` instead.
struct Reconciliation: Sendable {
    let log: DurableLog
    let epochs: EpochSealer
    let database: DirectoryDatabase
    /// Whether to wait until what is appended is published. Witnesses may ask the server for the entries first, and it
    /// does not answer before the directory is open.
    let awaitsPublication: Bool

    /// How many accounts share an epoch at most.
    private static let togetherCount = 256
    /// How many entries are compared at once while the server runs.
    private static let entriesAtOnce: UInt64 = 16_384

    /// What the database remembers of the last comparison.
    struct Mark: Sendable {
        let origin: [UInt8]
        let vrfKey: [UInt8]
        let checkedSize: UInt64
        let checkedState: Int64
    }

    /// A state record of the log.
    private struct LoggedRecord: Sendable {
        let index: UInt64
        let record: StateRecord
        let leaf: TreeHash
    }

    /// A state with what its log entries are made of.
    struct PendingState: Sendable {
        let label: VRFHash
        let row: StateRow
    }

    /// - Throws: ``DirectoryOpenError``: database, log and keys do not belong together.
    func run(origin: KeyName, vrfKey: [UInt8]) async throws(DirectoryOpenError) {
        let mark = try requireOwn(origin: origin, vrfKey: vrfKey)
        try await checkLog(from: mark.checkedSize, to: log.published.head.size)
        // What the database took when the log had ended already, no log gets any more.
        guard !epochs.hasEnded else { return }
        var newest = mark.checkedState
        if database.handsOver {
            try await logWaiting()
        } else {
            newest = try await appendPendingStates(after: newest)
            try await closeErased()
        }
        try remember(size: log.published.head.size, state: newest)
    }

    /// - Throws: ``DirectoryOpenError``: the database is another directory's.
    @discardableResult
    func requireOwn(origin: KeyName, vrfKey: [UInt8]) throws(DirectoryOpenError) -> Mark {
        let mark = try opening { try database.rows.readNow(Self.mark) }
        guard mark.origin == origin.bytes else { throw .databaseOfOtherLog(origin: mark.origin) }
        guard mark.vrfKey == vrfKey else { throw .databaseOfOtherVRFKey }
        return mark
    }

    /// Compares a little more while the server runs, so that the next start need not.
    ///
    /// What does not belong together is left to the next start.
    func goOn() async {
        do throws(DirectoryOpenError) {
            let mark = try opening { try database.rows.readNow(Self.mark) }
            let size = min(log.published.head.size, mark.checkedSize + Self.entriesAtOnce)
            let newest =
                database.handsOver ? mark.checkedState : try newestLoggedState(after: mark.checkedState)
            try await checkLog(from: mark.checkedSize, to: size)
            guard size > mark.checkedSize || newest > mark.checkedState else { return }
            try remember(size: size, state: newest)
        } catch {}
    }

    /// The last state, of eight thousand after the mark at most, before the first that is not in the published log.
    private func newestLoggedState(after start: Int64) throws(DirectoryOpenError) -> Int64 {
        var newest = start
        for _ in 0..<8 {
            let after = newest
            let states = try opening { try database.rows.readNow { try Self.states(after: after, in: $0) } }
            let logged = states.prefix { log.index(ofLeaf: $0.leaf) != nil }
            newest = logged.last?.id ?? newest
            guard logged.count == states.count, !states.isEmpty else { break }
        }
        return newest
    }

    // MARK: What the log has, the database must know

    private func checkLog(from start: UInt64, to size: UInt64) async throws(DirectoryOpenError) {
        guard start <= size else { throw .logBehindDatabase(checked: start, size: size) }
        let width = UInt64(Tile.fullWidth)
        for bundle in start / width..<(size + width - 1) / width {
            let records = try await records(inBundle: bundle, size: size).filter { $0.index >= start }
            let unknown = try opening {
                try database.rows.readNow { database in try records.first { try !Self.isKnown($0, in: database) } }
            }
            if let unknown { throw .databaseBehindLog(index: unknown.index) }
        }
    }

    /// The state records among the entries of a bundle.
    private func records(
        inBundle bundle: UInt64, size: UInt64
    ) async throws(DirectoryOpenError) -> [LoggedRecord] {
        let first = bundle * UInt64(Tile.fullWidth)
        let width = Int(min(UInt64(Tile.fullWidth), size - first))
        do {
            let bytes = try await log.entryBundle(index: bundle, width: width)
            return try EntryBundle(decoding: bytes, width: width).entries.enumerated().compactMap { offset, entry in
                guard let record = try? StateRecord(decoding: entry) else { return nil }
                return LoggedRecord(index: first + UInt64(offset), record: record, leaf: TreeHash.leaf(entry))
            }
        } catch { throw .logUnreadable(bundle: bundle) }
    }

    private static func isKnown(_ logged: LoggedRecord, in database: SQLTransaction) throws -> Bool {
        try isKnown(logged.record, logged.leaf, in: database)
    }

    /// Whether the database has the state of a record, or knows why it has not.
    static func isKnown(_ record: StateRecord, _ leaf: TreeHash, in database: SQLTransaction) throws -> Bool {
        // Of no account, and in no table.
        guard !ReservedLabel.holds(record) else { return true }
        let label = record.label.bytes
        if try database.row("SELECT 1 FROM erased WHERE label = ?", [label]) != nil { return true }
        let version = Int64(clamping: record.version)
        for table in ["taken_over", "lost"] {
            let row = try database.row("SELECT 1 FROM \(table) WHERE label = ? AND version >= ?", [label, version])
            if row != nil { return true }
        }
        return try database.row(
            """
            SELECT 1 FROM accounts JOIN states ON states.account = accounts.id
            WHERE label = ? AND version = ? AND leaf = ?
            """, [label, version, leaf.bytes]) != nil
    }

    // MARK: What the database has, the log must get

    /// Returns the number of the newest state.
    private func appendPendingStates(after start: Int64) async throws(DirectoryOpenError) -> Int64 {
        var newest = start
        while true {
            let after = newest
            let states = try opening { try database.rows.readNow { try Self.states(after: after, in: $0) } }
            guard let last = states.last else { return newest }
            var together: [Int64: Int64] = [:]
            for state in states where log.index(ofLeaf: state.leaf) == nil {
                if together[state.account] != nil || together.count == Self.togetherCount {
                    try await appendTogether(together.values.sorted())
                    together = [:]
                }
                together[state.account] = state.id
            }
            try await appendTogether(together.values.sorted())
            newest = last.id
        }
    }

    /// Appends states of different accounts, so that they share epochs.
    private func appendTogether(_ states: [Int64]) async throws(DirectoryOpenError) {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in states {
                    group.addTask {
                        try await append(opening { try database.rows.readNow { try Self.pendingState(id, in: $0) } })
                    }
                }
                try await group.waitForAll()
            }
        } catch let error as DirectoryOpenError { throw error } catch { throw .logStopped }
    }

    func append(_ pending: PendingState) async throws(DirectoryOpenError) {
        // In the log, and not published yet: too few witnesses had cosigned.
        guard epochs.version(of: LabelIndex(pending.label)) < pending.row.version else { return }
        guard let state = try? pending.row.state() else { throw .database(.damaged) }
        let entries = LogEntries(
            label: pending.label, state: state, kind: pending.row.kind, opening: pending.row.opening,
            isLogged: { log.index(ofLeaf: $0) != nil })
        guard entries.recordLeaf == pending.row.leaf else { throw .database(.damaged) }
        try await append(entries.entries)
    }

    /// Logs the end of accounts that were erased just before the last process ended.
    private func closeErased() async throws(DirectoryOpenError) {
        let erased = try opening {
            try database.rows.readNow { database in
                try database.rows("SELECT label, version FROM erased", []).map {
                    (label: LabelIndex(try $0.bytes(0)), version: try $0.version(1))
                }
            }
        }
        for (label, version) in erased {
            guard let label else { throw .database(.damaged) }
            guard epochs.version(of: label) == version - 1 else { continue }
            try await append([StateRecord(closing: label, version: version).entry])
        }
    }

    func append(_ entries: [[UInt8]]) async throws(DirectoryOpenError) {
        do {
            let range = try await appendWhenThereIsRoom(entries)
            if awaitsPublication { _ = try await log.awaitPublished(size: range.upperBound) }
        } catch LogAppendError.breaksRule { throw .database(.damaged) } catch { throw .logStopped }
    }

    /// The queue of the log is emptied in a moment.
    private func appendWhenThereIsRoom(_ entries: [[UInt8]]) async throws -> Range<UInt64> {
        while true {
            do { return try await log.append(entries) } catch LogAppendError.queueFull {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    // MARK: Rows

    private static func mark(_ database: SQLTransaction) throws -> Mark {
        guard let row = try database.row("SELECT origin, vrf_key, checked_size, checked_state FROM meta", []) else {
            throw DamagedRow()
        }
        return Mark(
            origin: try row.bytes(0), vrfKey: try row.bytes(1), checkedSize: try row.version(2),
            checkedState: try row.integer(3))
    }

    /// The next thousand states, oldest first, so that an account's versions come in order.
    private static func states(
        after start: Int64, in database: SQLTransaction
    ) throws -> [(id: Int64, leaf: TreeHash, account: Int64)] {
        try database.rows("SELECT id, leaf, account FROM states WHERE id > ? ORDER BY id LIMIT 1000", [start]).map {
            (try $0.integer(0), try $0.leaf(1), try $0.integer(2))
        }
    }

    private static func pendingState(_ id: Int64, in database: SQLTransaction) throws -> PendingState {
        let row = try database.row(
            """
            SELECT vrf_hash, \(StateRow.columns) FROM states JOIN accounts ON accounts.id = states.account
            WHERE states.id = ?
            """, [id])
        guard let row, let label = VRFHash(try row.bytes(0)) else { throw DamagedRow() }
        return PendingState(label: label, row: try StateRow(row, from: 1))
    }

    private func remember(size: UInt64, state: Int64) throws(DirectoryOpenError) {
        _ = try opening {
            try database.rows.writeNow { database in
                try database.run(
                    "UPDATE meta SET checked_size = ?, checked_state = ?", [Int64(clamping: size), state])
            }
        }
    }
}
