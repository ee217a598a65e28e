// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import LogWitness
import Logging
import Testing
import TransparencyLog

/// A witness with its memory on a real disk, without a server.
struct WitnessMemoryTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    private func open(_ folder: String, perDay: UInt64? = nil, uptime: UInt64 = 0) throws -> Witness {
        let logs = try WitnessedLogs([.init(key: log.key, requestsPerDay: perDay)])
        return try Witness(
            WitnessRules(logs: logs, signer: witnessSigner()), memory: folder + "/memory",
            clock: .init(time: { 1_800_000_000 }, uptime: { uptime }), logger: Logger(label: "test"))
    }

    private func create(_ folder: String) throws {
        try Witness.create(memory: folder + "/memory", for: witnessSigner().verifierKey)
    }

    private func outcome(_ witness: Witness, _ body: [UInt8]) async -> WitnessError? {
        do throws(WitnessError) { _ = try await witness.cosign(body) } catch { return error }
        return nil
    }

    @Test func aRestartedWitnessKnowsTheLastCosignedCheckpoint() async throws {
        try await withFolder { folder in
            try create(folder)
            let first = try open(folder)
            _ = try await first.cosign(log.request(from: 0, to: 5))
            let line = try await first.cosign(log.request(from: 5, to: 9))
            let hash = Array(log.key.name.bytes.sha256)
            let note = try #require(try await first.checkpoint(originHash: hash))
            first.close()
            let second = try open(folder)
            #expect(try await second.checkpoint(originHash: hash) == note)
            #expect(try SignedNote(decoding: note).signatures.map(\.encoded).last == line)
            #expect(
                await outcome(second, try log.request(from: 5, to: 9)) == .refused(.otherSize(latest: 9)))
            #expect(
                await outcome(second, try log.request(from: 9, to: 20, branch: 1))
                    == .refused(.inconsistent(.oldRootMismatch)))
            #expect(await outcome(second, try log.request(from: 9, to: 20)) == nil)
        }
    }

    @Test func aLogThatWasNeverCosignedHasNoCheckpoint() async throws {
        try await withFolder { folder in
            try create(folder)
            let witness = try open(folder)
            let hash = log.key.name.bytes.sha256
            #expect(try await witness.checkpoint(originHash: hash) == nil)
            #expect(await outcome(witness, try log.request(from: 3, to: 5)) == .refused(.otherSize(latest: 0)))
            #expect(try await witness.checkpoint(originHash: hash) == nil)
        }
    }

    @Test func theEmptyTreeAndAnUnchangedTreeAreCosignedAgain() async throws {
        try await withFolder { folder in
            try create(folder)
            let witness = try open(folder)
            for (old, size) in [(0, 0), (0, 0), (0, 4), (4, 4), (4, 4)] as [(UInt64, UInt64)] {
                #expect(await outcome(witness, try log.request(from: old, to: size)) == nil)
            }
        }
    }

    @Test func concurrentRequestsOfTwoHistoriesAreCosignedForOne() async throws {
        for round in 0..<5 {
            try await withFolder { folder in
                try create(folder)
                // Two witnesses with one memory stand for two processes started by mistake.
                let witnesses = [try open(folder), try open(folder)]
                let cosigned = CosignedHeads()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<12 {
                        group.addTask {
                            try await climb(witnesses[lane % 2], branch: lane / 2 % 2, cosigned)
                        }
                    }
                    try await group.waitForAll()
                }
                let heads = cosigned.all
                #expect(try log.areOneHistory(heads), "round \(round)")
                #expect(heads.contains { $0.size > TestLog.fork })
            }
        }
    }

    /// Sends larger and larger checkpoints of a branch, from the size that the witness names.
    private func climb(_ witness: Witness, branch: Int, _ cosigned: CosignedHeads) async throws {
        var old: UInt64 = 0
        for size in stride(from: UInt64(2), through: 40, by: 3) {
            switch await outcome(witness, try log.request(from: min(old, size), to: size, branch: branch)) {
            case nil:
                cosigned.insert(try log.head(size, branch: branch))
                old = size
            case .refused(.otherSize(let latest)): old = latest
            default: continue
            }
        }
    }

    @Test func aLogBeyondItsRateIsRefusedUnlessItRepeatsACheckpoint() async throws {
        try await withFolder { folder in
            try create(folder)
            let witness = try open(folder, perDay: 24, uptime: 5)
            for size in 1...10 as ClosedRange<UInt64> {
                #expect(await outcome(witness, try log.request(from: size - 1, to: size)) == nil)
            }
            #expect(
                await outcome(witness, try log.request(from: 10, to: 11))
                    == .tooManyRequests(nanoseconds: 3_600_000_000_000))
            #expect(await outcome(witness, try log.request(from: 10, to: 10)) == nil)
            witness.close()
            let later = try open(folder, perDay: 24, uptime: 3_600_000_000_005)
            #expect(await outcome(later, try log.request(from: 10, to: 11)) == nil)
        }
    }

    @Test func create_refusesAnExistingMemory_andOpenAMissingOne() async throws {
        try await withFolder { folder in
            #expect(throws: WitnessStoreError.opening(.missing)) { try open(folder) }
            try create(folder)
            #expect(throws: WitnessStoreError.opening(.exists)) { try create(folder) }
        }
    }

    /// An older memory names no migrations; one of a newer program names more than this program knows.
    @Test func open_acceptsAnOlderMemoryAndRefusesANewerOne() async throws {
        try await withFolder { folder in
            try create(folder)
            let witness = try open(folder)
            #expect(await outcome(witness, try log.request(from: 0, to: 4)) == nil)
            witness.close()
            func change(_ sql: String) async throws {
                let queue = try DurableDatabase.queue(at: folder + "/memory", nil, origin: .kept)
                try await queue.write { try $0.execute(sql: sql) }
                try queue.close()
            }
            try await change("DROP TABLE grdb_migrations")
            let again = try open(folder)
            let head = try log.head(4)
            #expect(await outcome(again, try log.request(from: 0, to: 8)) == .refused(.otherSize(latest: head.size)))
            again.close()
            try await change("INSERT INTO grdb_migrations VALUES ('9: from the future')")
            #expect(throws: WitnessStoreError.opening(.fromNewerVersion)) { try open(folder) }
        }
    }

    @Test func open_refusesTheMemoryOfAnotherWitness() async throws {
        try await withFolder { folder in
            try Witness.create(memory: folder + "/memory", for: witnessSigner(1).verifierKey)
            #expect(throws: WitnessStoreError.ofOtherKey) { try open(folder) }
        }
    }

    @Test func open_refusesAFileThatIsNoMemory() async throws {
        try await withFolder { folder in
            try Data("no database".utf8).write(to: URL(filePath: folder + "/memory"))
            #expect(throws: WitnessStoreError.self) { try open(folder) }
        }
    }

    @Test func onlyTheOwnerCanReadTheMemory() async throws {
        try await withFolder { folder in
            try create(folder)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/memory")
            #expect((attributes[.posixPermissions] as? NSNumber)?.uint16Value == 0o600)
        }
    }
}
