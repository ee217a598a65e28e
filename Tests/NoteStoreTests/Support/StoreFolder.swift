// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import KeyTransparency
import Logging
import NoteLog
import NotesAPI
import ProtocolTesting
import Synchronization

@testable import NoteStore

/// A store in a folder of its own, with a clock that a test sets.
final class StoreFolder: Sendable {
    let path: String
    let store: NoteArchive

    init(
        _ limits: NoteLimits = NoteLimits(), faults: WriteFaults = .none,
        reserve: @escaping @Sendable () -> DiskReserve.Use = { .none }
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "notes-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/notes.sqlite"
        let clock = Clock()
        store = try NoteArchive(
            at: path, limits: limits, clock: { clock.time },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            faults: faults, reserve: DiskReserve(use: reserve))
        self.clock = clock
    }

    private let clock: Clock

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: String(path.dropLast("/notes.sqlite".count)))
    }

    /// Lets time pass, in seconds.
    func pass(_ seconds: UInt64) { clock.pass(seconds) }

    /// Pushes, one at a time.
    @discardableResult
    func push(_ pushes: NotePush..., by writer: NoteWriter) async throws -> NotePushOutcome {
        try await unwrapped(store.push(NotePushes(pushes), by: writer.author).outcomes.last)
    }

    /// Everything in an account's feed after a cursor, page by page.
    func feed(of writer: NoteWriter, after cursor: UInt64 = 0, limit: UInt16 = 1000) async throws -> [FeedPage.Entry] {
        var (entries, next): ([FeedPage.Entry], UInt64) = ([], cursor)
        while true {
            let answer = try await FeedAnswer(
                decoding: store.pull(FeedRequest(cursor: next, limit: limit), of: writer.handle))
            guard case .page(let page) = answer else { throw Missing() }
            entries += page.entries
            next = page.next
            guard page.next < page.newest else { return entries }
        }
    }

    func items(of writer: NoteWriter, after cursor: UInt64 = 0) async throws -> [FeedItem] {
        try await feed(of: writer, after: cursor).map(\.item)
    }

    /// Every row of every table but the bookkeeping of SQLite and migrations.
    func dump() throws -> [String] {
        try DatabaseQueue(path: path).read { database in
            let tables = try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table'
                    AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'grdb_%' ORDER BY name
                    """)
            return try tables.flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY 1, 2").map {
                    "\(table) \($0.map { "\($1)" })"
                }
            }
        }
    }

    func usedBytes(_ writer: NoteWriter) throws -> Int {
        try DatabaseQueue(path: path).read { database in
            try Int.fetchOne(
                database, sql: "SELECT bytes FROM accounts WHERE handle = ?", arguments: [Data(writer.handle.bytes)])
                ?? -1
        }
    }
}

private final class Clock: Sendable {
    private let now = Mutex<UInt64>(1_800_000_000)
    var time: UInt64 { now.withLock { $0 } }
    func pass(_ seconds: UInt64) { now.withLock { $0 += seconds } }
}
