// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import SharedLog
import Testing
import TransparencyLog

@Suite("A database that has lost entries gets them back from the objects")
struct RepairTests {
    let fixture: SharedLogFixture

    /// A log of 600 entries that nobody leads, in a database of when it had 200.
    init() async throws {
        fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        let leader = try await fixture.lead()
        for range in [0..<200, 200..<300, 300..<600] {
            _ = try await leader.append(SharedLogFixture.entries(range))
            _ = try await leader.awaitPublished(size: UInt64(range.upperBound))
        }
        await leader.close()
        try restore(200)
    }

    /// As a copy of then has it.
    private func restore(_ size: UInt64) throws {
        try fixture.execute("DELETE FROM frames WHERE first >= ?", [Int64(size)])
        let earlier = try #require(fixture.published.last { $0.head.size == size })
        try fixture.execute(
            "UPDATE log SET size = ?1, root = ?2, published_size = ?1, published_root = ?2, note = ?3",
            [Int64(size), earlier.head.root.bytes, earlier.bytes])
    }

    private func repair(
        _ name: String = "repair", endsFrame: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
    ) async throws -> LogRepairReport {
        try await LogCandidate(fixture.engines, holder: name, clock: SharedLogFixture.clock).repair(
            over: try fixture.link(), SharedLogFixture.facts, endsFrame: endsFrame)
    }

    private func end() async throws -> CandidacyEnd? {
        do {
            _ = try await repair()
            return nil
        } catch let error as CandidacyEnd { return error }
    }

    private func replace(_ path: String, with bytes: [UInt8]) async throws {
        let object = try #require(try await fixture.objects.get(path))
        _ = try await fixture.objects.put(bytes, at: path, .ifVersion(object.tag))
    }

    private func size() throws -> Int64 {
        try fixture.engines.database.readNow { try $0.row("SELECT size FROM log")?.integer(0) ?? 0 }
    }

    private func frames() throws -> [Int64] {
        try fixture.engines.database.readNow { database in
            try database.rows("SELECT first FROM frames ORDER BY first").map { try $0.integer(0) }
        }
    }

    @Test func theLogLeadsAgainWithEverythingThatWasSigned() async throws {
        let before = try #require(fixture.published.last).head
        await #expect(throws: CandidacyEnd.self) { try await fixture.lead("early") }
        let report = try await repair()
        #expect(report == LogRepairReport(entries: 400, size: 600))
        let leader = try await fixture.lead("later")
        #expect(try await leader.awaitPublished(size: 600).head == before)
        for index in [UInt64(0), 199, 200, 255, 256, 511, 512, 599] {
            #expect(try await leader.entry(at: index) == Array("entry \(index)".utf8))
        }
        #expect(try await leader.append([Array("after".utf8)]) == 600..<601)
        _ = try await leader.awaitPublished(size: 601)
        await leader.close()
        #expect(await fixture.engines.inspect(sealing: nil).defects == [])
    }

    /// The copy is of before the log got another key: its checkpoint is signed by the old one, which nobody takes any more.
    @Test func aCopyOfBeforeAChangeOfKeysShowsWhatTheNewKeyHasSigned() async throws {
        _ = try await repair()
        let next = try NoteSigner(
            name: KeyName(Array(SharedLogFixture.origin.utf8)), algorithm: .ed25519,
            seed: [UInt8](repeating: 8, count: 32))
        var engines = SharedLogEngines(
            database: fixture.engines.database, objects: fixture.objects,
            policy: try Policy(logs: [.init(key: next.verifierKey)], quorum: .none), origin: fixture.engines.origin)
        await #expect(throws: SharedLogOpenError.fault(.keysChanged)) {
            try await LogFollower.open(engines, LogFollowing(), clock: SharedLogFixture.clock)
        }
        engines.former = fixture.engines.policy
        let changed = try await LogCandidate(engines, holder: "rotates", clock: SharedLogFixture.clock).lead(
            over: try fixture.link(), SharedLogFixture.facts, LogConfiguration(signer: next, clock: { 0 }))
        try await changed.republish()
        await changed.close()
        engines.former = nil
        #expect(await engines.inspect(sealing: nil).defects == [])
        try restore(200)
        let report = try await LogCandidate(engines, holder: "repairs", clock: SharedLogFixture.clock).repair(
            over: try fixture.link(), SharedLogFixture.facts)
        #expect(report == LogRepairReport(entries: 400, size: 600))
        let follower = try await LogFollower.open(engines, LogFollowing(), clock: SharedLogFixture.clock)
        #expect(follower.log.published.head.size == 600)
        // Who has the old key leads no more.
        #expect(try await end() == .fault(.keysChanged))
    }

    @Test func framesEndWhereTheyAreToEnd() async throws {
        _ = try await repair { $0 == Array("entry 299".utf8) }
        #expect(try frames() == [0, 200, 300])
    }

    @Test func whatIsThereIsLeft() async throws {
        _ = try await repair()
        let before = try frames()
        #expect(try await repair("again") == LogRepairReport(entries: 0, size: 600))
        #expect(try frames() == before)
    }

    /// A bundle that the database has half of is not read twice.
    @Test func aDatabaseThatEndsWithinABundleGetsTheRestOfIt() async throws {
        _ = try await repair { $0 == Array("entry 299".utf8) }
        try restore(300)
        #expect(try await repair("again") == LogRepairReport(entries: 300, size: 600))
    }

    // MARK: Attacks

    /// The operator of the bucket has put an entry of his own where one was lost, in a bundle that is well formed.
    @Test(arguments: ["tile/entries/000", "tile/entries/001", "tail/600"])
    func entriesOfTheBucketsOperatorAreNotTaken(path: String) async throws {
        var bytes = try #require(try await fixture.objects.get(path)).bytes
        bytes[bytes.count - 1] ^= 1
        try await replace(path, with: bytes)
        #expect(try await end() == .fault(.rootDiffers(size: 600)))
        #expect(try size() == 200 && frames() == [0])
    }

    @Test func aCheckpointThatTheLogsKeyHasNotSignedIsNotBelieved() async throws {
        let signer = try NoteSigner(
            name: KeyName(Array(SharedLogFixture.origin.utf8)), algorithm: .ed25519,
            seed: [UInt8](repeating: 8, count: 32))
        let forged = try LogConfiguration(signer: signer, clock: { 0 }).sign(
            try #require(fixture.published.last?.head))
        try await replace("signed", with: forged.bytes)
        #expect(try await end() == .fault(.keysChanged))
        #expect(try size() == 200)
    }

    private func head(_ size: UInt64) throws -> TreeHead {
        try #require(fixture.published.last { $0.head.size == size }).head
    }

    /// Then the checkpoint for mirrors says that the database is behind, and objects that are made from it are no way out.
    @Test func aSecondMemoryThatIsGoneIsNotPassedOver() async throws {
        try await fixture.objects.remove("signed")
        let seen = SeenHead(try head(600), in: .publishedCheckpoint)
        #expect(try await end() == .ended(.conflict(.databaseBehind(seen: seen, database: try head(200)))))
        try await fixture.objects.remove("checkpoint")
        #expect(try await end() == .ended(.memoryBehind(nil, published: try head(200))))
        #expect(try size() == 200)
    }

    /// What it names is less than was shown, whether the database has that or not: it would be put back in part, and nobody could lead.
    @Test(arguments: [UInt64(200), 300])
    func aSecondMemoryThatIsOlderThanWhatIsServedIsNotTakenForAllThatWasSigned(size: UInt64) async throws {
        try await replace("signed", with: try fixture.configuration().sign(try head(size)).bytes)
        let seen = SeenHead(try head(600), in: .publishedCheckpoint)
        #expect(try await end() == .ended(.conflict(.databaseBehind(seen: seen, database: try head(200)))))
        #expect(try self.size() == 200)
    }

    /// The bucket is the older side: there is nothing to put back, and nobody can lead.
    @Test func aBucketThatIsOlderThanTheDatabaseIsNoSuccess() async throws {
        _ = try await repair()
        let leader = try await fixture.lead("later")
        _ = try await leader.awaitPublished(size: 600)
        await leader.close()
        for path in ["signed", "checkpoint"] {
            try await replace(path, with: try fixture.configuration().sign(try head(300)).bytes)
        }
        #expect(try await end() == .ended(.memoryBehind(try head(300), published: try head(600))))
        #expect(try size() == 600)
    }

    @Test(arguments: ["tile/entries/000", "tile/entries/001", "tail/600"])
    func anObjectThatIsGoneIsNamed(path: String) async throws {
        try await fixture.objects.remove(path)
        #expect(try await end() == .fault(.objectMissing(path: path)))
        #expect(try size() == 200)
    }

    @Test(arguments: ["tile/entries/001", "tail/600"])
    func anObjectThatIsCutShortIsNamed(path: String) async throws {
        let bytes = try #require(try await fixture.objects.get(path)).bytes
        try await replace(path, with: Array(bytes.dropLast()))
        #expect(try await end() == .fault(.objectDamaged(path: path)))
        #expect(try size() == 200)
    }

    /// The database went another way before it was restored: what was signed is not what it has.
    @Test func aDatabaseWithAnotherLogIsNotExtended() async throws {
        let payload: [UInt8] = [0, 1, 7]
        var frontier = MerkleFrontier()
        frontier.append(.leaf([7]))
        try fixture.execute("DELETE FROM frames")
        try fixture.execute(
            "INSERT INTO frames (first, count, generation, payload, digest) VALUES (0, 1, 1, ?, ?)",
            [payload, SharedLogTables.digest(first: 0, count: 1, payload: payload)])
        try fixture.execute("UPDATE log SET size = 1, root = ?", [frontier.root.bytes])
        #expect(try await end() == .fault(.rootDiffers(size: 600)))
        #expect(try size() == 1)
    }

    @Test func aForkOfTheSameSizeIsNamed() async throws {
        let earlier = TreeHead(size: 200, root: .emptyTree)
        try await replace("signed", with: try fixture.configuration().sign(earlier).bytes)
        guard case .ended(.conflict(.forked))? = try await end() else {
            Issue.record("The fork was not named.")
            return
        }
    }

    @Test func framesThatMakeAnotherRootAreNotExtended() async throws {
        try fixture.execute("UPDATE log SET root = ?", [TreeHash.emptyTree.bytes])
        guard case .ended(.framesDiffer)? = try await end() else {
            Issue.record("The repair went on.")
            return
        }
    }

    @Test func whileSomebodyLeadsNothingIsDone() async throws {
        _ = try await repair()
        let leader = try await fixture.lead("leader")
        await #expect(throws: CandidacyEnd.ended(.othersLead)) { try await repair("again") }
        _ = try await leader.append([Array("after".utf8)])
        _ = try await leader.awaitPublished(size: 601)
        await leader.close()
    }

    @Test func aDatabaseThatAcknowledgesTooEarlyIsRefused() async throws {
        var facts = SharedLogFixture.facts
        facts.0.hasStandbys = false
        await #expect(throws: CandidacyEnd.ended(.unfitDatabase(.withoutStandbys))) {
            try await LogCandidate(fixture.engines, holder: "r", clock: SharedLogFixture.clock).repair(
                over: try fixture.link(), facts)
        }
    }
}
