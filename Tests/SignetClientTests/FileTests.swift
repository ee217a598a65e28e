// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetAPI
import SignetClient
import Testing

@Suite struct FileTests {
    @Test func aNewFileIsForItsOwnerOnly() async throws {
        try await withTemporaryFolder { folder in
            let file = DurableFile(path: folder + "/file")
            try file.replace(with: [1])
            #expect(try permissions(file.path) == 0o600)
            #expect(try file.read(maximumByteCount: 1, isSecret: true) == [1])
        }
    }

    @Test func aReplacementLeavesNothingElseBehind() async throws {
        try await withTemporaryFolder { folder in
            let file = DurableFile(path: folder + "/file")
            try file.replace(with: [1])
            try file.replace(with: Array(repeating: 2, count: 200_000))
            #expect(try file.read(maximumByteCount: 200_000) == Array(repeating: 2, count: 200_000))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test(arguments: DurableFile.Step.allCases, [false, true])
    func aFailedReplacementLeavesTheOldOrTheNewFile(_ faulty: DurableFile.Step, isDone: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/file"
            try DurableFile(path: path).replace(with: [1])
            let file = DurableFile(path: path) { step, done throws(FileFault) in
                if step == faulty && done == isDone { throw .noSpace }
            }
            #expect(throws: FileFault.noSpace) { try file.replace(with: [2]) }
            let isInPlace = faulty == .synchronizeFolder || (faulty == .putInPlace && isDone)
            #expect(try DurableFile(path: path).read(maximumByteCount: 9) == (isInPlace ? [2] : [1]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
            try DurableFile(path: path).replace(with: [3])
            #expect(try DurableFile(path: path).read(maximumByteCount: 9) == [3])
        }
    }

    @Test func create_neverReplacesAFile() async throws {
        try await withTemporaryFolder { folder in
            let file = DurableFile(path: folder + "/file")
            try file.create([1])
            #expect(throws: FileFault.exists) { try file.create([2]) }
            #expect(try file.read(maximumByteCount: 9) == [1])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test func aFileThatCannotBeReadIsRefusedWithItsReason() async throws {
        try await withTemporaryFolder { folder in
            let file = DurableFile(path: folder + "/file")
            #expect(throws: FileFault.notFound) { try file.read(maximumByteCount: 1) }
            #expect(throws: FileFault.isDirectory) { try DurableFile(path: folder).read(maximumByteCount: 1) }
            try file.replace(with: [1, 2])
            #expect(throws: FileFault.tooLong(limit: 1)) { try file.read(maximumByteCount: 1) }
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(throws: FileFault.openToOthers) { try file.read(maximumByteCount: 2, isSecret: true) }
            #expect(throws: FileFault.notADirectory) {
                try DurableFile(path: file.path + "/x").replace(with: [1])
            }
        }
    }

    @Test func aHomeFolderIsForItsOwnerOnly() async throws {
        try await withTemporaryFolder { folder in
            let home = HomeFolder(path: folder + "/a/b/home")
            try home.prepare()
            try home.prepare()
            #expect(try permissions(home.path) == 0o700)
            try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: home.path)
            #expect(throws: FileFault.openToOthers) { try home.prepare() }
            #expect(throws: HomeError.file(.notFound)) { try home.profile() }
            try home.directory.replace(with: [1])
            #expect(throws: HomeError.profile(.unknownFormat)) { try home.profile() }
        }
    }
}
