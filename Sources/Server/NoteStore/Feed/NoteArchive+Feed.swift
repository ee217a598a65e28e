// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import NoteLog
public import NotesAPI
import SQLStores

extension NoteArchive {
    /// What comes after a cursor, as the body of a `FeedAnswer`.
    ///
    /// - Throws: ``NoteStoreError``.
    public func pull(_ request: FeedRequest, of handle: Handle) async throws(NoteStoreError) -> [UInt8] {
        let limits = limits
        return try await database.read { database in
            let account = try database.row(
                "SELECT id, newest, trimmed FROM accounts WHERE handle = ?", [handle.bytes])
            let newest = try account?.count(1) ?? 0
            let start: PullStart =
                request.cursor == 0
                ? .after(0)
                : .judge(cursor: request.cursor, oldest: (try account?.count(2) ?? 0) + 1, newest: newest)
            switch start {
            case .resyncRequired: return FeedAnswer.resyncRequired.encoded
            case .serverWentBack: return FeedAnswer.serverWentBack.encoded
            case .after(let cursor):
                guard let account = try account?.integer(0) else { return Self.emptyPage }
                return try database.page(request, after: cursor, of: account, newest: newest, limits)
            }
        }
    }

    /// The last position of a feed.
    ///
    /// - Throws: ``NoteStoreError``.
    public func newest(of handle: Handle) async throws(NoteStoreError) -> UInt64 {
        try await database.read { database in
            try database.account(handle).map { try database.newest(of: $0) } ?? 0
        }
    }

    /// Returns when the feed is past the cursor, or when the time is over, with where it stands.
    ///
    /// - Throws: ``NoteStoreError``.
    public func wait(_ request: WaitRequest, of handle: Handle) async throws(NoteStoreError) -> WaitAnswer {
        guard request.seconds > 0, let account = try await database.read({ try $0.account(handle) }) else {
            return WaitAnswer(newest: try await newest(of: handle))
        }
        // Listen first: what is written after this look is heard.
        let listener = watch.listen(account, past: request.cursor)
        let newest = try await newest(of: handle)
        guard newest <= request.cursor, let listener else {
            if let listener { watch.forget(listener) }
            return WaitAnswer(newest: newest)
        }
        await watch.wait(for: listener, atMost: .seconds(Int(request.seconds)))
        return WaitAnswer(newest: try await self.newest(of: handle))
    }

    /// Looks where the feeds stand for whose news somebody waits, in one query for each 256 of them, and wakes those who know less. If the
    /// database is away, the next look is as good.
    func lookForNews() async {
        let accounts = watch.cursors.keys.sorted()
        for start in stride(from: 0, to: accounts.count, by: Self.lookCount) {
            let some = Array(accounts[start..<min(start + Self.lookCount, accounts.count)])
            if let newest = try? await database.read({ try $0.newest(of: some, padded: Self.lookCount) }) {
                watch.wake(standing: newest)
            }
        }
    }

    private static let lookCount = 256

    private static var emptyPage: [UInt8] { FeedAnswer.encoded(page: [], next: 0, newest: 0) }
}

extension SQLTransaction {
    /// How many entries are read at a time: a server hands over an answer whole, and what is behind the end of a page was read in vain.
    private static let batch = 128

    /// Where feeds stand, by account.
    ///
    /// - Parameters:
    ///   - accounts: at least one.
    ///   - count: the statement has so many parameters, and is prepared once.
    fileprivate func newest(of accounts: [Int64], padded count: Int) throws -> [Int64: UInt64] {
        guard let last = accounts.last else { return [:] }
        let all = accounts + [Int64](repeating: last, count: max(0, count - accounts.count))
        let marks = all.map { _ in "?" }.joined(separator: ", ")
        let found = try rows("SELECT id, newest FROM accounts WHERE id IN (\(marks))", all)
        return try found.reduce(into: [:]) { $0[try $1.integer(0)] = try $1.count(1) }
    }

    fileprivate func page(
        _ request: FeedRequest, after cursor: UInt64, of account: Int64, newest: UInt64, _ limits: NoteLimits
    ) throws -> [UInt8] {
        var page = PageInProgress(limit: Int(request.limit), byteLimit: limits.pageBytes, last: cursor)
        var count = Self.batch
        while count == Self.batch && !page.isFull {
            count = 0
            try each(
                """
                SELECT feed.position, COALESCE(records.item, feed.item) FROM feed
                LEFT JOIN records ON records.id = feed.record
                WHERE feed.account = ? AND feed.position > ? ORDER BY feed.position LIMIT ?
                """, [account, Int64(clamping: page.last), Self.batch]
            ) { row in
                count += 1
                page.add(try row.bytes(1), at: try row.count(0))
                return !page.isFull
            }
        }
        return FeedAnswer.encoded(page: page.items, next: page.isFull ? page.last : newest, newest: newest)
    }
}

/// The entries that a page has so far.
private struct PageInProgress {
    let limit: Int
    let byteLimit: Int
    /// The position of the last entry.
    private(set) var last: UInt64
    private(set) var items: [(position: UInt64, item: [UInt8])] = []
    /// Whether there was an entry that had no room.
    private(set) var isFull = false
    private var byteCount = 0

    init(limit: Int, byteLimit: Int, last: UInt64) {
        (self.limit, self.byteLimit, self.last) = (limit, byteLimit, last)
    }

    /// The first entry always has room.
    mutating func add(_ item: [UInt8], at position: UInt64) {
        byteCount += item.count
        isFull = items.count == limit || (byteCount > byteLimit && !items.isEmpty)
        guard !isFull else { return }
        items.append((position, item))
        last = position
    }
}
