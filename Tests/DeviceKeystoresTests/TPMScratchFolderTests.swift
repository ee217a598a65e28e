// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import SignetClient
import Testing

@testable import DeviceKeystores

/// The folder in which tpm2-tools find a PIN and leave a secret.
@Suite struct TPMScratchFolderTests {
    /// What a killed program leaves is the folder without its lock.
    @Test func theFolderOfAKilledProgramIsRemoved() throws {
        let folder = try Folder()
        let left = folder["signet-tpm-left"]
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data("a PIN".utf8).write(to: URL(filePath: left + "/pin"))
        let desk = try TPMScratchFolder(in: folder.path)
        #expect(!FileManager.default.fileExists(atPath: left))
        withExtendedLifetime(desk) {}
    }

    @Test func aFolderInUseStays_andIsRemovedAfterUse() throws {
        let folder = try Folder()
        do {
            let first = try TPMScratchFolder(in: folder.path)
            try first.write(SecretBytes(copying: Array("a PIN".utf8)), to: "pin")
            let second = try TPMScratchFolder(in: folder.path)
            #expect(try first.read("pin") == Array("a PIN".utf8))
            withExtendedLifetime((first, second)) {}
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func otherFoldersAreNotRemoved() throws {
        let folder = try Folder()
        for other in ["signet-other", "tpm-left"] {
            try FileManager.default.createDirectory(atPath: folder[other], withIntermediateDirectories: false)
        }
        withExtendedLifetime(try TPMScratchFolder(in: folder.path)) {}
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }
}
