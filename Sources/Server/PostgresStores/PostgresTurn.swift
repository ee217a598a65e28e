// SPDX-License-Identifier: Apache-2.0

/// What large transactions of several processes wait for, so that they are run one after the other: a lock on a table, of a kind that stands
/// in the way of itself alone. They are `SERIALIZABLE` all the same, and as safe without it.
///
/// The lock is taken before the transaction has its snapshot, so that it sees what the one before it wrote. It is let go when the commit has its
/// acknowledgements.
///
/// Spec: PostgreSQL 15, 13.3.1 Table-Level Locks: `SHARE UPDATE EXCLUSIVE` conflicts with itself, with vacuums, and with changes of the table's
/// form; 13.3: a lock that is taken explicitly before any query comes before the snapshot.
struct PostgresTurn: Sendable {
    private let table: String
    private let patience: Duration

    init(table: String, options: PostgresDatabase.Options) {
        self.table = PostgresConnection.quoted(table)
        patience = options.turnPatience
    }

    /// What follows `BEGIN`.
    var commands: String {
        """
        SET LOCAL lock_timeout = \(patience.milliseconds);
        LOCK TABLE \(table) IN SHARE UPDATE EXCLUSIVE MODE;
        SET LOCAL lock_timeout = 0
        """
    }

    /// Whether the turn did not come in time: `lock_not_available`.
    static func isRefused(_ failure: PostgresFailure) -> Bool { failure.state == "55P03" && !failure.isLost }
}

extension Duration {
    /// As a setting of the server has it, where 0 means that there is no limit.
    var milliseconds: Int64 { max(1, Int64(self / .milliseconds(1))) }
}
