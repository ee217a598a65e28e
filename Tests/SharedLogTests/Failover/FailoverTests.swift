// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import PostgresStores
import SQLStores
import SharedLog
import Testing
import TransparencyLog

/// Servers of PostgreSQL are killed, cut off and brought back under a log that is written.
@Suite(
    "A log over servers that fail", .serialized,
    .enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here."))
struct FailoverTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["SIGNET_FAILOVER_ROUNDS"].flatMap { Int($0) } ?? 5

    /// F3: the primary is killed under eight writers, the replica is promoted, and another candidate takes over.
    @Test func nothingAcknowledgedIsLostWhenThePrimaryIsKilled() async throws {
        var (acknowledged, lost, gaps) = (0, 0, [Duration]())
        for _ in 0..<Self.rounds {
            let pair = try await ServerPair()
            let old = try await pair.lead("a", on: pair.primary)
            let writers = Writers(old)
            try await writers.reached(100)
            let killed = ContinuousClock.now
            try await ServerPair.apart { try pair.primary.kill() }
            await writers.ended()
            try await ServerPair.apart { try pair.replica.promote() }
            let new = try await pair.lead("b", on: pair.replica, trusted: true)
            let range = try await new.append([Array("after".utf8)])
            _ = try await new.awaitPublished(size: range.upperBound)
            gaps.append(ContinuousClock.now - killed)
            acknowledged += writers.count
            lost += await writers.lost(in: new)
            #expect(pair.failures == [.leadershipEnded(.outcomeUnknown)])
            await old.close()
            await new.close()
        }
        #expect(lost == 0)
        #expect(acknowledged >= 100 * Self.rounds)
        gaps.sort()
        print(
            """
            killed primaries: \(Self.rounds) rounds, \(acknowledged) groups acknowledged, \(lost) lost; without publication \
            p50 \(gaps[gaps.count / 2]), p99 \(gaps[gaps.count * 99 / 100]), max \(gaps[gaps.count - 1])
            """)
    }

    /// F6: the control. Commits wait for nobody, and the replica does not hear of the last of them.
    @Test func anAsynchronousReplicaLosesAndTheLogStops() async throws {
        var (lostRounds, lost) = (0, 0)
        for _ in 0..<3 {
            let pair = try await ServerPair()
            try await ServerPair.apart { try pair.primary.change("synchronous_standby_names", to: "") }
            let old = try await pair.lead("a", on: pair.primary, trusted: true)
            let writers = Writers(old)
            try await writers.reached(50)
            try await ServerPair.apart { try pair.replica.stopFollowing(pair.primary) }
            try await writers.reached(writers.count + 50)
            try await ServerPair.apart { try pair.primary.kill() }
            await writers.ended()
            await old.close()
            try await ServerPair.apart { try pair.replica.promote() }
            let signed = try #require(try await pair.signed())
            let row = try pair.replica.readRow(of: pair)
            let missing = writers.count(beyond: row)
            guard missing > 0, signed.size > row else { continue }
            (lostRounds, lost) = (lostRounds + 1, lost + missing)
            do {
                let new = try await pair.lead("b", on: pair.replica, trusted: true)
                await new.close()
                Issue.record("The log went on.")
            } catch let end as CandidacyEnd {
                guard case .ended(.conflict(.databaseBehind(let seen, let database))) = end else {
                    Issue.record("\(end)")
                    continue
                }
                #expect(seen.head == signed && database.size == row)
            }
            #expect(try await pair.signed() == signed)
            // What was signed comes back from the objects, and the log goes on.
            let report = try await pair.repair(on: pair.replica, trusted: true)
            #expect(report == LogRepairReport(entries: signed.size - row, size: signed.size))
            let again = try await pair.lead("c", on: pair.replica, trusted: true)
            _ = try await again.awaitPublished(size: signed.size)
            #expect(await writers.lost(in: again) == writers.count(beyond: signed.size))
            let range = try await again.append([Array("after".utf8)])
            _ = try await again.awaitPublished(size: range.upperBound)
            #expect(try await pair.engines(on: pair.replica).inspect(sealing: nil).defects == [])
            await again.close()
        }
        #expect(lostRounds > 0)
        print("asynchronous replicas: \(lost) groups lost in \(lostRounds) of 3 rounds, and the log stopped in each")
    }

    /// F11: a backup of before is restored, with the tools of PostgreSQL.
    @Test func anOlderDumpStopsTheLogUntilItIsRepaired() async throws {
        let pair = try await ServerPair()
        let old = try await pair.lead("a", on: pair.primary)
        let writers = Writers(old)
        try await writers.reached(50)
        let dump = try await ServerPair.apart { try pair.primary.dump("log") }
        try await writers.reached(writers.count + 200)
        await old.close()
        await writers.ended()
        let signed = try #require(try await pair.signed())
        try await ServerPair.apart { try pair.primary.restore(dump, to: "log") }
        let row = try pair.primary.readRow(of: pair)
        #expect(row < signed.size)
        await #expect {
            _ = try await pair.lead("b", on: pair.primary)
        } throws: { error in
            if case .ended(.conflict(.databaseBehind)) = error as? CandidacyEnd { true } else { false }
        }
        let report = try await pair.repair(on: pair.primary)
        #expect(report == LogRepairReport(entries: signed.size - row, size: signed.size))
        let new = try await pair.lead("c", on: pair.primary)
        _ = try await new.awaitPublished(size: signed.size)
        #expect(await writers.lost(in: new) == writers.count(beyond: signed.size))
        await new.close()
        #expect(try await pair.engines(on: pair.primary).inspect(sealing: nil).defects == [])
    }

    /// F4: the old primary comes back, and shows what no replica has.
    @Test func anOldPrimaryThatComesBackSignsNothing() async throws {
        let pair = try await ServerPair()
        let old = try await pair.lead("a", on: pair.primary)
        let writers = Writers(old)
        try await writers.reached(20)
        try await ServerPair.apart { try pair.primary.kill() }
        await writers.ended()
        await old.close()
        try await ServerPair.apart { try pair.replica.promote() }
        let new = try await pair.lead("b", on: pair.replica, trusted: true)
        let after = try await new.append([Array("after".utf8)])
        _ = try await new.awaitPublished(size: after.upperBound)
        let before = try await pair.objects.get("signed")
        try await ServerPair.apart { try pair.primary.start() }
        // Who knows of the promotion does not even claim.
        await #expect(throws: CandidacyEnd.ended(.unfitDatabase(.olderTimeline(1)))) {
            try await pair.lead("c", on: pair.primary, timeline: 2)
        }
        // Who does not waits for a standby that never comes, and gives up.
        await #expect(throws: CandidacyEnd.ended(.outcomeUnknown)) { try await pair.lead("d", on: pair.primary) }
        #expect(try await pair.objects.get("signed") == before)
        let range = try await new.append([Array("still here".utf8)])
        _ = try await new.awaitPublished(size: range.upperBound)
        #expect(await writers.lost(in: new) == 0)
        await new.close()
    }

    /// F5: a wait for the standby that is cancelled is answered with success and a warning.
    @Test func aCancelledWaitEndsTheLog() async throws {
        let pair = try await ServerPair()
        let old = try await pair.lead("a", on: pair.primary)
        let writers = Writers(old)
        try await writers.reached(50)
        pair.replica.pause()
        while pair.failures.isEmpty {
            try await ServerPair.apart {
                _ = try pair.primary.administer(
                    "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                usleep(5000)
            }
        }
        await writers.ended()
        #expect(pair.failures == [.leadershipEnded(.outcomeUnknown)])
        pair.replica.resume()
        await old.close()
        let new = try await pair.lead("b", on: pair.primary)
        let range = try await new.append([Array("after".utf8)])
        _ = try await new.awaitPublished(size: range.upperBound)
        #expect(await writers.lost(in: new) == 0)
        #expect(writers.count >= 50)
        await new.close()
    }

    /// F14.
    @Test func aFrameWithAFlippedBitIsNamedByWhoTakesOverAndByWhoFollows() async throws {
        let pair = try await ServerPair()
        let log = try await pair.lead("a", on: pair.primary)
        for number in 0..<3 {
            let range = try await log.append([Array("entry \(number)".utf8)])
            _ = try await log.awaitPublished(size: range.upperBound)
        }
        await log.close()
        _ = try PostgresConnection.open(pair.address(pair.primary)).administer(
            "UPDATE log.frames SET payload = set_byte(payload, 3, get_byte(payload, 3) # 1) WHERE first = 1")
        await #expect(throws: CandidacyEnd.fault(.frameDamaged(firstIndex: 1))) {
            try await pair.lead("b", on: pair.primary)
        }
        let engines = try await pair.engines(on: pair.primary)
        await #expect(throws: SharedLogOpenError.fault(.frameDamaged(firstIndex: 1))) {
            try await LogFollower.open(engines, LogFollowing(), clock: SharedLogFixture.clock)
        }
    }
}

@Suite("What is left out of the tests of a shared log")
struct LeftOutTests {
    @Test func whatIsLeftOutIsSaid() {
        guard !PostgresLab.isPresent else { return }
        #expect(!PostgresLab.sayWhatIsLeftOut("SharedLogTests"))
    }
}

extension PostgresServer {
    /// The size in the log's row.
    func readRow(of pair: ServerPair) throws -> UInt64 {
        let text = try PostgresConnection.open(pair.address(self)).administer("SELECT size FROM log.log")
        return text.flatMap { UInt64($0) } ?? 0
    }
}
