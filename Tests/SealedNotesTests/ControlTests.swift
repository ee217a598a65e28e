// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SealedNotes
import Testing

@testable import NoteLog

/// A note's control log in which one thing is wrong.
struct ControlTests {
    let alice, bob, carol, mallory: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob")
        carol = try Person("carol")
        mallory = try Person("mallory")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .reader), by: alice)
        try book.step(.share(carol.handle, .writer), by: alice)
    }

    private func refuses(
        _ error: ControlError, _ entries: [ControlEntry]? = nil, _ people: [Person]? = nil,
        knowing view: ControlView? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let authors = try authors(people ?? [alice, bob, carol])
        #expect(throws: error, sourceLocation: location) {
            try ControlVerifier.verify(entries ?? book.entries, of: book.note, authors: authors, knowing: view)
        }
    }

    private func refuses(
        _ rule: ControlRule, _ action: ControlAction, by person: Person? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let entry = try book.entry(action, by: person ?? alice)
        try refuses(.refused(number: entry.number, rule), book.entries + [entry], nil, location)
    }

    private func refuses(
        _ error: ControlError, _ entries: [ControlEntry], _ people: [Person]?, _ location: SourceLocation
    ) throws {
        try refuses(error, entries, people, knowing: nil, location)
    }

    @Test mutating func aWholeLifePasses() throws {
        try book.step(.share(bob.handle, .writer), by: alice, device: 1)
        try book.unshare(carol.handle, by: alice)
        try book.rekey(by: alice)
        try book.step(.transfer(bob.handle), by: alice)
        try book.step(.share(carol.handle, .reader), by: bob)
        let control = try book.control([alice, bob])
        #expect(control.state.owner == bob.handle)
        #expect(control.state.members == [alice.handle: .writer, carol.handle: .reader])
        #expect(control.state.epoch == 3 && control.state.keyCommitments.count == 3)
        #expect(control.view == ControlView(number: 8, head: book.entries[7].hash))
        let early = try #require(control.moment(after: book.entries[1].hash))
        #expect(early.epoch == 1 && control.role(of: bob.handle, at: early) == .reader)
        #expect(
            control.role(of: carol.handle, at: early) == nil && control.role(of: alice.handle, at: early) == .writer)
        let now = try #require(control.moment(after: control.state.head))
        #expect(control.role(of: carol.handle, at: now) == .reader && control.role(of: bob.handle, at: now) == .writer)
        #expect(control.holds(ControlView(number: 3, head: book.entries[2].hash)))
        #expect(!control.holds(ControlView(number: 4, head: book.entries[2].hash)))
        try book.step(.delete, by: bob)
        #expect(try book.control([alice, bob], knowing: control.view).state.isDeleted)
    }

    // MARK: beginning and chain

    @Test func aLogWithoutItsBeginningIsRefused() throws {
        try refuses(.noBeginning, [])
        try refuses(.noBeginning, Array(book.entries.dropFirst()))
    }

    @Test func aLogOfAnotherNoteIsRefused() throws {
        try refuses(.anotherNote, try Notebook(owner: alice).entries)
        let other = try book.entry(.delete, by: alice, note: try Notebook(owner: alice).note)
        try refuses(.anotherNote, book.entries + [other])
    }

    @Test func aMissingMovedOrRenumberedEntryIsRefused() throws {
        let entries = book.entries
        try refuses(.brokenChain(number: 3), [entries[0], entries[2]])
        try refuses(.brokenChain(number: 3), [entries[0], entries[2], entries[1]])
        try refuses(.brokenChain(number: 5), entries + [try book.entry(.delete, by: alice, number: 5)])
        let stray = try book.entry(.delete, by: alice, previous: entries[0].hash)
        try refuses(.brokenChain(number: 4), entries + [stray])
    }

    // MARK: rules

    @Test mutating func onlyTheOwnerChangesANote() throws {
        try refuses(.authorIsOwner, .share(mallory.handle, .writer), by: carol)
        try refuses(.authorIsOwner, .share(mallory.handle, .writer), by: mallory)
        try book.step(.transfer(bob.handle), by: alice)
        try refuses(.authorIsOwner, .share(mallory.handle, .writer), by: alice)
    }

    @Test mutating func stepsThatTheStateDoesNotHaveAreRefused() throws {
        try refuses(.createdOnce, .create(keyCommitment: [UInt8](repeating: 0, count: 32)))
        try refuses(.shareAdds, .share(alice.handle, .reader))
        try refuses(.shareAdds, .share(bob.handle, .reader))
        try refuses(.shareAdds, .share(carol.handle, .reader))
        try refuses(.isMember, .transfer(mallory.handle))
        try refuses(.isMember, .unshare(mallory.handle, book.rekeying()))
        try book.step(.delete, by: alice)
        try refuses(.notDeleted, .share(mallory.handle, .reader))
    }

    private func changed(
        _ good: Rekeying, epoch: UInt32? = nil, commitment: [UInt8]? = nil, members: RecordHash? = nil
    ) -> Rekeying {
        Rekeying(
            epoch: epoch ?? good.epoch, keyCommitment: commitment ?? good.keyCommitment,
            revisionHead: good.revisionHead, children: good.children, members: members ?? good.members)
    }

    @Test mutating func aRekeyingStatesNextEpochNewKeyAndMembers() throws {
        let good = book.rekeying()
        try refuses(.epochStepsByOne, .rekey(changed(good, epoch: 1)))
        try refuses(.epochStepsByOne, .rekey(changed(good, epoch: 3)))
        try refuses(.keyIsNew, .rekey(changed(good, commitment: book.keys[0].commitment)))
        try refuses(.membersAreStated, .rekey(changed(good, members: book.state.memberHash(without: bob.handle))))
        // An unsharing that keeps the member on its list.
        try refuses(.membersAreStated, .unshare(bob.handle, good))
        try book.step(.rekey(good), by: alice)
    }

    @Test func moreMembersThanTheLimitAreRefused() throws {
        var state = book.state
        for number in 0..<(ControlState.maximumMemberCount - 2) {
            let handle = try Handle(typed: Array("m\(number)@example.org".utf8))
            let entry = try ControlEntry(
                note: book.note, number: state.number + 1, previous: state.head, time: 0, author: alice.author(),
                action: .share(handle, .reader), with: alice.sign())
            try state.apply(entry)
        }
        let entry = try ControlEntry(
            note: book.note, number: state.number + 1, previous: state.head, time: 0, author: alice.author(),
            action: .share(mallory.handle, .reader), with: alice.sign())
        #expect(throws: ControlError.refused(number: entry.number, .memberCount)) { try state.applying(entry) }
    }

    // MARK: authority

    @Test func aGhostMemberOfTheServersIsRefused() throws {
        // The server knows the owner's name, not a device's key: it signs with one of its own.
        let device = mallory.devices[0]
        let author = Author(handle: alice.handle, device: device.keys.signing)
        let ghost = try ControlEntry(
            note: book.note, number: 4, previous: book.state.head, time: 0, author: author,
            action: .share(mallory.handle, .reader), with: mallory.sign())
        try refuses(.noAuthority(number: 4), book.entries + [ghost])
    }

    @Test mutating func aRemovedDeviceSignsNothingNew() throws {
        let view = try book.control([alice]).view
        try book.step(.share(mallory.handle, .reader), by: alice, device: 1)
        let now = try alice.replacingDevice()
        try refuses(.noAuthority(number: 4), book.entries, [now])
        try refuses(.noAuthority(number: 4), book.entries, [now], knowing: view)
        // The owner's other device goes on from there, so it stood behind it.
        try book.step(.share(mallory.handle, .writer), by: alice)
        #expect(try book.control([now], knowing: view).state.number == 5)
        // What was accepted before the removal stays.
        #expect(try book.control([now], knowing: ControlView(number: 4, head: book.entries[3].hash)).state.number == 5)
    }

    @Test mutating func aNoteStolenWithARemovedDeviceIsRefusedByThoseWhoKnowIt() throws {
        let view = try book.control([alice]).view
        try book.step(.share(mallory.handle, .writer), by: alice, device: 1)
        try book.step(.transfer(mallory.handle), by: alice, device: 1)
        try book.step(.share(bob.handle, .writer), by: mallory)
        let now = try alice.replacingDevice()
        try refuses(.noAuthority(number: 5), book.entries, [now, mallory], knowing: view)
        // A newcomer sees a note of Mallory's.
        #expect(try book.control([now, mallory]).state.owner == mallory.handle)
    }

    @Test func anAuthorWithoutKnownKeysIsRefused() throws {
        try refuses(.noAuthority(number: 3), book.entries, [])
        try refuses(.noAuthority(number: 3), book.entries, [bob, carol])
    }

    // MARK: consistency

    @Test func aShorterLogThanSeenIsARollback() throws {
        let view = try book.control([alice]).view
        try refuses(.rollback(known: 3, received: 2), Array(book.entries.prefix(2)), knowing: view)
    }

    @Test mutating func anotherEntryWhereOneWasSeenIsAFork() throws {
        var other = book
        try book.step(.share(mallory.handle, .reader), by: alice)
        try other.step(.delete, by: alice)
        let view = try book.control([alice]).view
        try refuses(.fork(number: 4), other.entries, knowing: view)
    }
}
