// SPDX-License-Identifier: Apache-2.0

package import LogFencing
package import SQLStores

/// The one connection of a log's leader. When it ends, it is not made anew: who led on it has to take over again.
///
/// Its transactions are `READ COMMITTED`: their statements compare and write in one, and a row that is locked is waited for.
package final class PostgresLink: Sendable {
    /// How a transaction ended.
    package enum Outcome<Value: Sendable>: Sendable {
        /// It is durable, as the server's configuration says.
        case committed(Value)
        /// The closure threw this. Nothing was written.
        case refused(any Error)
        /// The server did not do it. Nothing was written.
        case failed(SQLFault)
        /// It is durable, or visible and not yet durable, or not there. The link is of no use any more.
        case unknown(SQLCode)
    }

    private let slot = PostgresSlot()

    /// Connects. The schema and its tables must be there. It holds the caller's thread.
    ///
    /// - Parameters:
    ///   - connecting: how long making the connection may take.
    ///   - patience: how long the server may take for each command; after that the connection is closed and its outcome unknown.
    ///   - idling: after so long without a command the server ends a transaction, and the link.
    ///   - cutOff: closes the connection before any of these times; nil: nothing does.
    /// - Throws: ``PostgresOpenError``.
    package init(
        to address: PostgresAddress, schema: String, connecting: Duration = .seconds(10), patience: Duration? = nil,
        idling: Duration = PostgresConnection.idling, cutOff: PostgresCutOff? = nil
    ) throws(PostgresOpenError) {
        slot.connection = try PostgresConnection.open(
            address, schema: schema, connecting: connecting, patience: patience, idling: idling, cutOff: cutOff)
    }

    /// What the server says of itself.
    ///
    /// - Parameter replicatesBelowSQL: the operator's word that the engine keeps each commit on several machines by itself.
    /// - Throws: `SQLFault.unavailable`.
    package func facts(replicatesBelowSQL: Bool = false) async throws -> DatabaseFacts {
        try await slot.thread.run { [slot] in
            guard let connection = slot.connection else { throw SQLFault.unavailable(.postgres(state: nil)) }
            return try connection.facts(replicatesBelowSQL: replicatesBelowSQL)
        }
    }

    /// Runs one transaction, once.
    package func transact<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async -> Outcome<Value> {
        do { return .committed(try await slot.thread.run { [slot] in try Self.transact(slot, body) }) } catch {
            switch error {
            case SQLFault.outcomeUnknown(let code): return .unknown(code)
            case let fault as SQLFault: return .failed(fault)
            default: return .refused(error)
            }
        }
    }

    /// Runs one transaction, once, and holds the caller's thread meanwhile.
    ///
    /// - Throws: `SQLFault`, of which ``SQLFault/outcomeUnknown(_:)`` is ``Outcome/unknown(_:)``; what `body` throws.
    func transactNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try slot.thread.runNow { try Self.transact(slot, body) }
    }

    /// Closes the connection, and holds the caller's thread meanwhile.
    func closeNow() { slot.thread.runNow { slot.connection = nil } }

    /// Closes the connection. A transaction that has begun is finished first.
    package func close() async {
        try? await slot.thread.run { [slot] in slot.connection = nil }
    }

    private static func transact<Value>(
        _ slot: PostgresSlot, _ body: (SQLTransaction) throws -> Value
    ) throws -> Value {
        guard let connection = slot.connection, connection.isUsable else {
            throw SQLFault.unavailable(.postgres(state: nil))
        }
        do {
            try connection.begin(.readCommitted)
            return try PostgresRunner.transact(connection, body)
        } catch let failure as PostgresFailure { throw failure.fault }
    }
}
