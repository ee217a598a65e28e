// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import DurableStorage
import Foundation
import GRDB
import STOMP
import SignalBroker
import Synchronization
import Testing

/// What a broker reads from the disk, and from the file of an earlier version.
@Suite struct StoreTests {
    private static let old = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors/old/signals-1.sql")

    private func withFile(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(component: "signals-\(UUID().uuidString)").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        try body(path)
    }

    @Test func aFileFromBeforeAccountsIsMigrated() throws {
        try withFile { path in
            let statements = try String(contentsOf: Self.old, encoding: .utf8)
            try DatabaseQueue(path: path).write { try $0.execute(sql: statements) }
            for _ in 0..<2 {
                let store = try SignalStore(at: path)
                let (kept, calls) = try store.read()
                #expect(kept.map(\.account) == [0] && kept.map(\.number) == [1])
                #expect(calls.map(\.account) == [0])
                var scene = try Scene(kept: kept, calls: calls)
                let bob = try scene.connect(scene.bob)
                try scene.subscribe(.inbox(scene.bob.device), on: bob)
                let format = Array("signet-call-signal/v1\n".utf8)
                #expect(scene.frames(bob).map { Array($0.body.prefix(format.count)) } == [format])
                store.close()
            }
        }
    }

    @Test func open_refusesAFileOfANewerProgram() throws {
        try withFile { path in
            try SignalStore(at: path).close()
            try DatabaseQueue(path: path).write {
                try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9: from the future')")
            }
            #expect(throws: SignalStoreError.opening(.fromNewerVersion)) { try SignalStore(at: path) }
        }
    }

    @Test func aRecordFromBeforeAccountsIsReadBackAsItWas() throws {
        let call = [UInt8](repeating: 9, count: 16)
        let starter = try Actor(1).device.signingKey
        let old = call + starter + [1, 0, 0, 0, 1] + starter
        #expect(CallRecord(decoding: old)?.account == 0 && CallRecord(decoding: old)?.encoded == old)
        let zeros = [UInt8](repeating: 0, count: 8)
        #expect(CallRecord(decoding: old + zeros) == nil)
        let new = try #require(CallRecord(decoding: old + zeros.dropLast() + [5]))
        #expect(new.account == 5 && new.encoded == old + zeros.dropLast() + [5])
    }

    @Test func theHubKeepsNoSignalsOnAFullDisk() throws {
        try withFile { path in
            let store = try SignalStore(at: path)
            let isFull = Full()
            let hub = try SignalHub(
                remembering: store, reserve: DiskReserve { isFull.value.withLock { $0 } ? .some : .none },
                clock: { BrokerTime(uptime: 1_000_000, date: 1_700_000_000_000) })
            #expect(!hub.mayKeep)
            isFull.value.withLock { $0 = false }
            hub.tick()
            #expect(hub.mayKeep)
            store.close()
        }
    }
}

private final class Full: Sendable {
    let value = Mutex(true)
}
