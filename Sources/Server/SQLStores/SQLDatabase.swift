// SPDX-License-Identifier: Apache-2.0

/// Where a store of ours keeps its rows: a file of this machine, or a server that several machines share.
///
/// The rules of each store are one suite of tests that runs on both engines.
package protocol SQLDatabase: Sendable {
    /// Reads one consistent state.
    ///
    /// - Throws: ``SQLFault``, or what `body` throws.
    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value

    /// Runs one transaction as if it were alone, and returns when it is durable: on this machine's disk, or on as many of the server's as its
    /// configuration says.
    ///
    /// `body` may run several times, when others wrote meanwhile: it changes nothing but the database.
    ///
    /// - Throws: ``SQLFault``, or what `body` throws; then nothing was written, unless the fault says otherwise.
    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value

    /// Runs one transaction as ``write(_:)`` does. Those that take turns on one table, in whatever process, are run one after the other where
    /// the engine lets several write at once: large ones would disturb each other nearly always. It is a courtesy, which is given up
    /// after a few seconds, and no transaction may rest on it.
    ///
    /// - Parameter table: where the turn is taken. Nothing is read or written there.
    /// - Throws: ``SQLFault``, or what `body` throws; as ``write(_:)``.
    func writeInTurn<Value: Sendable>(
        on table: String, _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value

    /// Reads, and holds the caller's thread meanwhile: for the time before requests are answered.
    ///
    /// - Throws: ``SQLFault``, or what `body` throws.
    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value

    /// Runs one transaction, and holds the caller's thread meanwhile: for the time before requests are answered.
    ///
    /// - Throws: ``SQLFault``, or what `body` throws.
    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value

    /// The engine's own expression for the time now, in milliseconds since 1970.
    var nowExpression: String { get }

    /// Leaves no copy of deleted rows where the engine lets a program see to that, and gives freed room back.
    ///
    /// - Throws: ``SQLFault``.
    func expunge() async throws

    /// Lets go of the database. What has begun is finished first.
    func close()
}

extension SQLDatabase {
    /// Where one connection writes, everything is in turn.
    package func writeInTurn<Value: Sendable>(
        on table: String, _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value { try await write(body) }
}

/// Why an engine did not do what it was asked. Nothing of what the transaction would have written is there, but for
/// ``outcomeUnknown(_:)``.
package enum SQLFault: Error, Hashable, Sendable {
    /// The engine is busy, full, away or was told to stop. A retry may help.
    case unavailable(SQLCode)
    /// The disk could not be read, written or waited for: only a new start of the process helps.
    case storageFailed(SQLCode)
    /// The connection ended while the transaction was being committed: whoever retries looks first whether it is there.
    case outcomeUnknown(SQLCode)

    /// What the engine said.
    package var code: SQLCode {
        switch self {
        case .unavailable(let code), .storageFailed(let code), .outcomeUnknown(let code): code
        }
    }
}

/// An engine's own code of a failure.
package enum SQLCode: Hashable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    case sqlite(Int32)
    /// PostgreSQL's `SQLSTATE`, five characters; nil if there was no answer.
    case postgres(state: String?)

    package var description: String {
        switch self {
        case .sqlite(let code): Self.word(of: code & 0xff).map { "\(code), \($0)" } ?? "\(code)"
        case .postgres(let state): state ?? "no answer"
        }
    }

    /// For operators, of the primary result codes that a running server meets.
    private static func word(of code: Int32) -> String? {
        switch code {
        case 5, 6: "busy"
        case 8: "not writable"
        case 10: "the disk failed"
        case 11, 26: "damaged"
        case 13: "the disk is full"
        case 14: "cannot be opened"
        default: nil
        }
    }
}
