// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Logging
import SQLStores
import SignetAPI

/// Writes changes that were accepted together, in one transaction in which each succeeds or is refused by itself.
///
/// Security: who sends what makes the transaction as a whole fail, which nothing is known to do, must not keep the others out: it is divided
/// until only that change is left.
struct AcceptanceGroup: Sendable {
    typealias Outcome = AcceptanceQueue.Outcome

    let rows: any SQLDatabase
    /// Whether another process writes the log.
    let handsOver: Bool
    let logger: Logger

    /// Where the transactions of all processes take turns.
    static let turn = "meta"

    /// Writes changes, and returns when they are durable: one outcome for each, in their order.
    ///
    /// A commit of unknown outcome is of unknown outcome for each of them, and nothing is run again: whoever repeats a request gets the receipt of
    /// what is there.
    func write(_ changes: [Acceptance]) async -> [Outcome] {
        do {
            return try await rows.writeInTurn(on: Self.turn) { database in try outcomes(of: changes, in: database) }
        } catch {
            guard changes.count > 1, Self.isOfOneChange(error) else {
                let failure = DirectoryDatabase.failure(error, logger)
                return changes.map { _ in .failure(failure) }
            }
            let half = changes.count / 2
            return await write(Array(changes.prefix(half))) + write(Array(changes.dropFirst(half)))
        }
    }

    /// What becomes of each change, in one transaction. Only a change that is alone throws why it is refused.
    func outcomes(of changes: [Acceptance], in database: SQLTransaction) throws -> [Outcome] {
        if changes.count == 1, case .change(_, let body) = changes[0] { return [.success(try body(database))] }
        let registrations = changes.compactMap { if case .registration(let each) = $0 { each } else { nil } }
        var registered = try RegistrationRows.insert(registrations, handsOver: handsOver, in: database)[...]
        return try changes.map { change in
            switch change {
            case .registration: registered.removeFirst()
            case .change(_, let body): try Self.outcome(of: body, in: database)
            }
        }
    }

    /// What one change does, without a trace if it is refused.
    private static func outcome(
        of body: (SQLTransaction) throws -> AccountRow?, in database: SQLTransaction
    ) throws -> Outcome {
        try database.run("SAVEPOINT change")
        let outcome: Outcome
        do { outcome = .success(try body(database)) } catch let error as DirectoryError {
            try database.run("ROLLBACK TO SAVEPOINT change")
            outcome = .failure(error)
        }
        try database.run("RELEASE SAVEPOINT change")
        return outcome
    }

    /// Whether a transaction failed of what was in it, so that nothing was written and fewer changes may succeed: a row that is damaged, or a
    /// statement that the engine refuses. Not of an engine that is busy or away, and never of a commit of unknown outcome.
    ///
    /// Spec: PostgreSQL 15, Appendix A: the classes 21, 22, 23, 42 and 54; SQLite, Result and Error Codes: `SQLITE_ERROR`, `SQLITE_TOOBIG`,
    /// `SQLITE_CONSTRAINT`, `SQLITE_MISMATCH`, `SQLITE_RANGE`.
    static func isOfOneChange(_ error: any Error) -> Bool {
        switch error {
        case SQLFault.unavailable(.postgres(let state)):
            ["21", "22", "23", "42", "54"].contains(state.map { String($0.prefix(2)) })
        case SQLFault.unavailable(.sqlite(let code)): [1, 18, 19, 20, 25].contains(code & 0xff)
        case is SQLFault, is CancellationError: false
        default: true
        }
    }
}
