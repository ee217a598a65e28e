// SPDX-License-Identifier: Apache-2.0

import LogEngine
import ObjectStores
import SQLStores
import SharedLog
import Synchronization
import Testing
import TransparencyLog

@Suite("What is wrong with a shared log is said by name")
struct SharedLogInspectionTests {
    let fixture: SharedLogFixture

    /// A log of 300 entries in two frames, that nobody leads.
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

    private func defects() async -> [SharedLogDefect] { await fixture.engines.inspect(sealing: nil).defects }

    private func replace(_ path: String, with bytes: [UInt8]) async throws {
        let object = try #require(try await fixture.objects.get(path))
        _ = try await fixture.objects.put(bytes, at: path, .ifVersion(object.tag))
    }

    private func published(_ size: UInt64) throws -> PublishedCheckpoint {
        try #require(fixture.published.last { $0.head.size == size })
    }

    @Test func nothingIsWrong() async throws {
        var entries: [[UInt8]] = []
        let report = await fixture.engines.inspect(sealing: nil) { entry, leaf in
            entries.append(Array(entry))
            #expect(leaf == .leaf(Array(entry)))
        }
        #expect(report.defects == [] && report.size == 300 && report.signed?.size == 300)
        #expect(entries == SharedLogFixture.entries(0..<300))
    }

    @Test func nothingIsWrongWhileALeaderRuns() async throws {
        let leader = try await fixture.lead("b")
        let writing = Task {
            for number in 0... {
                guard (try? await leader.append([Array("more \(number)".utf8)])) != nil else { return }
            }
        }
        for _ in 0..<20 { #expect(await defects() == []) }
        await leader.close()
        await writing.value
    }

    @Test func aLogThatWasJustMadeIsInOrder() async throws {
        let fresh = try SharedLogFixture()
        try await fresh.engines.create(try fresh.configuration())
        #expect(await fresh.engines.inspect(sealing: nil).defects == [])
    }

    @Test func aFrameWithAFlippedBit() async throws {
        try fixture.execute("UPDATE frames SET payload = ? WHERE first = 200", [[UInt8](repeating: 0, count: 2)])
        #expect(await defects() == [.fault(.frameDamaged(firstIndex: 200))])
    }

    @Test func aFrameThatIsGone() async throws {
        try fixture.execute("DELETE FROM frames WHERE first = 0")
        #expect(await defects() == [.fault(.frameMissing(firstIndex: 0))])
    }

    @Test func aRowWithAnotherRoot() async throws {
        try fixture.execute("UPDATE log SET root = ?", [TreeHash.emptyTree.bytes])
        #expect(await defects() == [.framesDiffer(size: 300)])
    }

    @Test func aFrameBeyondTheEnd() async throws {
        let payload: [UInt8] = [0, 1, 7]
        try fixture.execute(
            "INSERT INTO frames (first, count, generation, payload, digest) VALUES (300, 1, 1, ?, ?)",
            [payload, SharedLogTables.digest(first: 300, count: 1, payload: payload)])
        #expect(await defects() == [.frameBeyondEnd(firstIndex: 300)])
    }

    @Test func aPublishedCheckpointThatNobodySigned() async throws {
        try fixture.execute("UPDATE log SET note = ?", [Array("no note".utf8)])
        #expect(await defects() == [.fault(.checkpointInvalid)])
    }

    /// The log's own key has signed another tree, as only a thief of it would.
    @Test func aPublishedCheckpointOfAnotherTree() async throws {
        let other = TreeHead(size: 200, root: .emptyTree)
        let note = try fixture.configuration().sign(other)
        try fixture.execute(
            "UPDATE log SET published_size = 200, published_root = ?, note = ?", [other.root.bytes, note.bytes])
        #expect(await defects() == [.publishedDiffers(size: 200)])
    }

    @Test func aSecondMemoryThatIsGone() async throws {
        try await fixture.objects.remove("signed")
        #expect(await defects() == [.memoryBehind(published: 300)])
    }

    @Test func aSecondMemoryOfSomebodyElse() async throws {
        try await replace("signed", with: Array("not a note".utf8))
        #expect(await defects() == [.memoryBehind(published: 300)])
    }

    @Test func aSecondMemoryThatWasRestored() async throws {
        try await replace("signed", with: try published(200).bytes)
        #expect(await defects() == [.memoryBehind(published: 300)])
    }

    @Test func aDatabaseThatIsBehind() async throws {
        try fixture.execute("DELETE FROM frames WHERE first = 200")
        let earlier = try published(200)
        try fixture.execute(
            "UPDATE log SET size = 200, root = ?1, published_size = 200, published_root = ?1, note = ?2",
            [earlier.head.root.bytes, earlier.bytes])
        // What mirrors see is of this log, and newer.
        #expect(await defects() == [.databaseBehind(signed: 300, size: 200)])
        try await replace("signed", with: earlier.bytes)
        let found = await defects()
        #expect(found.contains(.databaseBehind(signed: 300, size: 200)) && !found.contains(.servedDiffers))
    }

    @Test func aSecondMemoryOfAnotherTree() async throws {
        try await replace("signed", with: try fixture.configuration().sign(.init(size: 300, root: .emptyTree)).bytes)
        #expect(await defects() == [.forked(size: 300)])
    }

    @Test func aCheckpointForMirrorsThatIsNone() async throws {
        let other = try fixture.configuration().sign(.init(size: 300, root: .emptyTree)).bytes
        for bytes in [Array("not a note".utf8), other] {
            try await replace("checkpoint", with: bytes)
            #expect(await defects() == [.servedDiffers])
        }
    }

    @Test(arguments: ["tile/0/000", "tile/entries/000", "tail/300"])
    func anObjectThatIsGone(path: String) async throws {
        try await fixture.objects.remove(path)
        #expect(await defects() == [.objectMissing(path: path)])
    }

    @Test(arguments: ["tile/0/000", "tile/entries/000", "tail/300"])
    func anObjectWithAFlippedBit(path: String) async throws {
        var bytes = try #require(try await fixture.objects.get(path)).bytes
        bytes[7] ^= 1
        try await replace(path, with: bytes)
        #expect(await defects() == [.objectDiffers(path: path)])
    }

    @Test func anObjectThatGoesOnBehindItsEntries() async throws {
        let bytes = try #require(try await fixture.objects.get("tile/entries/000")).bytes
        try await replace("tile/entries/000", with: bytes + [0, 1, 7])
        #expect(await defects() == [.objectDiffers(path: "tile/entries/000")])
    }

    /// A bucket far away answers slowly, and a log has as many objects as it has hundreds of entries.
    @Test func objectsAreReadSeveralAtATime() async throws {
        let slow = WaitingObjects(fixture.objects, for: 2)
        let engines = SharedLogEngines(
            database: fixture.engines.database, objects: slow, policy: fixture.engines.policy,
            origin: fixture.engines.origin)
        #expect(await engines.inspect(sealing: nil).defects == [])
        #expect(slow.mostAtOnce == 2)
    }
}

/// A store that answers about tiles when so many are asked for at once, or when nobody has asked for long.
private final class WaitingObjects: ObjectStore {
    private let objects: any ObjectStore
    private let wanted: Int
    private let asked = Mutex((now: 0, most: 0))

    /// How many objects were asked for at once.
    var mostAtOnce: Int { asked.withLock { $0.most } }

    init(_ objects: any ObjectStore, for wanted: Int) {
        self.objects = objects
        self.wanted = wanted
    }

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        guard path.hasPrefix("tile/") else { return try await objects.get(path) }
        asked.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        for _ in 0..<10_000 where mostAtOnce < wanted { await Task.yield() }
        defer { asked.withLock { $0.now -= 1 } }
        return try await objects.get(path)
    }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome { try await objects.put(bytes, at: path, condition) }

    func remove(_ path: String) async throws(ObjectFault) { try await objects.remove(path) }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await objects.list(prefix) }
}
