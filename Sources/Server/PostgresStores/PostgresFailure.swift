// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// A command that did not succeed.
struct PostgresFailure: Error, Hashable {
    /// Its SQLSTATE; nil if the server gave none.
    var state: String?
    /// Whether the connection ended with it.
    var isLost = false
    /// The server's words, or libpq's.
    var words = ""
    /// Why no connection was made, where that passes by nothing but a change; nil otherwise.
    var refusal: PostgresRefusal?

    /// What a store learns of it.
    ///
    /// Spec: PostgreSQL 15, Appendix A: 58030 is `io_error`, class XX an internal error such as a damaged page.
    var fault: SQLFault {
        let code = SQLCode.postgres(state: state)
        guard !isLost, let state, state == "58030" || state.hasPrefix("XX") else { return .unavailable(code) }
        return .storageFailed(code)
    }

    /// Whether the same transaction can succeed when it is run again: others wrote meanwhile. A second row of one key is
    /// reported before the conflict that brought it about.
    func mayPass(in isolation: PostgresIsolation) -> Bool {
        switch state {
        case "40001", "40P01": !isLost
        case "23505": !isLost && isolation == .serializable
        default: false
        }
    }

    /// Whether a statement was prepared for tables that have changed, or is not there any more.
    var isStalePlan: Bool {
        !isLost && (state == "26000" || (state == "0A000" && words.contains("cached plan")))
    }
}

/// How far a transaction sees what others do meanwhile.
///
/// Spec: PostgreSQL 15, 13.2 Transaction Isolation.
enum PostgresIsolation: String {
    /// One consistent state, in which nothing can be written.
    case snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    /// As if it were alone.
    case serializable = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
    /// Each statement sees what was committed before it.
    case readCommitted = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
}

/// A column of a type that no table of ours has, such as the `numeric` of `SUM` of a `BIGINT`: a mistake in a statement of this program.
package struct UnreadableColumn: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the type, or its number.
    package let type: String
    /// From 0.
    package let column: Int

    package var description: String { "column \(column) is \(type), which no statement of a store may answer" }
}

/// Why no database was opened.
package enum PostgresOpenError: Error, Hashable, Sendable {
    /// No connection was made, or it ended. The address has no password in it.
    case unreachable(address: String, words: String)
    /// Every host turned this process away. That is a mistake in the address when a process starts with it, and may pass for one that runs: a
    /// password is changed here and there in turn, a primary is restored. The address has no password in it.
    case turnedAway(PostgresRefusal, address: String, words: String)
    /// The group of tables of this name was not made by this program.
    case notOurs(schema: String)
    /// A newer version of this program has changed its tables.
    case fromNewerVersion
    /// The server only follows another one.
    case isReplica
    /// The server's version, such as 140011; 15 is the oldest.
    case tooOld(version: Int)
    /// The database keeps text in another encoding.
    case notUTF8(encoding: String)
    /// The server refused a step by which tables are made: the SQLSTATE and its words.
    case refused(state: String, words: String)

    /// Whether a process that was connected before tries again. One that starts does so only if it was not ``isTurnedAway``.
    package var isPassing: Bool {
        switch self {
        case .unreachable, .isReplica, .turnedAway: true
        case .notOurs, .fromNewerVersion, .tooOld, .notUTF8, .refused: false
        }
    }

    /// Whether every host turned this process away.
    package var isTurnedAway: Bool { if case .turnedAway = self { true } else { false } }

    /// What a store of a process that runs learns of it.
    var fault: SQLFault {
        if case .turnedAway(let refusal, _, _) = self { return .unavailable(.postgres(state: refusal.state)) }
        return .unavailable(.postgres(state: nil))
    }
}
