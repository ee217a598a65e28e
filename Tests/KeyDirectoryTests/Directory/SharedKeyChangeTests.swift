// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyTransparency
import LogEngine
import ObjectStores
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

/// Machines whose files are not of after every change of keys that the log has. Each has a folder of history; the one named `new` made the change.
@Suite("Changes of keys in a directory that several processes share")
struct SharedKeyChangeTests {
    let shared: SharedPlace
    let trust: DirectoryTrust
    /// The same log, with another witness that need not cosign.
    let changed: DirectoryTrust

    init() async throws {
        shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
        trust = try shared.place.verifier().trust
        changed = try Self.trust(trust, seed: 9)
        for name in ["old", "new"] {
            try FileManager.default.createDirectory(atPath: shared.folder(name), withIntermediateDirectories: true)
        }
    }

    private static func trust(_ trust: DirectoryTrust, seed: UInt8) throws -> DirectoryTrust {
        let signer = try NoteSigner(
            name: KeyName(Array("witness.example/w".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: seed, count: 32))
        let (name, group) = (try #require(Policy.Name(Array("w".utf8))), try #require(Policy.Name(Array("any".utf8))))
        let clock = try #require(trust.policy.witnesses.first)
        let policy = try Policy(
            logs: trust.policy.listedLogs, witnesses: [clock, .init(name: name, key: signer.verifierKey)],
            groups: [.init(name: group, threshold: 1, members: [clock.name, name])], quorum: .member(group))
        return DirectoryTrust(policy: policy, vrfKey: trust.vrfKey, freshness: trust.freshness)
    }

    /// Who leads, and is closed at once.
    private func lead(
        _ history: String, trusting: DirectoryTrust? = nil, changing: DirectoryTrust? = nil,
        from standing: SharedPlace.StandingBy? = nil, _ body: (Directory) async throws -> Void = { _ in }
    ) async throws {
        let place = try standing?.place ?? shared.directory(history: history, trusting: trusting)
        let directory = try await place.lead(
            shared.place.keys, over: shared.logDatabase(), SharedPlace.facts, holder: history,
            from: standing?.replica, changing: changing, steady: SharedPlace.steady)
        try await body(directory)
        await directory.close()
        place.close()
    }

    private func change(_ directory: Directory) async throws {
        let record = Directory.successionRecord(.keys, changed, after: try directory.succession())
        _ = try await directory.succeed(record)
    }

    private func isRefused(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch {
            switch error as? SharedDirectoryError {
            case .log(.fault(.keysChanged)), .candidacy(.fault(.keysChanged)): return true
            default: return false
            }
        }
    }

    private func follow(_ history: String, trusting: DirectoryTrust? = nil) async throws {
        let place = try shared.directory(history: history, trusting: trusting)
        defer { place.close() }
        await (try await place.follow(steady: SharedPlace.steady)).close()
    }

    @Test func whoHasTheFilesOfBeforeNeitherLeadsNorServes() async throws {
        try await lead("new") { try await change($0) }
        #expect(await isRefused { try await lead("old") })
        #expect(await isRefused { try await follow("old") })
        try await lead("new", trusting: changed)
        try await follow("new", trusting: changed)
    }

    /// It has stood by before the change was made, and finds it when it takes over.
    @Test func aCandidateThatStoodByBeforeDoesNotLead() async throws {
        try await lead("old")
        let place = try shared.directory(history: "old")
        let standing = SharedPlace.StandingBy(place: place, replica: try await place.follow(steady: SharedPlace.steady))
        try await lead("new") { try await change($0) }
        #expect(await isRefused { try await lead("old", from: standing) })
        await standing.replica.close()
    }

    /// The proofs were copied, and the file for clients was not.
    @Test func whoHasTheProofAndTrustsWhatWasBeforeNeitherLeadsNorServes() async throws {
        try await lead("new") { try await change($0) }
        #expect(await isRefused { try await lead("new") })
        #expect(await isRefused { try await follow("new") })
    }

    @Test func aDamagedHistoryIsNotTaken() async throws {
        try await lead("new") { try await change($0) }
        try Data([1]).write(to: URL(filePath: shared.folder("new") + "/succession"))
        #expect(await isRefused { try await follow("new", trusting: changed) })
    }

    /// The change is in the log, and whoever made it was killed before it had the proof.
    @Test func theSameChangeIsCompleted_andNoOther() async throws {
        try await lead("new") { try await change($0) }
        try FileManager.default.removeItem(atPath: shared.folder("new") + "/succession")
        let other = try Self.trust(trust, seed: 10)
        #expect(await isRefused { try await lead("new", changing: other) })
        try await lead("new", changing: changed) { try await change($0) }
        // Killed again, after the proof was written.
        try await lead("new", changing: changed) { try await change($0) }
        try await follow("new", trusting: changed)
    }

    /// The first proof of a successor is of the change that ended the log before: its checkpoint is of that log.
    @Test func theSizeOfTheLogBeforeIsNotTakenForOneOfItsSuccessor() async throws {
        let place = try Place(on: .sqlite)
        let next = try Place(Place.keys(seed: 5, vrf: 9, origin: "directory.example/next"), on: .sqlite)
        let successor = try next.verifier().trust
        let old = try await place.create()
        var alice = try Person("alice@example.org", deviceCount: 1)
        try await alice.register(at: old)
        _ = try await old.succeed(
            SuccessionRecord(kind: .log, number: 1, vrfKey: successor.vrfKey, policy: successor.policy))
        await old.close()
        let engines = SharedLogEngines(
            database: try shared.logDatabase(), objects: try FileObjects(at: place.path + "/objects"),
            policy: successor.policy, origin: next.keys.log.verifierKey.name)
        #expect(engines.knowing(history: place.path).changed == nil)
    }
}
