// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import NoteLog

/// Where something is sealed for. Opened anywhere else, it does not open.
///
/// `signet-note-context/v1` LF; 16 note; u32 epoch; u8 kind; place; author. A revision's kind is 1 and its place u64
/// number and 32 hash of its parent; a child's 2 and 16 name.
enum SealingContext {
    static func revision(
        note: NoteID, epoch: UInt32, number: UInt64, parent: RecordHash, author: Author
    ) -> [UInt8] {
        var writer = start(note, epoch, kind: 1)
        writer.write(number)
        writer.write(parent.bytes)
        return end(writer, author)
    }

    static func child(note: NoteID, epoch: UInt32, child: NoteID, author: Author) -> [UInt8] {
        var writer = start(note, epoch, kind: 2)
        writer.write(child.bytes)
        return end(writer, author)
    }

    private static func start(_ note: NoteID, _ epoch: UInt32, kind: UInt8) -> ByteWriter {
        var writer = ByteWriter()
        writer.write("signet-note-context/v1\n")
        writer.write(note.bytes)
        writer.write(epoch)
        writer.write(kind)
        return writer
    }

    private static func end(_ start: ByteWriter, _ author: Author) -> [UInt8] {
        start.bytes + [UInt8(truncatingIfNeeded: author.handle.bytes.count)] + author.handle.bytes + author.device
    }
}
