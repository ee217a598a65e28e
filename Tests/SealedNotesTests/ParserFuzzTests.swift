// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import NoteLog
import SeededRandomness
import Testing

@testable import SealedNotes

/// Seeded damage of every record, signed again so that the parsers are reached: nothing traps, and what is read is
/// printed again byte for byte. `SIGNET_FUZZ=1000000` sets the number of inputs for each parser.
struct ParserFuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["SIGNET_FUZZ"].flatMap { Int($0) } ?? 1000

    let alice, bob: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .writer), by: alice)
        try book.write(by: alice)
    }

    /// Feeds damaged forms of a signed record to its parser and to a printer of what it read.
    private func damage(
        _ good: [UInt8], seed: UInt64, by person: Person? = nil, print: ([UInt8], [UInt8]) throws -> [UInt8]
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let sign = (person ?? alice).sign()
        let unsigned = Array(good.dropLast(64))
        #expect(try print(good, Array(good.suffix(64))) == good)
        for _ in 0..<Self.rounds {
            let mutant = generator.mutant(of: unsigned)
            let signature = try sign(mutant)
            guard let printed = try? print(mutant + signature, signature) else { continue }
            #expect(printed == mutant + signature)
        }
    }

    @Test func mutatedControlEntriesNeverTrap() throws {
        try damage(book.entries[1].encoded, seed: 11) { bytes, signature in
            let read = try ControlEntry(decoding: bytes)
            return try ControlEntry(
                note: read.note, number: read.number, previous: read.previous, time: read.time, author: read.author,
                action: read.action, with: { _ in signature }
            ).encoded
        }
    }

    @Test func mutatedRevisionsNeverTrap() throws {
        try damage(book.revisions[0].encoded, seed: 12) { bytes, signature in
            let read = try RevisionRecord(decoding: bytes)
            return try RevisionRecord(
                note: read.note, number: read.number, parent: read.parent, epoch: read.epoch, control: read.control,
                author: read.author, sealed: read.sealed, with: { _ in signature }
            ).encoded
        }
    }

    @Test func mutatedChildrenNeverTrap() throws {
        let child = try ChildRecord(
            note: book.note, child: book.note, epoch: 1, control: book.state.head, author: alice.author(),
            sealed: [1, 2, 3], with: alice.sign())
        try damage(child.encoded, seed: 13) { bytes, signature in
            let read = try ChildRecord(decoding: bytes)
            return try ChildRecord(
                note: read.note, child: read.child, epoch: read.epoch, control: read.control, author: read.author,
                sealed: read.sealed, with: { _ in signature }
            ).encoded
        }
    }

    @Test(arguments: WrapSuite.allCases) func mutatedWrapsNeverTrap(suite: WrapSuite) throws {
        let wrap = try book.key.wrap(
            to: WrapRecipient.devices(of: bob.lookup())[0], state: book.state, sender: alice.author(), suite: suite,
            with: alice.sign())
        try damage(wrap.encoded, seed: 14) { bytes, signature in
            let read = try WrapRecord(decoding: bytes)
            return try WrapRecord(
                read.header, encapsulation: read.encapsulation, ciphertext: read.ciphertext, with: { _ in signature }
            ).encoded
        }
    }

    @Test func mutatedAccountHeadsNeverTrap() throws {
        let head = try AccountHead(
            author: alice.author(), number: 1, previous: .none, notes: NoteHeads().hash, with: alice.sign())
        try damage(head.encoded, seed: 15) { bytes, signature in
            let read = try AccountHead(decoding: bytes)
            return try AccountHead(
                author: read.author, number: read.number, previous: read.previous, notes: read.notes,
                with: { _ in signature }
            ).encoded
        }
    }

    /// Nothing altered is opened either, though the device that made the wrap has signed what came of it.
    @Test func mutatedAccountDeviceWrapsNeverTrap() throws {
        let account = AccountMasterKey.generate(for: alice.handle, epoch: 1)
        let recipient = WrapRecipient.devices(of: try alice.lookup())[1]
        let wrap = try AccountDeviceWrap(account, to: recipient, sender: alice.author(), with: alice.sign())
        let (keys, own) = (try alice.agreementKeys(1), try alice.keys())
        var generator = SeededGenerator(seed: 16)
        for _ in 0..<Self.rounds {
            let mutant = generator.mutant(of: Array(wrap.encoded.dropLast(64)))
            guard mutant != wrap.encoded.dropLast(64) else { continue }
            guard let read = try? AccountDeviceWrap(decoding: mutant + alice.sign()(mutant)) else { continue }
            #expect(throws: SealedNoteError.self) { try read.open(with: keys, own: own) }
        }
    }

    /// One wrong character never gives another key: the groups' checks see it.
    @Test func mutatedRecoveryKeysNeverTrap() throws {
        let printed = RecoveryKey.generate().withPrinted { $0 }
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<Self.rounds {
            let mutant = generator.mutant(of: printed)
            guard let read = try? RecoveryKey(typed: mutant) else { continue }
            #expect(try RecoveryKey(typed: read.withPrinted { $0 }).withPrinted { $0 } == read.withPrinted { $0 })
        }
        for index in printed.indices where printed[index] != UInt8(ascii: "-") {
            var typed = printed
            typed[index] = typed[index] == UInt8(ascii: "7") ? UInt8(ascii: "8") : UInt8(ascii: "7")
            #expect(throws: PrintedKeyError.self) { try RecoveryKey(typed: typed) }
        }
    }

    /// Sealed content with every byte changed, and with seeded damage, under the right key and place.
    @Test func mutatedSealedContentNeverTraps() throws {
        let revision = try book.key.seal(
            document("text"), after: nil, state: book.state, author: alice.author(), with: alice.sign())
        var generator = SeededGenerator(seed: 18)
        let everyByte = revision.sealed.indices.map { index in
            var bytes = revision.sealed
            bytes[index] ^= UInt8.random(in: 1...255, using: &generator)
            return bytes
        }
        let damaged = (0..<Self.rounds).map { _ in generator.mutant(of: revision.sealed) }
        let context = SealingContext.revision(
            note: book.note, epoch: 1, number: 1, parent: .none, author: alice.author())
        #expect(throws: Never.self) { try book.key.open(revision.sealed, context) }
        for bytes in everyByte + damaged where bytes != revision.sealed {
            #expect(throws: SealedNoteError.notOpened) { try book.key.open(bytes, context) }
        }
    }
}
