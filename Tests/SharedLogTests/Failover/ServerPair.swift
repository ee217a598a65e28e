// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EngineLab
import Foundation
import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import PostgresStores
import SQLStores
import SharedLog
import Synchronization
import TransparencyLog

/// A log on a primary of PostgreSQL and a replica that its commits wait for, with objects that outlive both.
final class ServerPair: Sendable {
    static let patience = Duration.seconds(5)
    let primary: PostgresServer
    let replica: PostgresServer
    let objects = MemoryObjects()
    private let shared: SharedLogFixture
    private let databases = Mutex<[PostgresDatabase]>([])
    private let failed = Mutex<[LogFailure]>([])

    /// Why logs have failed.
    var failures: [LogFailure] { failed.withLock { $0 } }

    init() async throws {
        (primary, replica) = try await Self.apart { try PostgresLab.shared.get().pair() }
        shared = try SharedLogFixture()
        try primary.administer("CREATE DATABASE log")
        try await engines(on: primary).create(try shared.configuration())
    }

    deinit {
        for database in databases.withLock({ $0 }) { database.close() }
        try? primary.kill()
        try? replica.kill()
    }

    /// Runs what holds its thread for long on one that may be held.
    static func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    func address(_ server: PostgresServer) throws -> PostgresAddress { try server.address.database("log") }

    func engines(on server: PostgresServer) async throws -> SharedLogEngines {
        var options = PostgresDatabase.Options()
        options.patience = Self.patience
        let (address, chosen) = (try address(server), options)
        let database = try await Self.apart {
            try PostgresDatabase(at: address, SharedLogTables.schema, options: chosen)
        }
        databases.withLock { $0.append(database) }
        return SharedLogEngines(
            database: database, objects: objects, policy: shared.engines.policy, origin: shared.engines.origin)
    }

    /// Takes over on a server, as soon as nobody else has the lease.
    ///
    /// - Parameters:
    ///   - trusted: whether the operator says that the server needs no standby.
    ///   - timeline: the newest one that the candidate has seen.
    func lead(
        _ name: String, on server: PostgresServer, trusted: Bool = false, timeline: UInt64 = 1
    ) async throws -> DurableLog {
        let engines = try await engines(on: server)
        while true {
            do { return try await leadOnce(name, engines, server, trusted, timeline) } catch {
                guard error as? CandidacyEnd == .ended(.othersLead) else { throw error }
                // A lease runs out by the server's clock.
                try await Self.apart { usleep(20_000) }
            }
        }
    }

    private func leadOnce(
        _ name: String, _ engines: SharedLogEngines, _ server: PostgresServer, _ trusted: Bool, _ timeline: UInt64
    ) async throws -> DurableLog {
        let address = try address(server)
        let link = try await Self.apart {
            try PostgresLink(to: address, schema: SharedLogTables.schema.name, patience: Self.patience)
        }
        let facts = try await link.facts(replicatesBelowSQL: trusted)
        let demands = DatabaseDemands(
            systemIdentifier: facts.systemIdentifier, timeline: timeline, database: facts.database)
        var configuration = try shared.configuration()
        configuration.onFatal = { [self] failure in failed.withLock { $0.append(failure) } }
        return try await LogCandidate(engines, holder: name, clock: SharedLogFixture.clock).lead(
            over: PostgresLeaderLink(link), (facts, demands), configuration)
    }

    /// Puts back what a server lacks of the log, as soon as nobody else has the lease.
    func repair(on server: PostgresServer, trusted: Bool = false) async throws -> LogRepairReport {
        let (engines, address) = (try await engines(on: server), try address(server))
        while true {
            let link = try await Self.apart {
                try PostgresLink(to: address, schema: SharedLogTables.schema.name, patience: Self.patience)
            }
            let facts = try await link.facts(replicatesBelowSQL: trusted)
            let demands = DatabaseDemands(
                systemIdentifier: facts.systemIdentifier, timeline: 1, database: facts.database)
            do {
                return try await LogCandidate(engines, holder: "repair", clock: SharedLogFixture.clock).repair(
                    over: PostgresLeaderLink(link), (facts, demands))
            } catch {
                guard error == .ended(.othersLead) else { throw error }
                try await Self.apart { usleep(20_000) }
            }
        }
    }

    /// The size of what the second memory holds.
    func signed() async throws -> TreeHead? {
        try await objects.get("signed").flatMap { Chronicle(shared.engines.policy).head($0.bytes) }
    }
}

/// Eight callers that append to a log until it stops, and everything that was acknowledged to them.
final class Writers: Sendable {
    private let acknowledged = Mutex<[(range: Range<UInt64>, entries: [[UInt8]])]>([])
    private let work: Mutex<Task<Void, Never>?>

    init(_ log: DurableLog) {
        work = Mutex(nil)
        let task = Task { [self] in
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<8 { group.addTask { [self] in await write(log, writer) } }
            }
        }
        work.withLock { $0 = task }
    }

    private func write(_ log: DurableLog, _ writer: Int) async {
        for number in 0... {
            let entries = (0..<3).map { Array("writer \(writer), group \(number), entry \($0)".utf8) }
            guard let range = try? await log.append(entries) else { return }
            acknowledged.withLock { $0.append((range, entries)) }
        }
    }

    /// How many groups were acknowledged.
    var count: Int { acknowledged.withLock { $0.count } }

    /// Returns when so many groups were acknowledged.
    func reached(_ count: Int) async throws {
        while self.count < count { try await ServerPair.apart { usleep(2000) } }
    }

    /// Returns when the log has refused all of them.
    func ended() async { await work.withLock { $0 }?.value }

    /// How many groups are not in a log as they were acknowledged.
    func lost(in log: DurableLog) async -> Int {
        var lost = 0
        for (range, entries) in acknowledged.withLock({ $0 }) {
            for (index, entry) in zip(range, entries) where (try? await log.entry(at: index)) != entry {
                lost += 1
                break
            }
        }
        return lost
    }

    /// How many groups end beyond a size.
    func count(beyond size: UInt64) -> Int {
        acknowledged.withLock { $0.filter { $0.range.upperBound > size }.count }
    }
}
