// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import HTTPTypes
import KeyDirectory
import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import ServiceLifecycle
import SharedLog
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// What an operator can measure of a log that several processes share.
@Suite struct SharedLogWatchTests {
    private static let origin = "log.example/shared"
    private let folder: String
    private let log: SharedLogEngines
    private let accounts: any SQLDatabase
    private let time = Time()
    private let watch: SharedLogWatch

    /// A clock that only the test moves, and whether the database can be reached.
    private final class Time: Sendable {
        let now = Mutex<Duration>(.zero)
        let isAway = Mutex(false)
    }

    private struct Away: Error {}

    init() async throws {
        folder = NSTemporaryDirectory() + "shared-log-watch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let signer = try Self.signer()
        let log = SharedLogEngines(
            database: try SQLiteDatabase(at: folder + "/log.sqlite", SharedLogTables.schema),
            objects: try FileObjects(at: folder + "/objects"),
            policy: try Policy(logs: [.init(key: signer.verifierKey)], quorum: .none),
            origin: signer.verifierKey.name)
        try await log.create(try Self.configuration())
        let accounts = try SQLiteDatabase(at: folder + "/accounts.sqlite", SharedDirectory.schema)
        (self.log, self.accounts) = (log, accounts)
        watch = SharedLogWatch(log.meters, clock: { [time] in time.now.withLock { $0 } }) { [time] in
            if time.isAway.withLock({ $0 }) { throw Away() }
            return (log, accounts)
        }
    }

    private static func signer() throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(origin.utf8)), algorithm: .ed25519, seed: [UInt8](repeating: 7, count: 32))
    }

    private static func configuration() throws -> LogConfiguration {
        LogConfiguration(signer: try signer(), clock: { 1_800_000_000 })
    }

    private func lead() async throws -> DurableLog {
        let facts = DatabaseFacts(
            isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true, systemIdentifier: 1, timeline: 1,
            database: 1)
        return try await LogCandidate(log, holder: "a", clock: { .zero }).lead(
            over: try SQLiteDatabase(at: folder + "/log.sqlite", SharedLogTables.schema),
            (facts, DatabaseDemands(systemIdentifier: 1, timeline: 1, database: 1)), try Self.configuration())
    }

    private static func values(_ body: [UInt8]) throws -> [String: Double] { try PrometheusPage(body).values }

    private func values() throws -> [String: Double] {
        try Self.values(ServerMetrics(names: [], sources: [watch]).text([]))
    }

    @Test func theMetricsFollowTheOneWhoLeads() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await watch.look()
        let before = try values()
        #expect(before["signet_shared_log_leads"] == 0 && before["signet_shared_log_generation"] == 0)
        #expect(before["signet_shared_log_lease_seconds"] == 0)
        let leader = try await lead()
        _ = try await leader.append([Array("one".utf8), Array("two".utf8)])
        _ = try await leader.awaitPublished(size: 2)
        await watch.look()
        let during = try values()
        #expect(during["signet_shared_log_leads"] == 1 && during["signet_shared_log_generation"] == 1)
        #expect(during["signet_shared_log_takeovers_total"] == 1)
        #expect(during["signet_shared_log_lease_seconds"] ?? 0 > 0)
        #expect(during["signet_shared_log_commits_total{outcome=\"committed\"}"] ?? 0 >= 2)
        #expect(during["signet_shared_log_commits_total{outcome=\"unknown\"}"] == 0)
        #expect(during["signet_shared_log_commit_seconds_total"] ?? 0 > 0)
        #expect(during["signet_shared_log_objects_total{outcome=\"written\"}"] ?? 0 >= 2)
        #expect(during["signet_shared_log_objects_total{outcome=\"different\"}"] == 0)
        #expect(during["signet_shared_log_unpublished_entries"] == 0)
        await leader.close()
        await watch.look()
        let after = try values()
        #expect(after["signet_shared_log_leads"] == 0 && after["signet_shared_log_lease_seconds"] == 0)
    }

    @Test func aDatabaseThatAsksNoStandbyIsNamed() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let isProtected = Mutex(true)
        let watch = SharedLogWatch(
            log.meters, clock: { .zero }, isProtected: { _ in isProtected.withLock { $0 } }
        ) { [log, accounts] in (log, accounts) }
        await watch.look()
        #expect(!watch.isUnprotected)
        isProtected.withLock { $0 = false }
        await watch.look()
        #expect(watch.isUnprotected)
    }

    @Test func whatIsNotPublishedIsCounted() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try log.database.writeNow { _ = try $0.run("UPDATE log SET size = 7") }
        watch.compare { 0 }
        await watch.look()
        #expect(try values()["signet_shared_log_unpublished_entries"] == 7)
        #expect(try values()["signet_shared_log_behind_entries"] == 0)
    }

    @Test func aFrontEndSaysHowManyEntriesItDoesNotShow() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let leader = try await lead()
        _ = try await leader.append([Array("one".utf8), Array("two".utf8), Array("three".utf8)])
        _ = try await leader.awaitPublished(size: 3)
        watch.compare { 1 }
        await watch.look()
        #expect(try values()["signet_shared_log_behind_entries"] == 2)
        await leader.close()
    }

    /// Somebody has put something else where the entries of a head belong.
    @Test func anObjectWithOtherBytesIsCounted() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try await log.objects.putImmutable(Array("other".utf8), at: "tail/1")
        let leader = try await lead()
        _ = try? await leader.append([Array("one".utf8)])
        _ = try? await leader.awaitPublished(size: 1)
        await watch.look()
        #expect(try values()["signet_shared_log_objects_total{outcome=\"different\"}"] == 1)
        await leader.close()
    }

    @Test func theSameBytesAreCountedApart() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try await log.objects.putImmutable([0, 3] + Array("one".utf8), at: "tail/1")
        let leader = try await lead()
        _ = try await leader.append([Array("one".utf8)])
        _ = try await leader.awaitPublished(size: 1)
        await watch.look()
        #expect(try values()["signet_shared_log_objects_total{outcome=\"same\"}"] == 1)
        await leader.close()
    }

    @Test func theAgeOfWhatWaitsIsThatOfTheOldest() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let add = "INSERT INTO waiting (label, version) VALUES (?, 1)"
        let label = [UInt8](repeating: 1, count: 32)
        try accounts.writeNow { _ = try $0.run(add, [label]) }
        await watch.look()
        time.now.withLock { $0 = .seconds(40) }
        try accounts.writeNow { _ = try $0.run(add, [label]) }
        await watch.look()
        #expect(try values()["signet_shared_log_pending_rows"] == 2)
        #expect(try values()["signet_shared_log_pending_age_seconds"] == 40)
        try accounts.writeNow { _ = try $0.run("DELETE FROM waiting WHERE id = (SELECT MIN(id) FROM waiting)") }
        await watch.look()
        time.now.withLock { $0 = .seconds(45) }
        #expect(try values()["signet_shared_log_pending_age_seconds"] == 5)
        try accounts.writeNow { _ = try $0.run("DELETE FROM waiting") }
        await watch.look()
        #expect(try values()["signet_shared_log_pending_age_seconds"] == 0)
    }

    /// Numbers of a database that does not answer would be taken for those of now.
    @Test func aDatabaseThatIsAwayHasNoNumbers() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        time.isAway.withLock { $0 = true }
        await watch.look()
        #expect(try values()["signet_shared_log_pending_rows"] == nil)
        #expect(try values()["signet_shared_log_leads"] == 0)
        time.now.withLock { $0 = .seconds(9) }
        #expect(watch.lag == .seconds(9) && watch.condition == nil)
        time.isAway.withLock { $0 = false }
        await watch.look()
        #expect(watch.lag == .zero && watch.condition != nil)
        log.database.close()
        await watch.look()
        #expect(try values()["signet_shared_log_pending_rows"] == nil)
    }

    /// It is no fault of its own: who sees nothing new for long is behind, and says that.
    @Test func whyNothingWasReadIsTold_untilItIs() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let isShut = Mutex(true)
        let watch = SharedLogWatch(log.meters, clock: { .zero }) { [log, accounts] in
            if isShut.withLock(\.self) { throw SQLFault.unavailable(.postgres(state: "28P01")) }
            return (log, accounts)
        }
        await watch.look()
        #expect(watch.remarks == ["what is published was not read: database: 28P01"])
        isShut.withLock { $0 = false }
        await watch.look()
        #expect(watch.remarks == [])
    }

    @Test func aClockThatIsFarFromTheDatabasesIsMeasuredAndTold() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await watch.look()
        #expect(watch.remarks == [])
        let late = SharedLogWatch(
            log.meters, clock: { .zero }, wall: { UInt64(Date().timeIntervalSince1970) - 3_600 }
        ) { [log, accounts] in (log, accounts) }
        await late.look()
        let values = try Self.values(ServerMetrics(names: [], sources: [late]).text([]))
        #expect((-3_601 ... -3_590).contains(values["signet_shared_log_clock_seconds"] ?? 0))
        #expect(late.remarks.count == 1 && late.remarks.allSatisfy { $0.hasSuffix(" seconds behind the database's") })
    }

    private static func answer(_ port: Int, _ path: String) async throws -> HTTPAnswer {
        let head = "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let connection = try await Connection.open(port: port, root: nil, greeting: Array(head.utf8))
        let answer = await connection.readAnswer()
        await connection.close()
        return try #require(answer)
    }

    @Test func aProcessThatOnlySequencesHasThreePages() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await watch.look()
        let (ports, report) = AsyncStream.makeStream(of: Int.self)
        var address = MonitoringAddress(host: "127.0.0.1", port: 0)
        address.onListening = { report.yield($0) }
        let clock = ServerClock(time: { 1_800_000_000 }, uptime: { 0 })
        let services = SequencerMonitoring(
            watch, at: address, folder: folder, interval: .seconds(60), clock: clock, logger: silent
        ).services
        let running = services.map { service in Task { try await service.run() } }
        defer { for task in running { task.cancel() } }
        let port = try #require(await ports.first { _ in true })
        #expect(try await Self.answer(port, "/health").status == 200)
        #expect(try await Self.answer(port, "/ready").status == 200)
        let page = try PrometheusPage(await Self.answer(port, "/metrics").body)
        #expect(page.helps == Set(page.types.keys))
        #expect(page.values["signet_ready"] == 1 && page.values["signet_republish_seconds"] == 60)
        #expect(page.values["signet_shared_log_leads"] == 0 && page.values["signet_log_entries"] == 0)
        #expect(try await Self.answer(port, "/v1/lookup").status == 404)
        log.meters.parts(missing: "no connection is left")
        let without = try await Self.answer(port, "/ready")
        #expect(without.status == 503)
        #expect(String(decoding: without.body, as: UTF8.self).contains("until it can: no connection is left\n"))
        log.meters.parts(missing: nil)
        #expect(try await Self.answer(port, "/ready").status == 200)
        // Nobody has reached the database for too long.
        log.database.close()
        await watch.look()
        time.now.withLock { $0 = .seconds(9_999) }
        #expect(try await Self.answer(port, "/ready").status == 503)
        let cutOff = try PrometheusPage(await Self.answer(port, "/metrics").body).values
        #expect(cutOff["signet_not_ready{reason=\"behind\"}"] == 1 && cutOff["signet_ready"] == 0)
    }
}
