import Foundation
import Synchronization

@testable import KeyDirectory

/// The real disk, which counts how often the log waits for it, and can be told to fail.
final class FaultyFiles: LogFileSystem {
    struct Counters: Sendable {
        var synchronized = 0
        var failsOnSegments = false
        var failsOnLockRecord = false
    }

    private let files: POSIXFileSystem
    let counters: SharedCounters

    final class SharedCounters: Sendable {
        let value = Mutex(Counters())
    }

    init(_ place: Place) {
        files = POSIXFileSystem(root: DirectoryPaths(root: place.path).log)
        counters = SharedCounters()
    }

    func fail(onSegments: Bool = false, onLockRecord: Bool = false) {
        counters.value.withLock {
            $0.failsOnSegments = onSegments
            $0.failsOnLockRecord = onLockRecord
        }
    }

    var synchronizedCount: Int { counters.value.withLock { $0.synchronized } }

    func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)? { try files.lockDirectory() }
    func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile {
        FaultyFile(file: try files.open(path, mode), kind: LogFileKind(path: path), counters: counters)
    }
    func list(_ path: String) throws(LogFileError) -> [String] { try files.list(path) }
    func makeDirectory(_ path: String) throws(LogFileError) { try files.makeDirectory(path) }
    func rename(_ path: String, to newPath: String) throws(LogFileError) { try files.rename(path, to: newPath) }
    func remove(_ path: String) throws(LogFileError) { try files.remove(path) }
    func synchronizeDirectory(_ path: String) throws(LogFileError) { try files.synchronizeDirectory(path) }
}

private struct FaultyFile: LogFile {
    let file: any LogFile
    let kind: LogFileKind
    let counters: FaultyFiles.SharedCounters

    func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(LogFileError) -> Int {
        let fails = counters.value.withLock {
            (kind == .segment && $0.failsOnSegments) || (kind == .lockRecord && $0.failsOnLockRecord)
        }
        guard !fails else { throw LogFileError(.write, of: kind, code: EIO) }
        return try file.write(bytes, at: offset)
    }
    func read(_ count: Int, at offset: UInt64) throws(LogFileError) -> [UInt8] {
        try file.read(count, at: offset)
    }
    func size() throws(LogFileError) -> UInt64 { try file.size() }
    func truncate(to size: UInt64) throws(LogFileError) { try file.truncate(to: size) }
    func synchronizeData() throws(LogFileError) {
        counters.value.withLock { $0.synchronized += 1 }
        try file.synchronizeData()
    }
    func synchronize() throws(LogFileError) {
        counters.value.withLock { $0.synchronized += 1 }
        try file.synchronize()
    }
}
