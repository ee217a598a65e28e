// SPDX-License-Identifier: Apache-2.0

import Crypto
package import KeyTransparency
package import TransparencyLog
package import VRF
import VerifiableMap

/// An honest directory in memory with many labels, and its answer to a first visit about one person with one device.
package struct PaperLookup {
    package let now: UInt64 = 1_800_000_000
    package let handle: Handle
    package let trust: DirectoryTrust
    package let log: NoteSigner
    package let clock: NoteSigner
    package let vrfProof: VRFProof
    package let state: AccountState
    package let record: StateRecord
    package let note: SignedNote
    package let response: LookupResponse
    /// The same as the directory's answer, in bytes: without the X-Wing key, as to a client that has it or needs none.
    package let answer: [UInt8]
    /// The answer with the X-Wing key beside the state, as to a client that wants to write to the device for the first time.
    package let answerWithKeys: [UInt8]

    /// A directory of `labelCount` others, half of whom came before the person and half after.
    package init(labelCount: Int) throws {
        handle = try Handle(typed: Array("alice@example.org".utf8))
        log = try Self.signer("bench.example/log", .ed25519, seed: 1)
        clock = try Self.signer("bench.example/log/clock", .cosignatureV1, seed: 2)
        let vrf = try VRFPrivateKey.generate()
        let label: VRFHash
        (label, vrfProof) = try vrf.prove(handle.vrfInput)
        trust = DirectoryTrust(
            policy: try Self.policy(log: log, clock: clock), vrfKey: vrf.publicKey, freshness: .standard)

        let keys = try Self.deviceKeys()
        state = try Self.state(of: handle, keys, at: now)
        let opening = [UInt8](repeating: 7, count: StateCommitment.byteCount)
        record = StateRecord(
            label: LabelIndex(label), version: 1, kind: .set,
            commitment: StateCommitment(to: state, opening: opening))

        var others = OtherPeople()
        try others.come(labelCount / 2)
        let leaf = DeviceLeaf(label: label, device: keys)
        try others.log(.device(leaf), leaf: .leaf(leaf.entry))
        let place = others.tree.size
        try others.log(.state(record), leaf: .leaf(record.entry))
        try others.endEpoch(at: now * 1000)
        try others.come(labelCount - labelCount / 2)
        let epoch = try others.endEpoch(at: now * 1000)

        note = try Self.note(over: others.tree, by: log, clock, at: now)
        let complete = Array("signet-account-keys/v1\n".utf8) + [1] + keys.kem + state.encoded
        var responses: [LookupResponse] = []
        for encoded in [state.encoded, complete] {
            responses.append(
                try Self.response(
                    vrfProof, epoch, others, record, at: place, .state(.set, opening: opening, encoded: encoded), note))
        }
        response = responses[0]
        (answer, answerWithKeys) = (responses[0].encoded, responses[1].encoded)
    }

    private static func response(
        _ vrfProof: VRFProof, _ epoch: EpochRecord, _ others: borrowing OtherPeople, _ record: StateRecord,
        at place: UInt64, _ step: LabelAnswer.Step, _ note: SignedNote
    ) throws -> LookupResponse {
        let size = others.tree.size
        let history = others.histories.tree(of: record.label.key, size: size)
        guard case .present(_, let path) = others.index.current.proof(of: record.label.key) else {
            throw BenchFault.notInTheIndex
        }
        let nothing = ConsistencyProof(hashes: [])
        return LookupResponse(
            vrfProof: vrfProof, epoch: epoch,
            epochPath: try others.tree.inclusionProof(index: size - 1, size: size).hashes,
            answer: .present(
                LabelAnswer(
                    indexPath: path, head: LabelHead(try history.head(size: history.size)),
                    lastPath: try history.inclusionProof(index: history.size - 1, size: history.size).hashes,
                    historyConsistency: nothing,
                    inclusion: try others.tree.inclusionProof(index: place, size: size), step: step)),
            consistency: nothing, note: note.encoded)
    }
}

extension PaperLookup {
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
            kem: Array(XWingMLKEM768X25519.PrivateKey.generate().publicKey.rawRepresentation))
    }

    private static func state(of handle: Handle, _ keys: DeviceKeys, at time: UInt64) throws -> AccountState {
        let identity = P256.Signing.PrivateKey()
        return try AccountState(
            signing: AccountStateBody(
                first: handle, identityKey: Array(identity.publicKey.compressedRepresentation),
                devices: [DeviceRecord(number: 1, addedAt: time, keys: keys)])
        ) { try Array(identity.signature(for: $0).rawRepresentation) }
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
