// SPDX-License-Identifier: Apache-2.0

import NoteLog
import SealedNotes
import SeededRandomness
import Testing

/// Two changes of one text or document.
struct MergeTests {
    private func text(_ lines: String) -> [UInt8] { Array(lines.utf8) }

    private func merge(_ base: String, _ mine: String, _ theirs: String) -> String? {
        LineMerge.merge(base: text(base), mine: text(mine), theirs: text(theirs)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func changesOfDifferentLinesAreJoined() {
        let cases: [(String, String, String, String)] = [
            ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
            ("a\nb\nc\n", "a\nb\nc\nd\n", "z\na\nb\nc\n", "z\na\nb\nc\nd\n"),
            ("a\nb\nc\nd\ne\n", "a\nc\nd\ne\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
            ("a\nb\nc", "a\nb\nc", "a\nb\nx", "a\nb\nx"), ("a\nb\nc", "x\nb\nc", "a\nb\nc", "x\nb\nc"),
            ("a\nb\n", "x\nb\n", "x\nb\n", "x\nb\n"), ("", "a", "", "a"), ("", "", "b", "b"),
            ("a\nb\nc\nd\n", "a\nX\nb\nc\nd\n", "a\nb\nc\nY\nd\n", "a\nX\nb\nc\nY\nd\n"),
            ("a\nb\nc\nd\n", "A\nb\nc\nd\ne\n", "A\nb\nC\nd\n", "A\nb\nC\nd\ne\n"),
            ("e\u{301}\n\nx\n", "é\n\nx\n", "e\u{301}\n\ny\n", "é\n\ny\n"),
        ]
        for (base, mine, theirs, joined) in cases {
            #expect(merge(base, mine, theirs) == joined, "\(base)")
            #expect(merge(base, theirs, mine) == joined, "\(base)")
        }
    }

    @Test func changesThatMeetAreAConflict() {
        let cases = [
            ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n"), ("a\n", "a\nx\n", "a\ny\n"), ("", "x", "y"),
            ("a\nb\n", "b\n", "A\nb\n"), ("a\nb\n", "x\nb\n", "a\ny\n"), ("a", "a\n", "ab"),
        ]
        for (base, mine, theirs) in cases {
            #expect(merge(base, mine, theirs) == nil, "\(base)")
            #expect(merge(base, theirs, mine) == nil, "\(base)")
        }
    }

    @Test func tooLargeChangesAreAConflict() {
        let numbers = (0..<3000).map { "\($0)\n" }.joined()
        let others = (0..<3000).map { "x\($0)\n" }.joined()
        #expect(merge(numbers, others, numbers + "end\n") == nil)
        #expect(merge(numbers, others, numbers) == others)
    }

    /// Random edits of lines that keep apart: both are in the result, and nothing else is.
    @Test func seededEditsThatKeepApartAreAllKept() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<300 {
            let base = (0..<40).map { "\($0 % Int(2 + generator.next() % 39))\n" }
            var (mine, theirs, both) = (base, base, base)
            for line in stride(from: 0, to: 40, by: 4) {
                switch generator.next() % 3 {
                case 0:
                    mine[line] = "mine\(line)\n"
                    both[line] = mine[line]
                case 1:
                    theirs[line] = "theirs\(line)\n"
                    both[line] = theirs[line]
                default: break
                }
            }
            // Repeated lines may be matched elsewhere and meet; what is joined, is joined right.
            if let joined = merge(base.joined(), mine.joined(), theirs.joined()) { #expect(joined == both.joined()) }
        }
    }

    // MARK: documents

    private let note = NoteID([UInt8](repeating: 1, count: 16))

    private func merged(
        _ mine: (inout NoteDocument) -> Void, _ theirs: (inout NoteDocument) -> Void
    ) throws -> (DocumentMerge, base: NoteDocument, mine: NoteDocument) {
        let base = NoteDocument(
            title: text("title"), body: text("a\nb\nc\n"), tags: [text("x"), text("y")], created: 1, modified: 2)
        var (left, right) = (base, base)
        mine(&left)
        theirs(&right)
        return (try DocumentMerge.merge(base: base, mine: left, theirs: right, of: #require(note)), base, left)
    }

    @Test func documentsAreJoinedPartByPart() throws {
        let (outcome, base, _) = try merged(
            {
                $0.title = text("mine")
                $0.tags = [text("y"), text("mine")]
                $0.modified = 9
            },
            {
                $0.body = text("a\nb\nC\n")
                $0.tags = [text("x"), text("y"), text("theirs")]
                $0.modified = 8
            })
        var expected = base
        expected.title = text("mine")
        expected.body = text("a\nb\nC\n")
        expected.tags = [text("y"), text("theirs"), text("mine")]
        expected.modified = 9
        #expect(outcome == .merged(expected))
    }

    @Test func aTitleThatBothChangedIsAConflictWithACopy() throws {
        let (outcome, _, mine) = try merged({ $0.title = text("m") }, { $0.title = text("t") })
        var copy = mine
        copy.conflictOf = note
        #expect(outcome == .conflict(copy: copy))
        #expect(try merged({ $0.title = text("same") }, { $0.title = text("same") }).0 != .conflict(copy: copy))
    }

    @Test func anAttachmentThatOneSideRemovedAndTheOtherChangedIsAConflict() throws {
        let blob = try #require(NoteID([UInt8](repeating: 2, count: 16)))
        let file = try AttachmentManifest(blob: blob, byteCount: 1, name: [1], mediaType: [])
        let renamed = try AttachmentManifest(blob: blob, byteCount: 1, name: [2], mediaType: [])
        var base = NoteDocument(title: [], body: [], attachments: [file], created: 1, modified: 1)
        var (mine, theirs) = (base, base)
        mine.attachments = []
        theirs.attachments = [renamed]
        let id = try #require(note)
        var copy = mine
        copy.conflictOf = note
        #expect(DocumentMerge.merge(base: base, mine: mine, theirs: theirs, of: id) == .conflict(copy: copy))
        copy = theirs
        copy.conflictOf = note
        #expect(DocumentMerge.merge(base: base, mine: theirs, theirs: mine, of: id) == .conflict(copy: copy))
        // Removed on one side only, added on one side only.
        #expect(DocumentMerge.merge(base: base, mine: mine, theirs: base, of: id) == .merged(mine))
        base.attachments = []
        theirs.attachments = [file]
        #expect(DocumentMerge.merge(base: base, mine: mine, theirs: theirs, of: id) == .merged(theirs))
    }

    // MARK: a device's note

    private func view(_ number: UInt64) -> RevisionView {
        RevisionView(number: number, head: RecordHash(of: [UInt8(number)]))
    }

    @Test func aReplicaNeverLosesAChange() throws {
        var replica = NoteReplica(note: try #require(note))
        let first = document("a\nb\nc\n")
        #expect(replica.pulled(first, at: view(1)) == .updated && replica.document == first)
        replica.edit(document("A\nb\nc\n"))
        #expect(replica.pulled(document("a\nb\nC\n"), at: view(2)) == .merged)
        #expect(replica.pending == document("A\nb\nC\n") && replica.view == view(2))
        // Accepted while the person went on.
        let sent = try #require(replica.pending)
        replica.edit(document("A\nb\nC\nd\n"))
        replica.accepted(sent, as: view(3))
        #expect(replica.pending == document("A\nb\nC\nd\n") && replica.base == sent)
        // The same line on both sides.
        var copy = document("A\nb\nC\nd\n")
        copy.conflictOf = replica.note
        #expect(replica.pulled(document("A\nb\nC\ne\n"), at: view(4)) == .conflictCopy(copy))
        #expect(replica.pending == nil && replica.document == document("A\nb\nC\ne\n"))
        // Editing back is no change.
        replica.edit(document("x"))
        replica.edit(document("A\nb\nC\ne\n"))
        #expect(replica.pending == nil)
    }

    @Test func aChangeOutlivesADeletion() throws {
        var replica = NoteReplica(note: try #require(note))
        #expect(replica.deleted() == .removed)
        _ = replica.pulled(document("a"), at: view(1))
        replica.edit(document("b"))
        var copy = document("b")
        copy.conflictOf = replica.note
        #expect(replica.deleted() == .keptAsNew(copy))
        #expect(replica.document == nil)
    }

    @Test func aChangeFromBeforeTheFirstPullIsKept() throws {
        var replica = NoteReplica(note: try #require(note))
        replica.edit(document("mine"))
        var copy = document("mine")
        copy.conflictOf = replica.note
        #expect(replica.pulled(document("theirs"), at: view(1)) == .conflictCopy(copy))
    }
}
