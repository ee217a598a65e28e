// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
import Foundation
import KeyDirectory
public import LogEngine

/// A copy of all that a server needs to go on, made while it runs or while it does not.
///
/// The log comes first, then the databases: an entry is in the database before it is in the log, so that the copy's
/// database covers the copy's log, and the next start logs what only the database has. Keys and settings change in no
/// running server but by a renewal of its certificate.
///
/// Everything is copied into a folder beside the place, checked as ``DirectoryCheck`` does it, made durable, and then given its name.
/// If that is interrupted, a folder of the name with `.part-` and a number is left, which may be deleted.
public struct DirectoryBackup: Sendable {
    /// What is copied.
    public let data: DataDirectory

    /// A backup of a data directory.
    public init(of data: DataDirectory) { self.data = data }

    /// Makes the backup.
    ///
    /// - Parameters:
    ///   - target: a folder that is not there yet; its parent is.
    ///   - secrets: another such folder, which gets the keys and the secrets of logins: who finds the one without the other can
    ///     neither be the server nor guess passwords. nil: they are in `target`.
    /// - Returns: what the check of the copy found. Its faults are those of a few accounts, or of the certificate.
    /// - Throws: ``BackupError``. Nothing of those names is left.
    public func make(at target: String, secrets: String? = nil) async throws(BackupError) -> DirectoryCheck.Report {
        for path in [target, secrets].compactMap(\.self) where access(path, F_OK) == 0 { throw .exists(path: path) }
        for path in [target, secrets].compactMap(\.self) where isInside(path) { throw .inside(path: path) }
        try StoredDirectory.requireSetUp(data)
        let number = "\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let draft = "\(target).part-\(number)"
        let apart = secrets.map { "\($0).part-\(number)" }
        do throws(BackupError) {
            let report = try await fill(draft)
            try finish(draft, as: target, apart, as: secrets)
            return report
        } catch {
            for path in [draft, apart].compactMap(\.self) { try? FileManager.default.removeItem(atPath: path) }
            throw error
        }
    }

    /// The next backup would copy this one too.
    private func isInside(_ path: String) -> Bool {
        let parent = URL(filePath: path).deletingLastPathComponent().resolvingSymlinksInPath().path()
        return (parent + "/").hasPrefix(URL(filePath: data.path).resolvingSymlinksInPath().path() + "/")
    }

    private func fill(_ draft: String) async throws(BackupError) -> DirectoryCheck.Report {
        try backupFile { () throws(FileFailure) in
            try PrivateFile.makeFolder(draft)
            try BackupFiles.makeFolders(above: "records/log/x", in: draft)
        }
        do { try LogCopy(of: data.log).copy(to: draft + "/records/log") } catch { throw .log(error) }
        // A log's files are readable by all users, and are protected by the folder that they are in.
        try backupFile { () throws(FileFailure) in try BackupFiles.makePrivate(draft + "/records/log") }
        // SQLite's side files come and go, so the files are listed again after the databases were copied.
        for path in try existing() where BackupFiles.isDatabase(path) { try copyDatabase(path, to: draft) }
        for path in try existing() where !BackupFiles.isCopiedOtherwise(path) && !BackupFiles.staysBehind(path) {
            try backupFile { () throws(FileFailure) in
                try BackupFiles.makeFolders(above: path, in: draft)
                try PrivateFile.copy("\(data.path)/\(path)", to: "\(draft)/\(path)")
            }
        }
        let report = await DirectoryCheck(of: DataDirectory(path: draft)).run()
        guard report.faults.allSatisfy(\.isBesideTheData) else { throw .copyHasFaults(report.faults) }
        return report
    }

    private func existing() throws(BackupError) -> [String] {
        do { return try BackupFiles.paths(in: data.path) } catch { throw .file(error) }
    }

    private func copyDatabase(_ path: String, to draft: String) throws(BackupError) {
        try backupFile { () throws(FileFailure) in try BackupFiles.makeFolders(above: path, in: draft) }
        do { try DurableDatabase.copy("\(data.path)/\(path)", to: "\(draft)/\(path)") } catch {
            throw .database(path: path, error)
        }
    }

    /// Moves the secrets into their own folder, writes the lists, and then gives the folders their names: the secrets first, which are of
    /// no use alone.
    private func finish(
        _ draft: String, as target: String, _ apart: String?, as secrets: String?
    ) throws(BackupError) {
        try backupFile { () throws(FileFailure) in
            var folders = [(draft: draft, path: target)]
            if let apart, let secrets {
                try PrivateFile.makeFolder(apart)
                for path in try BackupFiles.paths(in: draft) where BackupFiles.isSecret(path) {
                    try BackupFiles.makeFolders(above: path, in: apart)
                    // The other folder may be on another disk.
                    try PrivateFile.copy("\(draft)/\(path)", to: "\(apart)/\(path)")
                    guard unlink("\(draft)/\(path)") == 0 else { throw FileFailure(path) }
                }
                folders.insert((apart, secrets), at: 0)
            }
            for folder in folders { try BackupFiles.seal(folder.draft) }
            try BackupFiles.rename(folders)
        }
    }
}

/// Why a backup was not made. Nothing of its name is left.
public enum BackupError: Error, Sendable {
    /// There is something of that name already.
    case exists(path: String)
    /// The new folder would be in the data directory.
    case inside(path: String)
    /// The data directory was not read.
    case stored(StoredDirectoryError)
    /// The log could not be copied.
    case log(LogOpenError)
    /// A database could not be copied.
    case database(path: String, DurableOpenError)
    /// A file was not read or written.
    case file(FileFailure)
    /// The directory is in engines that several machines share. Their own tools copy them.
    case sharedEngines
    /// The copy does not hold together, so neither does what was copied.
    case copyHasFaults([DataFault])
}

extension StoredDirectory {
    fileprivate static func requireSetUp(_ data: DataDirectory) throws(BackupError) {
        guard access(data.engines, F_OK) != 0 else { throw .sharedEngines }
        do {
            _ = try readProfile(data)
            // SQLite would make a sound copy of an empty file.
            try DataParts(data).requireAll()
        } catch { throw .stored(error) }
    }
}

/// Runs a step of a backup that works with files.
private func backupFile(_ body: () throws(FileFailure) -> Void) throws(BackupError) {
    do { try body() } catch { throw .file(error) }
}
