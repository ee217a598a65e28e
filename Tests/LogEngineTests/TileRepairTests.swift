// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogEngine
import SignetTesting
import Testing
import TransparencyLog

@Suite struct TileRepairTests {
    private func disk(_ fixture: LogFixture) async throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let log = try await fixture.newLog(on: disk)
        for start in stride(from: 0, to: 800, by: 100) {
            _ = try await log.append(LogFixture.entries(start..<start + 100))
        }
        await log.close()
        return disk
    }

    @Test func deletedDamagedAndShortTileFilesAreRebuilt() async throws {
        let fixture = LogFixture()
        let disk = try await disk(fixture)
        let tiles = disk.paths.filter { $0.hasPrefix("tile/") }
        #expect(tiles.count == 6)
        for path in tiles {
            let original = try #require(disk[path])
            var changed = original
            changed[7] ^= 1
            for damage in [nil, changed, [UInt8](original.dropLast()), original + [0], []] {
                disk[path] = damage
                await (try await fixture.log(on: disk)).close()
                #expect(disk[path] == original, "\(path)")
            }
        }
        for path in tiles { disk[path] = nil }
        await (try await fixture.log(on: disk)).close()
        #expect(disk.paths.filter { $0.hasPrefix("tile/") } == tiles)
    }

    @Test func intactTileFilesAreNotWrittenAgain() async throws {
        let fixture = LogFixture()
        let storage = FaultyFileSystem(try await disk(fixture))
        await (try await fixture.log(on: storage)).close()
        let written = storage.calls.filter { $0.operation == .write && [.tile, .bundle].contains($0.file) }
        #expect(written == [])
    }
}

/// The same engine on a real directory.
@Suite struct LocalDiskTests {
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("signet-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    @Test func aReopenedLogHasItsEntriesAndTileFiles() async throws {
        try await withDirectory { directory in
            let fixture = LogFixture()
            try await DurableLog.create(at: directory, try fixture.configuration())
            for round in 0..<4 {
                let log = try await DurableLog.open(at: directory, try fixture.configuration())
                let range = 250 * round..<250 * (round + 1)
                #expect(
                    try await log.append(LogFixture.entries(range)) == UInt64(
                        range.lowerBound)..<UInt64(range.upperBound))
                for index in stride(from: 0, to: range.upperBound, by: 83) {
                    _ = try await log.awaitPublished(size: UInt64(range.upperBound))
                    #expect(try await log.entry(at: UInt64(index)) == LogFixture.entries(index..<index + 1)[0])
                }
                await log.close()
            }
            let tile = FileManager.default.contents(atPath: directory + "/tile/0/002").map { [UInt8]($0) }
            #expect(tile == LogFixture.entries(512..<768).flatMap { Reference.leaf($0) })
        }
    }

    @Test func open_refusesADirectoryThatIsOpen() async throws {
        try await withDirectory { directory in
            let fixture = LogFixture()
            try await DurableLog.create(at: directory, try fixture.configuration())
            let log = try await DurableLog.open(at: directory, try fixture.configuration())
            let second = try await LogOpenError.met {
                await (try await DurableLog.open(at: directory, try fixture.configuration())).close()
            }
            #expect(second == .inUse && second?.remedy == .stopOtherProcess)
            await log.close()
        }
    }

    @Test func anAbsentDirectoryAndAFileInItsPlaceAreReportedAsMissing() async throws {
        try await withDirectory { directory in
            let configuration = try LogFixture().configuration()
            #expect(FileManager.default.createFile(atPath: directory + "/file", contents: nil))
            for path in [directory + "/absent", directory + "/file"] {
                let creating = try await LogOpenError.met { try await DurableLog.create(at: path, configuration) }
                let opening = try await LogOpenError.met { _ = try await DurableLog.open(at: path, configuration) }
                #expect(creating == .directoryMissing && opening == .directoryMissing)
            }
        }
    }
}
