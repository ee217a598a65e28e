// SPDX-License-Identifier: Apache-2.0

import SQLStores

/// Runs transactions on a slot's connection, and makes that connection when it has to.
struct PostgresRunner: Sendable {
    let address: PostgresAddress
    let schema: String
    let options: PostgresDatabase.Options

    /// Runs a transaction, again when others disturbed it.
    ///
    /// - Parameter turn: what it waits for before it sees anything; nil: nothing.
    /// - Throws: `SQLFault`, or what `body` throws.
    func run<Value>(
        _ isolation: PostgresIsolation, turn: PostgresTurn? = nil, on slot: PostgresSlot,
        _ body: (SQLTransaction) throws -> Value
    ) throws -> Value {
        var (repeats, isReplanned) = (0, false)
        while true {
            let connection = try begun(isolation, turn, on: slot)
            do { return try Self.transact(connection, body) } catch let failure as PostgresFailure {
                if failure.isStalePlan && !isReplanned {
                    isReplanned = true
                    connection.forgetStatements()
                    continue
                }
                guard failure.mayPass(in: isolation), repeats < PostgresPauses.maximumCount else { throw failure.fault }
                repeats += 1
                options.onRepeat()
                options.pauses.wait(repeats)
            }
        }
    }

    /// Runs a transaction that has begun, once.
    ///
    /// What a statement of it failed of counts more than what `body` made of that.
    ///
    /// - Throws: ``PostgresFailure`` of a statement or of the commit; `SQLFault.outcomeUnknown`; what `body` throws.
    static func transact<Value>(
        _ connection: PostgresConnection, _ body: (SQLTransaction) throws -> Value
    ) throws -> Value {
        let value: Value
        do { value = try body(SQLTransaction(connection)) } catch {
            let failure = connection.failure
            connection.rollback()
            throw failure ?? error
        }
        if let failure = connection.failure {
            connection.rollback()
            throw failure
        }
        do { try connection.commit() } catch {
            if !(error is PostgresFailure) { connection.close() }
            throw error
        }
        return value
    }

    /// The slot's connection with a transaction, made anew if the one from before has ended: nothing had begun on that.
    private func begun(
        _ isolation: PostgresIsolation, _ turn: PostgresTurn?, on slot: PostgresSlot
    ) throws(SQLFault) -> PostgresConnection {
        if let kept = slot.connection, kept.isUsable, (try? kept.begin(isolation, turn)) != nil { return kept }
        slot.connection = nil
        let connection: PostgresConnection
        do {
            connection = try PostgresConnection.open(
                address, schema: schema, connecting: options.connecting, patience: options.patience,
                demandsStandbys: options.demandsStandbys, idling: options.idling, cutOff: options.cutOff)
            try connection.begin(isolation, turn)
        } catch let error as PostgresOpenError { throw error.fault } catch {
            throw (error as? PostgresFailure)?.fault ?? .unavailable(.postgres(state: nil))
        }
        slot.connection = connection
        return connection
    }
}
