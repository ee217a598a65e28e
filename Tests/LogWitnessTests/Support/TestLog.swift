// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TransparencyLog

/// A log with a fork: both branches have their first leaves in common.
struct TestLog: Sendable {
    static let fork: UInt64 = 7

    let signer: NoteSigner
    private(set) var trees = [MerkleTree(), MerkleTree()]

    init(name: String = "log.example/one", count: Int = 60) throws {
        signer = try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: .ed25519, seed: Array(repeating: 1, count: 32))
        for index in 0..<count {
            for branch in 0..<2 {
                trees[branch].append(.leaf([UInt8(index), index < Self.fork ? 0 : UInt8(branch)]))
            }
        }
    }

    var key: VerifierKey { signer.verifierKey }

    func head(_ size: UInt64, branch: Int = 0) throws -> TreeHead { try trees[branch].head(size: size) }

    func note(_ size: UInt64, branch: Int = 0) throws -> SignedNote {
        let text = try Checkpoint(origin: key.name, head: head(size, branch: branch)).text
        return try SignedNote(text: text, signatures: [try signer.sign(text)])
    }

    func proof(from old: UInt64, to size: UInt64, branch: Int = 0) -> ConsistencyProof? {
        try? trees[branch].consistencyProof(from: old, to: size)
    }

    func request(from old: UInt64, to size: UInt64, branch: Int = 0) throws -> [UInt8] {
        try AddCheckpointRequest(
            oldSize: old, consistency: trees[branch].consistencyProof(from: old, to: size),
            note: note(size, branch: branch)
        ).encoded
    }

    /// Whether these heads are all of one branch.
    func areOneHistory(_ heads: Set<TreeHead>) throws -> Bool {
        try (0..<2).contains { branch in
            try heads.allSatisfy { try $0 == head($0.size, branch: branch) }
        }
    }
}

func witnessSigner(_ number: UInt8 = 0) throws -> NoteSigner {
    try NoteSigner(
        name: KeyName(Array("witness.example/w\(number)".utf8)), algorithm: .cosignatureV1,
        seed: Array(repeating: 10 + number, count: 32))
}

/// Runs `body` with the path of a new folder, which is removed afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "witness-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

func currentTime() -> UInt64 { UInt64(Date().timeIntervalSince1970) }

/// The heads that a witness cosigned.
final class CosignedHeads: Sendable {
    private struct State {
        var heads: Set<TreeHead> = []
        var listener: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())
    var all: Set<TreeHead> { state.withLock { $0.heads } }

    func insert(_ head: TreeHead) {
        state.withLock { state in
            state.heads.insert(head)
            state.listener?.yield()
        }
    }

    /// Yields once for each head that is inserted from now on.
    func news() -> AsyncStream<Void> {
        let (news, listener) = AsyncStream.makeStream(of: Void.self)
        state.withLock { $0.listener = listener }
        return news
    }
}
