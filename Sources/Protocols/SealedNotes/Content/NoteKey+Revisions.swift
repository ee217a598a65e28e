// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import SecureCell

extension NoteKey {
    /// Seals a document as the revision after `parent`.
    ///
    /// - Parameters:
    ///   - parent: the note's last revision; nil if it has none.
    ///   - state: the note's state now; the key is its current one and the author may write.
    ///   - sign: gives the 64-byte Ed25519 signature of the author's device over the bytes passed.
    /// - Throws: ``SealedNoteError``: the caller's mistake.
    public func seal(
        _ document: NoteDocument, after parent: VerifiedRevision?, state: ControlState, author: Author,
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedNoteError) -> RevisionRecord {
        guard state.note == note, state.epoch == epoch, state.keyCommitments.last == commitment else {
            throw .anotherKey
        }
        let (number, overflow) = (parent?.record.number ?? 0).addingReportingOverflow(1)
        guard !overflow, parent.map({ $0.record.note == note }) ?? true else { throw .anotherKey }
        let parentHash = parent?.record.hash ?? .none
        let context = SealingContext.revision(
            note: note, epoch: epoch, number: number, parent: parentHash, author: author)
        let sealed = try seal(Padding.pad(document.encoded()), context)
        do {
            return try RevisionRecord(
                note: note, number: number, parent: parentHash, epoch: epoch, control: state.head, author: author,
                sealed: sealed, with: sign)
        } catch { throw .record(error) }
    }

    /// What a revision says.
    ///
    /// - Throws: ``SealedNoteError/anotherKey``, ``SealedNoteError/notOpened`` or ``SealedNoteError/malformedContent``.
    ///   Keep what does not open, and show it as locked.
    public func open(_ revision: VerifiedRevision) throws(SealedNoteError) -> NoteDocument {
        let record = revision.record
        guard record.note == note, record.epoch == epoch else { throw .anotherKey }
        let context = SealingContext.revision(
            note: note, epoch: epoch, number: record.number, parent: record.parent, author: record.author)
        return try NoteDocument(decoding: open(record.sealed, context))
    }

    func seal(_ padded: [UInt8], _ context: [UInt8]) throws(SealedNoteError) -> [UInt8] {
        do { return try Seal.seal(padded, key: secret, context: context) } catch { throw .tooLong }
    }

    /// The content without its padding.
    func open(_ sealed: [UInt8], _ context: [UInt8]) throws(SealedNoteError) -> ArraySlice<UInt8> {
        let padded: [UInt8]
        do { padded = try Seal.open(sealed, key: secret, context: context) } catch { throw .notOpened }
        guard let content = Padding.unpad(padded) else { throw .malformedContent }
        return content
    }
}
