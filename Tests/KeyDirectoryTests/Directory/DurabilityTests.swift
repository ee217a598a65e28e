// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import EngineLab
import Foundation
import GRDB
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import SignetTesting
import Testing

@testable import KeyDirectory

/// What waits for the disk, with an SQLite file.
@Suite struct DurabilityTests {
    let place: Place

    init() throws { place = try Place(on: .sqlite) }

    /// How many transactions the write-ahead file has: its last frame of each has the size of the database after it, and
    /// the frames that count have the salt of the file.
    /// https://www.sqlite.org/fileformat2.html#walformat
    private func commits() throws -> Int {
        let file = [UInt8](try Data(contentsOf: URL(filePath: DirectoryPaths(root: place.path).database + "-wal")))
        func number(_ place: Int) -> Int { file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard file.count > 32 else { return 0 }
        let (salt, frame) = (file[16..<24], 24 + number(8))
        return stride(from: 32, to: file.count, by: frame).count { place in
            file[place + 8..<place + 16].elementsEqual(salt) && number(place + 4) != 0
        }
    }

    @Test func theWritingConnectionSynchronizesToDisk() async throws {
        let directory = try await place.create()
        #expect(try directory.database.writerSynchronous() == 2)
        let inTransaction = try await directory.database.write { try $0.row("PRAGMA synchronous")?.integer(0) }
        #expect(inTransaction == 2)
        await directory.close()
        let again = try await place.open()
        #expect(try again.database.writerSynchronous() == 2)
        await again.close()
    }

    /// If this fails, the setting after opening is no longer needed.
    @Test func aDatabasePoolResetsSynchronousFullOnItsOwn() async throws {
        await (try place.create()).close()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let pool = try DatabasePool(path: DirectoryPaths(root: place.path).database, configuration: configuration)
        let synchronous = try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        #expect(synchronous == 1)
    }

    @Test func deletedRowsAreOverwrittenAndTheWriteAheadFileIsUsed() async throws {
        let directory = try await place.create()
        let settings = try await directory.database.write {
            (try $0.row("PRAGMA secure_delete")?.integer(0), try $0.row("PRAGMA journal_mode")?.text(0))
        }
        #expect(settings.0 == 1)
        #expect(settings.1 == "wal")
        await directory.close()
    }

    @Test func onlyTheServersUserCanReadTheDatabase() async throws {
        let directory = try await place.create()
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let path = DirectoryPaths(root: place.path).database
        for file in [path, path + "-wal", path + "-shm"] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        await directory.close()
    }

    @Test func anUpdateWaitsForTheDiskThreeTimes() async throws {
        await (try place.create()).close()
        let files = FaultyFileSystem(place.logFiles)
        let directory = try await place.open(over: files)
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let before = (files.waits, try commits())
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        #expect(try commits() - before.1 == 1)
        #expect(files.waits - before.0 == 2)
        await directory.close()
    }

    @Test func aLookupAndASignedRequestDoNotWaitForTheDisk() async throws {
        await (try place.create()).close()
        let files = FaultyFileSystem(place.logFiles)
        let directory = try await place.open(over: files)
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let before = (files.waits, try commits())
        _ = try await place.verifiedLookup(alice.handle, at: directory)
        _ = try await alice.caller(.listFriends, at: directory)
        #expect(try commits() == before.1)
        #expect(files.waits == before.0)
        await directory.close()
    }
}

extension FaultyFileSystem {
    /// How often the log has waited for the disk.
    fileprivate var waits: Int {
        calls.count { [.synchronizeData, .synchronize, .synchronizeDirectory].contains($0.operation) }
    }
}
