// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Foundation
package import SQLStores

/// One connection of libpq, used by one thread at a time.
///
/// Nothing here ever asks the server to cancel a command: a commit whose wait for a standby is cancelled answers success. A deadline, or a process
/// that gives up all that it asks, closes the socket.
///
/// Spec: PostgreSQL 15, "libpq", 34.4 Asynchronous Command Processing.
package final class PostgresConnection: SQLConnection {
    let handle: OpaquePointer
    private let notices = PostgresNotices()
    /// How long the server may take for one command; nil: as long as it wants.
    private let patience: Duration?
    /// Ends every command before that; nil: nothing does.
    private let cutOff: PostgresCutOff?
    private var prepared: [Prepared: String] = [:]
    private var kinds: [String: [UInt32]] = [:]
    private var isClosed = false
    /// Whether nothing may be written unless a standby is asked to acknowledge it.
    let demandsStandbys: Bool
    /// After so long without a command the server ends a transaction that can write, and the connection.
    private let idling: Duration
    /// Whether the transaction that is open can write.
    private var mayWrite = true
    /// Why the transaction that is open cannot be committed any more.
    private(set) var failure: PostgresFailure?

    /// A statement with the types of its arguments.
    private struct Prepared: Hashable {
        let sql: String
        let types: [UInt32]
    }

    /// How many statements a connection keeps; with one more it forgets all.
    private static let capacity = 512

    /// The longest time that a process may leave others waiting for the rows that it has changed and not committed.
    package static let idling = Duration.seconds(5)

    /// Takes over a connection that has been made.
    init(
        _ handle: OpaquePointer, patience: Duration?, demandsStandbys: Bool, idling: Duration, cutOff: PostgresCutOff?
    ) {
        self.handle = handle
        self.idling = idling
        self.patience = patience
        self.cutOff = cutOff
        self.demandsStandbys = demandsStandbys
        notices.listen(on: handle)
    }

    deinit { PQfinish(handle) }

    /// Whether nothing is wrong with it and no transaction is open.
    var isUsable: Bool {
        !isClosed && PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    // MARK: Transactions

    /// Begins a transaction.
    ///
    /// - Parameter turn: what it waits for before it sees anything. If that does not come in time, it begins without.
    /// - Throws: ``PostgresFailure``; also if standbys are demanded and none is asked: whoever reloads the server's configuration changes that
    ///   under connections that exist.
    func begin(_ isolation: PostgresIsolation, _ turn: PostgresTurn? = nil) throws(PostgresFailure) {
        failure = nil
        mayWrite = isolation != .snapshot
        let standbys = try begun(isolation, turn).words(0, 0)
        guard demandsStandbys, mayWrite, standbys?.isEmpty != false else { return }
        rollback()
        throw PostgresFailure(words: "no standby is asked to acknowledge a commit")
    }

    /// Asks for what ``begin(_:_:)`` looks at in the same message: that takes no snapshot, nor another round.
    private func begun(
        _ isolation: PostgresIsolation, _ turn: PostgresTurn?
    ) throws(PostgresFailure) -> PostgresResult {
        let asking = demandsStandbys && mayWrite ? "; SHOW synchronous_standby_names" : ""
        let beginning = isolation.rawValue + (mayWrite ? bounded : "")
        guard let turn else { return try command(beginning + asking) }
        do { return try command("\(beginning);\(turn.commands)\(asking)") } catch {
            guard PostgresTurn.isRefused(error) else { throw error }
            _ = try command("ROLLBACK")
            return try command(beginning + asking)
        }
    }

    /// A process that stands still, or whose machine is gone, does not keep others waiting for what its transaction has locked: the server ends it,
    /// with its connection. A transaction that only reads is in nobody's way, and may take its time.
    private var bounded: String { "; SET LOCAL idle_in_transaction_session_timeout = \(idling.milliseconds)" }

    /// Commits the transaction.
    ///
    /// - Throws: ``PostgresFailure`` if it was not committed, or could not write anything; `SQLFault.outcomeUnknown` if the connection ended, or
    ///   if the server said anything beside its success: it says so when it gave up waiting for a standby.
    func commit() throws {
        guard mayWrite else { return _ = try command("COMMIT") }
        notices.begin()
        do {
            let result = try command("COMMIT")
            if let state = notices.end() { throw SQLFault.outcomeUnknown(.postgres(state: state)) }
            guard result.tag == "COMMIT" else { throw PostgresFailure(words: "there was nothing left to commit") }
        } catch let failure as PostgresFailure {
            guard !failure.isLost, notices.end() == nil else {
                throw SQLFault.outcomeUnknown(.postgres(state: failure.state))
            }
            throw failure
        }
    }

    /// Ends the transaction without a trace. A connection that cannot do that is not used again.
    func rollback() {
        guard !isClosed, (try? command("ROLLBACK")) != nil else { return close() }
    }

    // MARK: Statements

    /// Runs a statement, whose whole answer is in memory before `body` has its first row: a query of unknown length says `LIMIT`.
    ///
    /// - Throws: what `body` throws; ``UnreadableColumn``; ``PostgresFailure``, which also stays in ``failure``.
    package func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int {
        let result: PostgresResult
        do { result = try answer(sql, arguments) } catch {
            failure = failure ?? error
            throw error.fault
        }
        guard result.columnCount > 0 else { return result.changeCount }
        for row in 0..<result.rowCount {
            guard try body(try result.row(row)) else { break }
        }
        return 0
    }

    /// Runs commands that have no arguments, and returns the answer of the last one in text form.
    func command(_ sql: String) throws(PostgresFailure) -> PostgresResult {
        try sent { PQsendQuery(handle, sql) }
    }

    /// Forgets what was prepared: for a server whose tables have changed.
    func forgetStatements() {
        prepared = [:]
        if (try? command("DEALLOCATE ALL")) == nil { close() }
    }

    private func answer(_ sql: String, _ arguments: [SQLValue]) throws(PostgresFailure) -> PostgresResult {
        if let failure { throw failure }
        let name = try name(of: sql, types(of: arguments, in: sql))
        let parameters = PostgresParameters(arguments)
        return try sent {
            parameters.pointers { values, lengths, formats in
                PQsendQueryPrepared(handle, name, Int32(arguments.count), values, lengths, formats, 1)
            }
        }
    }

    /// A NULL has the type that the statement was given before at its place, or the one that the server finds.
    private func types(of arguments: [SQLValue], in sql: String) -> [UInt32] {
        var known = kinds[sql] ?? []
        if known.count != arguments.count { known = Array(repeating: 0, count: arguments.count) }
        for (place, argument) in arguments.enumerated() where argument != .null { known[place] = argument.type }
        kinds[sql] = known
        return known
    }

    private func name(of sql: String, _ types: [UInt32]) throws(PostgresFailure) -> String {
        let statement = Prepared(sql: sql, types: types)
        if let name = prepared[statement] { return name }
        if prepared.count >= Self.capacity {
            (prepared, kinds) = ([:], [:])
            _ = try command("DEALLOCATE ALL")
        }
        let name = "s\(prepared.count)"
        let text = PortableSQL.statement(sql)
        _ = try sent { PQsendPrepare(handle, name, text, Int32(types.count), types) }
        prepared[statement] = name
        return name
    }

    // MARK: Sockets

    /// Lets go of the socket. What the server does with a command that it has begun is its own affair.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if PQsocket(handle) >= 0 { _ = shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
    }

    private func sent(_ send: () -> Int32) throws(PostgresFailure) -> PostgresResult {
        guard !isClosed, PQstatus(handle) == CONNECTION_OK, send() == 1 else { throw lost() }
        let deadline = patience.map { ContinuousClock.now + $0 }
        try flush(deadline)
        let result = try received(deadline)
        if let failure = result.failure {
            if failure.isLost || PQstatus(handle) != CONNECTION_OK { throw lost(failure) }
            throw failure
        }
        return result
    }

    private func flush(_ deadline: ContinuousClock.Instant?) throws(PostgresFailure) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1: break
            default: throw lost()
            }
            try wait(Int16(POLLIN) | Int16(POLLOUT), deadline)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    /// The first failure, or the last answer.
    private func received(_ deadline: ContinuousClock.Instant?) throws(PostgresFailure) -> PostgresResult {
        var last: PostgresResult?
        while true {
            while PQisBusy(handle) != 0 {
                try wait(Int16(POLLIN), deadline)
                guard PQconsumeInput(handle) == 1 else { throw lost(last?.failure) }
            }
            guard let raw = PQgetResult(handle) else { break }
            if last?.failure == nil { last = PostgresResult(raw) } else { PQclear(raw) }
        }
        guard let last else { throw lost() }
        return last
    }

    private func wait(_ events: Int16, _ deadline: ContinuousClock.Instant?) throws(PostgresFailure) {
        guard PostgresSocket.wait(PQsocket(handle), events, deadline, cutOff) else { throw lost() }
    }

    /// The failure that ends the connection: `known`, or what libpq says.
    private func lost(_ known: PostgresFailure? = nil) -> PostgresFailure {
        var failure = known ?? PostgresFailure(words: String(cString: PQerrorMessage(handle)))
        failure.isLost = true
        close()
        return failure
    }
}
