// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Testing
import TransparencyLog
import VRF

/// A client that knows a log of 300 entries, and learns that it ended and has a successor.
@Suite struct HandoverTests {
    /// Serves a successor: its chain and its log.
    private struct Successor: HTTPTransport {
        let chain: [UInt8]
        let log: LogCopy
        /// How the old log grew; nil: not shown.
        let former: FormerResponse?

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            switch request.path {
            case Route.succession.path: return TransportResponse(status: 200, mediaType: nil, body: chain)
            case FormerRoute.former.path:
                let word = Array(#"{"error":"not_found"}"#.utf8)
                return TransportResponse(
                    status: former == nil ? 404 : 200, mediaType: Route.nativeMediaType, body: former?.encoded ?? word)
            default: return try await log.send(request)
            }
        }
    }

    private static func policy(of keys: DirectoryKeys) throws -> Policy {
        try Policy(
            logs: [.init(key: keys.log.verifierKey)],
            witnesses: try keys.cosigners.map {
                .init(name: try #require(Policy.Name(Array("clock".utf8))), key: $0.verifierKey)
            },
            groups: [], quorum: .member(try #require(Policy.Name(Array("clock".utf8)))))
    }

    /// An old log of `size` entries, the last but one of which hands over, and its last checkpoint.
    private static func link(
        size: Int, changing changed: Int? = nil, by old: DirectoryKeys, to successor: DirectoryKeys
    ) throws -> SuccessionLink {
        let record = SuccessionRecord(
            kind: .log, number: 1, vrfKey: successor.vrf.publicKey,
            policy: try policy(of: successor))
        let entries = entries(size - 2, changing: changed) + [record.entry, [0]]
        var tree = MerkleTree()
        for entry in entries { tree.append(.leaf(entry)) }
        return SuccessionLink(
            record: record, inclusion: try tree.inclusionProof(index: UInt64(size - 2), size: UInt64(size)),
            note: try LogCopy(entries, keys: old).note)
    }

    private static func entries(_ count: Int, changing changed: Int? = nil) -> [[UInt8]] {
        (0..<count).map { [UInt8($0 / 256), UInt8($0 % 256), $0 == changed ? 1 : 0] }
    }

    /// How an old log grew from 300 entries to the end that ``link(size:changing:by:to:)`` gives it.
    private static func growth(
        to size: Int, from known: Int = 300, changing changed: Int? = nil
    ) throws -> FormerResponse {
        let record = SuccessionRecord(
            kind: .log, number: 1, vrfKey: try DirectoryKeys.successor().vrf.publicKey,
            policy: try policy(of: .successor()))
        var tree = MerkleTree()
        for entry in entries(size - 2, changing: changed) + [record.entry, [0]] { tree.append(.leaf(entry)) }
        return FormerResponse(
            consistency: try tree.consistencyProof(from: UInt64(min(known, size)), to: UInt64(size)), history: [])
    }

    /// The client's verdict on a successor, after it has seen 300 entries.
    private static func follow(
        _ directory: TestDirectory, remembering store: InMemoryStore, ending link: SuccessionLink, first: [UInt8],
        grown former: FormerResponse?, begunBefore seconds: UInt64 = 0
    ) async throws -> VerifiedSuccession? {
        let known = try LogCopy(entries(300), keys: directory.keys)
        _ = try await directory.client(nil, over: known, remembering: store).logTail(1)
        let time = (Surroundings.system.now() - seconds) * 1000
        let epoch = Array("kt-epoch/v1\n1\n\(time)\n0\n0\n1\n\(String(repeating: "A", count: 43))=\n".utf8)
        let served = Successor(
            chain: SuccessionChain(links: [link]).encoded, log: try LogCopy([first, epoch, [1]], keys: .successor()),
            former: former)
        return try await directory.client(nil, over: served, remembering: store).succession()
    }

    @Test func anHonestHandoverIsFollowed() async throws {
        try await TestDirectory.run { directory in
            let link = try Self.link(size: 302, by: directory.keys, to: .successor())
            let found = try await Self.follow(
                directory, remembering: InMemoryStore(), ending: link,
                first: PredecessorRecord(note: link.note).entry, grown: Self.growth(to: 302))
            #expect(found?.trust.policy == link.record.policy)
            #expect(found?.formerLogs.map(\.end.checkpoint.head.size) == [302])
            #expect(found?.weakensQuorum == true, "the clock has another key")
        }
    }

    @Test(arguments: [(299, nil as Int?, LogFault.rollback), (300, 7, .fork)])
    func anEndThatContradictsTheKnownLogIsRefusedAndKept(
        size: Int, changed: Int?, fault: LogFault
    ) async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let link = try Self.link(size: size, changing: changed, by: directory.keys, to: .successor())
            let error = await #expect(throws: ClientError.self) {
                try await Self.follow(
                    directory, remembering: store, ending: link, first: PredecessorRecord(note: link.note).entry,
                    grown: Self.growth(to: size))
            }
            guard case .log(.contradiction(let evidence)) = error else { throw Unexpected(error as Any) }
            #expect(LogFault(evidence.fault) == fault)
            #expect(try await store.evidence() == [evidence])
        }
    }

    /// A flash attack: the entry that this client saw was replaced before the log ended, at a larger size.
    @Test func anEndThatDoesNotExtendTheKnownLogIsRefusedAndKept() async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let link = try Self.link(size: 310, changing: 7, by: directory.keys, to: .successor())
            let error = await #expect(throws: ClientError.self) {
                try await Self.follow(
                    directory, remembering: store, ending: link, first: PredecessorRecord(note: link.note).entry,
                    grown: Self.growth(to: 310, changing: 7))
            }
            guard case .log(.contradiction(let evidence)) = error, case .inconsistent = evidence.fault else {
                throw Unexpected(error as Any)
            }
            #expect(try await store.evidence() == [evidence])
        }
    }

    @Test func anEndWithoutAConsistencyProofIsRefusedWithoutEvidence() async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let link = try Self.link(size: 302, by: directory.keys, to: .successor())
            await #expect(throws: ClientError.former(nil, .withheld)) {
                try await Self.follow(
                    directory, remembering: store, ending: link, first: PredecessorRecord(note: link.note).entry,
                    grown: nil)
            }
            #expect(try await store.evidence().isEmpty)
        }
    }

    @Test func aFirstEntryThatNamesAnotherEndIsRefused() async throws {
        try await TestDirectory.run { directory in
            let link = try Self.link(size: 302, by: directory.keys, to: .successor())
            let other = try Self.link(size: 301, by: directory.keys, to: .successor())
            for first in [PredecessorRecord(note: other.note).entry, [1]] {
                await #expect(throws: ClientError.succession(.firstEntry)) {
                    try await Self.follow(
                        directory, remembering: InMemoryStore(), ending: link, first: first,
                        grown: Self.growth(to: 302))
                }
            }
        }
    }

    @Test func aSuccessorDatedBeforeTheOldLogsEndIsNotFollowed() async throws {
        try await TestDirectory.run { directory in
            let link = try Self.link(size: 302, by: directory.keys, to: .successor())
            let error = await #expect(throws: ClientError.self) {
                try await Self.follow(
                    directory, remembering: InMemoryStore(), ending: link,
                    first: PredecessorRecord(note: link.note).entry, grown: Self.growth(to: 302), begunBefore: 7200)
            }
            guard case .succession(.firstEpoch(.behind)) = error else { throw Unexpected(error as Any) }
        }
    }

    @Test func aStoreDropsHistoriesOfALogWhoseEndWasNotKept() async throws {
        try await withTemporaryFolder { folder in
            let (peer, view) = (try StoreSample.peer("alice@example.org"), try StoreSample.view(size: 3))
            let next = try StoreSample.view(size: 1, origin: "example.org/next")
            let watch = OwnWatch(
                history: MerkleFrontier(), version: 4, stateHash: [UInt8](repeating: 1, count: 32), devices: [],
                milestone: MilestoneMark(index: 2, day: 3))
            let store = try SQLiteStore.open(at: folder + "/store", of: view.origin)
            #expect(try await store.advance(to: view, from: nil))
            #expect(try await store.pin(peer, replacing: nil))
            let own = OwnRecord(pending: nil, highestDeviceNumber: 1, watch: watch)
            #expect(try await store.setOwnRecord(own, replacing: .initial))
            #expect(try await SQLiteStore.open(at: folder + "/store", of: view.origin).pinnedPeer(peer.handle) == peer)

            let moved = try SQLiteStore.open(at: folder + "/store", of: next.origin)
            let forgotten = try #require(try await moved.pinnedPeer(peer.handle))
            #expect(forgotten == peer.extended(to: LabelHead(.empty)))
            #expect(try await moved.ownRecord().watch == watch.movedToNextLog())
            #expect(try await moved.logView(origin: view.origin.bytes) == view, "the old view stays")
            #expect(try await moved.advance(to: next, from: nil))
            #expect(try await moved.pin(peer, replacing: forgotten))
            #expect(try await SQLiteStore.open(at: folder + "/store", of: next.origin).pinnedPeer(peer.handle) == peer)
        }
    }

    /// If the end of the log was kept, the store keeps its histories until they are compared.
    @Test func aStoreKeepsHistoriesOfALogWhoseEndWasKept() async throws {
        try await TestDirectory.run { directory in
            try await withTemporaryFolder { folder in
                let link = try Self.link(size: 302, by: directory.keys, to: .successor())
                let followed = try SuccessionVerifier(trust: directory.profile.trust).follow(
                    SuccessionChain(links: [link]))
                let logs = try #require(followed?.formerLogs)
                let origin = try #require(directory.profile.trust.policy.logs.first?.name)
                let peer = try StoreSample.peer("alice@example.org")
                let view = LogView(uncheckedOrigin: origin, head: TreeHead(size: 300, root: .leaf([1])), note: [])
                let store = try SQLiteStore.open(at: folder + "/store", of: origin)
                #expect(try await store.advance(to: view, from: nil))
                #expect(try await store.pin(peer, replacing: nil))
                try await store.keep(logs)
                try await store.keep(logs)
                #expect(try await store.formerLogs() == logs)

                let moved = try SQLiteStore.open(at: folder + "/store", of: try KeyName("example.org/next".utf8))
                let former = FormerHistory(handle: peer.handle, origin: origin, history: peer.history)
                #expect(try await moved.formerHistory(of: peer.handle) == former)
                let pinned = try #require(try await moved.pinnedPeer(peer.handle))
                #expect(pinned.history == LabelHead(.empty))
                #expect(try await !moved.settle(former, pinning: peer, replacing: peer))
                #expect(try await moved.formerHistory(of: peer.handle) == former, "nothing was changed")
                #expect(try await moved.settle(former, pinning: peer, replacing: pinned))
                #expect(try await moved.formerHistory(of: peer.handle) == nil)
                #expect(try await moved.pinnedPeer(peer.handle) == peer)
                #expect(try await moved.settle(former, pinning: pinned, replacing: peer), "a second call has no effect")
                #expect(try await moved.pinnedPeer(peer.handle) == peer)
            }
        }
    }
}
