// SPDX-License-Identifier: Apache-2.0

/// What a database says of itself when a connection to it is made.
public struct DatabaseFacts: Hashable, Sendable {
    /// Whether it only follows another one.
    public var isInRecovery: Bool
    /// Whether a commit waits for the disk, and for the standbys that ``hasStandbys`` speaks of.
    public var commitsAreSynchronous: Bool
    /// Whether at least one standby must acknowledge each commit, or the operator says that the engine replicates below SQL.
    public var hasStandbys: Bool
    /// Which installation it is a copy of.
    public var systemIdentifier: UInt64
    /// How often a copy of the installation has been promoted.
    public var timeline: UInt64
    /// Which of the databases of the installation it is: its standbys have the same number, and a database that was made of a dump has
    /// another.
    public var database: UInt32

    /// The facts of a connection.
    public init(
        isInRecovery: Bool, commitsAreSynchronous: Bool, hasStandbys: Bool, systemIdentifier: UInt64, timeline: UInt64,
        database: UInt32
    ) {
        self.database = database
        self.isInRecovery = isInRecovery
        self.commitsAreSynchronous = commitsAreSynchronous
        self.hasStandbys = hasStandbys
        self.systemIdentifier = systemIdentifier
        self.timeline = timeline
    }
}

/// Why a database may not hold the head of a log. The operator has to mend each of these, or the server connects to another database.
public enum DatabaseFault: Error, Hashable, Sendable {
    /// It only follows another one.
    case inRecovery
    /// A commit can be acknowledged and lost with one machine.
    case notSynchronous
    /// No standby is asked.
    case withoutStandbys
    /// It is no copy of the installation that the log was made in.
    case otherInstallation(systemIdentifier: UInt64)
    /// It is another database of that installation, such as one that was made of a dump.
    case otherDatabase(UInt32)
    /// It was left behind by a promotion.
    case olderTimeline(UInt64)
}

/// What a leader demands of its database before it claims anything. None of it is needed for the log not to fork; without it, entries
/// that were acknowledged can be lost, and then the log stops.
///
/// Spec: PostgreSQL, "Replication" (`synchronous_commit`, `synchronous_standby_names`), `pg_control_system()`, `pg_control_checkpoint()` and
/// `pg_database.oid`.
public struct DatabaseDemands: Hashable, Sendable {
    /// The installation that the log was made in.
    public let systemIdentifier: UInt64
    /// The newest timeline that was seen.
    public let timeline: UInt64
    /// The database in it; nil if that is not known.
    public let database: UInt32?

    /// The demands of a log.
    public init(systemIdentifier: UInt64, timeline: UInt64, database: UInt32?) {
        self.database = database
        self.systemIdentifier = systemIdentifier
        self.timeline = timeline
    }

    /// Compares the facts with the demands.
    ///
    /// - Throws: ``DatabaseFault``, the first that is found.
    public func check(_ facts: DatabaseFacts) throws(DatabaseFault) {
        guard !facts.isInRecovery else { throw .inRecovery }
        guard facts.commitsAreSynchronous else { throw .notSynchronous }
        guard facts.hasStandbys else { throw .withoutStandbys }
        try requireInstallation(facts)
    }

    /// Demands that it is the installation that the log was made in, or a copy that follows it: also of who only answers and accepts.
    ///
    /// - Throws: ``DatabaseFault``.
    public func requireInstallation(_ facts: DatabaseFacts) throws(DatabaseFault) {
        guard facts.systemIdentifier == systemIdentifier else {
            throw .otherInstallation(systemIdentifier: facts.systemIdentifier)
        }
        guard database.map({ $0 == facts.database }) ?? true else { throw .otherDatabase(facts.database) }
        guard facts.timeline >= timeline else { throw .olderTimeline(facts.timeline) }
    }
}
