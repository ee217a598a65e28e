// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

@testable import SignetServer

/// Root may make a backup of the directory of the server's user, who can replace every name in there at any time.
struct BackupFilesTests {
    private let isRoot = geteuid() == 0
    private let otherUser: uid_t = 65_534

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path())
    }

    /// Whoever gives it its owner by its name later can be led to any other file.
    @Test func aFileHasItsOwnerBeforeItHasItsName() throws {
        try withFolder { folder in
            let (path, draft) = ("\(folder)/file", "\(folder)/file.new")
            // In the place of the file, a folder cannot be replaced by one.
            try PrivateFile.makeFolder(path)
            #expect(throws: isRoot ? FileFailure(path, code: EISDIR) : FileFailure(draft, code: EPERM)) {
                try PrivateFile.replace(path, with: "next".utf8, owner: otherUser)
            }
            if isRoot { #expect(FileStatus(ofEntry: draft)?.owner == otherUser) }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func theTimeOfABackupOfRootIsTheServersUsers() throws {
        try withFolder { folder in
            try FileManager.default.setAttributes([.ownerAccountID: otherUser], ofItemAtPath: folder)
            let (path, secret) = ("\(folder)/backup.time", "\(folder)/secret")
            try PrivateFile.write("root's".utf8, to: secret)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: secret)
            try BackupMark(of: DataDirectory(path: folder)).write(1_700_000_000)
            let status = try #require(FileStatus(ofEntry: path))
            #expect(status.isFile && status.owner == otherUser)
            #expect(FileStatus(of: secret)?.owner == 0)
        }
    }

    @Test func theRightsOfWhatALinkLeadsToStayAsTheyAre() throws {
        try withFolder { folder in
            let (copy, other) = ("\(folder)/copy", "\(folder)/other")
            try PrivateFile.makeFolder(copy)
            for path in [other, "\(copy)/file"] {
                try PrivateFile.write([], to: path)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            }
            try BackupFiles.makePrivate(copy)
            #expect(FileStatus(of: "\(copy)/file")?.permissions == 0o600)
            try FileManager.default.createSymbolicLink(atPath: "\(copy)/link", withDestinationPath: other)
            #expect(throws: FileFailure("\(copy)/link", code: ELOOP)) { try BackupFiles.makePrivate(copy) }
            #expect(FileStatus(of: other)?.permissions == 0o644)
        }
    }

    /// The folder of the secrets has its name already when that of the rest turns out to be taken.
    @Test func foldersGetTheirNamesTogetherOrNotAtAll() throws {
        let (files, folder) = (FileManager.default, NSTemporaryDirectory() + "signet-\(UUID().uuidString)")
        defer { try? files.removeItem(atPath: folder) }
        for name in ["secrets.part", "backup.part", "backup"] {
            try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        #expect(throws: FileFailure("\(folder)/backup", code: EEXIST)) {
            try BackupFiles.rename([
                ("\(folder)/secrets.part", "\(folder)/secrets"), ("\(folder)/backup.part", "\(folder)/backup"),
            ])
        }
        #expect(
            try files.contentsOfDirectory(atPath: folder).sorted() == ["backup", "backup.part", "secrets.part"])
        try files.removeItem(atPath: "\(folder)/backup")
        try BackupFiles.rename([
            ("\(folder)/secrets.part", "\(folder)/secrets"), ("\(folder)/backup.part", "\(folder)/backup"),
        ])
        #expect(try files.contentsOfDirectory(atPath: folder).sorted() == ["backup", "secrets"])
    }

    /// Else the backup stayed under its name, and its keys went with the draft that they were in again.
    @Test func aFolderWhoseNameIsNotDurableIsADraftAgain() throws {
        let (files, folder) = (FileManager.default, NSTemporaryDirectory() + "signet-\(UUID().uuidString)")
        defer { try? files.removeItem(atPath: folder) }
        for name in ["secrets.part", "backup.part"] {
            try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        #expect(throws: FileFailure(folder, code: EIO)) {
            try BackupFiles.rename([
                ("\(folder)/secrets.part", "\(folder)/secrets"), ("\(folder)/backup.part", "\(folder)/backup"),
            ]) { _ throws(FileFailure) in
                if files.fileExists(atPath: "\(folder)/backup") { throw FileFailure(folder, code: EIO) }
            }
        }
        #expect(try files.contentsOfDirectory(atPath: folder).sorted() == ["backup.part", "secrets.part"])
    }
}
