// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeyTransparency
import SignetClient
import SignetTesting
import Testing
import TransparencyLog

@Suite struct StoreTests {
    @Test(arguments: StoreRule.allCases)
    func theSQLiteStoreKeepsTheRule(_ rule: StoreRule) async throws {
        try await withTemporaryFolder { folder in
            try await rule.check(try SQLiteStore.open(at: folder + "/store"))
        }
    }

    @Test(arguments: StoreRule.allCases)
    func theStoreInMemoryKeepsTheRule(_ rule: StoreRule) async throws {
        try await rule.check(InMemoryStore())
    }

    @Test func allRecordsAreThereAfterReopening() async throws {
        try await withTemporaryFolder { folder in
            let (peer, view) = (try StoreSample.peer("alice@example.org"), try StoreSample.view(size: 3))
            let evidence = LogContradiction(uncheckedFault: .rollback, known: view, received: view)
            let own = OwnRecord(pending: [1], highestDeviceNumber: 4)
            let store = try SQLiteStore.open(at: folder + "/store")
            #expect(try await store.pin(peer, replacing: nil))
            #expect(try await store.advance(to: view, from: nil))
            #expect(try await store.setOwnRecord(own, replacing: .initial))
            try await store.keep(evidence, at: 1)
            try await store.remember(Person(handle: peer.handle, since: 2))
            try store.close()
            let again = try SQLiteStore.open(at: folder + "/store")
            #expect(try await again.pinnedPeers() == [peer])
            #expect(try await again.logView(origin: view.origin.bytes) == view)
            #expect(try await again.ownRecord() == own)
            #expect(try await again.evidence() == [evidence])
            #expect(try await again.people() == [Person(handle: peer.handle, since: 2)])
        }
    }

    @Test func aStoreOfVersion1IsBroughtUpToDate() async throws {
        try await withTemporaryFolder { folder in
            let (peer, view) = (try StoreSample.peer("alice@example.org"), try StoreSample.view(size: 3))
            try FirstStore.write(to: folder + "/store", peer, view)
            for _ in 0..<2 {
                let store = try SQLiteStore.open(at: folder + "/store")
                let pinned = try #require(try await store.pinnedPeer(peer.handle))
                #expect(pinned == peer.extended(to: LabelHead(.empty)))
                #expect(try await store.logView(origin: view.origin.bytes) == view)
                let evidence = LogContradiction(uncheckedFault: .fork, known: view, received: view)
                #expect(try await store.evidence() == [evidence])
                try store.close()
            }
        }
    }

    /// A dump of a store of version 2: alice, who has added bob.
    @Test func aStoreOfVersion2IsBroughtUpToDate() async throws {
        try await withTemporaryFolder { folder in
            let vectors = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Vectors")
            let old = try Data(contentsOf: vectors.appending(path: "old/client-store-2.sql"))
            try FirstStore.write(to: folder + "/store", dump: String(decoding: old, as: UTF8.self))
            for _ in 0..<2 {
                let store = try SQLiteStore.open(at: folder + "/store")
                #expect(try await store.people().map(\.handle.description) == ["bob@example.org"])
                #expect(try await store.pinnedPeers().map(\.version) == [1, 1])
                #expect(try await store.ownRecord().highestDeviceNumber == 1)
                #expect(try await store.comparisons().isEmpty)
                #expect(try await store.metForks().isEmpty)
                #expect(try await store.metFriends().isEmpty)
                #expect(try await store.pendingLink() == nil)
                #expect(try await store.lastCheck() == nil)
                #expect(try await store.lastLook(at: Handle(typed: Array("bob@example.org".utf8))) == nil)
                try store.close()
            }
        }
    }

    /// A store of version 3 differs from one of now by two tables and a column.
    @Test func aStoreOfVersion3IsBroughtUpToDate() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store"
            let bob = try Handle(typed: Array("bob@example.org".utf8))
            let comparison = Comparison(
                handle: bob, identityKey: [UInt8](repeating: 2, count: 33), kind: .number, time: 1, metOn: 5)
            let made = try SQLiteStore.open(at: path)
            try await made.keep(comparison)
            try made.close()
            let queue = try DatabaseQueue(path: path)
            try await queue.write { db in
                try db.execute(
                    sql: """
                        DROP TABLE meeting; DROP TABLE kept_submission; ALTER TABLE own_record DROP COLUMN signature;
                        PRAGMA user_version = 3
                        """)
            }
            try queue.close()
            for _ in 0..<2 {
                let store = try SQLiteStore.open(at: path)
                #expect(try await store.comparisons() == [comparison])
                #expect(try await store.meetingRecord(of: bob) == nil)
                try store.close()
            }
        }
    }

    /// A program of before must not read the new kind of comparison as damage.
    @Test func aStoreWithMeetingsSaysThatItIsNewer() async throws {
        try await withTemporaryFolder { folder in
            try SQLiteStore.open(at: folder + "/store").close()
            let queue = try DatabaseQueue(path: folder + "/store")
            let version = try await queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
            #expect(version == 5)
            try queue.close()
        }
    }

    @Test func everyCommitIsSynchronizedAndTheFileIsForItsOwnerOnly() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore.open(at: folder + "/store")
            #expect(try store.pragma("synchronous") == 2)
            #expect(try permissions(folder + "/store") == 0o600)
        }
    }

    @Test func twoProcessesSeeEachOthersChanges() async throws {
        try await withTemporaryFolder { folder in
            let (first, second) = (
                try SQLiteStore.open(at: folder + "/store"), try SQLiteStore.open(at: folder + "/store")
            )
            let peer = try StoreSample.peer("alice@example.org")
            #expect(try await first.pin(peer, replacing: nil))
            #expect(try await second.pinnedPeer(peer.handle) == peer)
            #expect(try await !second.pin(StoreSample.peer("alice@example.org", version: 2), replacing: nil))
        }
    }

    @Test func aFileThatIsNoStoreIsRefusedAndNotChanged() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store"
            let garbage = Data(repeating: 0x41, count: 5000)
            try garbage.write(to: URL(fileURLWithPath: path))
            #expect(throws: StoreError.damaged) { try SQLiteStore.open(at: path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == garbage)
            #expect(throws: StoreError.file(.isDirectory)) { try SQLiteStore.open(at: folder) }
            #expect(throws: StoreError.file(.notFound)) { try SQLiteStore.open(at: folder + "/none/store") }
        }
    }

    @Test func aDamagedPageIsNoticedWhenItIsRead() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store"
            let store = try SQLiteStore.open(at: path)
            #expect(try await store.pin(StoreSample.peer("alice@example.org"), replacing: nil))
            try store.close()
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            bytes.replaceSubrange(4096..<bytes.count, with: Data(repeating: 0x55, count: bytes.count - 4096))
            try bytes.write(to: URL(fileURLWithPath: path))
            let again = try SQLiteStore.open(at: path)
            await #expect(throws: StoreError.damaged) { try await again.pinnedPeers() }
        }
    }

    @Test(arguments: [InMemoryStore.Fault.beforeWriting, .afterWriting])
    func aFailedWriteHasItsWholeEffectOrNone(_ fault: InMemoryStore.Fault) async throws {
        let store = InMemoryStore()
        let peer = try StoreSample.peer("alice@example.org")
        await store.failNextWrite(fault)
        await #expect(throws: StoreError.noSpace) { try await store.pin(peer, replacing: nil) }
        #expect(try await (store.pinnedPeer(peer.handle) != nil) == (fault == .afterWriting))
    }
}
