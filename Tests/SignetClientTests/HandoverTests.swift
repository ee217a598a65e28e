import KeyDirectory
import KeyTransparency
import SignetAPI
import SignetClient
import SignetTesting
import Testing
import TransparencyLog
import VRF

/// A client that knows a log of 300 entries, and hears that it ended and that another one goes on.
@Suite struct HandoverTests {
    /// Serves a successor: its chain and its log.
    private struct Successor: DirectoryTransport {
        let chain: [UInt8]
        let log: LogCopy

        func send(_ request: DirectoryRequest) async throws(TransportError) -> DirectoryResponse {
            guard request.path == Route.succession.path else { return try await log.send(request) }
            return DirectoryResponse(status: 200, mediaType: nil, body: chain)
        }
    }

    private static func heir() throws -> DirectoryKeys {
        let name = try KeyName("example.org/next".utf8)
        return DirectoryKeys(
            log: try NoteSigner(name: name, algorithm: .ed25519, seed: [UInt8](repeating: 3, count: 32)),
            cosigners: [
                try NoteSigner(
                    name: DirectoryKeys.clockName(of: name), algorithm: .cosignatureV1,
                    seed: [UInt8](repeating: 4, count: 32))
            ],
            vrf: try VRFPrivateKey([9] + [UInt8](repeating: 0, count: 31)))
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
        size: Int, changing changed: Int? = nil, by old: DirectoryKeys, to heir: DirectoryKeys
    ) throws -> SuccessionLink {
        let record = SuccessionRecord(
            kind: .log, number: 1, vrfKey: heir.vrf.publicKey,
            policy: try policy(of: heir))
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

    /// What the client says to a successor, after it has seen 300 entries.
    private static func follow(
        _ directory: TestDirectory, remembering store: InMemoryStore, ending link: SuccessionLink, first: [UInt8]
    ) async throws -> VerifiedSuccession? {
        let known = try LogCopy(entries(300), keys: directory.keys)
        _ = try await directory.client(nil, over: known, remembering: store).logTail(1)
        let served = Successor(
            chain: SuccessionChain(links: [link]).encoded, log: try LogCopy([first, [1]], keys: heir()))
        return try await directory.client(nil, over: served, remembering: store).succession()
    }

    @Test func anHonestHandoverIsFollowed() async throws {
        try await TestDirectory.run { directory in
            let link = try Self.link(size: 302, by: directory.keys, to: Self.heir())
            let found = try await Self.follow(
                directory, remembering: InMemoryStore(), ending: link,
                first: PredecessorRecord(note: link.note).entry)
            #expect(found?.trust.policy == link.record.policy)
            #expect(found?.ends.map(\.checkpoint.head.size) == [302])
            #expect(found?.weakensQuorum == true, "the clock has another key")
        }
    }

    @Test(arguments: [(299, nil as Int?, LogFault.rollback), (300, 7, .fork)])
    func anEndThatContradictsWhatWasSeenIsRefusedAndKept(
        size: Int, changed: Int?, fault: LogFault
    ) async throws {
        try await TestDirectory.run { directory in
            let store = InMemoryStore()
            let link = try Self.link(size: size, changing: changed, by: directory.keys, to: Self.heir())
            let error = await #expect(throws: ClientError.self) {
                try await Self.follow(
                    directory, remembering: store, ending: link, first: PredecessorRecord(note: link.note).entry)
            }
            guard case .log(.contradiction(let evidence)) = error else { throw Unexpected(error as Any) }
            #expect(LogFault(evidence.fault) == fault)
            #expect(try await store.evidence() == [evidence])
        }
    }

    @Test func aFirstEntryThatNamesAnotherEndIsRefused() async throws {
        try await TestDirectory.run { directory in
            let link = try Self.link(size: 302, by: directory.keys, to: Self.heir())
            let other = try Self.link(size: 301, by: directory.keys, to: Self.heir())
            for first in [PredecessorRecord(note: other.note).entry, [1]] {
                await #expect(throws: ClientError.succession(.firstEntry)) {
                    try await Self.follow(directory, remembering: InMemoryStore(), ending: link, first: first)
                }
            }
        }
    }

    @Test func aStoreForgetsHistoriesOfTheOtherLogOnceAndNothingElse() async throws {
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
}
