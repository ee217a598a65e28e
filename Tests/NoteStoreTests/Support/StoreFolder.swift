// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import Logging
import NoteLog
import NotesAPI
import ObjectStores
import ProtocolTesting
import SQLStores
import Synchronization

@testable import NoteStore

/// A store in a place of its own, on the engine of the test that is running, with a clock that a test sets.
final class StoreFolder: Sendable {
    let place: any StorePlace
    let store: NoteArchive

    init(
        _ limits: NoteLimits = NoteLimits(), faults: WriteFaults = .none, in place: (any StorePlace)? = nil,
        objects: (any ObjectStore)? = nil, at time: UInt64 = 1_800_000_000,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        reserve: @escaping @Sendable () -> DiskReserve.Use = { .none }
    ) throws {
        self.place = try place ?? NoteStoreEngine.current.makePlace()
        let clock = Clock(time)
        store = NoteArchive(
            on: try self.place.open(), objects: objects, limits: limits, clock: { clock.time }, logger: logger,
            faults: faults, reserve: DiskReserve(use: reserve))
        self.clock = clock
    }

    private let clock: Clock

    deinit { store.close() }

    /// Seconds since 1970.
    var time: UInt64 { clock.time }

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

    /// Every row of every table but the bookkeeping of engines and steps.
    func dump() throws -> [String] {
        try store.database.engine.readNow { database in
            try Self.tables.flatMap { table in
                try database.rows("SELECT * FROM \(table) ORDER BY 1, 2").map { "\(table) \($0.values)" }
            }
        }
    }

    /// All tables of the store.
    static let tables = [
        "accounts", "chunks", "coming_objects", "device_wraps", "feed", "going_objects", "heads", "marks", "members",
        "notes",
        "positions", "pushes", "records", "roots", "secrets",
    ]

    /// Whether bytes are anywhere where the store had written them.
    func holds(_ bytes: [UInt8]) throws -> Bool { try place.holds(bytes, store.database.engine) }

    func usedBytes(_ writer: NoteWriter) throws -> Int {
        try store.database.engine.readNow { database in
            try database.row("SELECT bytes FROM accounts WHERE handle = ?", [writer.handle.bytes]).map {
                Int(try $0.integer(0))
            } ?? -1
        }
    }
}

private final class Clock: Sendable {
    private let now: Mutex<UInt64>
    init(_ time: UInt64) { now = Mutex(time) }
    var time: UInt64 { now.withLock { $0 } }
    func pass(_ seconds: UInt64) { now.withLock { $0 += seconds } }
}
