// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import Testing
import TransparencyLog

@testable import SignetServer

/// What is built for a directory of one machine alone refuses one in shared engines, before it changes anything. Changes of keys and
/// witnesses are not among it: `SharedRotationTests`.
struct OneMachineTests {
    /// Every file below a folder, with its bytes.
    private static func files(_ data: DataDirectory) throws -> [String: Data] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: data.path)
        return Dictionary(
            uniqueKeysWithValues: paths.compactMap { path in
                FileManager.default.contents(atPath: "\(data.path)/\(path)").map { (path, $0) }
            })
    }

    /// A directory whose file of engines says that it was moved; whether anybody answers there does not matter.
    private static func refuses(
        _ body: @escaping @Sendable (DataDirectory, DirectoryKeyRotation) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            let rotation = DirectoryKeyRotation(data, logger: silent)
            let engines = "database host=/nonexistent\nobjects http://127.0.0.1:9\nbucket none\n"
            try Data(engines.utf8).write(to: URL(fileURLWithPath: data.engines))
            let before = try files(data)
            await #expect {
                try await body(data, rotation)
            } throws: { error in
                if case KeyRotationError.sharedEngines = error { return true }
                if case BackupError.sharedEngines = error { return true }
                return false
            }
            #expect(try files(data) == before)
        }
    }

    @Test func aLogDoesNotEnd() async throws {
        try await Self.refuses { data, rotation in
            let successor = DataDirectory(path: data.path + "-next")
            defer { try? FileManager.default.removeItem(atPath: successor.path) }
            let name = try KeyName(Array("example.org/signet2".utf8))
            do {
                _ = try await rotation.handOver(to: successor, origin: name, witnesses: nil, at: TestPerson.now)
            } catch {
                #expect(!FileManager.default.fileExists(atPath: successor.path + ".draft"))
                throw error
            }
        }
    }

    @Test func aBackupIsNotMade() async throws {
        try await Self.refuses { data, _ in
            let target = data.path + "-backup"
            defer { try? FileManager.default.removeItem(atPath: target) }
            _ = try await DirectoryBackup(of: data).make(at: target)
        }
    }
}
