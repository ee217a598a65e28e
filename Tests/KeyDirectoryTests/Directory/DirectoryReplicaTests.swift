// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogEngine
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite("A process that has the log of a shared directory in memory")
struct DirectoryReplicaTests {
    let shared: SharedPlace

    init() async throws {
        shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
    }

    /// Registers people at a front end while a leader logs.
    private func register(_ names: [String], _ leader: Directory, _ front: (Directory, LogFollower)) async throws {
        for name in names {
            let person = try Person("\(name)@example.org", deviceCount: 2)
            let time = shared.place.clock.now
            _ = try await shared.answering(leader, [front.1]) {
                var person = person
                return try await person.register(at: front.0, time: time)
            }
        }
    }

    // MARK: Leading

    @Test func itLeadsWithWhatItHas_andWhatWasAcceptedMeanwhileIsLogged() async throws {
        let first = try await shared.lead("first")
        let front = try await shared.serve()
        let standing = try await shared.standBy()
        try await register(["alice", "bob"], first, front)
        try await standing.replica.step()
        try await register(["carol"], first, front)
        await first.close()
        let dave = try Person("dave@example.org")
        let waiting = Task {
            var person = dave
            try await person.register(at: front.directory)
            return person
        }
        while try await front.directory.database.waiting(limit: 1).isEmpty { await Task.yield() }
        let second = try await shared.lead("second", from: standing)
        while try await !front.follower.step() { await Task.yield() }
        let registered = try await waiting.value
        let found = try await shared.place.verifiedLookup(dave.handle, at: front.directory)
        #expect(found.state == registered.state)
        try await register(["erin"], second, front)
        await second.close()
        // Whoever reads all of it finds every epoch's index as it was logged.
        let later = try await shared.standBy()
        #expect(later.replica.epochs.knowsSame(as: standing.replica.epochs))
        let third = try await shared.lead("third")
        for name in ["alice", "bob", "carol", "erin"] {
            _ = try await shared.place.verifiedLookup(Person("\(name)@example.org").handle, at: third)
        }
        await third.close()
    }

    /// It follows no more, and its next start has to refuse a database with less than it has published itself.
    @Test func aLeaderKeepsWhatItHasPublished() async throws {
        let first = try await shared.lead("first")
        let front = try await shared.serve()
        try await register(["alice"], first, front)
        await first.close()
        let standing = try await shared.standBy(state: "state")
        let leader = try await shared.lead("second", from: standing)
        let keeping = Task { await standing.replica.keepShown(of: leader) }
        try await register(["bob"], leader, front)
        keeping.cancel()
        await keeping.value
        let kept = try Data(contentsOf: URL(filePath: shared.folder("state") + "/checkpoint.published"))
        #expect(kept.elementsEqual(leader.log.published.bytes))
        await leader.close()
    }

    @Test func aReplicaThatHasFollowedKnowsWhatOneKnowsThatReadsAll() async throws {
        let leader = try await shared.lead()
        let front = try await shared.serve()
        let standing = try await shared.standBy()
        for name in ["alice", "bob", "carol"] {
            shared.place.clock.advance(86_400)
            try await register([name], leader, front)
            try await standing.replica.step()
        }
        let fresh = try await shared.standBy()
        #expect(fresh.replica.size == standing.replica.size)
        #expect(fresh.replica.epochs.knowsSame(as: standing.replica.epochs))
        await leader.close()
    }

    // MARK: State on a disk

    /// Three people, and the folder of a front end that has seen them.
    private func kept(_ names: [String] = ["alice", "bob", "carol"]) async throws -> Set<String> {
        let leader = try await shared.lead()
        let front = try await shared.serve(state: "state")
        try await register(names, leader, front)
        try await front.follower.step()
        await front.directory.close()
        await leader.close()
        return Set(try FileManager.default.contentsOfDirectory(atPath: shared.folder("state")))
    }

    /// Starts a front end with the folder, and demands that every answer holds.
    private func start() async throws -> (frames: UInt64, snapshot: UInt64?) {
        let front = try await shared.serve(state: "state")
        for name in ["alice", "bob", "carol"] {
            _ = try await shared.place.verifiedLookup(Person("\(name)@example.org").handle, at: front.directory)
        }
        let other = try await shared.standBy()
        #expect(front.directory.epochs.holdsSame(as: other.replica.epochs))
        let used = (front.follower.keptSize, front.directory.snapshotSize)
        await front.directory.close()
        return used
    }

    /// Database and bucket were put back together.
    @Test func aRepairSaysThatThisMachineHasShownMore() async throws {
        _ = try await kept(["alice"])
        let (databases, objects) = (try shared.copyDatabases(), shared.place.path + "/objects")
        try FileManager.default.copyItem(atPath: objects, toPath: objects + ".older")
        #expect(try await shared.repair(state: "state").isWhole)
        _ = try await kept(["bob"])
        try shared.restore(databases)
        try FileManager.default.removeItem(atPath: objects)
        try FileManager.default.moveItem(atPath: objects + ".older", toPath: objects)
        let done = try await shared.repair(state: "state")
        #expect(!done.isWhole && done.log.entries == 0)
        #expect(try #require(done.shown).size > done.log.size)
        #expect(try await shared.repair().isWhole, "a machine that has shown nothing knows of no more")
    }

    @Test func aStartUsesFramesAndSnapshot() async throws {
        #expect(try await kept() == ["wal", "index.snapshot", "checkpoint.published"])
        let used = try await start()
        #expect(used.frames > 6 && used.snapshot == used.frames)
    }

    /// What another directory keeps, with the same keys and the same people, who came in another order: every part of it is sound.
    @Test(arguments: [["wal"], ["index.snapshot"], ["wal", "index.snapshot"]])
    func theStateOfAnotherDirectoryShowsNothingFalse(parts: [String]) async throws {
        let other = try await DirectoryReplicaTests()
        _ = try await other.kept(["carol", "bob", "alice"])
        _ = try await kept()
        for part in parts {
            try FileManager.default.removeItem(atPath: "\(shared.folder("state"))/\(part)")
            try FileManager.default.copyItem(
                atPath: "\(other.shared.folder("state"))/\(part)", toPath: "\(shared.folder("state"))/\(part)")
        }
        let used = try await start()
        #expect(used.snapshot == nil)
        #expect(parts.contains("wal") ? used.frames == 0 : used.frames > 6)
        // And from then on it has its own again.
        #expect(try await start().frames > 6)
    }

    @Test(arguments: ["wal/00000000000000000000", "index.snapshot"])
    func damagedStateShowsNothingFalse(file: String) async throws {
        _ = try await kept()
        let url = URL(fileURLWithPath: "\(shared.folder("state"))/\(file)")
        let sound = [UInt8](try Data(contentsOf: url))
        let end = try #require(sound.lastIndex { $0 != 0 })
        for place in stride(from: 0, through: end, by: max(1, end / 40)) {
            var bytes = sound
            bytes[place] ^= 1
            try Data(bytes).write(to: url)
            _ = try await start()
            try Data(sound[..<place]).write(to: url)
            _ = try await start()
        }
    }

    /// A front end and a candidate of one process are given one folder.
    @Test func twoPartsOfAProcessDoNotWriteOneFolder() async throws {
        _ = try await kept()
        let front = try await shared.serve(state: "state")
        let standing = try await shared.standBy(state: "state")
        #expect(front.follower.keptSize > 6)
        #expect(standing.replica.follower.keptSize == 0 && standing.replica.snapshots == nil)
        #expect(standing.replica.epochs.usedSnapshot != nil)
        await front.directory.close()
        await standing.replica.close()
    }
}
