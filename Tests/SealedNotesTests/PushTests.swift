// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import Testing

/// What the server answers to a push.
struct PushTests {
    let alice, bob, carol: Person
    var book: Notebook
    var snapshot: NoteSnapshot?

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob", deviceCount: 2)
        carol = try Person("carol")
        book = try Notebook(owner: alice)
    }

    private func judge(
        _ operation: PushOperation, by author: Author? = nil, on snapshot: NoteSnapshot?? = nil,
        _ people: [Person]? = nil
    ) throws -> PushVerdict {
        PushRules.judge(
            operation, by: author ?? operation.author, on: snapshot ?? self.snapshot,
            authors: try authors(people ?? [alice, bob, carol]))
    }

    private mutating func apply(
        _ operation: PushOperation, _ location: SourceLocation = #_sourceLocation
    ) throws {
        guard case .applied(let next) = try judge(operation) else {
            Issue.record("not applied", sourceLocation: location)
            return
        }
        snapshot = next
    }

    private func wraps(
        _ key: NoteKey, _ state: ControlState, for people: [Person], by sender: Person
    ) throws -> [WrapRecord] {
        try people.flatMap { person in
            try WrapRecipient.devices(of: person.lookup()).map {
                try key.wrap(to: $0, state: state, sender: sender.author(), suite: .p256, with: sender.sign())
            }
        }
    }

    /// Creates the note, shares it with Bob and Carol, and writes two revisions and a comment.
    private mutating func begin() throws {
        try apply(.control(ControlPush(entry: book.entries[0], ownWrap: [1])))
        for (person, role) in [(bob, NoteRole.writer), (carol, .reader)] {
            try book.step(.share(person.handle, role), by: alice)
            try apply(
                .control(
                    ControlPush(
                        entry: book.entries[book.entries.count - 1],
                        wraps: wraps(book.key, book.state, for: [person], by: alice))))
        }
        for person in [alice, bob] {
            try book.write(by: person)
            try apply(.revision(book.revisions[book.revisions.count - 1]))
        }
        book.children.append(try child(by: carol))
        try apply(.child(book.children[0]))
    }

    private func child(by person: Person, epoch: UInt32? = nil) throws -> ChildRecord {
        try ChildRecord(
            note: book.note, child: book.note, epoch: epoch ?? book.state.epoch, control: book.state.head,
            author: person.author(), sealed: [1], with: person.sign())
    }

    /// The push that removes Bob, whole; each test takes something away.
    private mutating func unsharing() throws -> ControlPush {
        try book.unshare(bob.handle, by: alice)
        return ControlPush(
            entry: book.entries[book.entries.count - 1],
            wraps: try wraps(book.key, book.state, for: [carol], by: alice),
            ownWrap: [1], revision: try book.revision(by: alice), children: ChildList(book.children.map(\.hash)))
    }

    @Test mutating func aWholeLifeIsApplied() throws {
        try begin()
        let push = try unsharing()
        try apply(.control(push))
        book.revisions.append(try #require(push.revision))
        #expect(snapshot?.control == book.state)
        #expect(snapshot?.revision == RevisionView(number: 3, head: book.revisions[2].hash))
        #expect(try book.verified([alice]).view == snapshot?.revision)
        try book.step(.delete, by: alice)
        try apply(.control(ControlPush(entry: book.entries[book.entries.count - 1])))
        #expect(try judge(.revision(book.revision(by: alice))) == .refused(.forbidden))
        #expect(try judge(.child(child(by: carol))) == .refused(.forbidden))
    }

    @Test mutating func aPushIsItsRequestersAndOfACurrentDevice() throws {
        try begin()
        let revision = try book.revision(by: bob)
        #expect(try judge(.revision(revision), by: alice.author()) == .refused(.notTheRequesters))
        #expect(try judge(.revision(revision), by: bob.author(1)) == .refused(.notTheRequesters))
        let late = try book.revision(by: bob, device: 1)
        #expect(try judge(.revision(late), [alice, bob.replacingDevice()]) == .refused(.deviceNotCurrent))
    }

    @Test mutating func anUnknownNoteIsOnlyCreated() throws {
        #expect(try judge(.revision(book.revision(by: alice))) == .refused(.unknownNote))
        #expect(try judge(.control(ControlPush(entry: book.entries[0]))) == .refused(.incomplete))
        try begin()
        #expect(try judge(.control(ControlPush(entry: book.entries[0], ownWrap: [1]))) == .conflict)
    }

    @Test mutating func aPushOntoAnOlderHeadIsAConflict() throws {
        try begin()
        let stale = try book.revision(by: alice, number: 2, parent: book.revisions[0].hash)
        #expect(try judge(.revision(stale)) == .conflict)
        let entry = try book.entry(.share(bob.handle, .writer), by: alice, number: 2, previous: book.entries[0].hash)
        #expect(try judge(.control(ControlPush(entry: entry))) == .conflict)
        let behind = try book.revision(by: alice, control: book.entries[1].hash)
        #expect(try judge(.revision(behind)) == .conflict)
    }

    @Test mutating func whoMayNotWriteIsRefused() throws {
        try begin()
        #expect(try judge(.revision(book.revision(by: carol))) == .refused(.forbidden))
        let stranger = try Person("stranger")
        #expect(try judge(.child(child(by: stranger)), [stranger]) == .refused(.forbidden))
        let entry = try book.entry(.delete, by: stranger)
        #expect(try judge(.control(ControlPush(entry: entry)), [stranger]) == .refused(.forbidden))
        let byWriter = try book.entry(.delete, by: bob)
        #expect(try judge(.control(ControlPush(entry: byWriter))) == .refused(.rule(.authorIsOwner)))
    }

    @Test mutating func anotherEpochThanTheCurrentIsRefused() throws {
        try begin()
        let (old, oldChild) = (try book.revision(by: alice), try child(by: carol))
        try apply(.control(try unsharing()))
        #expect(try judge(.revision(old)) == .refused(.badEpoch(2)))
        #expect(try judge(.child(oldChild)) == .refused(.badEpoch(2)))
    }

    @Test mutating func aRekeyingClosesTheEpochWhereTheNoteStands() throws {
        try begin()
        let good = try unsharing()
        var moved = try #require(snapshot)
        moved.revision = RevisionView(number: 3, head: RecordHash(of: [3]))
        #expect(try judge(.control(good), on: moved) == .conflict)
        moved = try #require(snapshot)
        moved.children = ChildList([])
        #expect(try judge(.control(good), on: moved) == .conflict)
    }

    @Test mutating func everyoneWhoStaysGetsTheKeyAndNobodyElse() throws {
        try begin()
        let good = try unsharing()
        func with(_ wraps: [WrapRecord]) throws -> PushVerdict {
            try judge(
                .control(
                    ControlPush(
                        entry: good.entry, wraps: wraps, ownWrap: good.ownWrap, revision: good.revision,
                        children: good.children)))
        }
        #expect(try with([]) == .refused(.wraps))
        let alices = try wraps(book.key, book.state, for: [alice], by: alice)
        #expect(try with(good.wraps + alices) == .refused(.wraps))
        let byBob = try wraps(book.key, book.state, for: [carol], by: bob)
        #expect(try with(byBob) == .refused(.wraps))
        guard case .applied = try with(good.wraps) else {
            Issue.record("not applied")
            return
        }
    }

    /// Whoever pays for nothing when taking somebody out would fill the server with keys for one who stays.
    @Test mutating func aMemberGetsOneWrapForEachDeviceOfSoMany() throws {
        try begin()
        let good = try unsharing()
        let first = try #require(good.wraps.first)
        func isTaken(_ wraps: [WrapRecord]) throws -> Bool {
            let verdict = try judge(
                .control(
                    ControlPush(
                        entry: good.entry, wraps: wraps, ownWrap: good.ownWrap, revision: good.revision,
                        children: good.children)))
            if case .applied = verdict { return true }
            #expect(verdict == .refused(.wraps))
            return false
        }
        func devices(_ count: Int) throws -> [WrapRecord] {
            try (0..<count).map { number in
                let header = first.header
                return try WrapRecord(
                    WrapRecord.Header(
                        note: header.note, epoch: header.epoch, control: header.control, sender: header.sender,
                        recipient: Author(
                            handle: header.recipient.handle, device: [UInt8](repeating: UInt8(number), count: 32)),
                        recipientKeys: header.recipientKeys, suite: header.suite),
                    encapsulation: first.encapsulation, ciphertext: first.ciphertext, with: alice.sign())
            }
        }
        #expect(try !isTaken(good.wraps + [first]))
        #expect(try isTaken(devices(AccountState.maximumDeviceCount)))
        #expect(try !isTaken(devices(AccountState.maximumDeviceCount + 1)))
    }

    @Test mutating func aSharingBringsTheKeyForTheOneShared() throws {
        try begin()
        let dora = try Person("dora")
        try book.step(.share(dora.handle, .reader), by: alice)
        let entry = book.entries[book.entries.count - 1]
        let right = try wraps(book.key, book.state, for: [dora], by: alice)
        #expect(try judge(.control(ControlPush(entry: entry))) == .refused(.wraps))
        let other = try wraps(book.key, book.state, for: [carol], by: alice)
        #expect(try judge(.control(ControlPush(entry: entry, wraps: right + other))) == .refused(.wraps))
        #expect(try judge(.control(ControlPush(entry: entry, wraps: right, ownWrap: [1]))) == .refused(.incomplete))
        try apply(.control(ControlPush(entry: entry, wraps: right)))
    }

    @Test mutating func aRekeyingBringsItsPartsInOneTransaction() throws {
        try begin()
        let good = try unsharing()
        func with(ownWrap: [UInt8]?, revision: RevisionRecord?, children: ChildList?) throws -> PushVerdict {
            try judge(
                .control(
                    ControlPush(
                        entry: good.entry, wraps: good.wraps, ownWrap: ownWrap, revision: revision, children: children))
            )
        }
        #expect(try with(ownWrap: nil, revision: good.revision, children: good.children) == .refused(.incomplete))
        #expect(try with(ownWrap: [1], revision: nil, children: good.children) == .refused(.incomplete))
        #expect(try with(ownWrap: [1], revision: good.revision, children: nil) == .refused(.incomplete))
        let byCarol = try book.revision(by: carol)
        #expect(try with(ownWrap: [1], revision: byCarol, children: good.children) == .refused(.incomplete))
    }

    @Test mutating func aRekeyingNamesEachChildOnceAsCountingOrLeftOut() throws {
        try begin()
        let counting = ChildList(book.children.map(\.hash))
        let good = try unsharing()
        let late = RecordHash(of: [4])
        var moved = try #require(snapshot)
        moved.children = ChildList(counting.children.union([late]))
        func with(_ children: ChildList, _ leftOut: ChildList, on snapshot: NoteSnapshot?) throws -> PushVerdict {
            let push = ControlPush(
                entry: good.entry, wraps: good.wraps, ownWrap: good.ownWrap, revision: good.revision,
                children: children, leftOut: leftOut)
            return try judge(.control(push), on: snapshot)
        }
        #expect(try with(counting, ChildList([]), on: moved) == .conflict)
        #expect(try with(counting, ChildList([late]), on: snapshot) == .conflict)
        #expect(try with(counting, ChildList(moved.children.children), on: moved) == .refused(.incomplete))
        #expect(try with(moved.children, ChildList([]), on: moved) == .refused(.incomplete))
        guard case .applied(let next) = try with(counting, ChildList([late]), on: moved) else {
            Issue.record("not applied")
            return
        }
        #expect(next.children == moved.children)
    }

    @Test mutating func onlyARekeyingLeavesOut() throws {
        try begin()
        try book.step(.delete, by: alice)
        let entry = book.entries[book.entries.count - 1]
        let push = ControlPush(entry: entry, leftOut: ChildList([RecordHash(of: [4])]))
        #expect(try judge(.control(push)) == .refused(.incomplete))
    }

    @Test func aPushSentAgainIsRecognised() {
        #expect(PushReplay.classify([1], remembered: nil) == .new)
        #expect(PushReplay.classify([1], remembered: RecordHash(of: [1])) == .repeated)
        #expect(PushReplay.classify([1], remembered: RecordHash(of: [2])) == .misused)
    }

    @Test func aCursorIsInTheFeedBehindItOrAheadOfIt() {
        #expect(PullStart.judge(cursor: 0, oldest: 1, newest: 9) == .after(0))
        #expect(PullStart.judge(cursor: 9, oldest: 10, newest: 9) == .after(9))
        #expect(PullStart.judge(cursor: 4, oldest: 5, newest: 9) == .after(4))
        #expect(PullStart.judge(cursor: 3, oldest: 5, newest: 9) == .resyncRequired)
        #expect(PullStart.judge(cursor: 0, oldest: 1, newest: 0) == .after(0))
        #expect(PullStart.judge(cursor: 10, oldest: 5, newest: 9) == .serverWentBack)
    }
}
