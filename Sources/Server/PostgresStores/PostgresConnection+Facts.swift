// SPDX-License-Identifier: Apache-2.0

package import LogFencing
package import SQLStores

extension PostgresConnection {
    /// What the server says of itself, for the leader of a log.
    ///
    /// The timeline is that of the file that is being written: `pg_control_checkpoint()` shows the one before, until the first checkpoint
    /// after a promotion.
    ///
    /// - Parameter replicatesBelowSQL: the operator's word that the engine keeps each commit on several machines by itself.
    /// - Throws: `SQLFault.unavailable`.
    package func facts(replicatesBelowSQL: Bool = false) throws(SQLFault) -> DatabaseFacts {
        let answer: PostgresResult
        do { answer = try command(Self.question) } catch { throw error.fault }
        guard let identifier = answer.words(0, 3).flatMap(Int64.init),
            let timeline = answer.words(0, 4).flatMap(UInt64.init),
            let database = answer.words(0, 5).flatMap(UInt32.init)
        else { throw .unavailable(.postgres(state: nil)) }
        return DatabaseFacts(
            isInRecovery: answer.words(0, 0) != "f",
            commitsAreSynchronous: answer.words(0, 1) == "on",
            hasStandbys: replicatesBelowSQL || answer.words(0, 2)?.isEmpty == false,
            systemIdentifier: UInt64(bitPattern: identifier), timeline: timeline, database: database)
    }

    private static let question = """
        SELECT pg_is_in_recovery(), current_setting('fsync'),
            current_setting('synchronous_standby_names'), (SELECT system_identifier FROM pg_control_system()),
            CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id::bigint FROM pg_control_checkpoint())
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint END,
            (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
        """
}
