import KeyTransparency
import KeyTransparencyTesting
import TransparencyLog

/// A small directory with a past: bob; alice, who then added a device; dave. Carol is not registered.
struct LookupScene {
    /// Alice now, at version 2 with three devices.
    let alice: PaperPerson
    /// Alice at version 1.
    let aliceBefore: PaperPerson
    let bob: PaperPerson
    let carol: Handle
    var directory: PaperDirectory

    /// - Parameter isFork: another log of the same size and of the same people, who came in another order.
    init(isFork: Bool = false) throws {
        bob = try PaperPerson("bob@example.org", seed: 20, deviceCount: 1)
        aliceBefore = try PaperPerson("alice@example.org", seed: 10)
        alice = try aliceBefore.next(devices: aliceBefore.devices + [PaperPerson.device(3, seed: 13)])
        carol = try Handle(typed: Array("carol@example.org".utf8))
        directory = try PaperDirectory()
        let people = isFork ? [aliceBefore, bob, alice] : [bob, aliceBefore, alice]
        for person in people { try directory.publish(person) }
        try directory.publish(PaperPerson("dave@example.org", seed: 30))
    }

    /// What became of an answer about alice, or about `handle`.
    func verify(
        _ answer: PaperAnswer, _ handle: Handle? = nil, knowing view: LogView? = nil,
        history: LabelHead? = nil, at now: UInt64 = PaperDirectory.now, quorum: Policy.Quorum? = nil
    ) throws(LookupError) -> VerifiedAnswer {
        let verifier: LookupVerifier
        do { verifier = try directory.verifier(quorum: quorum) } catch { throw .uncalledForConsistencyProof }
        return try verifier.verify(
            answer.response.encoded, for: handle ?? alice.handle, knowing: view, history: history, at: now)
    }

    /// The same, of an answer that must show keys.
    func registered(
        _ answer: PaperAnswer, _ handle: Handle? = nil, knowing view: LogView? = nil, history: LabelHead? = nil
    ) throws -> VerifiedLookup {
        guard case .registered(let lookup) = try verify(answer, handle, knowing: view, history: history) else {
            throw PaperFault.notThere
        }
        return lookup
    }

    /// Alice's history with some entries, by their leaves, in place of the honest ones.
    func aliceHistory(_ edit: (inout [TreeHash]) throws -> Void = { _ in }) throws -> MerkleTree {
        let honest = directory.histories.tree(of: try directory.key(alice.handle), size: directory.histories.size)
        var leaves = try (0..<honest.size).map { try honest.hash(level: 0, index: $0) }
        try edit(&leaves)
        var tree = MerkleTree()
        for leaf in leaves { tree.append(leaf) }
        return tree
    }

    /// Ends an epoch in whose index alice's label has this history, or none.
    mutating func lie(_ history: MerkleTree?) throws {
        let key = try directory.key(alice.handle)
        let value = try history.map { LabelHead(try $0.head(size: $0.size)).value }
        try directory.endEpoch(lieInIndex: { $0[key] = value })
    }
}
