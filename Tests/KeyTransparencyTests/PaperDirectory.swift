import CanonicalCoding
import Crypto
import KeyTransparency
import Testing
import TransparencyLog
import VRF

/// A directory on paper: the honest construction of every part of an answer, in memory, with all keys
/// at hand, so that a test can make exactly one part wrong and sign everything else properly.
struct PaperDirectory {
    static let origin = "directory.example/log"
    static let now: UInt64 = 1_800_000_000

    var log: NoteSigner
    var witnesses: [NoteSigner]
    var vrf: VRFPrivateKey
    var tree = MerkleTree()

    init(filler: Int = 37) throws {
        log = try Self.signer(Self.origin, .ed25519, seed: 1)
        witnesses = try [
            Self.signer("witness.example/one", .cosignatureV1, seed: 2),
            Self.signer("witness.example/two", .cosignatureV1, seed: 3),
        ]
        vrf = try VRFPrivateKey([7] + [UInt8](repeating: 0, count: 31))
        for number in 0..<filler { tree.append(.leaf(Array("filler \(number)".utf8))) }
    }

    static func signer(
        _ name: String, _ algorithm: VerifierKey.Algorithm, seed: UInt8
    ) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: Array(repeating: seed, count: 32))
    }

    /// Both witnesses must have cosigned.
    func trust(quorum: Policy.Quorum? = nil, freshness: FreshnessRule = .standard) throws -> DirectoryTrust {
        let names = try ["one", "two"].map { try #require(Policy.Name(Array($0.utf8))) }
        let both = try #require(Policy.Name(Array("both".utf8)))
        let policy = try Policy(
            logs: [Policy.Log(key: log.verifierKey)],
            witnesses: zip(names, witnesses).map { Policy.Witness(name: $0, key: $1.verifierKey) },
            groups: [Policy.Group(name: both, threshold: 2, members: names)],
            quorum: quorum ?? .member(both))
        return DirectoryTrust(policy: policy, vrfKey: vrf.publicKey, freshness: freshness)
    }

    func verifier(quorum: Policy.Quorum? = nil) throws -> LookupVerifier {
        LookupVerifier(trust: try trust(quorum: quorum))
    }

    func label(_ handle: Handle) throws -> (hash: VRFHash, proof: VRFProof) {
        try vrf.prove(handle.vrfInput)
    }

    /// Logs the person's device leaves and state record.
    mutating func publish(_ person: PaperPerson) throws {
        for entry in try entries(person) { tree.append(.leaf(entry)) }
    }

    func entries(_ person: PaperPerson) throws -> [[UInt8]] {
        let label = try label(person.handle).hash
        return person.devices.map { DeviceLeaf(label: label, device: $0.keys).entry }
            + [try person.record(label).entry]
    }

    /// Where an entry stands in the log.
    func proof(of entry: [UInt8], size: UInt64? = nil) throws -> InclusionProof {
        let leaf = TreeHash.leaf(entry)
        let index = try #require(
            (0..<tree.size).first { (try? tree.hash(level: 0, index: $0)) == leaf }, "not logged")
        return try tree.inclusionProof(index: index, size: size ?? tree.size)
    }

    func note(
        size: UInt64? = nil, at time: UInt64 = now, by signer: NoteSigner? = nil,
        cosigners: [NoteSigner]? = nil
    ) throws -> SignedNote {
        let size = size ?? tree.size
        let signer = signer ?? log
        let head = TreeHead(size: size, root: try tree.root(size: size))
        let text = try Checkpoint(origin: signer.verifierKey.name, head: head).text
        return try sign(text, at: time, by: signer, cosigners: cosigners)
    }

    func sign(
        _ text: [UInt8], at time: UInt64 = now, by signer: NoteSigner? = nil,
        cosigners: [NoteSigner]? = nil
    ) throws -> SignedNote {
        let signatures =
            [try (signer ?? log).sign(text)]
            + (try (cosigners ?? witnesses).map { try $0.cosign(text, time: time) })
        return try SignedNote(text: text, signatures: signatures)
    }

    /// The honest answer.
    func answer(about person: PaperPerson, knowing known: UInt64 = 0) throws -> LookupResponse {
        let (label, proof) = try label(person.handle)
        return LookupResponse(
            vrfProof: proof, kind: person.kind, opening: person.opening, state: person.encodedState,
            stateInclusion: try self.proof(of: person.record(label).entry),
            deviceInclusions: try person.devices.map {
                try self.proof(of: DeviceLeaf(label: label, device: $0.keys).entry)
            },
            consistency: known == 0 || known == tree.size
                ? ConsistencyProof(hashes: []) : try tree.consistencyProof(from: known, to: tree.size),
            note: try note().encoded)
    }

    /// What a client knows that has seen the log at this size.
    func view(size: UInt64) throws -> LogView {
        LogView(
            uncheckedOrigin: log.verifierKey.name,
            head: TreeHead(size: size, root: try tree.root(size: size)), note: try note(size: size).encoded)
    }
}

/// A person with an identity key and devices, able to sign any state, also a wrong one.
struct PaperPerson {
    let handle: Handle
    var identity: P256.Signing.PrivateKey
    var devices: [DeviceRecord]
    var version: UInt64 = 1
    var previous = [UInt8](repeating: 0, count: 32)
    var kind = StateKind.set
    let opening: [UInt8]
    var encodedState: [UInt8] = []

    init(_ name: String, seed: UInt8, deviceCount: Int = 2) throws {
        handle = try Handle(typed: Array(name.utf8))
        identity = try P256.Signing.PrivateKey(rawRepresentation: Array(repeating: seed, count: 32))
        devices = try (1...deviceCount).map { try Self.device(UInt16($0), seed: seed &+ UInt8($0)) }
        opening = Array(repeating: seed ^ 0x55, count: 32)
        encodedState = try state().encoded
    }

    static func device(_ number: UInt16, seed: UInt8) throws -> DeviceRecord {
        let bytes = Array(repeating: seed, count: 32)
        return DeviceRecord(
            number: number, addedAt: 1_790_000_000 + UInt64(number),
            keys: try DeviceKeys(
                signing: Array(
                    Curve25519.Signing.PrivateKey(rawRepresentation: bytes).publicKey.rawRepresentation),
                agreement: Array(
                    P256.KeyAgreement.PrivateKey(rawRepresentation: bytes).publicKey
                        .compressedRepresentation),
                kem: Array(repeating: seed, count: 1216)))
    }

    func state() throws -> AccountState {
        try AccountState(signing: body()) { try Array(identity.signature(for: $0).rawRepresentation) }
    }

    func body() throws -> AccountStateBody {
        let first = AccountStateBody(
            first: handle, identityKey: Array(identity.publicKey.compressedRepresentation),
            devices: devices)
        guard version > 1 else { return first }
        return try AccountState(signing: first) {
            try Array(identity.signature(for: $0).rawRepresentation)
        }.next(devices: devices)
    }

    /// Commits to ``encodedState`` whatever it holds; the library commits only to a state it has read.
    func record(_ label: VRFHash) throws -> StateRecord {
        let code = HMAC<SHA256>.authenticationCode(
            for: encodedState, using: SymmetricKey(data: opening))
        return StateRecord(
            label: LabelIndex(label), version: version, kind: kind,
            commitment: try #require(StateCommitment(Array(code))))
    }

    /// The same person after a change of devices, or somebody who takes their place with another identity.
    func next(devices: [DeviceRecord], identity: P256.Signing.PrivateKey? = nil) throws -> PaperPerson {
        var next = self
        let identity = identity ?? self.identity
        let before = try AccountState(decoding: encodedState)
        let body = AccountStateBody(
            handle: handle, version: before.version + 1, previous: before.hash,
            identityKey: Array(identity.publicKey.compressedRepresentation), recoveryCommitment: nil,
            pendingRecovery: nil, accountHead: nil, devices: devices)
        let state = try AccountState(signing: body) { try Array(identity.signature(for: $0).rawRepresentation) }
        next.identity = identity
        next.devices = devices
        next.version = state.version
        next.encodedState = state.encoded
        return next
    }
}
