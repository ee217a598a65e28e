// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Logging
import Testing
import TransparencyLog

@testable import SignetServer

/// The list of logs that a witness serves loses no entry.
@Suite struct WitnessListTests {
    private func withWitness(_ body: (WitnessDirectory) async throws -> Void) async throws {
        let parent = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: parent) }
        let data = WitnessDirectory(path: parent.appending(component: "witness").path)
        _ = try WitnessSetup(name: KeyName(Array("witness.example".utf8)), tls: nil).make(data, at: 1_800_000_000)
        try await body(data)
    }

    private func entry(_ number: Int) throws -> WitnessedLogs.Entry {
        let rest = String(repeating: "a-name-that-takes-some-room-", count: 3)
        let key = Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)
        return .init(
            key: try VerifierKey(
                name: KeyName(Array("log\(number).example/\(rest)".utf8)),
                algorithm: .ed25519,
                publicKey: key))
    }

    // MARK: The second key

    @Test(.enabled(if: VerifierKey.Algorithm.mlDSA44.isVerified, "swift-crypto has no BoringSSL here"))
    func aNewWitnessHasAnEd25519KeyAndAnMLDSAKeyUnderOneName() async throws {
        try await withWitness { data in
            let stored = try StoredWitness(data)
            #expect(stored.verifierKey.algorithm == .cosignatureV1 && stored.postQuantumKey?.algorithm == .mlDSA44)
            #expect(stored.postQuantumKey?.name == stored.verifierKey.name)
            #expect(throws: StoredWitnessError.self) { try StoredWitness.addPostQuantumKey(to: data) }
            #expect(try StoredWitness(data).postQuantumKey == stored.postQuantumKey)
        }
    }

    @Test(.enabled(if: VerifierKey.Algorithm.mlDSA44.isVerified, "swift-crypto has no BoringSSL here"))
    func aWitnessWithoutAPostQuantumKeyOpensAndCanAddOne() async throws {
        try await withWitness { data in
            try FileManager.default.removeItem(atPath: data.postQuantumKey)
            let before = try StoredWitness(data)
            #expect(before.postQuantumKey == nil)
            let key = try StoredWitness.addPostQuantumKey(to: data)
            let stored = try StoredWitness(data)
            #expect(stored.postQuantumKey == key && stored.verifierKey == before.verifierKey)
            _ = try stored.open(logger: Logger(label: "test"))
        }
    }

    @Test(.enabled(if: VerifierKey.Algorithm.mlDSA44.isVerified, "swift-crypto has no BoringSSL here"))
    func aPostQuantumKeyOfAnotherWitnessIsRefused() async throws {
        try await withWitness { data in
            let text = try String(contentsOfFile: data.postQuantumKey, encoding: .utf8)
            try text.replacing("witness.example", with: "witness.other")
                .write(toFile: data.postQuantumKey, atomically: false, encoding: .utf8)
            #expect(throws: StoredWitnessError.keyDamaged) { try StoredWitness(data) }
        }
    }

    @Test func aListOfMoreThanAMebibyteIsReadCompletely() async throws {
        try await withWitness { data in
            let first = try StoredWitness(data)
            try first.add(try (0..<9000).map(entry))
            #expect(try Data(contentsOf: URL(filePath: data.logs)).count > 1 << 20)
            let second = try StoredWitness(data)
            #expect(second.logs.entries.count == 9000)
            try second.add([try entry(9000)])
            #expect(try StoredWitness(data).logs.entries.count == 9001)
        }
    }

    @Test func addingToAnOlderListKeepsTheNewerEntries() async throws {
        try await withWitness { data in
            let all = try (0..<12).map { _ in try StoredWitness(data) }
            for (number, witness) in all.enumerated() { try witness.add([try entry(number)]) }
            #expect(try StoredWitness(data).logs.entries.count == 12)
        }
    }

    @Test func concurrentAdditionsAreAllKept() async throws {
        try await withWitness { data in
            let entries = try (0..<24).map(entry)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for entry in entries { group.addTask { try StoredWitness(data).add([entry]) } }
                try await group.waitForAll()
            }
            #expect(Set(try StoredWitness(data).logs.entries) == Set(entries))
        }
    }

    @Test func privateFile_refusesAFileLongerThanTheMaximum() throws {
        let path = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(repeating: 7, count: 101).write(to: URL(filePath: path))
        #expect(throws: FileFailure(path, code: EFBIG)) { try PrivateFile.read(path, maximumByteCount: 100) }
        #expect(try PrivateFile.read(path, maximumByteCount: 101).count == 101)
    }
}
