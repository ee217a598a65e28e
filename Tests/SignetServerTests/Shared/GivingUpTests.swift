// SPDX-License-Identifier: Apache-2.0

import EngineLab
import ObjectStores
import ObjectTesting
import PostgresStores
import Synchronization
import Testing

@testable import SignetServer

/// A process of a cluster is told to stop while its engines stand still.
struct GivingUpTests {
    /// Objects in memory that say when they are closed.
    private final class ClosingObjects: ObjectStore {
        let base = MemoryObjects()
        let isClosed = Mutex(false)

        func get(_ path: String) async throws(ObjectFault) -> StoredObject? { try await base.get(path) }

        func put(
            _ bytes: [UInt8], at path: String, _ condition: PutCondition
        ) async throws(ObjectFault) -> PutOutcome { try await base.put(bytes, at: path, condition) }

        func remove(_ path: String) async throws(ObjectFault) { try await base.remove(path) }

        func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await base.list(prefix) }

        func close() async { isClosed.withLock { $0 = true } }
    }

    private static func engines(_ host: ShutHost, _ objects: any ObjectStore) throws -> SharedEngines {
        let file = try EnginesFile(
            database: "host=/nonexistent", objects: "https://localhost", bucket: "none", prefix: nil, region: nil,
            authority: nil)
        return SharedEngines(file: file, address: try host.address(), objects: objects, replicatesBelowSQL: true)
    }

    /// How long the process waits, and that it gives up then and not before.
    private static func waits(
        draining drain: Duration, lag: @escaping @Sendable () -> Duration = { .zero }
    ) async throws -> [Duration] {
        let objects = ClosingObjects()
        let slept = Mutex<[Duration]>([])
        let engines = try engines(try ShutHost(refusing: nil), objects)
        await engines.giveUpAfterGrace(
            draining: drain, lag: lag, onGivingUp: { #expect(!objects.isClosed.withLock { $0 }) },
            sleeping: { duration in slept.withLock { $0.append(duration) } })
        #expect(objects.isClosed.withLock { $0 })
        return slept.withLock(\.self)
    }

    @Test func withoutRequestsTheGraceIsAll() async throws {
        #expect(try await Self.waits(draining: .zero) == [.seconds(10)])
        #expect(try await Self.waits(draining: .seconds(10)) == [.seconds(10)])
    }

    /// Otherwise it would refuse what a database that answers does in a moment.
    @Test func requestsInProgressHaveTheirTimeWhileTheDatabaseAnswers() async throws {
        #expect(try await Self.waits(draining: .seconds(12)) == [.seconds(10), .seconds(1), .seconds(1)])
    }

    @Test func aDatabaseThatDoesNotAnswerIsGivenUpAfterTheGrace() async throws {
        #expect(try await Self.waits(draining: .seconds(60), lag: { .seconds(5) }) == [.seconds(10)])
    }

    /// A connection takes ten seconds at most, and is given up before that.
    @Test(arguments: [false, true])
    func aConnectionThatIsBeingMadeIsGivenUp(isLink: Bool) async throws {
        let host = try ShutHost(refusing: nil)
        let engines = try Self.engines(host, ClosingObjects())
        let (ends, report) = AsyncStream.makeStream(of: Bool.self)
        let begun = ContinuousClock.now
        Task.detached {
            if isLink {
                report.yield((try? await engines.link()) == nil)
            } else {
                report.yield((try? engines.database(SQLLimits.schema, count: 1)) == nil)
            }
        }
        for await _ in host.arrivals { break }
        await engines.giveUp()
        for await isRefused in ends {
            #expect(isRefused)
            break
        }
        #expect(ContinuousClock.now - begun < .seconds(10))
    }
}

/// A process that leads on a real database, which then answers nothing any more.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("giving up"), "There is no PostgreSQL 15 here.")
)
struct GivingUpLeaderTests {
    /// Its statements have 30 seconds each.
    @Test func aLeaderThatIsToldToStopEndsOnceItGivesUp() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.move()
            try await directory.lead(isFilled: false)
            let proxy = try directory.lab.proxy()
            let engines = SharedEngines(
                file: try directory.engines().file, address: proxy.address, objects: directory.objects,
                replicatesBelowSQL: true)
            func generation() throws -> Int { Int(try directory.sql("SELECT generation FROM log.log") ?? "") ?? 0 }
            let before = try generation()
            let sequencer = Sequencer(data, engines, Sequencer.Options(), logger: silent)
            let running = Task { try await sequencer.run() }
            try await directory.settle { try generation() > before }
            let (withheld, report) = AsyncStream.makeStream(of: Void.self)
            proxy.decide { _ in
                report.yield()
                return .withhold
            }
            for await _ in withheld { break }
            running.cancel()
            let duration = try await ContinuousClock().measure {
                await engines.giveUp()
                try await running.value
            }
            #expect(duration < .seconds(25))
        }
    }
}
