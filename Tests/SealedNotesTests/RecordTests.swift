// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import NoteLog
import SeededRandomness
import Testing

/// The forms of the signed records.
struct RecordTests {
    let alice, bob: Person
    var book: Notebook

    init() throws {
        alice = try Person("alice")
        bob = try Person("bob")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .writer), by: alice)
        try book.write(by: alice)
        try book.unshare(bob.handle, by: alice)
        try book.step(.share(bob.handle, .reader), by: alice)
        try book.rekey(by: alice)
        try book.step(.transfer(bob.handle), by: alice)
        try book.step(.delete, by: bob)
    }

    @Test func everyEntryIsReadAndPrintedAgain() throws {
        #expect(book.entries.count == 7)
        for entry in book.entries { #expect(try ControlEntry(decoding: entry.encoded) == entry) }
        for revision in book.revisions { #expect(try RevisionRecord(decoding: revision.encoded) == revision) }
    }

    /// Every record with every byte changed: the signature covers it all.
    @Test func everyChangedByteIsRefused() throws {
        for entry in book.entries {
            for index in entry.encoded.indices {
                var bytes = entry.encoded
                bytes[index] ^= 1 << UInt8(index % 8)
                #expect(throws: NoteRecordError.self) { try ControlEntry(decoding: bytes) }
            }
        }
        let revision = book.revisions[0]
        for index in revision.encoded.indices {
            var bytes = revision.encoded
            bytes[index] ^= 1 << UInt8(index % 8)
            #expect(throws: NoteRecordError.self) { try RevisionRecord(decoding: bytes) }
        }
    }

    @Test func eachFaultHasItsCase() throws {
        let good = book.entries[1].encoded
        #expect(throws: NoteRecordError.tooLong(1025)) {
            try ControlEntry(decoding: good + [UInt8](repeating: 0, count: 1025 - good.count))
        }
        #expect(throws: NoteRecordError.unknownFormat) {
            try ControlEntry(decoding: Array("signet-note-control/v2\n".utf8) + good.dropFirst(23))
        }
        #expect(throws: NoteRecordError.malformed(.truncated(needed: 64, remaining: 64))) {
            try ControlEntry(decoding: Array(good.suffix(64)))
        }
        #expect(throws: NoteRecordError.malformed(.trailingBytes(1))) {
            try ControlEntry(decoding: good.dropLast(64) + [0] + good.suffix(64))
        }
        var other = good
        other[good.count - 1] ^= 1
        #expect(throws: NoteRecordError.invalidSignature) { try ControlEntry(decoding: other) }
        struct Refusal: Error {}
        #expect(throws: NoteRecordError.signingFailed) {
            try ControlEntry(
                note: book.note, number: 1, previous: .none, time: 0, author: alice.author(), action: .delete,
                with: { _ in throw Refusal() })
        }
        #expect(throws: NoteRecordError.invalidSignature) {
            try ControlEntry(
                note: book.note, number: 1, previous: .none, time: 0, author: alice.author(), action: .delete,
                with: bob.sign())
        }
    }

    /// Signed again after each damage, so that the parsers are reached.
    @Test func seededDamageNeverTrapsAParser() throws {
        var generator = SeededGenerator(seed: 2)
        let sign = alice.sign()
        let device = alice.author().device
        for round in 0..<1000 {
            let entry = book.entries[round % book.entries.count].encoded
            let mutant = generator.mutant(of: Array(entry.dropLast(64)))
            if let read = try? ControlEntry(decoding: mutant + sign(mutant)) {
                #expect(read.encoded == mutant + (try sign(mutant)) && read.author.device == device)
            }
            let revision = generator.mutant(of: Array(book.revisions[0].encoded.dropLast(64)))
            _ = try? RevisionRecord(decoding: revision + sign(revision))
            _ = try? ChildRecord(decoding: revision + sign(revision))
            _ = try? WrapRecord(decoding: revision + sign(revision))
            _ = try? AccountHead(decoding: revision + sign(revision))
        }
    }
}
