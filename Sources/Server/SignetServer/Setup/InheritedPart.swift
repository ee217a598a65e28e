// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import RecoveryStore
import SignalBroker

/// What a directory keeps beside its log and its accounts, and hands over as it is.
enum InheritedPart: CaseIterable, Sendable {
    case notes, recovery, signals

    /// Where it is in a data directory: a folder for notes, else a file.
    func path(in data: DataDirectory) -> String {
        switch self {
        case .notes: data.notes
        case .recovery: data.recovery
        case .signals: data.signals
        }
    }

    var step: HandoverStep {
        switch self {
        case .notes: .notes
        case .recovery: .recovery
        case .signals: .signals
        }
    }

    /// Its size in bytes; 0 when there is none.
    func byteCount(in data: DataDirectory) -> UInt64 {
        let path = path(in: data)
        guard self == .notes else { return HandoverGround.byteCount(of: path) }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.map { HandoverGround.byteCount(of: "\(path)/\($0)") }.reduce(0, +)
    }

    /// Puts everything into the database file itself, so that it can be moved alone. Notes are a folder and take their
    /// write-ahead file along.
    ///
    /// - Throws: ``HandoverError``: it cannot be read, or another program has it open.
    func settle(in data: DataDirectory) throws(HandoverError) {
        let path = path(in: data)
        do throws(FileFailure) {
            guard try PrivateFile.isThere(path) else { return }
            if self == .notes { _ = try PrivateFile.names(in: path) }
        } catch { throw .unreadable(error) }
        switch self {
        case .notes: return
        case .recovery: do { try MailboxStore(at: path).close() } catch { throw .recovery }
        case .signals: do { try SignalStore(at: path).close() } catch { throw .signals(code: error.code) }
        }
        // The last process to close a database empties its write-ahead file.
        guard HandoverGround.byteCount(of: path + "-wal") == 0 else { throw .inUse(path: path) }
    }

    /// Gives it to the successor, durably; on another disk a copy, which has the name only when all of it is there. What the
    /// successor has is never replaced: by then the old directory is the past.
    func move(from old: DataDirectory, to successor: DataDirectory, _ disks: HandoverDisks) throws(FileFailure) {
        let (source, target) = (path(in: old), path(in: successor))
        guard try !PrivateFile.isThere(target), try PrivateFile.isThere(source) else { return }
        let code = disks.rename(source, target)
        if code == EXDEV {
            try copy(source, to: target)
        } else if code != 0 {
            throw FileFailure(source, code: code)
        }
        for folder in [old.path, successor.path] { try PrivateFile.synchronize(folder: folder) }
    }

    private func copy(_ source: String, to target: String) throws(FileFailure) {
        let part = target + ".part"
        // What an interrupted copy left.
        try? FileManager.default.removeItem(atPath: part)
        if self == .notes {
            try PrivateFile.makeFolder(part)
            for name in try PrivateFile.names(in: source) {
                try PrivateFile.copy("\(source)/\(name)", to: "\(part)/\(name)")
            }
            try PrivateFile.synchronize(folder: part)
        } else {
            try PrivateFile.copy(source, to: part)
        }
        guard rename(part, target) == 0 else { throw FileFailure(target) }
    }
}

extension SignalStoreError {
    fileprivate var code: Int32 {
        switch self {
        case .busy(let code), .disk(let code), .failed(let code), .opening(.file(let code)),
            .opening(.database(let code)):
            code
        case .opening, .unavailable: 0
        }
    }
}
