// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import Testing
import TransparencyLog

@Suite("A bucket that has lost objects gets them back from the database")
struct ObjectsRepairTests {
    /// What the log has in the bucket.
    static let paths = [
        "tile/0/000", "tile/0/001", "tile/entries/000", "tile/entries/001", "tail/600", "signed", "checkpoint",
    ]
    /// Those of them that never change.
    static let immutable = Array(paths.prefix(5))

    let place: BucketPlace

    init() async throws { place = try await BucketPlace() }

    private func expectInOrder(_ place: BucketPlace) async {
        let report = await place.engines.inspect(sealing: nil)
        #expect(report.defects == [] && report.signed?.size == report.size)
    }

    @Test func theseAreAllObjects() { #expect(place.whole.keys.sorted() == Self.paths.sorted()) }

    @Test func anEmptyBucketIsFilledAndTheLogGoesOn() async throws {
        let shown = try #require(place.notes[600]).head
        await #expect(throws: CandidacyEnd.ended(.memoryBehind(nil, published: shown))) { try await place.lead() }
        let report = try await place.make()
        var expected = ObjectsReport(size: 600)
        (expected.made, expected.hasNewMemory) = (7, true)
        #expect(report == expected)
        let made = try await place.contents()
        for path in Self.immutable + ["checkpoint"] { #expect(made[path] == place.whole[path], "\(path)") }
        #expect(try await place.signed() == shown)
        await expectInOrder(place)
        let leader = try await place.lead()
        #expect(try await leader.append([Array("after".utf8)]) == 600..<601)
        _ = try await leader.awaitPublished(size: 601)
        for index in [UInt64(0), 255, 256, 511, 512, 599] {
            #expect(try await leader.entry(at: index) == Array("entry \(index)".utf8))
        }
        await leader.close()
        let follower = try await LogFollower.open(place.engines, LogFollowing(), clock: SharedLogFixture.clock)
        for index in [UInt64(0), 255, 256, 511, 512, 599] {
            #expect(try await follower.log.entry(at: index) == Array("entry \(index)".utf8))
        }
        await expectInOrder(place)
    }

    /// Each set of objects that can be lost, of one of each kind.
    @Test func whateverIsMissingIsMade() async throws {
        let varied = ["tile/0/001", "tile/entries/000", "tail/600", "signed", "checkpoint"]
        for set in 0..<1 << varied.count {
            let lost = varied.enumerated().filter { set >> $0.offset & 1 == 1 }.map(\.element)
            let there = Self.paths.filter { !lost.contains($0) }
            for path in Self.paths { try await place.objects.remove(path) }
            try await place.fill(there)
            let report = try await place.make()
            #expect(report.made == lost.count && report.replaced == 0)
            #expect(report.hasNewMemory == !there.contains("signed"))
            var made = try await place.contents()
            #expect(try await place.signed() == place.notes[600]?.head)
            made["signed"] = place.whole["signed"]
            #expect(made == place.whole, "\(there)")
        }
        await expectInOrder(place)
    }

    @Test func whatIsThereIsLeft() async throws {
        try await place.fill(Self.paths)
        let before = try await place.contents()
        #expect(try await place.make(BucketPlace.replacing(unconfirmed: false)) == ObjectsReport(size: 600))
        #expect(try await place.contents() == before)
    }

    @Test func aBucketOfBeforeIsBroughtUpToDate() async throws {
        try await place.fill(["tile/0/000", "tile/entries/000"])
        for path in ["signed", "checkpoint"] { try await place.put(try #require(place.notes[300]).bytes, at: path) }
        #expect(try await place.end(BucketPlace.replacing(unconfirmed: false)) == .unconfirmed(silent: []))
        let report = try await place.make()
        #expect(report.made == 3 && report.hasNewMemory)
        await expectInOrder(place)
    }

    /// The process that led died before it published what it had signed.
    @Test func whatWasCommittedAndNotPublishedIsSigned() async throws {
        try place.unpublish(300)
        _ = try await place.make()
        #expect(try await place.signed() == place.notes[600]?.head)
        #expect(try await place.objects.get("checkpoint")?.bytes == place.notes[300]?.bytes)
        let leader = try await place.lead()
        _ = try await leader.awaitPublished(size: 600)
        await leader.close()
        await expectInOrder(place)
    }

    @Test func aLogThatHasNothingIsSignedToo() async throws {
        try place.fixture.execute("DELETE FROM frames")
        let first = try place.note(.empty)
        try place.fixture.execute(
            "UPDATE log SET size = 0, root = ?1, published_size = 0, published_root = ?1, note = ?2",
            [TreeHead.empty.root.bytes, first])
        #expect(try await place.make().made == 1)
        #expect(try await place.signed() == .empty)
        let leader = try await place.lead()
        _ = try await leader.append([Array("first".utf8)])
        _ = try await leader.awaitPublished(size: 1)
        await leader.close()
    }

    // MARK: Objects of entries that the database does not have

    /// The object that says what was signed last is gone, and no witness is there to ask: what else is in the bucket is evidence.
    @Test func anOlderDatabaseIsRecognisedByTheObjectsOfTheNewer() async throws {
        try await place.fill(["tail/600"])
        try place.restore(300)
        #expect(try await place.end() == .objectsBeyond(size: 300, paths: ["tail/600"]))
        try await place.fill(["tile/entries/001"])
        #expect(try await place.end() == .objectsBeyond(size: 300, paths: ["tail/600", "tile/entries/001"]))
        #expect(
            try await place.end(BucketPlace.replacing("tail/600"))
                == .objectsBeyond(size: 300, paths: ["tile/entries/001"]))
        // Whoever knows that somebody else put them there says so.
        _ = try await place.make(BucketPlace.replacing("tail/600", "tile/entries/001"))
        #expect(try await place.signed()?.size == 300)
    }

    // MARK: Objects that are not the log's

    @Test(arguments: paths)
    func anObjectThatIsNotTheLogsIsNamedAndStays(path: String) async throws {
        try await place.fill(Self.paths.filter { $0 != "tail/600" })
        var bytes = try #require(place.whole[path])
        bytes[bytes.count - 1] ^= 1
        try await place.put(bytes, at: path)
        #expect(try await place.end() == .objectsDiffer(paths: [path]))
        let other = path == "tile/0/000" ? "tile/0/001" : "tile/0/000"
        #expect(try await place.end(BucketPlace.replacing(other)) == .objectsDiffer(paths: [path]))
        let report = try await place.make(BucketPlace.replacing(path))
        #expect(report.replaced == 1 && report.made == (path == "tail/600" ? 0 : 1))
        await expectInOrder(place)
    }

    @Test func allOfThemAreNamed() async throws {
        for path in Self.paths { try await place.put([7], at: path) }
        guard case .objectsDiffer(let paths)? = try await place.end() else {
            Issue.record("Something was made.")
            return
        }
        #expect(paths.sorted() == Self.paths.sorted())
    }

    @Test func aBundleThatGoesOnBehindItsEntriesIsNotTheLogs() async throws {
        try await place.put(try #require(place.whole["tile/entries/000"]) + [0, 1, 7], at: "tile/entries/000")
        #expect(try await place.end() == .objectsDiffer(paths: ["tile/entries/000"]))
    }

    /// Whoever holds the bucket puts something there after it was found empty.
    @Test(arguments: paths)
    func whatComesMeanwhileIsNotWrittenOver(path: String) async throws {
        let bucket = Intruded(base: place.objects, path: path)
        let engines = SharedLogEngines(
            database: place.engines.database, objects: bucket, policy: place.engines.policy,
            origin: place.engines.origin)
        await #expect(throws: ObjectsRepairEnd.candidacy(.fault(.objectContradicts(path: path)))) {
            try await LogCandidate(engines, holder: "o", clock: SharedLogFixture.clock).makeObjects(
                over: try place.fixture.link(), SharedLogFixture.facts, try place.fixture.configuration(),
                BucketPlace.replacing()
            ) { _ in [:] }
        }
        #expect(try await place.objects.get(path)?.bytes == [7])
    }

    // MARK: What was signed

    /// The database is an older copy: what the bucket has of later is what `signetd repair` needs.
    @Test(arguments: ["signed", "checkpoint"])
    func moreThanTheDatabaseHasIsNotWrittenOver(path: String) async throws {
        try place.restore(300)
        let later = try #require(place.notes[600])
        try await place.put(later.bytes, at: path)
        let own = try #require(place.notes[300]).head
        let seen = SeenHead(later.head, in: path == "signed" ? .secondMemory : .publishedCheckpoint)
        #expect(
            try await place.end(BucketPlace.replacing(path))
                == .candidacy(.ended(.conflict(.databaseBehind(seen: seen, database: own)))))
    }

    /// Bucket and database were put back together, and no witness is there: what this machine remembers is the only evidence.
    @Test func lessThanThisMachineHasShownIsNotSigned() async throws {
        try place.restore(300)
        let later = try #require(place.notes[600])
        let own = try #require(place.notes[300]).head
        var request = BucketPlace.replacing()
        request.shown = later.bytes
        let seen = SeenHead(later.head, in: .thisMachine)
        #expect(
            try await place.end(request)
                == .candidacy(.ended(.conflict(.databaseBehind(seen: seen, database: own)))))
        // Nobody but the log's key can have it refused.
        let text = String(decoding: later.bytes, as: UTF8.self)
        request.shown = Array(text.replacing("\n600\n", with: "\n601\n").utf8)
        #expect(request.shown != later.bytes)
        _ = try await place.make(request)
        #expect(try await place.signed() == own)
    }

    @Test(arguments: ["signed", "checkpoint"])
    func anotherRootThatWasSignedIsNotWrittenOver(path: String) async throws {
        try await place.put(try place.note(TreeHead(size: 300, root: .emptyTree)), at: path)
        guard case .candidacy(.ended(.conflict(.forked)))? = try await place.end(BucketPlace.replacing(path)) else {
            Issue.record("The fork was not named.")
            return
        }
    }

    /// The log went back to the files of one machine.
    @Test func aMemoryThatWasBurntStaysBurnt() async throws {
        try await place.put(Array("moved\n".utf8) + (try #require(place.notes[600]).bytes), at: "signed")
        #expect(try await place.end(BucketPlace.replacing("signed")) == .candidacy(.fault(.movedAway)))
    }

    @Test func aKeyThatIsNotTheLogsSignsNothing() async throws {
        let signer = try NoteSigner(
            name: KeyName(Array(SharedLogFixture.origin.utf8)), algorithm: .ed25519,
            seed: [UInt8](repeating: 8, count: 32))
        try await place.fill(Self.immutable)
        #expect(
            try await place.end(configuration: LogConfiguration(signer: signer, clock: { 0 }))
                == .candidacy(.fault(.checkpointInvalid)))
    }

    // MARK: The database

    @Test func aDatabaseWithoutFrames() async throws {
        try place.fixture.execute("DELETE FROM frames")
        #expect(try await place.end() == .candidacy(.fault(.frameMissing(firstIndex: 0))))
    }

    @Test func aDatabaseWithoutALog() async throws {
        try place.fixture.execute("DELETE FROM log")
        #expect(try await place.end() == .candidacy(.fault(.noLog)))
    }

    @Test func aDamagedFrame() async throws {
        try place.fixture.execute("UPDATE frames SET payload = ? WHERE first = 200", [[UInt8](repeating: 0, count: 2)])
        #expect(try await place.end() == .candidacy(.fault(.frameDamaged(firstIndex: 200))))
    }

    @Test func framesThatMakeAnotherRootThanTheRow() async throws {
        try place.fixture.execute("UPDATE log SET root = ?", [TreeHash.emptyTree.bytes])
        guard case .candidacy(.ended(.framesDiffer))? = try await place.end() else {
            Issue.record("Something was made.")
            return
        }
    }

    /// Whoever writes to the database has changed an entry with its checksum and the row, but clients have seen the log's signature.
    @Test func framesThatMakeAnotherRootThanWasPublished() async throws {
        let other = TreeHead(size: 300, root: .emptyTree)
        try place.fixture.execute(
            "UPDATE log SET published_size = 300, published_root = ?, note = ?",
            [other.root.bytes, try place.note(other)])
        #expect(try await place.end() == .candidacy(.fault(.rootDiffers(size: 300))))
    }

    @Test func whileSomebodyLeadsNothingIsDone() async throws {
        try await place.fill(Self.paths)
        let leader = try await place.lead()
        await #expect(throws: ObjectsRepairEnd.candidacy(.ended(.othersLead))) { try await place.make() }
        await leader.close()
    }

    /// Who has claimed later may have signed more: then we are not behind but late.
    @Test func whoeverHasClaimedLaterIsNotTakenForALossOfTheDatabase() async throws {
        try place.restore(300)
        try await place.put(try #require(place.notes[600]).bytes, at: "signed")
        let link = Superseded(base: try place.fixture.link(), writes: Counter())
        #expect(try await place.end(link: link) == .candidacy(.ended(.othersLead)))
    }

    @Test func aDatabaseThatAcknowledgesTooEarlyIsRefused() async throws {
        var facts = SharedLogFixture.facts
        facts.0.hasStandbys = false
        await #expect(throws: ObjectsRepairEnd.candidacy(.ended(.unfitDatabase(.withoutStandbys)))) {
            try await LogCandidate(place.engines, holder: "o", clock: SharedLogFixture.clock).makeObjects(
                over: try place.fixture.link(), facts, try place.fixture.configuration()
            ) { _ in [:] }
        }
    }

    @Test func aClaimOfUnknownOutcomeMakesNothing() async throws {
        let link = try place.fixture.link()
        link.close()
        #expect(try await place.end(link: link) == .candidacy(.ended(.outcomeUnknown)))
    }
}

/// A bucket into which somebody puts an object right before it is written.
private struct Intruded: ObjectStore {
    let base: MemoryObjects
    let path: String

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? { try await base.get(path) }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        if path == self.path { _ = try await base.put([7], at: path, .ifAbsent) }
        return try await base.put(bytes, at: path, condition)
    }

    func remove(_ path: String) async throws(ObjectFault) { try await base.remove(path) }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await base.list(prefix) }
}

/// A connection on whose database somebody else claims the log after our claim.
private struct Superseded: SQLDatabase {
    let base: SQLiteDatabase
    let writes: Counter

    var nowExpression: String { base.nowExpression }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        if writes.count() == 2 {
            try await base.write { _ = try $0.run("UPDATE log SET generation = generation + 1") }
        }
        return try await base.write(body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.writeNow(body) }

    func expunge() async throws { try await base.expunge() }

    func close() { base.close() }
}
