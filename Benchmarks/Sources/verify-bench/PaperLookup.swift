import Crypto
import KeyTransparency
import TransparencyLog
import VRF

/// An honest directory in memory and its answer about one person with one device.
struct PaperLookup {
    let now: UInt64 = 1_800_000_000
    let handle: Handle
    let trust: DirectoryTrust
    let log: NoteSigner
    let clock: NoteSigner
    let label: VRFHash
    let vrfProof: VRFProof
    let identity = P256.Signing.PrivateKey()
    let state: AccountState
    let leaf: DeviceLeaf
    let leafInclusion: InclusionProof
    let note: SignedNote
    let answer: [UInt8]

    /// A log of `size` filler entries and the person's two.
    init(size: UInt64) throws {
        handle = try Handle(typed: Array("alice@example.org".utf8))
        log = try Self.signer("bench.example/log", .ed25519, seed: 1)
        clock = try Self.signer("bench.example/log/clock", .cosignatureV1, seed: 2)
        let vrf = try VRFPrivateKey.generate()
        (label, vrfProof) = try vrf.prove(handle.vrfInput)
        trust = DirectoryTrust(
            policy: try Self.policy(log: log, clock: clock), vrfKey: vrf.publicKey, freshness: .standard)

        let keys = try Self.deviceKeys()
        let signer = identity
        state = try AccountState(
            signing: AccountStateBody(
                first: handle, identityKey: Array(signer.publicKey.compressedRepresentation),
                devices: [DeviceRecord(number: 1, addedAt: now, keys: keys)])
        ) { try Array(signer.signature(for: $0).rawRepresentation) }
        let opening = [UInt8](repeating: 7, count: StateCommitment.byteCount)
        leaf = DeviceLeaf(label: label, device: keys)
        let record = StateRecord(
            label: LabelIndex(label), version: 1, kind: .set,
            commitment: StateCommitment(to: state, opening: opening))

        var tree = MerkleTree()
        for number in 0..<size { tree.append(.leaf(Array("filler \(number)".utf8))) }
        tree.append(.leaf(leaf.entry))
        tree.append(.leaf(record.entry))
        leafInclusion = try tree.inclusionProof(index: size, size: tree.size)
        note = try Self.note(over: tree, by: log, clock, at: now)
        answer =
            LookupResponse(
                vrfProof: vrfProof, kind: .set, opening: opening, state: state.encoded,
                stateInclusion: try tree.inclusionProof(index: size + 1, size: tree.size),
                deviceInclusions: [leafInclusion], consistency: ConsistencyProof(hashes: []),
                note: note.encoded
            ).encoded
    }

    private static func signer(
        _ name: String, _ algorithm: VerifierKey.Algorithm, seed: UInt8
    ) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: [UInt8](repeating: seed, count: 32))
    }

    private static func policy(log: NoteSigner, clock: NoteSigner) throws -> Policy {
        let lines = [
            Array("log ".utf8) + log.verifierKey.encoded,
            Array("witness clock ".utf8) + clock.verifierKey.encoded,
            Array("quorum clock".utf8),
        ]
        return try Policy(decoding: lines.flatMap { $0 + [0x0A] })
    }

    private static func deviceKeys() throws -> DeviceKeys {
        try DeviceKeys(
            signing: Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation),
            agreement: Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation),
            kem: [UInt8](repeating: 9, count: 1216))
    }

    private static func note(
        over tree: MerkleTree, by log: NoteSigner, _ clock: NoteSigner, at time: UInt64
    ) throws -> SignedNote {
        let head = TreeHead(size: tree.size, root: try tree.root(size: tree.size))
        let text = try Checkpoint(origin: log.verifierKey.name, head: head).text
        return try SignedNote(
            text: text, signatures: [try log.sign(text), try clock.cosign(text, time: time)])
    }
}
