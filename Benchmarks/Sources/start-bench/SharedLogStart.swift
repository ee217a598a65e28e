// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import LogEngine
import LogFencing
import Logging
import Measuring
import ObjectStores
import PaperDirectory
import PostgresStores
import SQLStores
import SharedLog
import TransparencyLog

/// A directory that several processes share, on a real PostgreSQL of this machine and objects in files: how long a take-over and the start of
/// a front end take. The log is filled as ``FilledDirectory`` fills one.
struct SharedLogStart {
    private let server: PostgresServer
    private let name: String
    /// Objects, and the folder of state of a front end.
    private let folder: String
    private let keys: DirectoryKeys
    private let logger: Logger

    /// - Parameter folder: does not exist.
    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for part in ["state", "other"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
        }
        server = try PostgresLab.shared.get().primary(["shared_buffers = 128MB"])
        name = "shared"
        try server.administer("CREATE DATABASE \(name)")
        keys = try FilledDirectory.keys()
        var logger = Logger(label: "start-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        self.logger = logger
    }

    func end() { try? server.kill() }

    // MARK: Processes

    /// With connections of its own, as every process has.
    ///
    /// - Parameter state: the folder of state; nil for none.
    private func directory(_ state: String? = nil) throws -> SharedDirectory {
        let address = try server.address.database(name)
        let policy = try Policy(logs: [Policy.Log(key: keys.log.verifierKey)], quorum: .none)
        let engines = SharedLogEngines(
            database: try PostgresDatabase(at: address, SharedLogTables.schema),
            objects: try FileObjects(at: "\(folder)/objects"), policy: policy, origin: keys.log.verifierKey.name)
        return SharedDirectory(
            engines, accounts: try PostgresDatabase(at: address, SharedDirectory.schema),
            state: state.map { "\(folder)/\($0)" }, secret: FrontEndSecret(), clock: FilledDirectory.now,
            logger: logger)
    }

    private func link() async throws -> (any SQLDatabase, (DatabaseFacts, DatabaseDemands)) {
        let link = try PostgresLink(to: server.address.database(name), schema: SharedLogTables.schema.name)
        let facts = try await link.facts(replicatesBelowSQL: true)
        let demands = DatabaseDemands(
            systemIdentifier: facts.systemIdentifier, timeline: facts.timeline, database: facts.database)
        return (PostgresLeaderLink(link), (facts, demands))
    }

    private func lead(
        _ holder: String, from standing: (SharedDirectory, DirectoryReplica)? = nil
    ) async throws -> Directory {
        let (link, facts) = try await link()
        let place = if let standing { standing.0 } else { try directory() }
        return try await place.lead(
            keys, over: link, facts, holder: holder, from: standing?.1, steady: Self.steady)
    }

    private static let steady: @Sendable () -> Duration = {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }()

    // MARK: Measuring

    func measure(_ labels: UInt64) async throws {
        try await directory().create(keys)
        let size = try await fill(labels)
        Report.title("A shared log with \(labels) labels, \(size) entries")
        try await takeOver("a take-over by one that has nothing in memory", "cold")
        try await takeOver("a take-over by one that stands by", "warm", from: standBy())
        try await frontEnd("a front end's start, nothing on its disk")
        try FileManager.default.removeItem(atPath: "\(folder)/state/wal")
        try await frontEnd("a front end's start, with a snapshot of the index")
        try await frontEnd("a front end's start, with a snapshot and the frames")
    }

    private func standBy() async throws -> (SharedDirectory, DirectoryReplica) {
        let directory = try directory("other")
        return (directory, try await directory.follow(steady: Self.steady))
    }

    /// As large as it was filled, in at least a hundred epochs.
    private func fill(_ labels: UInt64) async throws -> UInt64 {
        let directory = try await lead("filler")
        let end = try await FilledDirectory.append(labels, to: directory.log, waiting: min(2048, max(1, labels / 100)))
        _ = try await directory.log.awaitPublished(size: end + 1)
        let size = directory.log.published.head.size
        await directory.close()
        // As if every entry had been compared with the accounts before.
        try PostgresDatabase(at: server.address.database(name), SharedDirectory.schema).writeNow {
            _ = try $0.run("UPDATE meta SET checked_size = ?", [Int64(clamping: size)])
        }
        return size
    }

    /// The process that led has ended, and another one begins.
    private func takeOver(
        _ name: String, _ holder: String, from standing: (SharedDirectory, DirectoryReplica)? = nil
    ) async throws {
        let start = Moment()
        let directory = try await lead(holder, from: standing)
        start.report("\(name), until it leads")
        _ = try await directory.log.republish()
        start.report("\(name), until it has published")
        await directory.close()
    }

    private func frontEnd(_ name: String) async throws {
        let start = Moment()
        let (directory, follower) = try await directory("state").serve(vrf: keys.vrf, steady: Self.steady)
        start.report(name)
        if let size = directory.snapshotSize { Report.note("with a snapshot of the first \(size) entries") }
        guard follower.log.published.head.size > 0 else { throw BenchFault.notInTheIndex }
        await directory.close()
    }
}

/// When something began.
private struct Moment {
    private let wall = wallTime()
    private let processor = processTime()

    func report(_ name: String) {
        Report.line(name, (wallTime() - wall) / 1e9, "s")
        Report.line("    processor time of all threads", (processTime() - processor) / 1e9, "s")
    }
}
