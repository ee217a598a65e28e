// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import TransparencyLog

/// The log, its witnesses and its policies: fixed keys, so that every run makes the same bytes.
struct VectorBench {
    let log: NoteSigner
    let secondLog: NoteSigner
    let logCosigner: NoteSigner
    /// alpha, beta and gamma.
    let witnesses: [NoteSigner]
    let stranger: NoteSigner
    private let tree: MerkleTree

    /// When the first witness cosigned; each next one a minute later.
    static let time: UInt64 = 1_760_000_000
    static let entryCount = 1000
    static let witnessNames = ["alpha", "beta", "gamma"]

    init() throws {
        log = try Self.signer("log.example/signet", .ed25519)
        secondLog = try Self.signer("log.example/second", .ed25519)
        logCosigner = try Self.signer("log.example/signet", .cosignatureV1)
        witnesses = try Self.witnessNames.map { try Self.signer("witness.example/\($0)", .cosignatureV1) }
        stranger = try Self.signer("stranger.example", .cosignatureV1)
        var tree = MerkleTree()
        for index in 0..<Self.entryCount { tree.append(.leaf(Self.entry(index))) }
        self.tree = tree
    }

    /// The key named `name`; its seed is a hash of its name and type.
    static func signer(
        _ name: String, _ algorithm: VerifierKey.Algorithm, seed: String? = nil,
        seedType: VerifierKey.Algorithm? = nil
    ) throws -> NoteSigner {
        let label = "signet tlog-proof vectors: \(seed ?? name) \((seedType ?? algorithm).rawValue)"
        let seed = Array(SHA256.hash(data: Array(label.utf8)))
        return try NoteSigner(name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: seed)
    }

    static func entry(_ index: Int) -> [UInt8] { line("record \(index)") }

    /// A checkpoint text of this log.
    func text(size: Int, root: TreeHash? = nil, extensions: [String] = []) throws -> [UInt8] {
        let head = TreeHead(size: UInt64(size), root: try root ?? tree.root(size: UInt64(size)))
        return try Checkpoint(
            origin: log.verifierKey.name, head: head, extensions: extensions.map { Array($0.utf8) }
        ).text
    }

    /// The lines of the log and of the first witnesses, a minute apart.
    func sign(_ text: [UInt8], cosigners: Int = 2) throws -> [[UInt8]] {
        try [log.sign(text).encoded] + (0..<cosigners).map { try cosign(text, $0) }
    }

    /// The line of one witness.
    func cosign(_ text: [UInt8], _ witness: Int, time: UInt64? = nil) throws -> [UInt8] {
        try witnesses[witness].cosign(text, time: time ?? Self.time + 60 * UInt64(witness)).encoded
    }

    /// A good proof: two of three witnesses cosigned.
    func draft(index: Int = 6, size: Int = 11, cosigners: Int = 2) throws -> ProofDraft {
        let text = try text(size: size)
        let path = try tree.inclusionProof(index: UInt64(index), size: UInt64(size))
        return ProofDraft(
            index: line("index \(index)"), hashes: path.hashes.map { base64Line($0.bytes) }, text: text,
            signatures: try sign(text, cosigners: cosigners), entry: Self.entry(index),
            policy: policy(), size: UInt64(size), leafIndex: UInt64(index))
    }

    /// The log, the three witnesses, and the lines given.
    func policy(_ rules: String = "group two-of-three 2 alpha beta gamma\nquorum two-of-three\n") -> [UInt8] {
        Self.logLine(log) + witnessLines + Array(rules.utf8)
    }

    /// The usual policy from its second line on.
    var policyWithoutLog: [UInt8] { Array(policy().dropFirst(Self.logLine(log).count)) }

    static func logLine(_ signer: NoteSigner) -> [UInt8] {
        Array("log ".utf8) + signer.verifierKey.encoded + [0x0A]
    }

    static func witnessLine(_ name: String, _ signer: NoteSigner) -> [UInt8] {
        Array("witness \(name) ".utf8) + signer.verifierKey.encoded + [0x0A]
    }

    var witnessLines: [UInt8] {
        zip(Self.witnessNames, witnesses).flatMap { Self.witnessLine($0, $1) }
    }

    /// A signature line of any content.
    static func signatureLine(_ name: String, id: [UInt8], blob: [UInt8]) -> [UInt8] {
        Array("— \(name) ".utf8) + base64Line(id + blob)
    }

    /// SHA-256 of the bytes alone.
    static func plainHash(_ bytes: [UInt8]) throws -> TreeHash {
        guard let hash = TreeHash(Array(SHA256.hash(data: bytes))) else {
            throw CanonicalCodingError.invalidLength(32)
        }
        return hash
    }

    /// The path in a tree that could not be built: invented siblings, and the root that they lead to.
    ///
    /// Follows the recursion of RFC 6962 and shares no code with the verifier.
    static func inventedPath(
        index: UInt64, size: UInt64, leaf: TreeHash
    ) -> (hashes: [TreeHash], root: TreeHash) {
        var sides: [Bool] = []
        var (index, size) = (index, size)
        while size > 1 {
            let split: UInt64 = 1 << UInt64(63 - (size - 1).leadingZeroBitCount)
            let isRight = index >= split
            sides.append(isRight)
            if isRight { index -= split }
            size = isRight ? size - split : split
        }
        var root = leaf
        var hashes: [TreeHash] = []
        for (level, isRight) in sides.reversed().enumerated() {
            let sibling = TreeHash.leaf(Array("invented sibling \(level)".utf8))
            hashes.append(sibling)
            root = isRight ? .node(sibling, root) : .node(root, sibling)
        }
        return (hashes, root)
    }
}

extension VectorBench {
    /// A case that must be accepted.
    func accept(
        _ name: String, _ covers: String, _ draft: ProofDraft,
        change: (inout ProofDraft) throws -> Void = { _ in }
    ) throws -> TlogProofCase {
        var draft = draft
        try change(&draft)
        return TlogProofCase(name: name, covers: covers, fault: nil, draft: draft)
    }

    /// The good draft with one fault.
    func refuse(
        _ name: String, _ step: TlogProofCase.Step, _ reason: String,
        change: (inout ProofDraft) throws -> Void
    ) throws -> TlogProofCase {
        var draft = try draft()
        try change(&draft)
        return TlogProofCase(name: name, covers: "", fault: .init(step: step, reason: reason), draft: draft)
    }
}
