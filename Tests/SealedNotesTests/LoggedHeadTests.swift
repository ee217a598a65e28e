// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import NoteLog
import ProtocolTesting
import Testing
import TransparencyLog
import VerifiableMap

/// What a log says of notes, with one thing wrong at a time.
struct LoggedHeadTests {
    /// A directory in whose log the roots of the notes stand, one an epoch.
    private struct Logged {
        var directory: PaperDirectory
        let alice: PaperPerson
        var roots: [NotesRoot] = []
        static let now = PaperDirectory.now

        init() throws {
            directory = try PaperDirectory(filler: 3)
            alice = try PaperPerson("alice@example.org", seed: 10, deviceCount: 1)
            try directory.publish(alice)
        }

        mutating func log(_ root: MapHash, at time: UInt64 = now) throws {
            roots.append(NotesRoot(time: time, root: root))
            try directory.log(roots[roots.count - 1].record(version: UInt64(roots.count)).entry)
            try directory.endEpoch()
        }

        func epoch() throws -> VerifiedEpoch {
            try directory.verifier().verify(
                directory.answer(about: alice).response.encoded, for: alice.handle, knowing: nil, at: Self.now
            ).epoch
        }

        /// The proof of a root, the last unless told otherwise.
        func proof(of version: Int? = nil) throws -> NotesRootProof {
            let tree = directory.histories.tree(of: NotesRoot.label.key, size: directory.histories.size)
            guard case .present(_, let path) = try directory.map().proof(of: NotesRoot.label.key) else {
                throw NotRegistered()
            }
            let version = version ?? roots.count
            return NotesRootProof(
                root: roots[version - 1],
                place: NewestRecordProof(
                    indexPath: path, history: LabelHead(try tree.head(size: tree.size)),
                    lastPath: try tree.inclusionProof(index: UInt64(version) - 1, size: tree.size).hashes))
        }

        func verified(at now: UInt64 = now) throws -> VerifiedNotesRoot { try proof().verify(in: epoch(), at: now) }
    }

    private func map(_ heads: [NoteID: LoggedHead]) throws -> MapVersion {
        var trie = MapTrie()
        try trie.update(heads.map { MapEntry(key: LoggedHead.key(of: $0), value: $1.value) })
        return trie.current
    }

    private func root(_ byte: UInt8 = 7) throws -> MapHash {
        try #require(MapHash([UInt8](repeating: byte, count: 32)))
    }

    // MARK: The root

    @Test func theNewestRootIsProvenInTheEpochOfALookup() throws {
        var logged = try Logged()
        for byte in 1...5 as ClosedRange<UInt8> { try logged.log(root(byte)) }
        #expect(try logged.verified().version == 5)
        #expect(try logged.verified().root.root == root(5))
        var writer = ByteWriter()
        try logged.proof().write(to: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try NotesRootProof(from: &reader) == logged.proof())
        #expect(reader.remaining == 0)
    }

    @Test func anEarlierRootIsNotTheNewest() throws {
        var logged = try Logged()
        for byte in 1...5 as ClosedRange<UInt8> { try logged.log(root(byte)) }
        let (epoch, old) = (try logged.epoch(), try logged.proof(of: 4))
        #expect { try old.verify(in: epoch, at: Logged.now) } throws: { error in
            if case NotesRootError.record(.history) = error { true } else { false }
        }
    }

    @Test func anotherHistoryThanTheIndexHoldsIsRefused() throws {
        var (logged, other) = (try Logged(), try Logged())
        try logged.log(root(1))
        try other.log(root(2))
        let (epoch, proof) = (try logged.epoch(), try other.proof())
        #expect { try proof.verify(in: epoch, at: Logged.now) } throws: { error in
            if case NotesRootError.record(.index) = error { true } else { false }
        }
    }

    @Test func aRootIsGoodForAnHour() throws {
        var logged = try Logged()
        try logged.log(root())
        #expect(try logged.verified(at: Logged.now + 3600).version == 1)
        #expect(throws: NotesRootError.tooOld(seconds: 3601)) { try logged.verified(at: Logged.now + 3601) }
        #expect(try logged.verified(at: Logged.now - 300).version == 1)
        #expect(throws: NotesRootError.fromTheFuture(secondsAhead: 301)) { try logged.verified(at: Logged.now - 301) }
    }

    // MARK: A note in it

    @Test func aHeadProofHoldsForOneNoteAndOneRoot() throws {
        let alice = try Person("alice")
        var (book, other) = (try Notebook(owner: alice), try Notebook(owner: alice))
        try book.write(by: alice)
        try other.write(by: alice)
        let heads = [book.note: book.head, other.note: other.head]
        let map = try map(heads)
        var logged = try Logged()
        try logged.log(map.root)
        let root = try logged.verified()
        let proof = LoggedHeadProof(head: book.head, proof: map.proof(of: LoggedHead.key(of: book.note)).encoded)
        #expect(try proof.verify(book.note, in: root).head == book.head)
        for wrong in [
            LoggedHeadProof(head: other.head, proof: proof.proof), LoggedHeadProof(head: nil, proof: []),
            LoggedHeadProof(head: book.head, proof: Array(proof.proof.dropLast(33))),
        ] {
            #expect(throws: MapProofError.rootMismatch) { try wrong.verify(book.note, in: root) }
        }
        #expect(throws: MapProofError.rootMismatch) { try proof.verify(other.note, in: root) }
        let third = try Notebook(owner: alice).note
        let absence = LoggedHeadProof(head: nil, proof: map.proof(of: LoggedHead.key(of: third)).encoded)
        #expect(try absence.verify(third, in: root).head == nil)
        for proof in [proof, absence] {
            var writer = ByteWriter()
            proof.write(to: &writer)
            var reader = ByteReader(writer.bytes)
            #expect(try LoggedHeadProof(from: &reader) == proof)
        }
    }

    // MARK: What is here, against what is logged

    /// What is missing in the log, of a note as somebody has it.
    private func missing(
        _ mine: Notebook, _ logged: Notebook?, _ owner: Person, list: ChildList? = nil
    ) throws -> Set<RecordHash> {
        var directory = try Logged()
        let map = try map(logged.map { [$0.note: $0.head] } ?? [:])
        try directory.log(map.root)
        let proof = LoggedHeadProof(
            head: logged?.head, proof: map.proof(of: LoggedHead.key(of: mine.note)).encoded)
        return try LoggedHeadVerifier.verify(
            proof.verify(mine.note, in: directory.verified()), control: mine.control([owner]),
            revisions: mine.revisions, children: Set(mine.children.map(\.hash)), list: list)
    }

    @Test func aNoteAsLoggedIsUpToDate() throws {
        let alice = try Person("alice")
        var mine = try Notebook(owner: alice)
        try mine.write(by: alice)
        try mine.comment(by: alice)
        #expect(try missing(mine, mine, alice).isEmpty)
        #expect(try missing(mine, nil, alice) == [mine.entries[0].hash])
    }

    @Test func aWithheldStepIsNoticed() throws {
        let (alice, bob) = (try Person("alice"), try Person("bob"))
        var mine = try Notebook(owner: alice)
        try mine.step(.share(bob.handle, .writer), by: alice)
        var logged = mine
        try logged.unshare(bob.handle, by: alice)
        #expect(throws: LoggedHeadError.newerControl(number: 3)) { try missing(mine, logged, alice) }
        #expect(try missing(logged, mine, alice) == [logged.entries[2].hash], "what is on its way into the log")
        var other = mine
        try other.rekey(by: alice)
        #expect(throws: LoggedHeadError.otherControl(number: 3)) { try missing(other, logged, alice) }
    }

    @Test func aWithheldRevisionIsNoticed() throws {
        let alice = try Person("alice")
        var mine = try Notebook(owner: alice)
        try mine.write("one", by: alice)
        var (logged, other) = (mine, mine)
        try logged.write("two", by: alice)
        try other.write("three", by: alice)
        #expect(throws: LoggedHeadError.newerRevision(number: 2)) { try missing(mine, logged, alice) }
        #expect(throws: LoggedHeadError.otherRevision(number: 2)) { try missing(other, logged, alice) }
        #expect(try missing(logged, mine, alice) == [logged.revisions[1].hash])
    }

    @Test func aWithheldCommentIsNoticed() throws {
        let alice = try Person("alice")
        var mine = try Notebook(owner: alice)
        try mine.comment("one", by: alice)
        var (logged, other) = (mine, mine)
        try logged.comment("two", by: alice)
        try other.comment("three", by: alice)
        let (list, short) = (ChildList(logged.children.map(\.hash)), ChildList(mine.children.map(\.hash)))
        #expect(throws: LoggedHeadError.noList) { try missing(mine, logged, alice) }
        #expect(throws: LoggedHeadError.otherList) { try missing(mine, logged, alice, list: short) }
        #expect(throws: LoggedHeadError.keptComments(count: 1)) { try missing(mine, logged, alice, list: list) }
        #expect(throws: LoggedHeadError.keptComments(count: 1)) { try missing(other, logged, alice, list: list) }
        #expect(try missing(logged, mine, alice, list: short) == [logged.children[1].hash])
    }

    @Test func anAcceptedRecordMustBeLoggedWithinAnHour() {
        let (one, two) = (RecordHash(of: [1]), RecordHash(of: [2]))
        let first = UnloggedRecords().updated([one], at: 1000)
        #expect(first.overdue(at: 1000) == nil)
        let second = first.updated([one, two], at: 4600)
        #expect(second.since == [one: 1000, two: 4600])
        #expect(second.overdue(at: 4600) == nil)
        #expect(second.overdue(at: 4601) == 3601)
        #expect(second.updated([two], at: 4601).overdue(at: 4601) == nil, "it was logged")
        #expect(second.updated([one], at: 900).overdue(at: 4501) == 3601, "an older root takes nothing back")
    }
}

extension Notebook {
    /// Where it stands.
    fileprivate var head: LoggedHead {
        LoggedHead(
            control: ControlView(number: state.number, head: state.head),
            revision: revisions.last.map { RevisionView(number: $0.number, head: $0.hash) },
            children: ChildList(children.map(\.hash)).hash)
    }

    fileprivate mutating func comment(_ text: String = "comment", by person: Person) throws {
        let name = try #require(NoteID((0..<16).map { _ in UInt8.random(in: 0...255) }))
        children.append(
            try ChildRecord(
                note: note, child: name, epoch: state.epoch, control: state.head, author: person.author(),
                sealed: Array(text.utf8), with: person.sign()))
    }
}
