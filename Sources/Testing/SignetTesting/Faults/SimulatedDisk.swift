// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import Synchronization

/// A disk in memory that models what a power cut would leave of it.
///
/// A write is visible at once, and durable after the file has been synchronised; a name is durable after its directory has
/// been. ``crashed(_:)`` returns the disk as the next boot finds it. A failed synchronisation loses what it was meant to write,
/// while readers still see it, as with a page cache.
package final class SimulatedDisk: LogFileSystem {
    private let state: Mutex<SimulatedState>

    /// An empty disk.
    package init() { state = Mutex(SimulatedState()) }

    private init(_ state: SimulatedState) { self.state = Mutex(state) }

    /// The disk after a power cut now. Each sector that was not synchronised survives as `survival` says.
    package func crashed(_ survival: Survival) -> SimulatedDisk {
        SimulatedDisk(state.withLock { $0.crashed(survival) })
    }

    /// The same files on another disk, all of them durable: a backup.
    package func copy() -> SimulatedDisk { SimulatedDisk(state.withLock { $0.settled() }) }

    /// What a power cut leaves of writes that were not synchronized.
    package enum Survival: Sendable {
        /// Nothing.
        case nothing
        /// Everything.
        case everything
        /// Some sectors of 512 bytes, and the first few of the new names, by the seed.
        case some(seed: UInt64)
    }

    // MARK: For tests that damage or exchange files

    /// The paths of all files.
    package var paths: [String] { state.withLock { $0.names.keys.sorted() } }

    /// The bytes of a file as a reader sees them; nil if the file does not exist.
    package subscript(path: String) -> [UInt8]? {
        get { state.withLock { state in state.names[path].map { state.nodes[$0].visible } } }
        set { state.withLock { $0.replace(path, newValue) } }
    }

    // MARK: LogFileSystem

    package func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)? {
        let isFree = state.withLock { state in
            defer { state.isLocked = true }
            return !state.isLocked
        }
        return isFree ? SimulatedLock(disk: self) : nil
    }

    package func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let kind = LogFileKind(path: path)
        let node: Int? = state.withLock { state in
            if mode == .create { return state.create(path) }
            return state.names[path]
        }
        guard let node else { throw LogFileError(.open, of: kind, code: SimulatedState.noSuchFile) }
        return SimulatedFile(disk: self, node: node, kind: kind)
    }

    package func list(_ path: String) throws(LogFileError) -> [String] {
        let prefix = path.isEmpty ? "" : path + "/"
        let names = state.withLock { state in
            state.directories.contains(path) || path.isEmpty ? state.paths(below: prefix) : nil
        }
        guard let names else {
            throw LogFileError(.list, of: LogFileKind(path: path), code: SimulatedState.noSuchFile)
        }
        return names
    }

    package func makeDirectory(_ path: String) throws(LogFileError) {
        state.withLock { $0.apply(.directory(path)) }
    }

    package func rename(_ path: String, to newPath: String) throws(LogFileError) {
        state.withLock { $0.apply(.rename(path, newPath)) }
    }

    package func remove(_ path: String) throws(LogFileError) {
        state.withLock { $0.apply(.remove(path)) }
    }

    package func synchronizeDirectory(_ path: String) throws(LogFileError) {
        state.withLock { $0.synchronizeNames(in: path) }
    }

    package func leads(_ path: String, to file: any LogFile) -> Bool {
        guard let file = file as? SimulatedFile else { return false }
        return state.withLock { $0.names[path] } == file.node
    }

    fileprivate func unlock() { state.withLock { $0.isLocked = false } }

    fileprivate func withNode<Value: Sendable>(
        _ node: Int, _ body: @Sendable (inout SimulatedNode) -> Value
    ) -> Value {
        state.withLock { body(&$0.nodes[node]) }
    }
}

/// A file whose unwritten bytes can be lost, as when the kernel reports a failed write-back once and forgets it.
package protocol ForgetfulFile: LogFile {
    /// Loses what was written since the last synchronization; readers still see it.
    func loseUnsynchronized()
}

private struct SimulatedFile: ForgetfulFile {
    let disk: SimulatedDisk
    let node: Int
    let kind: LogFileKind

    func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(LogFileError) -> Int {
        disk.withNode(node) { $0.change(.write([UInt8](bytes), at: Int(offset))) }
        return bytes.count
    }

    func read(_ count: Int, at offset: UInt64) throws(LogFileError) -> [UInt8] {
        disk.withNode(node) { [UInt8]($0.visible.dropFirst(Int(offset)).prefix(count)) }
    }

    func size() throws(LogFileError) -> UInt64 { UInt64(disk.withNode(node) { $0.visible.count }) }

    func truncate(to size: UInt64) throws(LogFileError) {
        disk.withNode(node) { $0.change(.truncate(Int(size))) }
    }

    func synchronizeData() throws(LogFileError) { disk.withNode(node) { $0.synchronize() } }

    func synchronize() throws(LogFileError) { disk.withNode(node) { $0.synchronize() } }

    func loseUnsynchronized() { disk.withNode(node) { $0.pending = [] } }
}

/// Released with the value, as a file lock is with its descriptor.
private final class SimulatedLock: LogDirectoryLock {
    let disk: SimulatedDisk

    init(disk: SimulatedDisk) { self.disk = disk }

    deinit { disk.unlock() }
}
