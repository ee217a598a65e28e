// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyTransparency
import LogEngine
import Logging
import SQLStores
import SignetAPI
import Synchronization
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

/// A clock that stands still until a test moves it.
final class StandingClock: Sendable {
    static let start: UInt64 = 1_800_000_000
    private let time = Mutex(start)

    var now: UInt64 { time.withLock { $0 } }

    func advance(_ seconds: UInt64) { time.withLock { $0 += seconds } }
}

/// A data directory of its own, removed at the end, with the keys that belong to it.
final class Place: Sendable {
    let path: String
    let keys: DirectoryKeys
    let clock = StandingClock()
    /// Where the accounts are; nil: in a file of the directory.
    let accounts: LabPlace?
    static let origin = "directory.example/log"

    init(_ keys: DirectoryKeys? = nil, on engine: LabEngine = .current) throws {
        accounts = try engine == .sqlite ? nil : LabPlace(on: engine)
        path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
        self.keys = try keys ?? Self.keys(seed: 1)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func keys(seed: UInt8, vrf: UInt8 = 7, origin: String = origin) throws -> DirectoryKeys {
        let name = try KeyName(Array(origin.utf8))
        return DirectoryKeys(
            log: try NoteSigner(name: name, algorithm: .ed25519, seed: Array(repeating: seed, count: 32)),
            cosigners: [
                try NoteSigner(
                    name: DirectoryKeys.clockName(of: name), algorithm: .cosignatureV1,
                    seed: Array(repeating: seed &+ 1, count: 32))
            ],
            vrf: try VRFPrivateKey([vrf] + [UInt8](repeating: 0, count: 31)))
    }

    /// Makes the directory and opens it.
    func create() async throws -> Directory {
        let database = try accounts?.open(DirectorySchema.schema)
        try await Directory.create(at: path, keys: keys, clock: time, logger: Self.silent, in: database)
        database?.close()
        return try await open()
    }

    func open(
        _ keys: DirectoryKeys? = nil, epochClock: (@Sendable () -> UInt64)? = nil,
        witnessing: (any CheckpointWitnessing)? = nil, epochInterval: Duration = .zero
    ) async throws -> Directory {
        try await Directory.open(
            at: path, logFiles: logFiles, keys: keys ?? self.keys, clock: time,
            epochClock: epochClock, logger: Self.silent, epochInterval: epochInterval, witnessing: witnessing,
            in: accounts?.open(DirectorySchema.schema), onFatal: {})
    }

    /// The log's own directory.
    var logFiles: POSIXFileSystem { POSIXFileSystem(root: DirectoryPaths(root: path).log) }

    /// Opens the directory over storage that can fail.
    func open(over files: any LogFileSystem) async throws -> Directory {
        try await Directory.open(
            at: path, logFiles: files, keys: keys, clock: time, logger: Self.silent,
            in: accounts?.open(DirectorySchema.schema), onFatal: {})
    }

    /// Why the directory cannot be opened.
    func openingRefusal(_ keys: DirectoryKeys? = nil) async -> DirectoryOpenError? {
        do {
            let directory = try await open(keys)
            await directory.close()
            return nil
        } catch { return error as? DirectoryOpenError }
    }

    var time: @Sendable () -> UInt64 { { [clock] in clock.now } }

    /// A client that pinned this directory.
    func verifier() throws -> LookupVerifier {
        let clockName = try #require(Policy.Name(Array("clock".utf8)))
        let policy = try Policy(
            logs: [Policy.Log(key: keys.log.verifierKey)],
            witnesses: keys.cosigners.map { Policy.Witness(name: clockName, key: $0.verifierKey) },
            groups: [], quorum: .member(clockName))
        return LookupVerifier(
            trust: DirectoryTrust(policy: policy, vrfKey: keys.vrf.publicKey, freshness: .standard))
    }

    /// Looks a handle up as a client does, and verifies the answer.
    func verifiedLookup(
        _ handle: Handle, at directory: Directory, knowing view: LogView? = nil
    ) async throws -> VerifiedLookup {
        let answer = try await verifiedAnswer(about: handle, at: directory, knowing: view)
        guard case .registered(let lookup) = answer else { throw NotRegistered(answer: answer) }
        return lookup
    }

    /// Asks about a handle as a client does, and verifies the answer.
    func verifiedAnswer(
        about handle: Handle, at directory: Directory, knowing view: LogView? = nil, history: LabelHead? = nil
    ) async throws -> VerifiedAnswer {
        let request = LookupRequest(
            handle: handle, knownSize: view?.head.size ?? 0, knownCount: history?.count ?? 0)
        let answer = try await directory.lookup(request)
        return try verifier().verify(
            answer.encoded, for: handle, knowing: view, history: history, at: clock.now)
    }

    /// The answer was true, and not what the test expected.
    struct NotRegistered: Error {
        let answer: VerifiedAnswer
    }

    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// The code with which the directory refuses; nil if it does not.
func refusal<Value>(_ body: () async throws -> Value) async throws -> ErrorCode? {
    do {
        _ = try await body()
        return nil
    } catch DirectoryError.refused(let code) {
        return code
    }
}
