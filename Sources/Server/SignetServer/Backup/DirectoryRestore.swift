// SPDX-License-Identifier: Apache-2.0

import Foundation
import TransparencyLog

/// Makes a data directory of a backup.
///
/// Everything is copied into a folder beside the place, checked there, made durable, and then given its name. The new directory
/// carries a mark: the server that starts in it wants to hear that nothing later was published, see ``RollbackGuard``.
public struct DirectoryRestore: Sendable {
    /// The backup.
    public let backup: String
    /// The folder with the secrets, where they were kept apart.
    public let secrets: String?

    /// A restoration of a backup.
    public init(of backup: String, secrets: String? = nil) {
        self.backup = backup
        self.secrets = secrets
    }

    /// Makes the data directory.
    ///
    /// - Returns: what the check of the copy found. Its faults are those of a few accounts alone.
    /// - Throws: ``RestoreError``. Nothing of the name is left, and what was there is as it was.
    public func make(_ data: DataDirectory) async throws(RestoreError) -> DirectoryCheck.Report {
        guard access(data.path, F_OK) != 0 else { throw .exists }
        guard access("\(backup)/\(BackupFiles.list)", F_OK) == 0 else { throw .noBackup }
        let draft = DataDirectory(path: "\(data.path).part-\(getpid())-\(UInt32.random(in: 0 ... .max))")
        do throws(RestoreError) {
            let report = try await fill(draft)
            do { try BackupFiles.rename([(draft.path, data.path)]) } catch { throw .file(error) }
            return report
        } catch {
            try? FileManager.default.removeItem(atPath: draft.path)
            throw error
        }
    }

    private func fill(_ draft: DataDirectory) async throws(RestoreError) -> DirectoryCheck.Report {
        try restoreFile { () throws(FileFailure) in
            try PrivateFile.makeFolder(draft.path)
            try copy(backup, to: draft.path)
        }
        try checkList(of: backup, in: draft)
        guard secrets != nil || access(draft.keys, F_OK) == 0 else { throw .secretsApart }
        if let secrets {
            try restoreFile { () throws(FileFailure) in try copy(secrets, to: draft.path) }
            try checkList(of: secrets, in: draft)
        }
        // From here on it is a data directory, which has to have its keys.
        let report = await DirectoryCheck(of: draft).run()
        guard report.faults.allSatisfy(\.isBesideTheData), let signed = report.signed else {
            throw .faults(report.faults)
        }
        try restoreFile { () throws(FileFailure) in
            try PrivateFile.write("\(signed.size)\n".utf8, to: draft.restoredMark)
            try BackupFiles.synchronizeFolders(draft.path)
        }
        return report
    }

    private func copy(_ source: String, to draft: String) throws(FileFailure) {
        for path in try BackupFiles.paths(in: source) where path != BackupFiles.list {
            try BackupFiles.makeFolders(above: path, in: draft)
            try PrivateFile.copy("\(source)/\(path)", to: "\(draft)/\(path)")
        }
    }

    /// Compares the copies with what the list of their source says.
    private func checkList(of source: String, in draft: DataDirectory) throws(RestoreError) {
        let faults: [DataFault]?
        do { faults = try BackupFiles.faults(of: source, in: draft.path) } catch { throw .file(error) }
        guard let faults else { throw .noBackup }
        guard faults.isEmpty else { throw .faults(faults) }
    }
}

/// Why a backup was not restored. Nothing of the new name is left.
public enum RestoreError: Error, Sendable {
    /// There is something of that name already; a server's data is never overwritten.
    case exists
    /// There is no backup: it has no list of its files, which is written last.
    case noBackup
    /// Its keys are kept apart, and were not given.
    case secretsApart
    /// The backup is damaged.
    case faults([DataFault])
    /// A file was not read or written.
    case file(FileFailure)
}

/// Runs a step of restoring that works with files.
private func restoreFile(_ body: () throws(FileFailure) -> Void) throws(RestoreError) {
    do { try body() } catch { throw .file(error) }
}
