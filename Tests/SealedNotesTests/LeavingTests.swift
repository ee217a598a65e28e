import KeyTransparency
import SealedNotes
import Testing

@testable import NoteLog

/// A member takes themself out of a note, and nobody else does it for them.
struct LeavingTests {
    let alice, bob, carol, mallory: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob", deviceCount: 2)
        carol = try Person("carol")
        mallory = try Person("mallory")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .writer), by: alice)
        try book.step(.share(carol.handle, .reader), by: alice)
    }

    private func refuses(
        _ error: ControlError, _ entries: [ControlEntry], _ people: [Person]? = nil,
        knowing view: ControlView? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let authors = try authors(people ?? [alice, bob, carol])
        #expect(throws: error, sourceLocation: location) {
            try ControlVerifier.verify(entries, of: book.note, authors: authors, knowing: view)
        }
    }

    @Test mutating func whoLeftIsNoMemberAndTheNextKeyIsNotTheirs() throws {
        let view = try book.control([alice]).view
        try book.step(.leave, by: bob)
        for view in [nil, view] {
            let control = try book.control([alice, bob], knowing: view)
            #expect(control.state.role(of: bob.handle) == nil && control.state.departed == [bob.handle])
            #expect(control.state.members == [carol.handle: .reader] && control.state.epoch == 1)
            let before = try #require(control.moment(after: book.entries[2].hash))
            let now = try #require(control.moment(after: control.state.head))
            #expect(control.role(of: bob.handle, at: before) == .writer && control.role(of: bob.handle, at: now) == nil)
        }
        try book.rekey(by: alice)
        #expect(try book.control([alice, bob]).state.departed.isEmpty)
    }

    @Test mutating func whoLeftMayBeSharedWithAgain() throws {
        try book.step(.leave, by: bob)
        try book.step(.share(bob.handle, .reader), by: alice)
        let state = try book.control([alice, bob]).state
        #expect(state.role(of: bob.handle) == .reader && state.departed.isEmpty)
    }

    /// The server knows a member's name, not a device's key: it signs with one of its own, or with one that the member removed.
    @Test mutating func nobodyIsMadeToLeave() throws {
        let view = try book.control([alice]).view
        let author = Author(handle: bob.handle, device: mallory.devices[0].keys.signing)
        let forged = try ControlEntry(
            note: book.note, number: 4, previous: book.state.head, time: 0, author: author, action: .leave,
            with: mallory.sign())
        for view in [nil, view] { try refuses(.noAuthority(number: 4), book.entries + [forged], knowing: view) }
        let stolen = try book.entry(.leave, by: bob, device: 1)
        let now = try [alice, bob.replacingDevice()]
        for view in [nil, view] { try refuses(.noAuthority(number: 4), book.entries + [stolen], now, knowing: view) }
    }

    /// The statement of the first time, after the person was shared with again.
    @Test mutating func anOldStatementTakesNobodyOutAgain() throws {
        try book.step(.leave, by: bob)
        let old = book.entries[3]
        try book.step(.share(bob.handle, .reader), by: alice)
        try refuses(.brokenChain(number: 4), book.entries + [old])
        let push = PushOperation.control(ControlPush(entry: old))
        let verdict = PushRules.judge(
            push, by: bob.author(), on: NoteSnapshot(control: book.state), authors: try authors([bob]))
        #expect(verdict == .conflict)
        // Nor that of another note.
        var other = try Notebook(owner: alice)
        try other.step(.share(bob.handle, .writer), by: alice)
        try refuses(
            .anotherNote, book.entries + [try other.entry(.leave, by: bob, number: 6, previous: book.state.head)])
    }

    @Test func onlyMembersLeave() throws {
        for person in [alice, mallory] {
            let entry = try book.entry(.leave, by: person)
            try refuses(.refused(number: 4, .isMember), book.entries + [entry], [alice, bob, carol, mallory])
        }
    }

    /// A newcomer takes the owner's current device for everything below it. That of a member who leaves is none.
    @Test mutating func whoLeavesVouchesForNoStepOfTheOwners() throws {
        try book.step(.share(mallory.handle, .writer), by: alice, device: 1)
        try book.step(.leave, by: bob)
        let people = try [alice.replacingDevice(), bob]
        try refuses(.noAuthority(number: 4), book.entries, people)
        try refuses(
            .noAuthority(number: 4), book.entries, people, knowing: ControlView(number: 3, head: book.entries[2].hash))
    }

    /// The device that signed the leaving is gone meanwhile; the owner had seen it and went on.
    @Test mutating func aLeavingUnderTheOwnersStepStays() throws {
        let view = try book.control([alice]).view
        try book.step(.leave, by: bob, device: 1)
        try book.rekey(by: alice)
        let now = try [alice, bob.replacingDevice()]
        for view in [nil, view] { #expect(try book.control(now, knowing: view).state.role(of: bob.handle) == nil) }
    }

    /// Else nobody could read the note any more, nor give it another key.
    @Test mutating func whatAWriterWroteBeforeLeavingStays() throws {
        try book.write(by: alice)
        try book.write(by: bob)
        try book.step(.leave, by: bob)
        #expect(try book.verified([alice, bob]).revisions.count == 2)
        // Not from a device that is not theirs.
        let others = try [alice, bob.replacingDevice()]
        #expect(try book.verified(others).revisions.count == 2)
        let log = try book.control([alice, bob])
        #expect(throws: RevisionError.noAuthority(number: 2)) {
            try RevisionVerifier.verify(book.revisions, control: log, authors: authors([alice]), knowing: nil)
        }
        let child = try ChildRecord(
            note: book.note, child: book.note, epoch: 1, control: book.entries[2].hash, author: bob.author(),
            sealed: [1],
            with: bob.sign())
        #expect(throws: Never.self) {
            try ChildVerifier.verify(
                child, control: log, closed: nil, authors: authors([alice, bob]), accepted: false)
        }
        #expect(throws: ChildError.noAuthority) {
            try ChildVerifier.verify(child, control: log, closed: nil, authors: authors([alice]), accepted: false)
        }
        // Nor after the leaving, nor what comes behind the next key.
        let late = try book.revision(by: bob)
        var written = book
        written.revisions.append(late)
        #expect(throws: RevisionError.mayNotWrite(number: 3)) { try written.verified([alice, bob]) }
        let early = try book.revision(by: bob, control: book.entries[2].hash)
        try book.rekey(by: alice)
        written = book
        written.revisions.append(early)
        #expect(throws: RevisionError.closedEpochChanged(epoch: 1)) { try written.verified([alice, bob]) }
    }

    @Test mutating func theServerTakesItFromTheMemberAloneAndWithNothingElse() throws {
        let snapshot = NoteSnapshot(control: book.state)
        let people = try authors([alice, bob, mallory])
        func judge(_ push: ControlPush, by person: Person) -> PushVerdict {
            PushRules.judge(.control(push), by: person.author(), on: snapshot, authors: people)
        }
        let entry = try book.entry(.leave, by: bob)
        #expect(judge(ControlPush(entry: entry), by: alice) == .refused(.notTheRequesters))
        #expect(judge(ControlPush(entry: entry, ownWrap: [1]), by: bob) == .refused(.incomplete))
        let stranger = try book.entry(.leave, by: mallory)
        #expect(judge(ControlPush(entry: stranger), by: mallory) == .refused(.forbidden))
        guard case .applied(let next) = judge(ControlPush(entry: entry), by: bob) else {
            Issue.record("not applied")
            return
        }
        #expect(next.control.members == [carol.handle: .reader])
    }

    @Test func theStepIsReadAsItIsWritten() throws {
        let entry = try book.entry(.leave, by: bob)
        #expect(try ControlEntry(decoding: entry.encoded) == entry)
        #expect(entry.encoded.dropLast(64).last == 7)
    }
}
