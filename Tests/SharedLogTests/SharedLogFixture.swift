// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import SharedLog
import Synchronization
import TransparencyLog

/// One log that several processes share: its database and its objects on this disk, and the keys of whoever leads.
final class SharedLogFixture: Sendable {
    static let origin = "log.example/shared"
    let folder: String
    let engines: SharedLogEngines
    let objects: FileObjects
    private let time = Mutex<UInt64>(1_700_000_000)
    private let failed = Mutex<[LogFailure]>([])
    private let shown = Mutex<[PublishedCheckpoint]>([])
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    /// Why logs that were opened here have failed.
    var failures: [LogFailure] { failed.withLock { $0 } }
    /// Every checkpoint that a leader has published.
    var published: [PublishedCheckpoint] { shown.withLock { $0 } }

    /// - Parameter original: whose files are copied, all of which are closed.
    init(copyOf original: SharedLogFixture? = nil) throws {
        folder = NSTemporaryDirectory() + "shared-log-\(UUID().uuidString)"
        if let original {
            try FileManager.default.copyItem(atPath: original.folder, toPath: folder)
        } else {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        objects = try FileObjects(at: folder + "/objects")
        engines = SharedLogEngines(
            database: try SQLiteDatabase(at: folder + "/log.sqlite", SharedLogTables.schema), objects: objects,
            policy: try Policy(logs: [.init(key: Self.signer().verifierKey)], quorum: .none),
            origin: try KeyName(Array(Self.origin.utf8)))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    static func signer() throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(origin.utf8)), algorithm: .ed25519, seed: [UInt8](repeating: 7, count: 32))
    }

    func configuration() throws -> LogConfiguration {
        var configuration = LogConfiguration(signer: try Self.signer(), clock: { [self] in time.withLock { $0 } })
        configuration.onFatal = { [self] failure in
            failed.withLock { $0.append(failure) }
            listener.withLock { $0 }?()
        }
        configuration.onPublished = { [self] checkpoint in shown.withLock { $0.append(checkpoint) } }
        return configuration
    }

    /// A server that commits as a log demands it.
    static let facts = (
        DatabaseFacts(
            isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true, systemIdentifier: 1, timeline: 1,
            database: 1),
        DatabaseDemands(systemIdentifier: 1, timeline: 1, database: 1)
    )

    /// Calls a closure after the next failure, or now if there was one.
    func whenFailed(_ body: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = body }
        if !failures.isEmpty { body() }
    }

    /// A connection that no other process has.
    func link() throws -> SQLiteDatabase {
        try SQLiteDatabase(at: folder + "/log.sqlite", SharedLogTables.schema)
    }

    /// - Parameter follower: has the log in memory.
    func lead(
        _ name: String = "a", over engines: SharedLogEngines? = nil, from follower: LogFollower? = nil
    ) async throws -> DurableLog {
        try await LogCandidate(engines ?? self.engines, holder: name, clock: Self.clock).lead(
            over: try link(), Self.facts, try configuration(), from: follower)
    }

    func follow(
        _ following: LogFollowing = LogFollowing(), over engines: SharedLogEngines? = nil, kept: KeptFrames? = nil
    ) async throws -> LogFollower {
        try await LogFollower.open(engines ?? self.engines, following, kept: kept, clock: Self.clock)
    }

    /// A log of so many entries in frames of a hundred, each published, which nobody leads.
    static func led(_ count: Int) async throws -> SharedLogFixture {
        let fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        try await fixture.extend(0..<count)
        return fixture
    }

    /// Appends entries with these numbers, in frames of a hundred, each published, and leads no more.
    func extend(_ numbers: Range<Int>, words: String = "entry") async throws {
        let leader = try await lead("extends")
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
            let part = start..<min(start + 100, numbers.upperBound)
            let range = try await leader.append(part.map { Array("\(words) \($0)".utf8) })
            _ = try await leader.awaitPublished(size: range.upperBound)
        }
        await leader.close()
    }

    /// By which leases are counted here: it stands still, so that no lease runs out on a machine that is busy.
    static let clock: @Sendable () -> Duration = { .zero }

    /// Ends the lease of whoever has it, as time would.
    func endLease() throws {
        try engines.database.writeNow { _ = try $0.run("UPDATE lease SET expires = 0") }
    }

    func execute(_ sql: String, _ arguments: SQLArguments = []) throws {
        try engines.database.writeNow { _ = try $0.run(sql, arguments) }
    }

    /// The entries with these numbers.
    static func entries(_ numbers: Range<Int>) -> [[UInt8]] { numbers.map { Array("entry \($0)".utf8) } }
}
