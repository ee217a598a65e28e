// SPDX-License-Identifier: Apache-2.0

import Foundation
import TransparencyLog

/// The file `checkpoint.lock`: two slots written in turn, so that one record is intact at every moment.
struct LockRecordFile: Sendable {
    static let slotByteCount = 64 << 10

    /// The last record known to be durable.
    private(set) var current: LockRecord
    let file: any LogFile
    /// How the other slot begins: nothing, the record before, or one that a crash tore.
    private var otherHeader: [UInt8]

    /// Why the file could not be read.
    enum ReadError: Error {
        case missing
        case damaged
        case file(LogFileError)
    }

    /// Writes the file of a new log, or of a copy. Its existence is what makes a directory a log, so it is written last.
    static func create(_ first: LockRecord, in fileSystem: any LogFileSystem) throws(LogFileError) {
        let start = Int(offset(of: first.generation))
        var bytes = [UInt8](repeating: 0, count: 2 * slotByteCount)
        bytes.replaceSubrange(start..<start + first.encoded.count, with: first.encoded)
        _ = try fileSystem.createDurably(LogPath.lockRecord, in: LogPath.root, bytes)
    }

    /// Reads the newest intact record.
    init(in fileSystem: any LogFileSystem) throws(ReadError) {
        let slots: [[UInt8]]
        do throws(LogFileError) {
            file = try fileSystem.open(LogPath.lockRecord, .update)
            slots = try Self.slots(of: file)
        } catch {
            throw error.operation == .open && error.code == ENOENT ? .missing : .file(error)
        }
        guard let newest = Self.newestRecord(in: slots) else { throw .damaged }
        current = newest
        otherHeader = [UInt8](slots[Int((newest.generation + 1) % 2)].prefix(LockRecord.headerByteCount))
    }

    /// Writes the newest record again where it stands: what the page cache shows may never have reached the disk.
    func settle() throws(LogFileError) {
        try file.writeAll(current.encoded, at: Self.offset(of: current.generation))
        try file.synchronize()
    }

    /// Replaces the current record, durably: one write and one `fdatasync`.
    ///
    /// - Parameter ancestor: the root of the new tree at the recorded size.
    /// - Throws: ``LockRecordError``. After ``LockRecordError/file(_:)`` never call this again on this value.
    mutating func swap(to head: TreeHead, note: [UInt8], ancestor: TreeHash) throws(LockRecordError) {
        try requireGrowth(to: head, ancestor: ancestor)
        guard note.count <= LockRecord.maximumNoteByteCount else { throw .noteTooLong(byteCount: note.count) }
        try requireUnchanged()
        let next = LockRecord(generation: current.generation + 1, head: head, note: note)
        do throws(LogFileError) {
            try file.writeAll(next.encoded, at: Self.offset(of: next.generation))
            try file.synchronizeData()
        } catch {
            throw .file(error)
        }
        otherHeader = [UInt8](current.encoded.prefix(LockRecord.headerByteCount))
        current = next
    }

    private func requireGrowth(to head: TreeHead, ancestor: TreeHash) throws(LockRecordError) {
        guard head.size >= current.head.size else { throw .shrinks(from: current.head.size, to: head.size) }
        let isSame = head.size == current.head.size
        guard ancestor == current.head.root, !isSame || head.root == current.head.root else {
            throw .contradicts(recorded: current.head)
        }
    }

    /// Compares what is in the file with what this process read and wrote.
    private func requireUnchanged() throws(LockRecordError) {
        let expected = current.encoded
        let own: [UInt8]
        let other: [UInt8]
        do throws(LogFileError) {
            own = try file.read(expected.count, at: Self.offset(of: current.generation))
            other = try file.read(LockRecord.headerByteCount, at: Self.offset(of: current.generation + 1))
        } catch {
            throw .file(error)
        }
        guard own == expected && other == otherHeader else {
            let found = LockRecord.claimedGeneration(own == expected ? other : own)
            throw .changedByOthers(expected: current.generation, found: found)
        }
    }

    /// The newest intact record of both slots.
    static func newestRecord(in slots: [[UInt8]]) -> LockRecord? {
        slots.indices.compactMap { slot in
            LockRecord(slot: slots[slot]).flatMap { $0.generation % 2 == UInt64(slot) ? $0 : nil }
        }.max { $0.generation < $1.generation }
    }

    /// The bytes of both slots.
    static func slots(of file: any LogFile) throws(LogFileError) -> [[UInt8]] {
        [try file.read(slotByteCount, at: 0), try file.read(slotByteCount, at: UInt64(slotByteCount))]
    }

    private static func offset(of generation: UInt64) -> UInt64 { generation % 2 * UInt64(slotByteCount) }
}
