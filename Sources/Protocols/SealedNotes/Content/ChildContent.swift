// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency
public import NoteLog

/// What a comment or star says. Sealed, a star is as long as a short comment.
///
/// Wire form: u8 1, u64 time (seconds since 1970), u32 length, text (UTF-8); or u8 2, u64 counter, u8 0 or 1.
public enum ChildContent: Hashable, Sendable {
    /// The longest comment, in bytes.
    public static let maximumTextByteCount = 16_384

    /// A text with the time that its author's clock said.
    case comment(text: [UInt8], time: UInt64)
    /// Whether the author stars the note. Of one author the highest counter counts.
    case star(isSet: Bool, counter: UInt64)

    /// - Throws: ``SealedNoteError/tooLong``.
    func encoded() throws(SealedNoteError) -> [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .comment(let text, let time):
            guard text.count <= Self.maximumTextByteCount else { throw .tooLong }
            writer.write(UInt8(1))
            writer.write(time)
            writer.write(UInt32(text.count))
            writer.write(text)
        case .star(let isSet, let counter):
            writer.write(UInt8(2))
            writer.write(counter)
            writer.write(UInt8(isSet ? 1 : 0))
        }
        return writer.bytes
    }

    /// - Throws: ``SealedNoteError/malformedContent``.
    init(decoding bytes: ArraySlice<UInt8>) throws(SealedNoteError) {
        var reader = ByteReader(bytes)
        do {
            switch try reader.uint8() {
            case 1:
                let time = try reader.uint64()
                self = .comment(text: Array(try reader.bytes(Int(try reader.uint32()))), time: time)
            case 2:
                let (counter, value) = (try reader.uint64(), try reader.uint8())
                guard value <= 1 else { throw SealedNoteError.malformedContent }
                self = .star(isSet: value == 1, counter: counter)
            default: throw SealedNoteError.malformedContent
            }
            try reader.end()
        } catch { throw .malformedContent }
    }

    /// Who stars a note, by each author's star with the highest counter.
    public static func starring(_ children: some Sequence<(author: Handle, content: ChildContent)>) -> Set<Handle> {
        var latest: [Handle: (counter: UInt64, isSet: Bool)] = [:]
        for (author, content) in children {
            guard case .star(let isSet, let counter) = content, counter >= latest[author]?.counter ?? 0 else {
                continue
            }
            latest[author] = (counter, isSet)
        }
        return Set(latest.filter(\.value.isSet).keys)
    }
}

extension NoteKey {
    /// Seals a comment or star.
    ///
    /// - Parameters:
    ///   - child: 16 fresh random bytes.
    ///   - state: the note's state now; the key is its current one and the author a member.
    ///   - sign: gives the 64-byte Ed25519 signature of the author's device over the bytes passed.
    /// - Throws: ``SealedNoteError``: the caller's mistake.
    public func seal(
        _ content: ChildContent, as child: NoteID, state: ControlState, author: Author,
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(SealedNoteError) -> ChildRecord {
        guard state.note == note, state.epoch == epoch, state.keyCommitments.last == commitment else {
            throw .anotherKey
        }
        let context = SealingContext.child(note: note, epoch: epoch, child: child, author: author)
        let sealed = try seal(Padding.pad(content.encoded()), context)
        do {
            return try ChildRecord(
                note: note, child: child, epoch: epoch, control: state.head, author: author, sealed: sealed,
                with: sign)
        } catch { throw .record(error) }
    }

    /// What a comment or star says.
    ///
    /// - Throws: ``SealedNoteError/anotherKey``, ``SealedNoteError/notOpened`` or ``SealedNoteError/malformedContent``.
    public func open(_ child: VerifiedChild) throws(SealedNoteError) -> ChildContent {
        let record = child.record
        guard record.note == note, record.epoch == epoch else { throw .anotherKey }
        let context = SealingContext.child(note: note, epoch: epoch, child: record.child, author: record.author)
        return try ChildContent(decoding: open(record.sealed, context))
    }
}
