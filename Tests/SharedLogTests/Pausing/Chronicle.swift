// SPDX-License-Identifier: Apache-2.0

import LogEngine
import ObjectStores
import SQLStores
import SharedLog
import Synchronization
import TransparencyLog

/// Everything that was ever committed, signed, published or shown of one log, by whomever, and what must hold of it: I1 to I6 and I8.
final class Chronicle: Sendable {
    /// The log's row, as a transaction left it.
    struct Row: Hashable, Sendable {
        let generation: UInt64
        let head: TreeHead
        let published: TreeHead
        let note: [UInt8]
        /// Who wrote the newest frame.
        let writer: UInt64?
    }

    private struct State {
        var heads: [TreeHead: Set<String>] = [:]
        var rows: [Row] = []
        var objects: [String: [UInt8]] = [:]
        var sizes: [String: UInt64] = [:]
        var acknowledged: [(UInt64, [UInt8])] = []
        var violations: [String] = []
    }

    private let policy: Policy
    private let state = Mutex(State())

    init(_ policy: Policy) { self.policy = policy }

    /// What did not hold.
    var violations: [String] { state.withLock { $0.violations } }
    /// Every head that was seen, each once.
    var heads: [TreeHead] { state.withLock { Array($0.heads.keys) } }
    /// Every entry that a leader has acknowledged, with its index.
    var acknowledged: [(UInt64, [UInt8])] { state.withLock { $0.acknowledged } }

    /// Whether it looks itself, to which nothing happens.
    @TaskLocal static var isLooking = false

    func violate(_ words: String) { state.withLock { $0.violations.append(words) } }

    private func demand(_ holds: Bool, _ words: @autoclosure () -> String, in state: inout State) {
        if !holds { state.violations.append(words()) }
    }

    /// The head of a note of this log.
    func head(_ bytes: [UInt8]) -> TreeHead? {
        guard let note = try? SignedNote(decoding: bytes) else { return nil }
        return try? policy.verifyLogSignature(on: note).checkpoint.head
    }

    private func see(_ head: TreeHead, _ place: String, in state: inout State) {
        state.heads[head, default: []].insert(place)
        let committed = state.rows.map(\.head.size).max() ?? 0
        demand(
            head.size <= committed, "\(place) has \(head.size) entries, of which \(committed) are committed",
            in: &state)
        let others = state.heads.keys.contains { $0.size == head.size && $0.root != head.root }
        demand(!others, "\(place): two roots for \(head.size) entries", in: &state)
    }

    // MARK: What was seen

    /// A transaction has left this row.
    func saw(_ row: Row) {
        let noted = head(row.note)
        state.withLock { state in
            defer { state.rows.append(row) }
            demand(noted == row.published, "the row's note is of another head", in: &state)
            demand(row.published.size <= row.head.size, "more is published than committed", in: &state)
            guard let last = state.rows.last else { return }
            demand(row.generation >= last.generation, "the generation fell", in: &state)
            demand(row.head.size >= last.head.size, "the log shrank", in: &state)
            demand(row.published.size >= last.published.size, "what is published shrank", in: &state)
            let isNew = row.head.size > last.head.size
            demand(!isNew || row.writer == row.generation, "a frame of another generation", in: &state)
        }
        if let noted, noted.size > 0 { state.withLock { see(noted, "the row", in: &$0) } }
    }

    /// A store has taken an object.
    func saw(_ bytes: [UInt8], at path: String) {
        let isSwapped = path == "signed" || path == "checkpoint"
        let noted = isSwapped ? head(bytes) : nil
        state.withLock { state in
            defer { state.objects[path] = bytes }
            guard isSwapped else {
                return demand((state.objects[path] ?? bytes) == bytes, "\(path) has changed", in: &state)
            }
            guard let noted else { return demand(false, "\(path) is no note of this log", in: &state) }
            demand(noted.size >= state.sizes[path] ?? 0, "\(path) shrank", in: &state)
            state.sizes[path] = noted.size
            see(noted, path, in: &state)
        }
    }

    /// A leader or a follower shows a checkpoint.
    func saw(_ checkpoint: PublishedCheckpoint, by place: String) {
        state.withLock { state in
            see(checkpoint.head, place, in: &state)
            let isPublished = state.rows.contains { $0.published == checkpoint.head }
            demand(isPublished, "\(place) shows what is not published", in: &state)
        }
    }

    /// A leader has acknowledged entries.
    func saw(_ range: Range<UInt64>, _ entries: [[UInt8]]) {
        state.withLock { state in
            demand(range.count == entries.count, "a range of another length", in: &state)
            state.acknowledged += Array(zip(range, entries))
        }
    }
}

extension SQLTransaction {
    /// The log's row as it is now.
    func chronicled() throws -> Chronicle.Row? {
        let writer = try row("SELECT generation FROM frames ORDER BY first DESC LIMIT 1")?.count(0)
        let columns = "generation, size, root, published_size, published_root, note"
        return try row("SELECT \(columns) FROM log WHERE id = 1").flatMap { row in
            guard let root = TreeHash(try row.bytes(2)), let shown = TreeHash(try row.bytes(4)) else { return nil }
            return Chronicle.Row(
                generation: try row.count(0), head: TreeHead(size: try row.count(1), root: root),
                published: TreeHead(size: try row.count(3), root: shown), note: try row.bytes(5), writer: writer)
        }
    }
}

/// A database of which the chronicle hears after each transaction.
struct ChronicledDatabase: SQLDatabase {
    let base: any SQLDatabase
    let chronicle: Chronicle

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.write { try heard($0, try body($0)) }
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try base.writeNow { try heard($0, try body($0)) }
    }

    /// Inside of the transaction, while no other one writes: so the chronicle hears of them in their order.
    private func heard<Value>(_ transaction: SQLTransaction, _ value: Value) throws -> Value {
        if let row = try transaction.chronicled() { chronicle.saw(row) }
        return value
    }

    /// Time stands still: a lease ends when the test says so.
    var nowExpression: String { "1000000" }

    func expunge() async throws {}

    func close() { base.close() }
}

/// A store of objects of which the chronicle hears after each write, and looks whether what is signed was placed.
struct ChronicledObjects: ObjectStore {
    let base: any ObjectStore
    let chronicle: Chronicle

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? { try await base.get(path) }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        let outcome = try await base.put(bytes, at: path, condition)
        guard case .written = outcome else { return outcome }
        chronicle.saw(bytes, at: path)
        if path == "signed", let head = chronicle.head(bytes) { await demandPlaced(head) }
        return outcome
    }

    /// Whether the entries and tiles of a head are there.
    func demandPlaced(_ head: TreeHead) async {
        var paths = Tile.added(from: 0, to: head.size).filter(\.isFull).map { String(decoding: $0.path, as: UTF8.self) }
        if head.size % 256 != 0 { paths.append("tail/\(head.size)") }
        await Chronicle.$isLooking.withValue(true) {
            for path in paths where (try? await base.get(path)) == nil {
                chronicle.violate("\(head.size) entries are signed without \(path)")
            }
        }
    }

    func remove(_ path: String) async throws(ObjectFault) { try await base.remove(path) }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await base.list(prefix) }
}
