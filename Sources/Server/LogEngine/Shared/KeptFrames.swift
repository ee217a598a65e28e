// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The frames of a log that another process writes, kept on the disk of this machine, so that a start need not read all of them from the
/// database: segments as a log of one machine has them, in `wal/`. Beside them, in `checkpoint.published`, is the checkpoint that this machine
/// has shown last. It may all be removed at any time; a start then does not know any more what was shown here.
///
/// Security: nothing in it is believed but a checkpoint that the log's key has signed. Its frames become the tree of a start only if, with the
/// rest from the database, they make the root of a checkpoint that was verified as clients verify it. Whoever can write this folder can cost a
/// start its time, also without an end, and change nothing that is shown.
package final class KeptFrames: Sendable {
    /// Why what is kept is not used.
    package enum Refusal: Error, Hashable, Sendable {
        /// It has more than what is shown: of another log, or the database is an older copy.
        case ahead(size: UInt64, shown: UInt64)
        /// It is damaged, or it cannot be of a log.
        case log(LogOpenError)
    }

    private struct State {
        var wal: WriteAheadLog?
        var isOver = false
        var count: UInt64 = 0
    }

    private let files: UnsynchronizedFiles
    private let hold: DirectoryHold
    private let hasRoom: @Sendable () -> Bool
    private let remark: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let stage = Stage("signet.log.keep")

    private init(
        _ files: any LogFileSystem, _ hold: DirectoryHold, _ hasRoom: @escaping @Sendable () -> Bool,
        _ remark: @escaping @Sendable (String) -> Void
    ) {
        (self.files, self.hold) = (UnsynchronizedFiles(base: files), hold)
        (self.hasRoom, self.remark) = (hasRoom, remark)
    }

    /// What is kept in a folder.
    ///
    /// - Parameters:
    ///   - hasRoom: whether the disk takes more.
    ///   - remark: told why something is not used or not kept.
    /// - Returns: nil if another process, or another part of this one, has the folder, or it cannot be used.
    package static func open(
        in files: any LogFileSystem, hasRoom: @escaping @Sendable () -> Bool,
        remark: @escaping @Sendable (String) -> Void
    ) -> KeptFrames? {
        do throws(LogFileError) {
            guard let lock = try files.lockDirectory() else { return nil }
            return KeptFrames(files, DirectoryHold(lock), hasRoom, remark)
        } catch {
            remark("frames are not kept: \(error)")
            return nil
        }
    }

    /// How many entries were read from it at this start.
    package var usedSize: UInt64 { state.withLock { $0.count } }

    /// Gives every frame in order, and from then on keeps what follows them.
    ///
    /// - Parameter end: what is shown; no frame may go beyond it.
    /// - Throws: ``Refusal``.
    package func read(
        upTo end: UInt64, _ body: (Frame) throws(LogOpenError) -> Void
    ) throws(Refusal) {
        guard !isEmpty else { return }
        var ahead: UInt64?
        do throws(LogOpenError) {
            let tail = try WriteAheadLogReplay(fileSystem: files).run { (frame) throws(LogOpenError) in
                guard frame.endIndex <= end else {
                    ahead = frame.endIndex
                    throw .tooLarge
                }
                try body(frame)
            }
            try goOn(after: tail)
        } catch {
            throw ahead.map { .ahead(size: $0, shown: end) } ?? .log(error)
        }
    }

    /// The checkpoint that was kept last, which is not verified; nil: there is none.
    package var shown: [UInt8]? { Self.shown(in: files.base) }

    /// The same of a folder that is not opened.
    package static func shown(in files: any LogFileSystem) -> [UInt8]? { try? files.contents(of: LogPath.published) }

    /// Keeps the checkpoint that is shown from now on.
    package func keep(_ checkpoint: PublishedCheckpoint) async {
        await stage.run { [weak self] in self?.write(checkpoint) }
    }

    private func write(_ checkpoint: PublishedCheckpoint) {
        guard !state.withLock({ $0.isOver }) else { return }
        do throws(LogFileError) { try PublishedFile(fileSystem: files).write(checkpoint) } catch { stop("\(error)") }
    }

    /// Whether there is nothing to read.
    package var isEmpty: Bool {
        guard let names = try? files.list(LogPath.segments) else { return true }
        return !names.contains { LogPath.firstIndex(ofSegment: $0) != nil }
    }

    private func goOn(after tail: WriteAheadLogReplay.End) throws(LogOpenError) {
        do throws(LogFileError) {
            let wal = try tail.settle(in: files, sizes: WriteAheadLog.Sizes())
            state.withLock { ($0.wal, $0.count) = (wal, tail.size) }
        } catch { throw .file(error) }
    }

    /// Removes everything: it was not of this log.
    package func forget(because reason: String) {
        remark("kept frames are not used: \(reason)")
        state.withLock { ($0.wal, $0.count) = (nil, 0) }
        do throws(LogFileError) {
            for name in try files.list(LogPath.segments) { try files.remove("\(LogPath.segments)/\(name)") }
        } catch { stop("\(error)") }
    }

    /// Keeps frames, those that follow what is kept. A failure costs the next start some time and nothing else.
    package func keep(_ frames: [Frame]) async {
        guard !frames.isEmpty else { return }
        // Not by the stage's own reference, which could keep the folder a moment longer than whoever has it.
        await stage.run { [weak self] in self?.write(frames) }
    }

    private func write(_ frames: [Frame]) {
        guard !state.withLock({ $0.isOver }) else { return }
        guard hasRoom() else { return stop("the disk is nearly full") }
        do throws(LogFileError) {
            try state.withLock { (state) throws(LogFileError) in
                var wal: WriteAheadLog
                if let known = state.wal { wal = known } else { wal = try begin() }
                for frame in frames where frame.firstIndex == wal.nextIndex { try wal.append(frame) }
                state.wal = wal
            }
        } catch { stop("\(error)") }
    }

    private func begin() throws(LogFileError) -> WriteAheadLog {
        try WriteAheadLog.createFirstSegment(in: files)
        let tail: WriteAheadLogReplay.End
        do throws(LogOpenError) { tail = try WriteAheadLogReplay(fileSystem: files).run { _ in } } catch {
            // A segment that was written just now.
            throw LogFileError(.read, of: .segment, code: 0)
        }
        return try tail.settle(in: files, sizes: WriteAheadLog.Sizes())
    }

    private func stop(_ reason: String) {
        state.withLock { $0.isOver = true }
        remark("frames are not kept any more: \(reason)")
    }
}

/// Files that may be lost, so nothing waits for the disk.
private struct UnsynchronizedFiles: LogFileSystem {
    let base: any LogFileSystem

    func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)? { try base.lockDirectory() }

    func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile {
        UnsynchronizedFile(base: try base.open(path, mode))
    }

    func list(_ path: String) throws(LogFileError) -> [String] { try base.list(path) }

    func makeDirectory(_ path: String) throws(LogFileError) { try base.makeDirectory(path) }

    func rename(_ path: String, to newPath: String) throws(LogFileError) { try base.rename(path, to: newPath) }

    func remove(_ path: String) throws(LogFileError) { try base.remove(path) }

    func synchronizeDirectory(_ path: String) {}

    func leads(_ path: String, to file: any LogFile) -> Bool {
        base.leads(path, to: (file as? UnsynchronizedFile)?.base ?? file)
    }
}

private struct UnsynchronizedFile: LogFile {
    let base: any LogFile

    func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(LogFileError) -> Int {
        try base.write(bytes, at: offset)
    }

    func read(_ count: Int, at offset: UInt64) throws(LogFileError) -> [UInt8] { try base.read(count, at: offset) }

    func size() throws(LogFileError) -> UInt64 { try base.size() }

    func truncate(to size: UInt64) throws(LogFileError) { try base.truncate(to: size) }

    func synchronizeData() {}

    func synchronize() {}
}
