// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import SQLStores
import Testing
import VerifiableMap

@testable import NoteStore

/// The maps of the roots that one process of a cluster logs, and that front ends prove from.
@Suite(.everyEngine) struct NoteMapTests {
    let alice, mallory: NoteWriter
    let trap = FaultTests.Trap()
    let folder, other: StoreFolder
    var draft: NoteDraft

    init() async throws {
        (alice, mallory) = try (NoteWriter("alice"), NoteWriter("mallory"))
        folder = try StoreFolder(faults: trap.faults)
        other = try StoreFolder(in: folder.place)
        draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
    }

    private func leader(erasedCount: Int = 4096) -> NoteMap {
        NoteMap(of: folder.store, isShared: true, erasedCount: erasedCount)
    }

    private func frontEnd() -> NoteMap { NoteMap(of: other.store, isShared: true) }

    private func advance(_ map: NoteMap, to number: UInt64) async throws -> NoteMap.Version {
        try await unwrapped(map.advance(to: number, at: 1_800_000_000 + number))
    }

    /// That the map of a root was put down, and that a front end has it.
    private func require(_ version: NoteMap.Version, at map: NoteMap, _ words: Comment) async throws {
        #expect(try await other.store.positions(until: version.number) == Array(version.map.entries), words)
        let found = try await map.follow(version.number)
        #expect(found?.root == version.root, words)
        #expect(found.map { Array($0.map.entries) } == Array(version.map.entries), words)
    }

    private func make(_ count: Int = 1, by writer: NoteWriter) async throws {
        for _ in 0..<count { try await folder.push(NoteDraft(by: writer).creation(), by: writer) }
    }

    private func erase(_ writer: NoteWriter) async throws {
        try await folder.store.erase(writer.handle, keepsPlace: true)
    }

    private func count(_ table: String) throws -> Int { try folder.dump().filter { $0.hasPrefix("\(table) ") }.count }

    // MARK: What is gone

    /// The attack: again and again, until it falls between the leader's mark and what the front ends do.
    @Test func aNoteThatIsMadeAndErasedTakesNobodysProofs() async throws {
        let (leader, front) = (leader(), frontEnd())
        try await require(advance(leader, to: 1), at: front, "before")
        try await make(by: mallory)
        let second = try await advance(leader, to: 2)
        try await erase(mallory)
        try await require(second, at: front, "at a front end that runs")
        try await require(second, at: frontEnd(), "at one that starts")
        let third = try await advance(leader, to: 3)
        #expect(third.map.value(of: LoggedHead.key(of: draft.note)) != nil)
        try await require(third, at: front, "at the next root")
        try await require(third, at: frontEnd(), "at one that starts later")
    }

    @Test mutating func aNoteThatIsDeletedBreaksNoRoot() async throws {
        try await folder.push(draft.write(by: alice), by: alice)
        let version = try await advance(leader(), to: 1)
        try await folder.push(draft.bare(.delete, by: alice), by: alice)
        try await require(version, at: frontEnd(), "after the revisions have gone")
    }

    /// The other way round: the next leader does not have what the front ends have.
    @Test func theNextLeaderWithoutAnErasedNoteIsFollowed() async throws {
        let front = frontEnd()
        try await make(by: mallory)
        try await require(advance(leader(), to: 1), at: front, "before")
        try await erase(mallory)
        let next = leader()
        let second = try await advance(next, to: 2)
        #expect(second.map.count == 1)
        try await require(second, at: front, "at a front end that runs")
        try await require(second, at: frontEnd(), "at one that starts")
        try await make(by: alice)
        try await require(advance(next, to: 3), at: front, "at the next root")
    }

    @Test func toMakeAndEraseNotesInTurnFillsNoMap() async throws {
        let (leader, front) = (leader(erasedCount: 3), frontEnd())
        for number in 1...12 as ClosedRange<UInt64> {
            try await make(2, by: mallory)
            let version = try await advance(leader, to: number)
            try await erase(mallory)
            #expect(version.map.count <= 7)
            try await require(version, at: front, "root \(number)")
        }
        for number in 13...24 as ClosedRange<UInt64> { _ = try await advance(leader, to: number) }
        #expect(try count("positions") == 1)
        try await require(advance(leader, to: 25), at: frontEnd(), "afterwards")
    }

    @Test func whenAllNotesAreErasedThereIsARootAllTheSame() async throws {
        let (leader, front) = (leader(erasedCount: 0), frontEnd())
        try await require(advance(leader, to: 1), at: front, "before")
        try await erase(alice)
        let version = try await advance(leader, to: 2)
        #expect(version.map.count == 0)
        try await require(version, at: front, "at a front end that runs")
        try await require(version, at: frontEnd(), "at one that starts")
    }

    /// Neither the name of a note nor of a person, which an erasure would have to remove.
    @Test func whatIsPutDownAreHashes() async throws {
        let version = try await advance(leader(), to: 1)
        let rows = try folder.store.database.engine.readNow { database in
            try database.rows("SELECT map_key, map_value FROM positions").map { [try $0.bytes(0), try $0.bytes(1)] }
        }
        #expect(rows == version.map.entries.map { [$0.key.bytes, $0.value.bytes] })
    }

    // MARK: What is put down

    @Test mutating func ofEachNoteOnlyWhatTheLastRootsNeedIsKept() async throws {
        let leader = leader()
        for number in 1...20 as ClosedRange<UInt64> {
            try await folder.push(draft.comment(by: alice), by: alice)
            _ = try await advance(leader, to: number)
        }
        #expect(try count("roots") == 9)
        #expect(try count("positions") == 9)
        let oldest = try await frontEnd().follow(12)
        #expect(oldest?.map.count == 1, "the oldest root that is kept")
        #expect(try await frontEnd().follow(11) == nil)
    }

    @Test func oneMachineKeepsNoMap() async throws {
        _ = try await advance(leader(), to: 1)
        #expect(try count("positions") == 1)
        _ = try await advance(NoteMap(of: folder.store, isShared: false), to: 2)
        #expect(try count("positions") == 0)
        #expect(try count("roots") == 2)
        // And when it becomes a cluster again, all of it is put down.
        try await require(advance(leader(), to: 3), at: frontEnd(), "afterwards")
    }

    /// The transaction failed when the map had changed already.
    @Test mutating func whatWasNotWrittenIsWrittenWithTheNextRoot() async throws {
        let leader = leader()
        _ = try await advance(leader, to: 1)
        try await folder.push(draft.comment(by: alice), by: alice)
        // The first statement sets the mark.
        trap.failBeforeStatement(NoteStoreEngine.current == .repeating ? 2 : 1)
        await #expect(throws: NoteStoreError.unavailable) { try await advance(leader, to: 2) }
        #expect(!trap.disarm())
        try await require(advance(leader, to: 2), at: frontEnd(), "the change before the failure")
    }

    /// It was written, and then the log did not take it: the number comes again.
    @Test mutating func aNumberThatComesAgainHasTheChangesOfBoth() async throws {
        let (leader, front) = (leader(), frontEnd())
        try await require(advance(leader, to: 1), at: front, "before")
        try await folder.push(draft.comment(by: alice), by: alice)
        _ = try await advance(leader, to: 2)
        try await folder.push(draft.comment(by: alice), by: alice)
        try await require(advance(leader, to: 2), at: front, "both")
    }

    // MARK: Two that lead

    /// A process that stood still while another one took the log over knows a map that is not there any more.
    @Test mutating func whoWasOvertakenChangesNothing() async throws {
        let (former, next, front) = (leader(), leader(), frontEnd())
        _ = try await advance(former, to: 1)
        try await folder.push(draft.comment(by: alice), by: alice)
        let second = try await advance(next, to: 2)
        await #expect(throws: NoteStoreError.unavailable) { try await advance(former, to: 3) }
        try await require(second, at: front, "what the next one has put down")
        // If it leads again, it puts down all of its map; and the other one does.
        try await require(advance(former, to: 3), at: front, "the former one again")
        await #expect(throws: NoteStoreError.unavailable) { try await advance(next, to: 4) }
        try await require(advance(next, to: 4), at: front, "the next one again")
    }

    /// The same before its first map, which it would put down whatever is there.
    @Test(arguments: [false, true]) func whoWasOvertakenBeforeItsFirstRootChangesNothing(isFirst: Bool) async throws {
        let (former, next) = (leader(), leader())
        if !isFirst { _ = try await advance(leader(), to: 1) }
        await #expect(throws: NoteStoreError.unavailable) {
            try await former.advance(to: 2, at: 1_900_000_000) { [folder, mallory] in
                _ = try await next.advance(to: 2, at: 1_800_000_002)
                try await folder.push(NoteDraft(by: mallory).creation(), by: mallory)
                _ = try await next.advance(to: 3, at: 1_800_000_003)
            }
        }
        let map = try await other.store.positions(until: 3)
        #expect(map.count == 2)
        #expect(try await frontEnd().follow(2) != nil, "a root that the next one has put down")
        let third = try await frontEnd().follow(3)
        #expect(third.map { Array($0.map.entries) } == map, "the other one")
        try await require(advance(next, to: 4), at: frontEnd(), "the next one goes on")
    }

    // MARK: Programs of before

    /// Puts down a root as a program does that knows no entries.
    private func keepAlone(_ number: UInt64) async throws -> NotesRoot {
        let (entries, mark) = try await folder.store.changedHeads(since: .beginning)
        var trie = MapTrie()
        try trie.update(entries)
        let root = NotesRoot(time: 1_800_000_000, root: trie.current.root)
        _ = try await folder.store.database.write(at: root.time) { transaction in
            try transaction.keepRoot(root.root.bytes, time: root.time, number: Int64(number), at: mark)
        }
        return root
    }

    @Test mutating func aLeaderThatPutsDownTheRootAloneIsFollowed() async throws {
        let front = frontEnd()
        try await make(by: mallory)
        try await require(advance(leader(), to: 1), at: front, "before")
        try await erase(mallory)
        try await folder.push(draft.comment(by: alice), by: alice)
        let root = try await keepAlone(2)
        #expect(try await front.follow(2)?.root == root)
        #expect(try await frontEnd().follow(2)?.root == root)
        try await require(advance(leader(), to: 3), at: front, "a leader that puts down all")
    }

    // MARK: Asking

    /// A client may name any epoch: no older map is made for it, and none twice that cannot be made.
    @Test mutating func aFrontEndLooksForEachRootOnce() async throws {
        let (leader, front) = (leader(), frontEnd())
        #expect(try await front.follow(1) == nil, "nothing was put down")
        _ = try await advance(leader, to: 1)
        try await folder.push(draft.comment(by: alice), by: alice)
        let second = try await advance(leader, to: 2)
        try await require(second, at: front, "the newest")
        try await require(second, at: front, "the same again")
        #expect(try await front.follow(1) == nil, "an older one")
        let third = try await advance(leader, to: 3)
        let damaged = [UInt8](repeating: 7, count: 32)
        try folder.store.database.engine.writeNow { _ = try $0.run("UPDATE roots SET root = ?", [damaged]) }
        #expect(try await front.follow(3) == nil, "another root")
        try folder.store.database.engine.writeNow {
            _ = try $0.run("UPDATE roots SET root = ? WHERE number = 3", [third.root.root.bytes])
        }
        #expect(try await front.follow(3) == nil, "it is not looked for again")
        try await require(third, at: frontEnd(), "by another one it is")
    }

    /// All who ask at the same time have the same map.
    @Test func manyWhoAskAtOnceHaveOneMap() async throws {
        let version = try await advance(leader(), to: 1)
        let front = frontEnd()
        let found = try await withThrowingTaskGroup(of: NotesRoot?.self) { group in
            for _ in 0..<8 { group.addTask { try await front.follow(1)?.root } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: version.root, count: 8))
    }
}
