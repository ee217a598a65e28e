// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

@testable import SignetServer

/// A folder that cannot be read is not taken for an empty one, and a file that cannot be asked for is not taken for missing.
@Suite struct UnreadableFolderTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)").path
        try PrivateFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test(arguments: InheritedPart.allCases) func aPartThatCannotBeAskedForDoesNotStayBehind(
        part: InheritedPart
    ) throws {
        try withFolder { folder in
            try PrivateFile.write([], to: folder + "/file")
            let old = DataDirectory(path: folder + "/file")
            let failure = FileFailure(part.path(in: old), code: ENOTDIR)
            #expect(throws: HandoverError.unreadable(failure)) { try part.settle(in: old) }
            #expect(throws: failure) { try part.move(from: old, to: DataDirectory(path: folder), .system) }
        }
    }

    @Test func notesThatCannotBeReadAreNotCopiedAsNone() throws {
        try withFolder { folder in
            let (old, new) = (DataDirectory(path: folder), DataDirectory(path: folder + "/new"))
            try PrivateFile.makeFolder(new.path)
            try FileManager.default.createSymbolicLink(atPath: old.notes, withDestinationPath: folder + "/nowhere")
            var disks = HandoverDisks.system
            disks.rename = { _, _ in EXDEV }
            #expect(throws: FileFailure(old.notes, code: ENOENT)) {
                try InheritedPart.notes.move(from: old, to: new, disks)
            }
            #expect(!FileManager.default.fileExists(atPath: new.notes))
        }
    }

    /// Nobody could follow the changes of keys any more.
    @Test func proofsThatCannotBeReadAreNotCopiedAsNone() throws {
        try withFolder { folder in
            #expect(throws: FileFailure(folder + "/nowhere", code: ENOENT)) {
                try PrivateFile.copyHistory(from: folder + "/nowhere", to: folder)
            }
        }
    }

    @Test func aCopyWhoseFilesCannotBeListedIsNotTakenForPrivate() throws {
        try withFolder { folder in
            #expect(throws: FileFailure(folder + "/nowhere", code: ENOENT)) {
                try BackupFiles.makePrivate(folder + "/nowhere")
            }
        }
    }
}
