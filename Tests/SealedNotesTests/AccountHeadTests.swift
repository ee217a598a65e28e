// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SeededRandomness
import Testing

/// The chain of an account's heads in which one thing is wrong.
struct AccountHeadTests {
    let alice: Person
    let heads: [AccountHead]
    let notes: NoteHeads

    init() throws {
        let alice = try Person("alice", deviceCount: 2)
        let control = ControlView(number: 3, head: RecordHash(of: [1]))
        let revision = RevisionView(number: 2, head: RecordHash(of: [2]))
        var ids: [NoteID] = []
        for byte in [9, 1, 5] as [UInt8] { ids.append(try #require(NoteID([UInt8](repeating: byte, count: 16)))) }
        let notes = NoteHeads([
            ids[0]: .init(control: control, revision: nil), ids[1]: .init(control: control, revision: revision),
            ids[2]: .init(control: control, revision: revision),
        ])
        var heads: [AccountHead] = []
        for number in 1...4 {
            heads.append(
                try AccountHead(
                    author: alice.author(number % 2), number: UInt64(number), previous: heads.last?.hash ?? .none,
                    notes: number == 4 ? notes.hash : RecordHash(of: [UInt8(number)]), with: alice.sign(number % 2)))
        }
        self.alice = alice
        self.heads = heads
        self.notes = notes
    }

    private func verify(
        _ heads: [AccountHead], _ notes: NoteHeads? = nil, knowing known: AccountHead? = nil, _ person: Person? = nil
    ) throws -> AccountHead {
        try AccountHeadVerifier.verify(
            heads, committingTo: notes ?? self.notes, knowing: known, keys: (person ?? alice).keys())
    }

    @Test func aChainOfHeadsVerifiesFromAnyHead() throws {
        #expect(try verify(heads) == heads[3])
        #expect(try verify([heads[2], heads[3]], knowing: heads[1]) == heads[3])
        #expect(try verify([], knowing: heads[3]) == heads[3])
        #expect(try AccountHead(decoding: heads[3].encoded) == heads[3])
    }

    @Test func anOlderHeadIsARollback() throws {
        #expect(throws: AccountHeadError.rollback(known: 4, received: 3)) {
            try verify([heads[2]], knowing: heads[3])
        }
        #expect(throws: AccountHeadError.none) { try verify([]) }
    }

    @Test func twoHeadsAfterOneAreAFork() throws {
        let other = try AccountHead(
            author: alice.author(), number: 4, previous: heads[2].hash, notes: RecordHash(of: []), with: alice.sign())
        #expect(throws: AccountHeadError.fork(number: 4)) { try verify([other], knowing: heads[3]) }
        let stray = try AccountHead(
            author: alice.author(), number: 4, previous: heads[1].hash, notes: notes.hash, with: alice.sign())
        #expect(throws: AccountHeadError.fork(number: 4)) { try verify([stray], knowing: heads[2]) }
    }

    @Test func aMissingHeadIsAskedFor() throws {
        #expect(throws: AccountHeadError.gap(after: 1)) { try verify([heads[2], heads[3]], knowing: heads[0]) }
        #expect(throws: AccountHeadError.gap(after: 0)) { try verify([heads[3]]) }
    }

    @Test func anotherAccountsOrARemovedDevicesHeadIsRefused() throws {
        let bob = try Person("bob")
        #expect(throws: AccountHeadError.anotherAccount) { try verify(heads, nil, knowing: nil, bob) }
        let next = try AccountHead(
            author: alice.author(1), number: 5, previous: heads[3].hash, notes: notes.hash, with: alice.sign(1))
        let now = try alice.replacingDevice()
        #expect(throws: AccountHeadError.noAuthority(number: 5)) { try verify([next], nil, knowing: heads[3], now) }
        // A device that signed earlier heads may be gone.
        #expect(try verify(heads, nil, knowing: nil, now) == heads[3])
    }

    @Test func otherNotesThanCommittedToAreRefused() throws {
        var other = notes
        let note = try #require(notes.heads.keys.first)
        other[note] = nil
        #expect(throws: AccountHeadError.otherNotes) { try verify(heads, other) }
        other = notes
        other[note] = .init(control: ControlView(number: 3, head: RecordHash(of: [7])), revision: nil)
        #expect(throws: AccountHeadError.otherNotes) { try verify([], other, knowing: heads[3]) }
    }

    @Test func noteHeadsHaveOneSpelling() throws {
        #expect(try NoteHeads(decoding: notes.encoded) == notes)
        #expect(try NoteHeads(decoding: NoteHeads().encoded) == NoteHeads())
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<4_000 {
            let mutant = generator.mutant(of: notes.encoded)
            if let read = try? NoteHeads(decoding: mutant) { #expect(read.encoded == mutant) }
        }
    }
}
