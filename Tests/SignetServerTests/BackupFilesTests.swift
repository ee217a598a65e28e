// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

@testable import SignetServer

struct BackupFilesTests {
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
}
