// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// What was signed last: the memory that keeps a log from signing two histories.
///
/// ```
/// magic         8 bytes   "SIGNETc1"
/// generation    8 bytes   big-endian; one more with every record
/// size          8 bytes   of the tree that was signed
/// root         32 bytes
/// note length   4 bytes
/// note                    the signed checkpoint
/// checksum     32 bytes   SHA-256 of everything above
/// ```
struct LockRecord: Sendable, Equatable {
    static let headerByteCount = 60
    static let maximumNoteByteCount = LockRecordFile.slotByteCount - headerByteCount - Checksum.byteCount
    private static let magic: StaticString = "SIGNETc1"

    let generation: UInt64
    let head: TreeHead
    let note: [UInt8]

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.magic)
        writer.write(generation)
        writer.write(head.size)
        writer.write(head.root.bytes)
        writer.write(UInt32(note.count))
        writer.write(note)
        return writer.bytes + Checksum.of(writer.bytes[...])
    }
}

extension LockRecord {
    /// The record at the front of `slot`; nil when there is no intact one.
    init?(slot: [UInt8]) {
        var reader = ByteReader(slot.dropFirst(8))
        guard let generation = try? reader.uint64(), let size = try? reader.uint64(),
            let rootBytes = try? reader.bytes(TreeHash.byteCount), let root = TreeHash(rootBytes),
            let length = try? reader.uint32(), let note = try? reader.bytes(Int(length))
        else { return nil }
        self.init(generation: generation, head: TreeHead(size: size, root: root), note: [UInt8](note))
        guard slot.starts(with: encoded) else { return nil }
    }

    /// The generation a slot claims, intact or not.
    static func claimedGeneration(_ header: [UInt8]) -> UInt64 {
        var reader = ByteReader(header.dropFirst(8))
        return (try? reader.uint64()) ?? 0
    }
}

/// Why the lock record did not take a new checkpoint.
public enum LockRecordError: Error, Hashable, Sendable {
    /// The record on the disk is not the one that this process wrote last: another process has written it.
    case changedByOthers(expected: UInt64, found: UInt64)
    /// The new checkpoint is smaller than the recorded one.
    case shrinks(from: UInt64, to: UInt64)
    /// The new checkpoint contradicts the recorded one.
    case contradicts(recorded: TreeHead)
    /// The signed checkpoint is longer than a record holds.
    case noteTooLong(byteCount: Int)
    /// The storage failed; whether the record was written is unknown.
    case file(LogFileError)
}
