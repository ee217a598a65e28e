// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import LogFencing
import SQLStores
import TransparencyLog

/// What the database says of a shared log at one moment. Nothing of it was verified but the published checkpoint.
package struct SharedLogLook: Sendable {
    /// How often the leadership was claimed.
    package let generation: UInt64
    /// How many entries there are.
    package let size: UInt64
    /// What is published.
    package let published: PublishedCheckpoint
    /// For how long the lease runs; nothing if nobody has one that runs, or it ends later than any could.
    package let leaseLeft: Duration
    /// The database's time, in milliseconds since 1970.
    package let time: Int64
}

extension SharedLogEngines {
    /// Looks at the log's row and its lease.
    ///
    /// - Throws: ``SharedLogFault``.
    package func look() async throws(SharedLogFault) -> SharedLogLook {
        let now = database.nowExpression
        let (row, left, time) = try await asking {
            try await database.read { transaction in
                (
                    try SharedLogRow.read(transaction),
                    try transaction.row("SELECT expires - \(now) FROM lease WHERE id = 1")?.integer(0) ?? 0,
                    try transaction.row("SELECT \(now)")?.integer(0) ?? 0
                )
            }
        }
        let isOfAnotherTime = left > LeaseWatch.longest.milliseconds
        return SharedLogLook(
            generation: row.row.generation, size: row.row.head.size, published: try published(row),
            leaseLeft: .milliseconds(isOfAnotherTime ? 0 : max(0, left)), time: time)
    }
}
