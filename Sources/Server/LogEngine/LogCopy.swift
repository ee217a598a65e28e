// SPDX-License-Identifier: Apache-2.0

import Foundation
package import TransparencyLog

/// What a log signed last, read from its lock record.
package struct SignedHead: Hashable, Sendable {
    /// The size and root that were signed.
    package let head: TreeHead
    /// The checkpoint with the log's signature and the local cosignatures.
    package let note: SignedNote

    package init(head: TreeHead, note: SignedNote) {
        self.head = head
        self.note = note
    }
}

/// Reads a log without opening it, and copies one that may be open in another process.
///
/// The order makes the copy a state from which the log can go on: the checkpoint that was published last, then the record of what
/// was signed last, then the write-ahead log. What is signed is durable in the write-ahead log before, and what is published is
/// signed before, so that each file covers the ones copied before it. Tiles are not copied: they are rebuilt when the
/// log is opened.
package struct LogCopy: Sendable {
    /// A record of the lock that is being written while it is read is read again so many times.
    private static let maximumTries = 100

    private let source: any LogFileSystem

    /// The log in a directory.
    package init(of directory: String) { self.init(in: POSIXFileSystem(root: directory)) }

    /// The log on any storage.
    package init(in storage: any LogFileSystem) { source = storage }

    /// Keeps other processes from opening the log for as long as the value lives.
    ///
    /// - Throws: ``LogOpenError/inUse``, ``LogOpenError/directoryMissing``.
    package func hold() throws(LogOpenError) -> any LogDirectoryLock {
        do throws(LogFileError) {
            if let lock = try source.lockDirectory() { return lock }
        } catch { throw LogOpenError(opening: error) }
        throw .inUse
    }

    /// What was signed last. Nothing is written.
    ///
    /// - Throws: ``LogOpenError``.
    package func signedHead() throws(LogOpenError) -> SignedHead {
        let record = try record()
        guard let note = try? SignedNote(decoding: record.note), let checkpoint = try? Checkpoint(decoding: note.text),
            checkpoint.head == record.head
        else { throw .lockRecordDamaged }
        return SignedHead(head: record.head, note: note)
    }

    /// What was shown last, where that is kept: by a log that witnesses cosign.
    ///
    /// - Throws: ``LogOpenError``.
    package func publishedHead(origin: KeyName) throws(LogOpenError) -> PublishedCheckpoint? {
        do throws(LogFileError) {
            guard try source.list(LogPath.root).contains(LogPath.published) else { return nil }
            return PublishedFile.checkpoint(try source.contents(of: LogPath.published), origin: origin)
        } catch { throw .file(error) }
    }

    /// Hands over the frames of the write-ahead log in order.
    ///
    /// - Throws: ``LogOpenError``, or what `visit` throws.
    package func forEachFrame(_ visit: (Frame) throws(LogOpenError) -> Void) throws(LogOpenError) {
        _ = try WriteAheadLogReplay(fileSystem: source).run(visit)
    }

    /// Makes this directory a log no more, durably: what it was goes on elsewhere, and no server may sign for it here. The record of what was
    /// signed stays under another name.
    ///
    /// - Throws: ``LogOpenError``.
    package func retire() throws(LogOpenError) {
        do throws(LogFileError) {
            guard try source.list(LogPath.root).contains(LogPath.lockRecord) else { return }
            try source.rename(LogPath.lockRecord, to: LogPath.lockRecord + ".moved")
            try source.synchronizeDirectory(LogPath.root)
        } catch { throw .file(error) }
    }

    /// Copies the log into an empty directory, durably.
    ///
    /// - Throws: ``LogOpenError``: what was copied until then is not a log.
    package func copy(to directory: String) throws(LogOpenError) { try copy(to: POSIXFileSystem(root: directory)) }

    /// Copies the log to any storage.
    package func copy(to target: any LogFileSystem) throws(LogOpenError) {
        do throws(LogFileError) {
            try copyPublished(to: target)
        } catch { throw .file(error) }
        let record = try record()
        let size = try copySegments(to: target)
        guard record.head.size <= size else { throw .lockRecordAhead(locked: record.head, replayed: size) }
        // Last, since it is what makes a directory a log.
        do throws(LogFileError) { try LockRecordFile.create(record, in: target) } catch { throw .file(error) }
    }

    private func copyPublished(to target: any LogFileSystem) throws(LogFileError) {
        guard try source.list(LogPath.root).contains(LogPath.published) else { return }
        _ = try target.createDurably(
            LogPath.published, in: LogPath.root, try source.contents(of: LogPath.published))
    }

    // MARK: The lock record

    /// The newest intact record. One of the two is intact at every moment, though not in every read beside a writer.
    private func record() throws(LogOpenError) -> LockRecord {
        for _ in 0..<Self.maximumTries {
            do throws(LogFileError) {
                let slots = try LockRecordFile.slots(of: source.open(LogPath.lockRecord, .read))
                if let newest = LockRecordFile.newestRecord(in: slots) { return newest }
            } catch {
                guard error.operation == .open && error.code == ENOENT else { throw LogOpenError(opening: error) }
                throw WriteAheadLog.hasEntries(in: source) ? .lockRecordMissing : .noLog
            }
        }
        throw .lockRecordDamaged
    }

    // MARK: The write-ahead log

    /// Copies the whole frames of every segment there is now, and returns how many entries they have.
    private func copySegments(to target: any LogFileSystem) throws(LogOpenError) -> UInt64 {
        do throws(LogFileError) {
            try target.makeDirectory(LogPath.segments)
            try target.synchronizeDirectory(LogPath.root)
        } catch { throw .file(error) }
        var size: UInt64 = 0
        for first in try firstIndexes() { size = try copySegment(first, to: target) }
        return size
    }

    private func firstIndexes() throws(LogOpenError) -> [UInt64] {
        do throws(LogFileError) {
            return try source.list(LogPath.segments).compactMap(LogPath.firstIndex(ofSegment:)).sorted()
        } catch { throw .file(error) }
    }

    /// Where the writer is in the middle of a frame, the copy ends before it.
    private func copySegment(_ first: UInt64, to target: any LogFileSystem) throws(LogOpenError) -> UInt64 {
        do throws(LogFileError) {
            let file = try source.open(LogPath.segment(first), .read)
            guard var scanner = try SegmentScanner(file) else { throw LogFileError(.read, of: .segment, code: EIO) }
            var size = first
            while case .frame(let frame) = try scanner.next() { size = frame.endIndex }
            let copy = try target.open(LogPath.segment(first), .create)
            var offset: UInt64 = 0
            while offset < scanner.offset {
                let bytes = try file.read(Int(min(1 << 20, scanner.offset - offset)), at: offset)
                guard !bytes.isEmpty else { throw LogFileError(.read, of: .segment, code: EIO) }
                try copy.writeAll(bytes, at: offset)
                offset += UInt64(bytes.count)
            }
            try copy.synchronize()
            try target.synchronizeDirectory(LogPath.segments)
            return size
        } catch { throw .file(error) }
    }
}
