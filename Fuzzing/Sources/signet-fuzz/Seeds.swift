import CallSignalling
import Crypto
import DIDKey
import KeyTransparency
import SFrame
import SealedNotes
import SecureCell
import TransparencyLog
import VRF
import VerifiableMap

/// Values of formats that no file in Vectors has, for `Scripts/fuzz` to begin with.
func seeds() throws -> [[UInt8]] {
    try directorySeeds() + logSeeds() + callSeeds() + sealedSeeds()
}

func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

/// The log of the policy that cards are read under.
func fuzzedLog() throws -> (signer: NoteSigner, policy: Policy) {
    let signer = try NoteSigner(
        name: KeyName(Array("example.com/log".utf8)), algorithm: .ed25519, seed: bytes(1, 32))
    let text = Array("log ".utf8) + signer.verifierKey.encoded + Array("\nquorum none\n".utf8)
    return (signer, try Policy(decoding: text))
}

private func fuzzedNote() throws -> SignedNote {
    let signer = try fuzzedLog().signer
    let head = TreeHead(size: 9, root: needed { TreeHash(bytes(2, 32)) })
    let text = try Checkpoint(origin: signer.verifierKey.name, head: head).text
    return try SignedNote(text: text, signatures: [try signer.sign(text)])
}

private func directorySeeds() throws -> [[UInt8]] {
    let (alice, bob) = (try Handle(typed: Array("a@example.org".utf8)), try Handle(typed: Array("b@b.example".utf8)))
    let (label, index) = (needed { VRFHash(bytes(3, 64)) }, needed { LabelIndex(bytes(4, 32)) })
    let lookup = LookupRequest(handle: alice, knownSize: 9, knownCount: 2, wantsKeys: true)
    // The generator of P-256 in its compressed form would do as well: what counts is that it is a point.
    let key = Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)
    let vrfKey = try VRFPrivateKey(bytes(1, 32)).publicKey
    let policy = try fuzzedLog().policy
    var values = [
        lookup.encoded, HistoryRequest(lookup).encoded,
        FormerRequest(origin: try fuzzedLog().signer.verifierKey.name, knownSize: 1, handle: bob).encoded,
        EpochRecord(
            number: 1, time: 1_700_000_000_000, start: 0, labelCount: 1, milestone: 0,
            root: needed { MapHash(bytes(5, 32)) }
        ).entry,
        needed { DeviceLeaf(label: label, publicKey: bytes(6, 32)) }.entry,
        PredecessorRecord(note: try fuzzedNote()).entry,
        IdentityCode(of: (alice, key), for: (bob, key)).encoded,
    ]
    values += SuccessionRecord.Kind.allCases.map {
        SuccessionRecord(kind: $0, number: 1, vrfKey: vrfKey, policy: policy).entry
    }
    values += StateKind.allCases.map {
        StateRecord(label: index, version: 1, kind: $0, commitment: needed { StateCommitment(bytes(7, 32)) }).entry
    }
    return values
}

private func logSeeds() throws -> [[UInt8]] {
    let hash = needed { TreeHash(bytes(8, 32)) }
    let entry = WitnessedLogs.Entry(
        key: try fuzzedLog().signer.verifierKey, origin: Array("origin".utf8), requestsPerDay: 5,
        contact: Array("a@example.org".utf8))
    return [
        try AddCheckpointRequest(
            oldSize: 3, consistency: ConsistencyProof(hashes: [hash, hash]), note: try fuzzedNote()
        ).encoded,
        try WitnessedLogs([entry]).encoded,
        try KeyDID(.p256, publicKey: Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)).keyID,
    ]
}

private func callSeeds() throws -> [[UInt8]] {
    let party = LegacyParty(participant: "p", device: "d")
    return [
        LegacySignal.keyRotation(callID: "call", encryptedAESKey: bytes(1, 40), keyRotationTimestamp: 1).encoded,
        LegacySignal.requestAESKey(callID: "call", host: party, requester: party).encoded,
        LegacySignal.sendAESKey(callID: "call", requester: party, encryptedAESKey: bytes(1, 40)).encoded,
        RingMemory().encoded,
    ]
}

private func sealedSeeds() throws -> [[UInt8]] {
    let (cell, frame) = (SymmetricKey(data: bytes(1, 32)), SymmetricKey(data: bytes(0, 32)))
    var sealer = FrameSealer(key: try FrameKey(baseKey: frame, keyID: 0, suite: .aes128GCM))
    return [
        try Seal.seal(bytes(9, 20), key: cell), try sealer.seal(bytes(9, 20)[...]),
        LoginKey.generate().withPrinted { $0 }, RecoveryKey.generate().withPrinted { $0 },
    ]
}
