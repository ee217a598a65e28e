// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SealedNotes
import Testing

@testable import NoteLog

/// A member says that they left a note, and nobody else does it for them.
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

    @Test mutating func whoLeftIsNamedUntilTheOwnerTakesThemOut() throws {
        let view = try book.control([alice]).view
        try book.step(.leave, by: bob)
        for view in [nil, view] {
            let state = try book.control([alice, bob], knowing: view).state
            #expect(state.departed == [bob.handle] && state.role(of: bob.handle) == .writer)
            #expect(!state.isServed(bob.handle) && state.isServed(carol.handle) && state.isServed(alice.handle))
        }
        try book.rekey(by: alice)
        #expect(try book.control([alice, bob]).state.departed == [bob.handle])
        try book.unshare(bob.handle, by: alice)
        let state = try book.control([alice, bob]).state
        #expect(state.departed.isEmpty && state.members == [carol.handle: .reader])
    }

    @Test mutating func whoLeftMayBeSharedWithAgain() throws {
        try book.step(.leave, by: bob)
        let lower = try book.entry(.share(bob.handle, .reader), by: alice)
        try refuses(.refused(number: 5, .shareAdds), book.entries + [lower])
        try book.step(.share(bob.handle, .writer), by: alice)
        let state = try book.control([alice, bob]).state
        #expect(state.isServed(bob.handle) && state.departed.isEmpty)
    }

    /// A word that nobody can check any more keeps nobody out of the note, and takes nobody's right.
    @Test mutating func aLeavingByADeviceThatIsGoneFreezesNobody() throws {
        let view = try book.control([alice]).view
        try book.write(by: bob)
        try book.step(.leave, by: bob, device: 1)
        let now = try [alice, bob.replacingDevice(), carol]
        for view in [nil, view] {
            #expect(try book.control(now, knowing: view).state.role(of: bob.handle) == .writer)
        }
        #expect(try book.verified(now).revisions.count == 1)
    }

    /// The statement of the first time, after the person was shared with again.
    @Test mutating func anOldStatementTakesNobodyOutAgain() throws {
        try book.step(.leave, by: bob)
        let old = book.entries[3]
        try book.step(.share(bob.handle, .writer), by: alice)
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

    @Test mutating func onlyMembersLeaveAndOnce() throws {
        for person in [alice, mallory] {
            let entry = try book.entry(.leave, by: person)
            try refuses(.refused(number: 4, .isMember), book.entries + [entry], [alice, bob, carol, mallory])
        }
        try book.step(.leave, by: bob)
        for action in [ControlAction.leave, .transfer(bob.handle)] {
            let entry = try book.entry(action, by: action == .leave ? bob : alice)
            try refuses(.refused(number: 5, .isMember), book.entries + [entry])
        }
    }

    /// A newcomer takes the owner's current device for everything below it. That of a member who leaves is none.
    @Test mutating func aLeaveVouchesForNoStepOfTheOwners() throws {
        try book.step(.share(mallory.handle, .writer), by: alice, device: 1)
        try book.step(.leave, by: bob)
        let people = try [alice.replacingDevice(), bob]
        try refuses(.noAuthority(number: 4), book.entries, people)
        try refuses(
            .noAuthority(number: 4), book.entries, people, knowing: ControlView(number: 3, head: book.entries[2].hash))
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
        #expect(next.control.departed == [bob.handle])
        // From then on it takes nothing of theirs.
        try book.step(.leave, by: bob)
        let child = try ChildRecord(
            note: book.note, child: book.note, epoch: 1, control: book.state.head, author: bob.author(), sealed: [1],
            with: bob.sign())
        for late in [PushOperation.revision(try book.revision(by: bob)), .child(child)] {
            #expect(PushRules.judge(late, by: bob.author(), on: next, authors: people) == .refused(.forbidden))
        }
        let again = try ControlEntry(
            note: book.note, number: 5, previous: book.state.head, time: 0, author: bob.author(), action: .leave,
            with: bob.sign())
        let push = PushOperation.control(ControlPush(entry: again))
        #expect(PushRules.judge(push, by: bob.author(), on: next, authors: people) == .refused(.forbidden))
    }

    @Test func aLeaveEntryRoundTrips() throws {
        let entry = try book.entry(.leave, by: bob)
        #expect(try ControlEntry(decoding: entry.encoded) == entry)
        #expect(entry.encoded.dropLast(64).last == 7)
    }
}
