// SPDX-License-Identifier: Apache-2.0

import DurableStorage
public import KeyTransparency
public import NoteLog
package import SQLStores
public import VerifiableMap

/// Where all notes stood when all records up to a number had been written. Records are never changed and their numbers never used again,
/// so where a note stood then can be told at any time later.
public struct NoteMark: Hashable, Sendable {
    /// Before the first record.
    public static let beginning = NoteMark(record: 0)
    let record: Int64
}

extension NoteArchive {
    /// What changed in the map of all notes since a mark.
    ///
    /// - Returns: the entries that are others now, and the mark of now.
    /// - Throws: ``NoteStoreError``.
    public func changedHeads(
        since mark: NoteMark
    ) async throws(NoteStoreError) -> (entries: [MapEntry], mark: NoteMark) {
        let now = try await newMark()
        let entries = try await database.read { try $0.entries(since: mark, until: now) }
        return (entries, NoteMark(record: max(now.record, mark.record)))
    }

    /// What changed in the map of all notes between two marks.
    ///
    /// - Throws: ``NoteStoreError``.
    package func changedHeads(since mark: NoteMark, until other: NoteMark) async throws(NoteStoreError) -> [MapEntry] {
        try await database.read { try $0.entries(since: mark, until: other) }
    }

    /// So many roots before the newest are kept.
    static let keptRoots: Int64 = 8

    /// Whether these rows are from before a root that the log has, so that people may have seen what is not in them. Rows of a version that
    /// put down no roots are taken as they are.
    ///
    /// - Parameter number: of the newest root in the log; 0 if there is none.
    package static func isBehind(root number: UInt64, _ database: SQLTransaction) throws -> Bool {
        let newest = try database.row("SELECT MAX(number) FROM roots")?.optionalInteger(0)
        if let newest { return UInt64(clamping: newest) < number }
        return try number > 0 && database.row("SELECT 1 FROM records LIMIT 1") == nil
    }

    /// The same of these rows.
    ///
    /// - Throws: ``NoteStoreError``.
    package func isBehind(root number: UInt64) async throws(NoteStoreError) -> Bool {
        try await database.read { try Self.isBehind(root: number, $0) }
    }

    /// Takes down that these rows go on although they are from before a root: the next one follows it.
    ///
    /// - Throws: ``NoteStoreError``.
    package func acceptLoss(before number: UInt64) async throws(NoteStoreError) {
        let (now, number) = (clock(), Int64(clamping: number))
        _ = try await database.write(at: now) { transaction in
            try transaction.keepRoot([UInt8](repeating: 0, count: 32), time: now, number: number, at: .beginning)
        }
    }

    /// What was put down under a version, and its mark; nil if nothing was.
    ///
    /// - Throws: ``NoteStoreError``.
    package func root(
        number: UInt64
    ) async throws(NoteStoreError) -> (root: [UInt8], time: UInt64, mark: NoteMark)? {
        try await database.read { database in
            try database.row("SELECT root, time, record FROM roots WHERE number = ?", [Int64(clamping: number)]).map {
                (try $0.bytes(0), try $0.count(1), NoteMark(record: try $0.integer(2)))
            }
        }
    }

    /// In a transaction of its own: on a server, one that waits sees only what had been committed before it began to wait.
    private func newMark() async throws(NoteStoreError) -> NoteMark {
        try await database.write(at: clock()) { transaction in
            NoteMark(
                record: try transaction.insert(
                    """
                    INSERT INTO marks (id, record) VALUES (1, (SELECT COALESCE(MAX(id), 0) FROM records))
                    ON CONFLICT (id) DO UPDATE SET record = excluded.record RETURNING record
                    """, []))
        }.value
    }

    /// The positions of notes at a mark, for a caller who may read them; nil for others.
    ///
    /// - Throws: ``NoteStoreError``.
    public func heads(
        of notes: [NoteID], at mark: NoteMark, for handle: Handle
    ) async throws(NoteStoreError) -> [HeadSearch] {
        try await database.read { database in
            guard let account = try database.account(handle) else { return notes.map { _ in .mayNotRead } }
            return try notes.map { name in
                guard let note = try NoteRow(name, in: database), try database.mayRead(note.id, account) else {
                    return .mayNotRead
                }
                return .stood(try database.heads(of: [note.id], at: mark).first?.head)
            }
        }
    }

    /// The comments and stars that a note had at a mark; nil if the handle may not read it.
    ///
    /// - Throws: ``NoteStoreError``.
    public func children(
        of name: NoteID, at mark: NoteMark, for handle: Handle
    ) async throws(NoteStoreError) -> ChildList? {
        try await database.read { database in
            guard let account = try database.account(handle), let note = try NoteRow(name, in: database),
                try database.mayRead(note.id, account)
            else { return nil }
            return try database.children(of: note.id, at: mark)
        }
    }

    /// The result of a search for a note's head, for one caller.
    public enum HeadSearch: Hashable, Sendable {
        /// They may not read it, or there is none.
        case mayNotRead
        /// It stood here; nil: it was not yet made.
        case stood(LoggedHead?)
    }
}

extension NoteTransaction {
    /// Puts down a root, for processes that show it and do not log. The last few are kept.
    func keepRoot(_ root: [UInt8], time: UInt64, number: Int64, at mark: NoteMark) throws {
        try run("DELETE FROM roots WHERE number < ? OR number >= ?", [number - NoteArchive.keptRoots, number])
        try run(
            "INSERT INTO roots (number, root, time, record) VALUES (?, ?, ?, ?)",
            [number, root, Int64(clamping: time), mark.record])
    }
}

extension SQLTransaction {
    /// The entries of the map that are others at a mark than at one before.
    ///
    /// A server ends a statement that takes it too long, and its whole answer is in memory at once. So each gives a bounded number of rows,
    /// however many notes there are, and there is none for a single note.
    ///
    /// - Parameter count: of notes at a time.
    func entries(since mark: NoteMark, until now: NoteMark, atOnce count: Int = 256) throws -> [MapEntry] {
        let (changed, end) =
            mark == .beginning
            ? ("SELECT id, id FROM notes WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", Int64.max)
            : ("SELECT id, note FROM records WHERE id > ? AND id <= ? AND kind <= 3 ORDER BY id LIMIT ?", now.record)
        var entries: [MapKey: MapValue] = [:]
        var last = mark.record
        while true {
            let page = try rows(changed, [last, end, count])
            guard let row = page.last else { break }
            last = try row.integer(0)
            for (note, head) in try heads(of: Set(page.map { try $0.integer(1) }), at: now, atOnce: count) {
                entries[LoggedHead.key(of: note)] = head.value
            }
        }
        return entries.map { MapEntry(key: $0.key, value: $0.value) }
    }

    /// Where notes stood at a mark, but for those that were made later.
    ///
    /// - Parameter count: no less than there are notes. The statements have so many parameters, and are prepared once.
    fileprivate func heads(
        of notes: Set<Int64>, at mark: NoteMark, atOnce count: Int = 1
    ) throws -> [(note: NoteID, head: LoggedHead)] {
        guard let some = notes.first else { return [] }
        let keys = Array(notes) + [Int64](repeating: some, count: max(0, count - notes.count))
        let children = try children(of: keys, at: mark)
        return try rows(
            """
            SELECT page.id, page.name, control.number, control.hash, revision.number, revision.hash FROM (
                SELECT id, name, \(Self.newest(1)) AS control, \(Self.newest(2)) AS revision
                FROM notes WHERE id IN (\(Self.places(of: keys)))
            ) AS page
            JOIN records AS control ON control.id = page.control
            LEFT JOIN records AS revision ON revision.id = page.revision
            """, [mark.record, mark.record] + keys
        ).map { row in
            guard let note = NoteID(try row.bytes(1)) else { throw DamagedRow() }
            let head = LoggedHead(
                control: ControlView(number: try row.count(2), head: try row.recordHash(3)),
                revision: try row.optionalInteger(4).map { _ in
                    RevisionView(number: try row.count(4), head: try row.recordHash(5))
                },
                children: ChildList(children[try row.integer(0)] ?? []).hash)
            return (note, head)
        }
    }

    /// The id of a note's newest control entry or revision. Without what is said twice, SQLite would not look it up in the index of both.
    private static func newest(_ kind: Int) -> String {
        """
        (
            SELECT past.id FROM records AS past WHERE past.note = notes.id AND past.kind = \(kind) AND past.kind <= 2
            AND past.number >= 0 AND past.id <= ? ORDER BY past.number DESC LIMIT 1
        )
        """
    }

    private static func places(of keys: [Int64]) -> String { keys.map { _ in "?" }.joined(separator: ", ") }

    fileprivate func children(of note: Int64, at mark: NoteMark) throws -> ChildList {
        ChildList(try children(of: [note], at: mark)[note] ?? [])
    }

    /// The comments and stars that notes had at a mark, by note.
    ///
    /// - Parameter count: of rows at a time.
    func children(of notes: [Int64], at mark: NoteMark, atOnce count: Int = 4096) throws -> [Int64: [RecordHash]] {
        var children: [Int64: [RecordHash]] = [:]
        let arguments: SQLArguments = [mark.record] + notes
        var (note, hash): (Int64, [UInt8]) = (0, [])
        while true {
            let page = try rows(
                """
                SELECT note, hash FROM records WHERE kind = 3 AND id <= ? AND note IN (\(Self.places(of: notes)))
                AND (note, hash) > (?, ?) ORDER BY note, hash LIMIT ?
                """, arguments + [note, hash, count])
            for row in page { children[try row.integer(0), default: []].append(try row.recordHash(1)) }
            guard let end = page.last, page.count == count else { return children }
            (note, hash) = (try end.integer(0), try end.bytes(1))
        }
    }
}
