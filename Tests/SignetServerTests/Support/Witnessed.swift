// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SignetAPI
import SignetServer
import Synchronization
import Testing
import TransparencyLog

/// All registrations that a server acknowledged, and all checkpoints that it published. They must stay true however the
/// process ends.
final class Witnessed: Sendable {
    private struct State {
        var acknowledged: [Handle] = []
        var unchecked: [Handle] = []
        var heads: Set<TreeHead> = []
        var view: LogView?
    }

    let profile: DirectoryProfile
    private let state = Mutex(State())

    init(_ profile: DirectoryProfile) { self.profile = profile }

    var acknowledgedCount: Int { state.withLock { $0.acknowledged.count } }
    var headCount: Int { state.withLock { $0.heads.count } }

    /// Registers people one after the other until the server does not answer or refuses; returns the last status.
    func register(
        _ prefix: String, at client: TestClient, atMost limit: Int = .max, onAcknowledged: @Sendable () -> Void = {}
    ) async -> Int? {
        var status: Int?
        for number in 0..<limit {
            guard let person = try? TestPerson("\(prefix)-\(number)@example.org"),
                let answer = try? await person.register(client)
            else { return status }
            status = answer.status
            guard answer.status == 200 else { return status }
            state.withLock {
                $0.acknowledged.append(person.handle)
                $0.unchecked.append(person.handle)
            }
            onAcknowledged()
        }
        return status
    }

    /// Notes the checkpoint that is published now.
    func noteCheckpoint(at client: TestClient) async throws {
        guard let answer = try? await client.get("/log/checkpoint") else { return }
        let head = try profile.trust.policy.verify(SignedNote(decoding: answer.body)).checkpoint.head
        state.withLock { _ = $0.heads.insert(head) }
    }

    /// Looks up the accounts acknowledged since the last check, or all of them: each answer must verify, and extend the
    /// largest checkpoint seen so far.
    func check(everyone: Bool = false, at client: TestClient) async throws {
        let handles = state.withLock { state in
            defer { state.unchecked = [] }
            return everyone ? state.acknowledged : state.unchecked
        }
        for handle in handles {
            let view = state.withLock { $0.view }
            let request = LookupRequest(handle: handle, knownSize: view?.head.size ?? 0)
            let answer = try #require(try await client.call(.lookup, request.encoded))
            try #require(answer.status == 200, "an acknowledged registration is gone")
            let found = try LookupVerifier(trust: profile.trust)
                .verify(answer.body, for: handle, knowing: view, at: TestPerson.now)
            guard case .registered = found else { throw LostRegistration() }
            state.withLock {
                $0.view = found.epoch.view
                $0.heads.insert(found.epoch.view.head)
            }
        }
    }

    /// Rebuilds the tree from the log's entries and compares it with every checkpoint ever seen.
    func checkHistory(at client: TestClient) async throws {
        try await noteCheckpoint(at: client)
        let heads = state.withLock { $0.heads }
        let size = heads.map(\.size).max() ?? 0
        var tree = MerkleTree()
        for index in 0..<(size + 255) / 256 {
            let width = Int(min(256, size - index * 256))
            let tile = try Tile(.entries, index: index, width: width)
            let path = "/log/" + String(decoding: tile.path, as: UTF8.self)
            let answer = try #require(try await client.get(path))
            for leaf in try EntryBundle(decoding: answer.body, width: width).leafHashes { tree.append(leaf) }
        }
        for head in heads {
            let root = try tree.root(size: head.size)
            #expect(root == head.root, "the log forked before size \(head.size)")
        }
    }
}

/// An acknowledged registration of which the directory proves that it is not there.
struct LostRegistration: Error {}
