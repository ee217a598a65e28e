// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// The one row in which the database says how far a log is, and the four statements that may change or confirm it.
///
/// A statement that finds another row than it expects changes nothing, which is nil here and "0 rows" in a database. Each locks the row
/// until its transaction has ended. That nobody else leads follows from these comparisons alone: from no lease, clock or advisory lock, which
/// after a failover two servers can hold.
///
/// Spec: `Documentation/architecture.md`, "Who may lead a log"; `Models/fencing.pml`, F4.
public struct LogRow: Hashable, Sendable {
    /// How often the leadership has been claimed. Whoever leads does so in the generation of the own claim.
    public let generation: UInt64
    /// The log in frames that are in the database.
    public let head: TreeHead
    /// What may be shown. It never becomes smaller.
    public let published: TreeHead

    /// The row as a database holds it.
    public init(generation: UInt64, head: TreeHead, published: TreeHead) {
        self.generation = generation
        self.head = head
        self.published = published
    }

    /// The row of a log without entries that nobody has led.
    public static let new = LogRow(generation: 0, head: .empty, published: .empty)

    /// Claims the leadership: the first write of a new leader, before which it believes nothing that it reads.
    ///
    /// - Returns: the row of the next generation; nil if there is none, after 2^64 - 1 claims.
    public func claimed() -> LogRow? {
        guard generation < .max else { return nil }
        return LogRow(generation: generation + 1, head: head, published: published)
    }

    /// Adds a frame, whose bytes are written in the same transaction.
    ///
    /// - Returns: the row with the frame; nil unless its writer leads and knows the whole log.
    public func committing(_ request: CommitRequest) -> LogRow? {
        guard request.generation == generation, request.after.size == head.size, request.next.size > head.size else {
            return nil
        }
        return LogRow(generation: generation, head: request.next, published: published)
    }

    /// Says that a head that was signed, remembered and witnessed may be shown.
    ///
    /// - Returns: the row that says so; nil unless its writer leads, or if more is shown already.
    public func publishing(_ shown: TreeHead, by leader: UInt64) -> LogRow? {
        guard leader == generation, shown.size >= published.size else { return nil }
        return LogRow(generation: generation, head: head, published: shown)
    }

    /// Writes the row as it is: once this is acknowledged, nobody else has led in this database before.
    ///
    /// - Returns: the row; nil unless its writer leads.
    public func confirming(_ leader: UInt64) -> LogRow? { leader == generation ? self : nil }
}

/// A frame to be added, and what its writer knows of the log: the two values that the database compares.
public struct CommitRequest: Hashable, Sendable {
    /// The generation in which the writer leads.
    public let generation: UInt64
    /// The whole log before the frame.
    public let after: TreeHead
    /// The log with the frame.
    public let next: TreeHead

    /// A request of the leader of a generation.
    public init(generation: UInt64, after: TreeHead, next: TreeHead) {
        self.generation = generation
        self.after = after
        self.next = next
    }
}
