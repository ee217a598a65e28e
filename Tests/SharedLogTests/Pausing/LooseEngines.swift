// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import SQLStores
import Synchronization

/// What an engine of the controls does not keep to.
enum Looseness: Sendable {
    /// The database takes a frame of whomever, if the size fits.
    case withoutGeneration
    /// The object store takes every write.
    case withoutVersions
    /// The database says that a frame is there, and writes it with the next transaction.
    case committedLater

    func database(_ base: any SQLDatabase) -> any SQLDatabase {
        switch self {
        case .withoutGeneration: RewritingDatabase(base: base)
        case .committedLater: LateDatabase(base: base)
        case .withoutVersions: base
        }
    }

    func objects(_ base: any ObjectStore) -> any ObjectStore {
        if case .withoutVersions = self { UnconditionalObjects(base: base) } else { base }
    }
}

/// A connection on which a statement is looked at before it runs.
private struct ObservedConnection: SQLConnection {
    let base: SQLTransaction
    let observe: (String, [SQLValue]) -> String

    func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int {
        let sql = observe(sql, arguments)
        guard sql.hasPrefix("SELECT") || sql.contains("RETURNING") else { return try base.run(sql, arguments) }
        try base.each(sql, arguments, body)
        return 0
    }
}

/// A database that does not compare the generation.
private struct RewritingDatabase: SQLDatabase {
    let base: any SQLDatabase

    private static func loosened(_ transaction: SQLTransaction) -> SQLTransaction {
        SQLTransaction(
            ObservedConnection(base: transaction) { sql, _ in
                sql.hasPrefix("UPDATE log SET") ? sql.replacing("AND generation = ?", with: "AND ? >= 0") : sql
            })
    }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.write { try body(Self.loosened($0)) }
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try base.writeNow { try body(Self.loosened($0)) }
    }

    var nowExpression: String { base.nowExpression }

    func expunge() async throws {}

    func close() { base.close() }
}

/// A database that acknowledges a frame before it is there.
private final class LateDatabase: SQLDatabase {
    private struct NotYet: Error {}

    private let base: any SQLDatabase
    private let late = Mutex<[(String, [SQLValue])]>([])

    init(base: any SQLDatabase) { self.base = base }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.write(body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        let before = late.withLock { late in
            defer { late = [] }
            return late
        }
        var value: Value?
        var statements: [(String, [SQLValue])] = []
        do {
            return try base.writeNow { transaction in
                for (sql, arguments) in before { try transaction.run(sql, arguments) }
                statements = []
                let seen = ObservedConnection(base: transaction) { sql, arguments in
                    statements.append((sql, arguments))
                    return sql
                }
                let result = try body(SQLTransaction(seen))
                guard statements.contains(where: { $0.0.hasPrefix("INSERT INTO frames") }) else { return result }
                value = result
                throw NotYet()
            }
        } catch is NotYet {
            let all = before + statements
            late.withLock { $0 = all }
            guard let value else { throw NotYet() }
            return value
        }
    }

    var nowExpression: String { base.nowExpression }

    func expunge() async throws {}

    func close() { base.close() }
}

/// A store that ignores the conditions of writes.
private struct UnconditionalObjects: ObjectStore {
    let base: any ObjectStore

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? { try await base.get(path) }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        let current = try await base.get(path)
        return try await base.put(bytes, at: path, current.map { .ifVersion($0.tag) } ?? .ifAbsent)
    }

    func remove(_ path: String) async throws(ObjectFault) { try await base.remove(path) }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await base.list(prefix) }
}
