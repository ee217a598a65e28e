// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import KeyTransparency
import LogEngine
import SignetAPI
import SignetTesting
import Synchronization
import Testing

@testable import KeyDirectory

@Suite struct DurabilityTests {
    let place: Place

    init() throws { place = try Place() }

    @Test func theWritingConnectionSynchronizesToDisk() async throws {
        let directory = try await place.create()
        #expect(try directory.database.writerSynchronous() == 2)
        let inTransaction = try await directory.database.pool.write {
            try Int.fetchOne($0, sql: "PRAGMA synchronous")
        }
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
        let settings = try directory.database.pool.writeWithoutTransaction {
            (try Int.fetchOne($0, sql: "PRAGMA secure_delete"), try String.fetchOne($0, sql: "PRAGMA journal_mode"))
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
        let commits = CommitCounter()
        try directory.database.pool.writeWithoutTransaction { $0.add(transactionObserver: commits) }
        let before = files.waits
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        #expect(commits.count == 1)
        #expect(files.waits - before == 2)
        await directory.close()
    }

    @Test func aLookupAndASignedRequestDoNotWaitForTheDisk() async throws {
        await (try place.create()).close()
        let files = FaultyFileSystem(place.logFiles)
        let directory = try await place.open(over: files)
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let commits = CommitCounter()
        try directory.database.pool.writeWithoutTransaction { $0.add(transactionObserver: commits) }
        let before = files.waits
        _ = try await place.verifiedLookup(alice.handle, at: directory)
        _ = try await alice.caller(.listFriends, at: directory)
        #expect(commits.count == 0)
        #expect(files.waits == before)
        await directory.close()
    }
}

extension FaultyFileSystem {
    /// How often the log has waited for the disk.
    fileprivate var waits: Int {
        calls.count { [.synchronizeData, .synchronize, .synchronizeDirectory].contains($0.operation) }
    }
}

/// Counts the transactions that changed something.
private final class CommitCounter: TransactionObserver {
    private let commits = Mutex(0)

    var count: Int { commits.withLock { $0 } }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ database: Database) { commits.withLock { $0 += 1 } }
    func databaseDidRollback(_ database: Database) {}
}
