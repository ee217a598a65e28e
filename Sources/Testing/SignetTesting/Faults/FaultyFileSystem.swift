// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import Synchronization

/// One call that a log made to its storage.
package struct LogFileCall: Hashable, Sendable {
    /// The operation that was requested.
    package let operation: LogFileOperation
    /// The kind of file it was requested on.
    package let file: LogFileKind

    /// Makes a call.
    package init(_ operation: LogFileOperation, of file: LogFileKind) {
        self.operation = operation
        self.file = file
    }
}

/// What goes wrong, and at which call.
package struct Fault: Hashable, Sendable {
    /// The effect of the failing call before it reports.
    package enum Effect: Hashable, Sendable, CaseIterable {
        /// Nothing happens, and an error is reported.
        case nothing
        /// Everything happens, and an error is reported all the same.
        case everything
        /// A write takes half of the bytes and reports an error.
        case half
        /// A write takes half of the bytes and reports so. This is not an error: the log has to continue.
        case shortCount
    }

    /// The kinds of files whose calls count.
    package var files: Set<LogFileKind>
    /// The number of the counted call that fails, from zero.
    package var ordinal: Int
    /// The effect of the failing call.
    package var effect: Effect
    /// The `errno` that it reports; `EIO` by default.
    package var code: Int32 = 5
    /// Whether every later call, of any kind of file, fails without effect: a process that was killed.
    package var isFinal = false
    /// Whether later writes fail too: a disk that stays full.
    package var staysFull = false

    /// Makes a fault.
    package init(_ files: Set<LogFileKind>, ordinal: Int, effect: Effect) {
        self.files = files
        self.ordinal = ordinal
        self.effect = effect
    }
}

/// A storage that counts the calls made to another storage and makes one of them fail.
package final class FaultyFileSystem: LogFileSystem {
    private struct State {
        var calls: [LogFileCall] = []
        var counted = 0
        var hasFailed = false
    }

    private let base: any LogFileSystem
    private let fault: Fault?
    private let onCall: @Sendable (LogFileCall) -> Void
    private let state = Mutex(State())

    /// A storage over `base`. `onCall` runs before each call, and may block it.
    package init(
        _ base: any LogFileSystem, fault: Fault? = nil, onCall: @escaping @Sendable (LogFileCall) -> Void = { _ in }
    ) {
        self.base = base
        self.fault = fault
        self.onCall = onCall
    }

    /// Every call made so far.
    package var calls: [LogFileCall] { state.withLock { $0.calls } }

    /// Whether the fault has happened.
    package var hasFailed: Bool { state.withLock { $0.hasFailed } }

    // MARK: LogFileSystem

    package func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)? {
        try call(.lock, .directory) { () throws(LogFileError) in try base.lockDirectory() }
    }

    package func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let kind = LogFileKind(path: path)
        let file = try call(.open, kind) { () throws(LogFileError) in try base.open(path, mode) }
        return FaultyFile(base: file, kind: kind, system: self)
    }

    package func list(_ path: String) throws(LogFileError) -> [String] {
        try call(.list, LogFileKind(path: path)) { () throws(LogFileError) in try base.list(path) }
    }

    package func makeDirectory(_ path: String) throws(LogFileError) {
        try call(.makeDirectory, LogFileKind(path: path)) { () throws(LogFileError) in try base.makeDirectory(path) }
    }

    package func rename(_ path: String, to newPath: String) throws(LogFileError) {
        try call(.rename, LogFileKind(path: path)) { () throws(LogFileError) in try base.rename(path, to: newPath) }
    }

    package func remove(_ path: String) throws(LogFileError) {
        try call(.remove, LogFileKind(path: path)) { () throws(LogFileError) in try base.remove(path) }
    }

    package func synchronizeDirectory(_ path: String) throws(LogFileError) {
        try call(.synchronizeDirectory, LogFileKind(path: path)) { () throws(LogFileError) in
            try base.synchronizeDirectory(path)
        }
    }

    /// It has no error that it could report.
    package func leads(_ path: String, to file: any LogFile) -> Bool {
        base.leads(path, to: (file as? FaultyFile)?.base ?? file)
    }

    // MARK: Deciding

    /// The effect on the next call; nil for its normal behaviour.
    fileprivate func effect(_ operation: LogFileOperation, _ kind: LogFileKind) -> Fault.Effect? {
        let call = LogFileCall(operation, of: kind)
        onCall(call)
        return state.withLock { state in
            state.calls.append(call)
            guard let fault else { return nil }
            if state.hasFailed { return fault.effectAfterwards(operation) }
            guard fault.files.contains(kind) else { return nil }
            defer { state.counted += 1 }
            guard state.counted == fault.ordinal else { return nil }
            state.hasFailed = true
            return fault.effect
        }
    }

    fileprivate func call<Value>(
        _ operation: LogFileOperation, _ kind: LogFileKind, onLoss: () -> Void = {},
        _ body: () throws(LogFileError) -> Value
    ) throws(LogFileError) -> Value {
        guard let effect = effect(operation, kind), effect != .shortCount else { return try body() }
        if effect == .everything { _ = try body() } else if fault?.isFinal == false { onLoss() }
        throw error(operation, kind)
    }

    fileprivate func error(_ operation: LogFileOperation, _ kind: LogFileKind) -> LogFileError {
        LogFileError(operation, of: kind, code: fault?.code ?? 0)
    }
}

extension Fault {
    /// The effect on calls after the fault.
    fileprivate func effectAfterwards(_ operation: LogFileOperation) -> Effect? {
        isFinal || staysFull && operation == .write ? .nothing : nil
    }
}

private struct FaultyFile: LogFile {
    let base: any LogFile
    let kind: LogFileKind
    let system: FaultyFileSystem

    func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(LogFileError) -> Int {
        let effect = system.effect(.write, kind)
        guard let effect else { return try base.write(bytes, at: offset) }
        let taken = effect == .everything ? bytes : effect == .nothing ? [] : bytes.prefix((bytes.count + 1) / 2)
        let count = taken.isEmpty ? 0 : try base.write(taken, at: offset)
        guard effect == .shortCount else { throw system.error(.write, kind) }
        return count
    }

    func read(_ count: Int, at offset: UInt64) throws(LogFileError) -> [UInt8] {
        try system.call(.read, kind) { () throws(LogFileError) in try base.read(count, at: offset) }
    }

    func size() throws(LogFileError) -> UInt64 {
        try system.call(.size, kind) { () throws(LogFileError) in try base.size() }
    }

    func truncate(to size: UInt64) throws(LogFileError) {
        try system.call(.truncate, kind) { () throws(LogFileError) in try base.truncate(to: size) }
    }

    func synchronizeData() throws(LogFileError) {
        try system.call(.synchronizeData, kind, onLoss: lose) { () throws(LogFileError) in try base.synchronizeData() }
    }

    func synchronize() throws(LogFileError) {
        try system.call(.synchronize, kind, onLoss: lose) { () throws(LogFileError) in try base.synchronize() }
    }

    /// A failed synchronisation loses what it was meant to write.
    private func lose() { (base as? any ForgetfulFile)?.loseUnsynchronized() }
}
