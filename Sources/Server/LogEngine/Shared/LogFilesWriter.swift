// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// Writes a log whose frames come from elsewhere into an empty folder.
///
/// The folder is a log with ``finish(signed:published:)``, and not before. Tiles are not written: they are made when the log is opened.
package final class LogFilesWriter {
    /// A new segment is begun when the current one is at least this long.
    private static let segmentByteCount: UInt64 = 64 << 20

    private let fileSystem: any LogFileSystem
    private var file: any LogFile
    private var nonce: [UInt8]
    private var end: UInt64
    private var nextIndex: UInt64 = 0

    /// - Parameter directory: an empty folder.
    /// - Throws: ``LogOpenError``.
    package init(in directory: String) throws(LogOpenError) {
        fileSystem = POSIXFileSystem(root: directory)
        let header = SegmentHeader.random(firstIndex: 0)
        var names: [String] = []
        do throws(LogFileError) { names = try fileSystem.list(LogPath.root) } catch {
            throw LogOpenError(opening: error)
        }
        guard names.isEmpty else { throw .logExists }
        do throws(LogFileError) {
            try fileSystem.makeDirectory(LogPath.segments)
            try fileSystem.synchronizeDirectory(LogPath.root)
            file = try Self.begin(header, in: fileSystem)
        } catch { throw LogOpenError(opening: error) }
        nonce = header.nonce
        end = UInt64(SegmentHeader.byteCount)
    }

    /// Writes the next frame. It is durable with ``finish(signed:published:)``.
    ///
    /// - Throws: ``LogOpenError``; ``LogOpenError/segmentMissing(firstIndex:)``: it is not the next one.
    package func append(_ frame: Frame) throws(LogOpenError) {
        guard frame.firstIndex == nextIndex else { throw .segmentMissing(firstIndex: nextIndex) }
        do throws(LogFileError) {
            if end >= Self.segmentByteCount { try beginSegment() }
            let bytes = Frame.encoded(firstIndex: nextIndex, [frame.payload], frame.entryCount, nonce)
            try file.writeAll(bytes, at: end)
            end += UInt64(bytes.count)
        } catch { throw .file(error) }
        nextIndex = frame.endIndex
    }

    /// Makes everything durable, and the folder a log: what was signed last is written down at the end.
    ///
    /// - Throws: ``LogOpenError``.
    package func finish(signed: SignedHead, published: PublishedCheckpoint) throws(LogOpenError) {
        guard signed.head.size <= nextIndex else {
            throw .lockRecordAhead(locked: signed.head, replayed: nextIndex)
        }
        let record = LockRecord(generation: 0, head: signed.head, note: signed.note.encoded)
        do throws(LogFileError) {
            try file.synchronize()
            try fileSystem.synchronizeDirectory(LogPath.segments)
            try PublishedFile(fileSystem: fileSystem).write(published)
            try LockRecordFile.create(record, in: fileSystem)
        } catch { throw .file(error) }
    }

    private func beginSegment() throws(LogFileError) {
        try file.synchronize()
        let header = SegmentHeader.random(firstIndex: nextIndex)
        file = try Self.begin(header, in: fileSystem)
        nonce = header.nonce
        end = UInt64(SegmentHeader.byteCount)
    }

    private static func begin(
        _ header: SegmentHeader, in fileSystem: any LogFileSystem
    ) throws(LogFileError) -> any LogFile {
        try fileSystem.createDurably(LogPath.segment(header.firstIndex), in: LogPath.segments, header.encoded)
    }
}
