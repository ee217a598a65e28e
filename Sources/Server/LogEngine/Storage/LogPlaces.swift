// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Files of a log that are not under their names any more, while the log is open. Paths are relative to its data directory.
package struct DisplacedFiles: Hashable, Sendable {
    /// Removed, moved or replaced, and the log has them open: what it writes there is gone when the process ends.
    package var open: [String] = []
    /// Removed. The log has read them, and the next start needs them.
    package var read: [String] = []

    /// None.
    package init() {}
}

/// Where the files of an open log have to be. Asked beside its writers, so that nobody waits for a write.
///
/// Only the newest segment is open. That an earlier one was replaced is found when the log is opened again, or copied and checked.
final class LogPlaces: Sendable {
    private struct Segments {
        var earlier: [UInt64]
        var newest: UInt64
        var file: any LogFile
    }

    private let fileSystem: any LogFileSystem
    private let lockRecord: any LogFile
    private let segments: Mutex<Segments>

    init(_ fileSystem: any LogFileSystem, _ wal: WriteAheadLog, _ lockRecord: LockRecordFile) {
        self.fileSystem = fileSystem
        self.lockRecord = lockRecord.file
        segments = Mutex(Segments(earlier: wal.earlierSegments, newest: wal.segment, file: wal.file))
    }

    /// Takes down which segment is the newest.
    func note(_ wal: WriteAheadLog) {
        segments.withLock { segments in
            guard segments.newest != wal.segment else { return }
            segments = Segments(earlier: wal.earlierSegments, newest: wal.segment, file: wal.file)
        }
    }

    /// Whether what is written now is there after the process has ended.
    var areKept: Bool { displacedOpen.isEmpty }

    /// Those that are not in their places. Of a folder that cannot be read, as where no more files can be opened, nothing is known.
    var displaced: DisplacedFiles {
        var displaced = DisplacedFiles()
        displaced.open = displacedOpen
        guard let names = try? fileSystem.list(LogPath.segments) else { return displaced }
        let present = Set(names.compactMap(LogPath.firstIndex(ofSegment:)))
        displaced.read = segments.withLock { $0.earlier }.filter { !present.contains($0) }.map(LogPath.segment)
        return displaced
    }

    private var displacedOpen: [String] {
        let (newest, file) = segments.withLock { ($0.newest, $0.file) }
        let open: [(String, any LogFile)] = [(LogPath.lockRecord, lockRecord), (LogPath.segment(newest), file)]
        return open.filter { !fileSystem.leads($0.0, to: $0.1) }.map(\.0)
    }
}
