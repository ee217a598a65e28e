// SPDX-License-Identifier: Apache-2.0

/// Reads the whole write-ahead log back and says where it ends.
struct WriteAheadLogReplay: Sendable {
    let fileSystem: any LogFileSystem

    /// Where a log ends.
    struct End: Sendable {
        /// How many entries the log has.
        var size: UInt64
        /// The newest segment.
        var header: SegmentHeader
        /// The first entries of the segments before it.
        fileprivate(set) var earlierSegments: [UInt64] = []
        /// Where the next frame goes in that segment.
        var offset: UInt64
        /// Where the last frame of that segment begins, if it has one.
        var lastFrameOffset: UInt64?
        /// Whether the bytes after the last whole frame are the rest of a write that a crash interrupted.
        var isTorn: Bool
        fileprivate(set) var fileSize: UInt64
    }

    /// Calls `visit` with every frame in order. Changes nothing on the disk.
    ///
    /// - Throws: ``LogOpenError/segmentMissing(firstIndex:)``, ``LogOpenError/segmentDamaged(firstIndex:)``,
    ///   ``LogOpenError/frameDamaged(segment:offset:)``, ``LogOpenError/file(_:)``, and what `visit` throws.
    func run(_ visit: (Frame) throws(LogOpenError) -> Void) throws(LogOpenError) -> End {
        let segments = try segmentFirstIndexes()
        var end: End?
        for first in segments {
            let expected = end?.size ?? 0
            guard first == expected, end?.isTorn != true else { throw .segmentMissing(firstIndex: expected) }
            end = try replaySegment(first, isNewest: first == segments.last, visit)
        }
        guard var end else { throw .segmentMissing(firstIndex: 0) }
        end.earlierSegments = segments.dropLast()
        return end
    }

    private func segmentFirstIndexes() throws(LogOpenError) -> [UInt64] {
        do throws(LogFileError) {
            return try fileSystem.list(LogPath.segments).compactMap(LogPath.firstIndex(ofSegment:)).sorted()
        } catch {
            throw .file(error)
        }
    }

    private func replaySegment(
        _ first: UInt64, isNewest: Bool, _ visit: (Frame) throws(LogOpenError) -> Void
    ) throws(LogOpenError) -> End {
        guard var scanner = try openScanner(first), scanner.header.firstIndex == first else {
            throw .segmentDamaged(firstIndex: first)
        }
        var size = first
        while true {
            switch try step(&scanner) {
            case .frame(let frame):
                guard frame.firstIndex == size else {
                    throw .frameDamaged(segment: first, offset: scanner.lastFrameOffset ?? scanner.offset)
                }
                try visit(frame)
                size = frame.endIndex
            case .end:
                return End(scanner, size: size, isTorn: false)
            case .damage:
                guard isNewest, try mayBeTorn(&scanner) else {
                    throw .frameDamaged(segment: first, offset: scanner.offset)
                }
                return End(scanner, size: size, isTorn: true)
            }
        }
    }

    private func openScanner(_ first: UInt64) throws(LogOpenError) -> SegmentScanner? {
        do throws(LogFileError) {
            return try SegmentScanner(try fileSystem.open(LogPath.segment(first), .read))
        } catch {
            throw .file(error)
        }
    }

    private func step(_ scanner: inout SegmentScanner) throws(LogOpenError) -> SegmentScanner.Reading {
        do throws(LogFileError) { return try scanner.next() } catch { throw .file(error) }
    }

    private func mayBeTorn(_ scanner: inout SegmentScanner) throws(LogOpenError) -> Bool {
        do throws(LogFileError) { return try scanner.damageMayBeTorn() } catch { throw .file(error) }
    }
}

extension WriteAheadLogReplay.End {
    fileprivate init(_ scanner: SegmentScanner, size: UInt64, isTorn: Bool) {
        self.init(
            size: size, header: scanner.header, offset: scanner.offset,
            lastFrameOffset: scanner.lastFrameOffset, isTorn: isTorn, fileSize: scanner.fileSize)
    }

    /// Makes the end of the log certain and opens it for writing. Called after every check has passed.
    ///
    /// A torn frame is cut off. The last frame is written again as it is: after a failed `fdatasync` the page cache may
    /// show bytes that the disk never took and that the kernel will not write again unless they change hands once more.
    func settle(in fileSystem: any LogFileSystem, sizes: WriteAheadLog.Sizes) throws(LogFileError) -> WriteAheadLog {
        let file = try fileSystem.open(LogPath.segment(header.firstIndex), .update)
        if isTorn { try file.truncate(to: offset) }
        try file.writeAll(header.encoded, at: 0)
        if let lastFrameOffset {
            try file.writeAll(try file.read(Int(offset - lastFrameOffset), at: lastFrameOffset), at: lastFrameOffset)
        }
        try file.synchronize()
        try fileSystem.synchronizeDirectory(LogPath.segments)
        return WriteAheadLog(
            fileSystem: fileSystem, sizes: sizes, file: file, header: header, earlierSegments: earlierSegments,
            nextIndex: size, end: offset, fileSize: isTorn ? offset : fileSize)
    }
}
