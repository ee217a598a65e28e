// SPDX-License-Identifier: Apache-2.0

/// The write end of the write-ahead log: one durable write per group commit, segment after segment.
///
/// Frames go into space that was filled with zeros before, so that `fdatasync` usually writes data only. A frame
/// shares its first sector with the one before; like SQLite, this relies on a disk not to damage the rest of a sector
/// that it is writing when the power goes.
struct WriteAheadLog: Sendable {
    /// How large segments grow and how far ahead they are filled with zeros.
    struct Sizes: Sendable {
        /// A new segment is begun when the current one is at least this long.
        var segmentByteCount: UInt64 = 64 << 20
        /// Space is prepared in pieces of this size.
        var preallocatedByteCount: UInt64 = 1 << 20
    }

    /// The index of the next entry.
    private(set) var nextIndex: UInt64
    private let fileSystem: any LogFileSystem
    private let sizes: Sizes
    /// The newest segment, by its first entry.
    private(set) var segment: UInt64
    /// Those before it.
    private(set) var earlierSegments: [UInt64]
    /// The newest segment, open.
    private(set) var file: any LogFile
    private var nonce: [UInt8]
    private var end: UInt64
    private var fileSize: UInt64

    /// The log that a replay found, ready to go on.
    init(
        fileSystem: any LogFileSystem, sizes: Sizes, file: any LogFile, header: SegmentHeader,
        earlierSegments: [UInt64], nextIndex: UInt64, end: UInt64, fileSize: UInt64
    ) {
        self.fileSystem = fileSystem
        segment = header.firstIndex
        self.earlierSegments = earlierSegments
        self.sizes = sizes
        self.file = file
        nonce = header.nonce
        self.nextIndex = nextIndex
        self.end = end
        self.fileSize = fileSize
    }

    /// Whether there is no more than the header of a first segment: what a creation leaves that did not come to its end.
    static func hasNoEntries(in fileSystem: any LogFileSystem) throws(LogFileError) -> Bool {
        let segments = try fileSystem.list(LogPath.segments).compactMap(LogPath.firstIndex(ofSegment:))
        guard segments == [0] else { return segments.isEmpty }
        return try fileSystem.open(LogPath.segment(0), .read).size() <= UInt64(SegmentHeader.byteCount)
    }

    /// Whether there are entries, or there may be some that cannot be read.
    static func hasEntries(in fileSystem: any LogFileSystem) -> Bool {
        guard (try? fileSystem.list(LogPath.segments)) != nil else { return false }
        return (try? hasNoEntries(in: fileSystem)) != true
    }

    /// Writes the first segment of a new log.
    static func createFirstSegment(in fileSystem: any LogFileSystem) throws(LogFileError) {
        try fileSystem.makeDirectory(LogPath.segments)
        try fileSystem.synchronizeDirectory(LogPath.root)
        _ = try fileSystem.createDurably(
            LogPath.segment(0), in: LogPath.segments, SegmentHeader.random(firstIndex: 0).encoded)
    }

    /// Writes `groups` as one frame and returns when it is durable: one write and one `fdatasync`.
    ///
    /// - Parameter isKept: whether the newest segment is in its place. No segment is begun where it is not: this one grows on.
    /// - Throws: ``LogFileError``: the frame may or may not be on the disk. Never call this again on this value.
    mutating func append(_ groups: [HashedEntries], isKept: () -> Bool = { true }) throws(LogFileError) {
        if end >= sizes.segmentByteCount, isKept() { try beginSegment() }
        let count = groups.reduce(0) { $0 + $1.count }
        let payloads = groups.map { $0.payload[...] }
        try write(Frame.encoded(firstIndex: nextIndex, payloads, count, nonce), entryCount: count)
    }

    /// Writes a frame that was read elsewhere, and which comes next here.
    ///
    /// - Throws: ``LogFileError``, as ``append(_:isKept:)``.
    mutating func append(_ frame: Frame) throws(LogFileError) {
        if end >= sizes.segmentByteCount { try beginSegment() }
        try write(
            Frame.encoded(firstIndex: nextIndex, [frame.payload], frame.entryCount, nonce),
            entryCount: frame.entryCount)
    }

    private mutating func write(_ frame: [UInt8], entryCount: Int) throws(LogFileError) {
        var bytes = frame
        let frameEnd = end + UInt64(bytes.count)
        if frameEnd > fileSize {
            let padding = sizes.preallocatedByteCount - frameEnd % sizes.preallocatedByteCount
            bytes.append(contentsOf: [UInt8](repeating: 0, count: Int(padding)))
        }
        try file.writeAll(bytes, at: end)
        try file.synchronizeData()
        fileSize = max(fileSize, end + UInt64(bytes.count))
        end = frameEnd
        nextIndex += UInt64(entryCount)
    }

    /// Starts the next segment. The one before is complete and durable at this point, so only the newest segment can
    /// ever hold a torn frame.
    private mutating func beginSegment() throws(LogFileError) {
        let header = SegmentHeader.random(firstIndex: nextIndex)
        file = try fileSystem.createDurably(LogPath.segment(nextIndex), in: LogPath.segments, header.encoded)
        earlierSegments.append(segment)
        segment = nextIndex
        nonce = header.nonce
        end = UInt64(SegmentHeader.byteCount)
        fileSize = end
    }
}
