// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import SharedLog
import Synchronization
import Testing
import TransparencyLog

@Suite("A log that several processes share")
struct SharedLogTests {
    let fixture: SharedLogFixture

    init() async throws {
        fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
    }

    @Test func aLogIsMadeOnce() async throws {
        await #expect(throws: SharedLogFault.logExists) {
            try await fixture.engines.create(try fixture.configuration())
        }
    }

    @Test func whatTheLeaderPublishesIsWhatAFollowerShows() async throws {
        let leader = try await fixture.lead()
        let follower = try await fixture.follow()
        var end: UInt64 = 0
        for round in 0..<5 {
            let range = try await leader.append(SharedLogFixture.entries(round * 100..<(round + 1) * 100))
            end = range.upperBound
            _ = try await leader.awaitPublished(size: end)
            #expect(try await follower.step())
            #expect(follower.log.published.bytes == leader.published.bytes)
        }
        #expect(try await !follower.step())
        #expect(end == 500)
        for index in [UInt64(0), 255, 256, 499] {
            #expect(try await follower.log.entry(at: index) == Array("entry \(index)".utf8))
            #expect(
                try follower.log.inclusionProof(index: index, size: end)
                    == leader.inclusionProof(index: index, size: end))
        }
        #expect(try await follower.log.entryBundle(index: 0) == leader.entryBundle(index: 0))
        await leader.close()
        await follower.log.close()
    }

    @Test func aFollowerThatOpensLaterShowsTheSame() async throws {
        let leader = try await fixture.lead()
        _ = try await leader.append(SharedLogFixture.entries(0..<300))
        _ = try await leader.awaitPublished(size: 300)
        let follower = try await fixture.follow()
        #expect(follower.log.published.bytes == leader.published.bytes)
        #expect(try await follower.log.entry(at: 299) == Array("entry 299".utf8))
        await leader.close()
    }

    @Test func aFollowerAppendsNothing() async throws {
        let follower = try await fixture.follow()
        await #expect(throws: LogAppendError.writtenElsewhere) {
            try await follower.log.append(SharedLogFixture.entries(0..<1))
        }
        #expect(throws: LogAppendError.writtenElsewhere) { try follower.log.seal() }
    }

    @Test func theNextLeaderGoesOnWhereTheLastOneEnded() async throws {
        let first = try await fixture.lead("a")
        _ = try await first.append(SharedLogFixture.entries(0..<300))
        await first.close()
        let second = try await fixture.lead("b")
        #expect(second.published.head.size == 300)
        #expect(try await second.append(SharedLogFixture.entries(300..<600)) == 300..<600)
        _ = try await second.awaitPublished(size: 600)
        #expect(try await second.entry(at: 299) == Array("entry 299".utf8))
        #expect(try await second.entry(at: 256) == Array("entry 256".utf8))
        await second.close()
    }

    @Test func whoHasNoLeaseDoesNotDisturbTheLeader() async throws {
        let leader = try await fixture.lead("a")
        await #expect(throws: CandidacyEnd.ended(.othersLead)) { try await fixture.lead("b") }
        _ = try await leader.append(SharedLogFixture.entries(0..<1))
        _ = try await leader.awaitPublished(size: 1)
        await leader.close()
    }

    @Test func anOldLeaderWritesNothingOnceAnotherOneHasClaimed() async throws {
        let old = try await fixture.lead("a")
        _ = try await old.append(SharedLogFixture.entries(0..<10))
        _ = try await old.awaitPublished(size: 10)
        try fixture.endLease()
        let new = try await fixture.lead("b")
        await #expect(throws: LogAppendError.stopped) { try await old.append(SharedLogFixture.entries(10..<20)) }
        #expect(fixture.failures == [.leadershipEnded(.superseded)])
        #expect(try await new.append(SharedLogFixture.entries(20..<30)) == 10..<20)
        _ = try await new.awaitPublished(size: 20)
        let follower = try await fixture.follow()
        #expect(try await follower.log.entry(at: 15) == Array("entry 25".utf8))
        await new.close()
    }

    private static func clock(_ seed: UInt8) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array("\(SharedLogFixture.origin)/clock".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: seed, count: 32))
    }

    /// For clients that demand the cosignature of a clock.
    private func engines() throws -> SharedLogEngines {
        let name = try #require(Policy.Name(Array("clock".utf8)))
        let policy = try Policy(
            logs: [.init(key: try SharedLogFixture.signer().verifierKey)],
            witnesses: [.init(name: name, key: try Self.clock(1).verifierKey)], quorum: .member(name))
        return SharedLogEngines(
            database: fixture.engines.database, objects: fixture.objects, policy: policy, origin: fixture.engines.origin
        )
    }

    private func configuration(_ clock: UInt8) throws -> LogConfiguration {
        var configuration = try fixture.configuration()
        configuration.cosigners = [try Self.clock(clock)]
        return configuration
    }

    /// As by a process with another clock's key than the one that clients know. The one that comes after it goes on.
    @Test func whatClientsWouldNotBelieveIsNotPublished() async throws {
        let engines = try engines()
        func lead(_ clock: UInt8) async throws -> DurableLog {
            try await LogCandidate(engines, holder: "\(clock)", clock: SharedLogFixture.clock).lead(
                over: try fixture.link(), SharedLogFixture.facts, try configuration(clock))
        }
        let wrong = try await lead(2)
        _ = try? await wrong.append(SharedLogFixture.entries(0..<10))
        await #expect(throws: LogWaitError.stopped) { try await wrong.awaitPublished(size: 10) }
        #expect(fixture.failures == [.sharedStore(.checkpointInvalid)])
        #expect(try await fixture.follow(over: engines).log.published.head.size == 0)
        await wrong.close()
        let right = try await lead(1)
        let range = try await right.append(SharedLogFixture.entries(10..<20))
        _ = try await right.awaitPublished(size: range.upperBound)
        #expect(try await fixture.follow(over: engines).log.published.head == right.published.head)
        await right.close()
    }

    /// Whoever can write to the bucket can copy there what was signed, and was not cosigned yet.
    @Test func whatClientsWouldNotBelieveIsNotTakenForPublished() async throws {
        let (engines, configuration) = (try engines(), try configuration(1))
        let leader = try await LogCandidate(engines, holder: "a", clock: SharedLogFixture.clock).lead(
            over: try fixture.link(), SharedLogFixture.facts, configuration)
        _ = try await leader.append(SharedLogFixture.entries(0..<10))
        _ = try await leader.awaitPublished(size: 10)
        await leader.close()
        let next = TreeHead(size: 20, root: .emptyTree)
        func show(_ checkpoint: PublishedCheckpoint) async throws {
            let object = try await fixture.objects.get("checkpoint")
            let tag = try #require(object).tag
            _ = try await fixture.objects.put(checkpoint.bytes, at: "checkpoint", .ifVersion(tag))
        }
        try await show(try fixture.configuration().sign(next))
        try await engines.requireServed()
        try await show(try configuration.sign(next))
        await #expect(throws: SharedLogFault.servedIsNewer(served: 20, published: 10)) {
            try await engines.requireServed()
        }
    }

    /// Not even what is published already, as often as it is asked.
    @Test func anOldLeaderDoesNotPublishTheSameAnew() async throws {
        let old = try await fixture.lead("a")
        _ = try await old.append(SharedLogFixture.entries(0..<10))
        _ = try await old.awaitPublished(size: 10)
        try fixture.endLease()
        let new = try await fixture.lead("b")
        try await new.republish()
        await #expect(throws: LogWaitError.stopped) { try await old.republish() }
        #expect(fixture.failures == [.leadershipEnded(.superseded)])
        await new.close()
    }

    @Test func anOldLeaderPublishesNothingOnceAnotherOneHasClaimed() async throws {
        let old = try await fixture.lead("a")
        _ = try await old.append(SharedLogFixture.entries(0..<10))
        _ = try await old.awaitPublished(size: 10)
        try fixture.endLease()
        let new = try await fixture.lead("b")
        _ = try await new.append(SharedLogFixture.entries(10..<20))
        let shown = try await new.awaitPublished(size: 20)
        await #expect(throws: LogWaitError.stopped) { try await old.republish() }
        let follower = try await fixture.follow()
        #expect(follower.log.published.head == shown.head)
        await new.close()
    }
}

@Suite("A leader whose witnesses are away")
struct FewWitnessesTests {
    /// Too few witnesses, for so many rounds.
    private final class Away: CheckpointWitnessing {
        private let rounds: Mutex<Int>

        init(rounds: Int) { self.rounds = Mutex(rounds) }

        func cosignatures(
            on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
        ) async throws(WitnessShortfall) -> [NoteSignature] {
            let isAway = rounds.withLock { rounds in
                defer { rounds -= 1 }
                return rounds > 0
            }
            if isAway { throw WitnessShortfall(missing: []) }
            return []
        }
    }

    @Test func itLeadsOn_andPublishesWhenTheyAreBack() async throws {
        let fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        var configuration = try fixture.configuration()
        configuration.witnessing = Away(rounds: 2)
        let leader = try await LogCandidate(fixture.engines, holder: "a", clock: SharedLogFixture.clock).lead(
            over: try fixture.link(), SharedLogFixture.facts, configuration)
        #expect(try await leader.append(SharedLogFixture.entries(0..<10)) == 0..<10)
        while leader.published.head.size < 10 {
            // Each round that was too few tells who waits for it.
            do { _ = try await leader.awaitPublished(size: 10) } catch LogWaitError.belowQuorum {}
        }
        #expect(fixture.failures == [])
        #expect(try await leader.append(SharedLogFixture.entries(10..<20)) == 10..<20)
        _ = try await leader.awaitPublished(size: 20)
        await leader.close()
    }
}

@Suite("What a candidate finds before it leads")
struct TakeoverTests {
    let fixture: SharedLogFixture

    /// A log of 300 entries that nobody leads.
    init() async throws {
        fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        let leader = try await fixture.lead()
        _ = try await leader.append(SharedLogFixture.entries(0..<200))
        _ = try await leader.awaitPublished(size: 200)
        _ = try await leader.append(SharedLogFixture.entries(200..<300))
        _ = try await leader.awaitPublished(size: 300)
        await leader.close()
    }

    private func end() async throws -> CandidacyEnd? {
        do {
            let log = try await fixture.lead("later")
            await log.close()
            return nil
        } catch let error as CandidacyEnd { return error }
    }

    @Test func nothingIsWrong() async throws { #expect(try await end() == nil) }

    @Test func aFrameWithAFlippedBitIsNamed() async throws {
        try fixture.execute("UPDATE frames SET payload = ? WHERE first = 200", [[UInt8](repeating: 0, count: 2)])
        #expect(try await end() == .fault(.frameDamaged(firstIndex: 200)))
    }

    @Test func aFrameThatIsGoneIsNamed() async throws {
        try fixture.execute("DELETE FROM frames WHERE first = 200")
        #expect(try await end() == .fault(.frameMissing(firstIndex: 200)))
    }

    @Test func aFrameThatIsGoneBeforeAnotherOneIsNamed() async throws {
        try fixture.execute("DELETE FROM frames WHERE first = 0")
        #expect(try await end() == .fault(.frameMissing(firstIndex: 0)))
    }

    @Test func framesThatMakeAnotherRootStopTheLog() async throws {
        try fixture.execute("UPDATE log SET root = ?", [TreeHash.emptyTree.bytes])
        guard case .ended(.framesDiffer)? = try await end() else {
            Issue.record("The log went on.")
            return
        }
    }

    /// A backup of the database that is older than the second memory.
    @Test func aDatabaseThatIsBehindTheSecondMemoryStopsTheLog() async throws {
        try fixture.execute("DELETE FROM frames WHERE first = 200")
        let earlier = try #require(fixture.published.last { $0.head.size == 200 })
        try fixture.execute(
            "UPDATE log SET size = 200, root = ?1, published_size = 200, published_root = ?1, note = ?2",
            [earlier.head.root.bytes, earlier.bytes])
        guard case .ended(.conflict(.databaseBehind(let seen, _)))? = try await end() else {
            Issue.record("The log went on.")
            return
        }
        #expect(seen.head.size == 300 && seen.place == .secondMemory)
    }

    /// What is accepted in a copy of the database, which somebody has made to try something, is lost.
    @Test func aDatabaseThatHasPublishedLessThanTheBucketShowsIsNotServed() async throws {
        try await fixture.engines.requireServed()
        let earlier = try #require(fixture.published.last { $0.head.size == 200 })
        try fixture.execute(
            "UPDATE log SET published_size = 200, published_root = ?, note = ?",
            [earlier.head.root.bytes, earlier.bytes])
        await #expect(throws: SharedLogFault.servedIsNewer(served: 300, published: 200)) {
            try await fixture.engines.requireServed()
        }
        // Anybody who writes to the bucket can put something there.
        try await replace("checkpoint", with: Array("not a note".utf8))
        try await fixture.engines.requireServed()
    }

    @Test func aSecondMemoryThatIsBehindWhatIsPublishedStopsTheLog() async throws {
        let earlier = try #require(fixture.published.last { $0.head.size == 200 })
        try await replace("signed", with: earlier.bytes)
        #expect(
            try await end()
                == .ended(.memoryBehind(earlier.head, published: try #require(fixture.published.last).head)))
    }

    @Test func aSecondMemoryThatIsGoneStopsTheLog() async throws {
        try await fixture.objects.remove("signed")
        #expect(
            try await end() == .ended(.memoryBehind(nil, published: try #require(fixture.published.last).head)))
    }

    @Test func aSecondMemoryOfSomebodyElseStopsTheLog() async throws {
        try await replace("signed", with: Array("not a note".utf8))
        #expect(try await end() == .fault(.checkpointInvalid))
    }

    @Test func aWitnessThatHasSeenMoreStopsTheLog() async throws {
        let seen = SeenHead(TreeHead(size: 301, root: .emptyTree), in: .witness(nil))
        do {
            _ = try await LogCandidate(fixture.engines, holder: "later", clock: SharedLogFixture.clock).lead(
                over: try fixture.link(), SharedLogFixture.facts, try fixture.configuration(), others: { _ in [seen] })
            Issue.record("The log went on.")
        } catch {
            let conflict = HeadConflict.databaseBehind(seen: seen, database: try head())
            #expect(error as? CandidacyEnd == .ended(.conflict(conflict)))
        }
    }

    @Test func aWitnessWithAnotherRootStopsTheLog() async throws {
        let seen = SeenHead(TreeHead(size: 200, root: .emptyTree), in: .witness(nil))
        do {
            _ = try await LogCandidate(fixture.engines, holder: "later", clock: SharedLogFixture.clock).lead(
                over: try fixture.link(), SharedLogFixture.facts, try fixture.configuration(), others: { _ in [seen] })
            Issue.record("The log went on.")
        } catch {
            guard case .ended(.conflict(.forked)) = error as? CandidacyEnd else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func aDatabaseOfAnotherLogIsRefused() async throws {
        try fixture.execute("UPDATE log SET origin = ?", [Array("other".utf8)])
        #expect(try await end() == .fault(.otherLog(origin: Array("other".utf8))))
    }

    @Test func aDatabaseThatAcknowledgesTooEarlyIsRefused() async throws {
        var facts = SharedLogFixture.facts
        facts.0.hasStandbys = false
        await #expect(throws: CandidacyEnd.ended(.unfitDatabase(.withoutStandbys))) {
            try await LogCandidate(fixture.engines, holder: "later", clock: SharedLogFixture.clock).lead(
                over: try fixture.link(), facts, try fixture.configuration())
        }
    }

    private func head() throws -> TreeHead { try #require(fixture.published.last).head }

    private func replace(_ path: String, with bytes: [UInt8]) async throws {
        let object = try #require(try await fixture.objects.get(path))
        _ = try await fixture.objects.put(bytes, at: path, .ifVersion(object.tag))
    }
}

@Suite("What a follower does not believe")
struct FollowerTests {
    let fixture: SharedLogFixture
    let leader: DurableLog
    let follower: LogFollower

    init() async throws {
        fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        leader = try await fixture.lead()
        _ = try await leader.append(SharedLogFixture.entries(0..<10))
        _ = try await leader.awaitPublished(size: 10)
        follower = try await fixture.follow()
        _ = try await leader.append(SharedLogFixture.entries(10..<20))
        _ = try await leader.awaitPublished(size: 20)
        await leader.close()
    }

    private func fault() async -> SharedLogFault? {
        do {
            try await follower.step()
            return nil
        } catch { return error }
    }

    @Test func nothingIsWrong() async throws {
        #expect(await fault() == nil)
        #expect(follower.log.published.head.size == 20)
    }

    @Test func aCheckpointThatNobodySigned() async throws {
        try fixture.execute("UPDATE log SET note = ?", [Array("no note".utf8)])
        #expect(await fault() == .checkpointInvalid)
        #expect(follower.log.published.head.size == 10)
    }

    /// The log's key has signed it, and those have not whom clients demand.
    @Test func aCheckpointThatNoWitnessCosigned() async throws {
        let name = try #require(Policy.Name(Array("witness".utf8)))
        let signer = try NoteSigner(
            name: KeyName(Array("witness.example/w".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: 9, count: 32))
        let policy = try Policy(
            logs: [.init(key: SharedLogFixture.signer().verifierKey)],
            witnesses: [.init(name: name, key: signer.verifierKey)], groups: [], quorum: .member(name))
        let engines = SharedLogEngines(
            database: fixture.engines.database, objects: fixture.objects, policy: policy,
            origin: fixture.engines.origin)
        await #expect(throws: SharedLogOpenError.fault(.keysChanged)) {
            try await LogFollower.open(engines, LogFollowing(), clock: SharedLogFixture.clock)
        }
    }

    @Test func aRowThatSaysMoreThanItsCheckpoint() async throws {
        try fixture.execute("UPDATE log SET published_size = 21")
        #expect(await fault() == .checkpointInvalid)
    }

    @Test func aSmallerCheckpoint() async throws {
        try await follower.step()
        let earlier = try #require(fixture.published.last { $0.head.size == 10 })
        try fixture.execute(
            "UPDATE log SET published_size = 10, published_root = ?, note = ?",
            [earlier.head.root.bytes, earlier.bytes])
        #expect(await fault() == .shrinks(from: 20, to: 10))
        #expect(follower.log.published.head.size == 20)
    }

    /// Whoever holds the database can make the checksum fit, and the root not.
    @Test func aFrameWithAnotherEntryAndItsChecksum() async throws {
        let payload: [UInt8] = (0..<10).flatMap { [0, 1, UInt8($0)] }
        try fixture.execute(
            "UPDATE frames SET payload = ?, digest = ? WHERE first = 10",
            [payload, SharedLogTables.digest(first: 10, count: 10, payload: payload)])
        #expect(await fault() == .rootDiffers(size: 20))
        #expect(follower.log.published.head.size == 10)
        await #expect(throws: LogWaitError.stopped) { try await follower.log.awaitPublished(size: 20) }
    }

    @Test func aFrameWithoutItsChecksum() async throws {
        try fixture.execute("UPDATE frames SET digest = ? WHERE first = 10", [[UInt8](repeating: 0, count: 32)])
        #expect(await fault() == .frameDamaged(firstIndex: 10))
    }

    @Test func aFrameThatIsGone() async throws {
        try fixture.execute("DELETE FROM frames WHERE first = 10")
        #expect(await fault() == .frameMissing(firstIndex: 10))
    }
}
