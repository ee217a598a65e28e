// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyPinning
import KeyTransparency
import SignetAPI
import TransparencyLog
import VRF
import VerifiableMap

/// The log of the policy that cards are read under.
func fuzzedLog() throws -> (signer: NoteSigner, policy: Policy) {
    let signer = try NoteSigner(
        name: KeyName(bytes("example.com/log")), algorithm: .ed25519, seed: bytes(1, 32))
    let text = bytes("log ") + signer.verifierKey.encoded + bytes("\nquorum none\n")
    return (signer, try Policy(decoding: text))
}

func fuzzedNote() throws -> SignedNote {
    let signer = try fuzzedLog().signer
    let head = TreeHead(size: 9, root: try fuzzedHash())
    let text = try Checkpoint(origin: signer.verifierKey.name, head: head).text
    return try SignedNote(text: text, signatures: [try signer.sign(text)])
}

func fuzzedHash() throws -> TreeHash { needed { TreeHash(bytes(8, 32)) } }

func fuzzedHandle(_ name: String) throws -> Handle { try Handle(typed: bytes(name + "@example.org")) }

private func fuzzedSuccession(_ kind: SuccessionRecord.Kind) throws -> SuccessionRecord {
    let vrfKey = try VRFPrivateKey(bytes(1, 32)).publicKey
    return SuccessionRecord(kind: kind, number: 1, vrfKey: vrfKey, policy: try fuzzedLog().policy)
}

func directorySeeds() throws -> [[UInt8]] {
    let (alice, bob) = (try fuzzedHandle("a"), try fuzzedHandle("b"))
    let (label, index) = (needed { VRFHash(bytes(3, 64)) }, needed { LabelIndex(bytes(4, 32)) })
    let lookup = LookupRequest(handle: alice, knownSize: 9, knownCount: 2, wantsKeys: true)
    let (key, hash) = (try Party(1).identityKey, try fuzzedHash())
    var values = [
        lookup.encoded, HistoryRequest(lookup).encoded, MilestonesRequest(handle: alice, size: 9, after: 4).encoded,
        FormerRequest(origin: try fuzzedLog().signer.verifierKey.name, knownSize: 1, handle: bob).encoded,
        FormerResponse(consistency: ConsistencyProof(hashes: [hash]), history: bytes(1, 9)).encoded,
        EpochRecord(
            number: 1, time: 1_700_000_000_000, start: 0, labelCount: 1, milestone: 0,
            root: needed { MapHash(bytes(5, 32)) }
        ).entry,
        needed { DeviceLeaf(label: label, publicKey: bytes(6, 32)) }.entry,
        PredecessorRecord(note: try fuzzedNote()).entry,
        IdentityCode(of: (alice, key), for: (bob, key)).encoded,
    ]
    for kind in SuccessionRecord.Kind.allCases {
        let record = try fuzzedSuccession(kind)
        let link = SuccessionLink(
            record: record, inclusion: InclusionProof(index: 3, hashes: [hash]), note: try fuzzedNote())
        values += [record.entry, SuccessionChain(links: [link, link]).encoded]
    }
    values += StateKind.allCases.map {
        StateRecord(label: index, version: 1, kind: $0, commitment: needed { StateCommitment(bytes(7, 32)) }).entry
    }
    let server = ServerTrust(
        root: bytes(1, 40), pins: [Pin(try SPKIPin(bytes("sha256/" + Data(bytes(2, 32)).base64EncodedString())))],
        recoveryKey: try fuzzedLog().signer.verifierKey)
    let pins = DirectoryPins(origin: try fuzzedLog().signer.verifierKey.name, version: 1, time: 5, server: server)
    return values + [pins.text]
}

func evidenceSeeds() throws -> [[UInt8]] {
    let (note, hash) = (try fuzzedNote(), try fuzzedHash())
    let link = ForkEvidence.Link(root: hash, proof: ConsistencyProof(hashes: [hash]))
    let entry = RuleEvidence.Entry(bytes: bytes(1, 9), inclusion: InclusionProof(index: 3, hashes: [hash]))
    return [
        Evidence.fork(ForkEvidence(first: note, second: note)).encoded,
        Evidence.fork(ForkEvidence(first: note, second: note, link: link)).encoded,
        Evidence.rule(RuleEvidence(fault: .noEpochRecord, place: 9, checkpoint: note)).encoded,
        Evidence.rule(RuleEvidence(fault: .version, place: 3, checkpoint: note, entries: [entry, entry])).encoded,
    ]
}

func logSeeds() throws -> [[UInt8]] {
    let hash = try fuzzedHash()
    let entry = WitnessedLogs.Entry(
        key: try fuzzedLog().signer.verifierKey, origin: bytes("origin"), requestsPerDay: 5,
        contact: bytes("a@example.org"))
    return [
        try AddCheckpointRequest(
            oldSize: 3, consistency: ConsistencyProof(hashes: [hash, hash]), note: try fuzzedNote()
        ).encoded,
        try WitnessedLogs([entry]).encoded,
        // Two entries, and how many before them, as the parser of the fuzzer's takes them.
        [2, 0, 1, 65, 0, 2, 66, 67],
    ]
}

// MARK: States, devices and cards

/// The keys of a device, of which it can show that it holds them.
func fuzzedDevice(_ party: Party) throws -> DeviceKeys {
    try DeviceKeys(
        signing: party.deviceKey, agreement: Array(party.agreement.publicKey.compressedRepresentation),
        kem: party.sealingKey)
}

func fuzzedState(_ party: Party) throws -> AccountState {
    try AccountState(
        signing: AccountStateBody(
            first: fuzzedHandle("a"), identityKey: party.identityKey,
            devices: [DeviceRecord(number: 1, addedAt: 5, keys: fuzzedDevice(party))]),
        with: party.identitySignature)
}

func submissionSeeds() throws -> [[UInt8]] {
    let (party, state) = (try Party(1), try fuzzedState(Party(1)))
    let request = PossessionRequest(handle: try fuzzedHandle("a"), keys: try fuzzedDevice(party))
    let challenge = try PossessionChallenge(for: request, sealingKey: SymmetricKey(data: bytes(2, 32)), at: 1000)
    let proof = try challenge.answer(for: request, agreementKey: party.agreement, kemKey: party.sealing)
    let card = try DeviceCard(request, proof: proof, sign: party.deviceSignature)
    let checkpoint = try CheckpointCard(of: fuzzedNote(), policy: fuzzedLog().policy)
    let content = RequestSignature.Content(.addFriend, origin: bytes("example.com/log"), body: bytes("{}"))
    let signature = try RequestSignature(
        content, deviceKey: party.deviceKey, time: 5000, nonce: bytes(9, 16), sign: party.deviceSignature)
    return [
        request.encoded, challenge.encoded, card.encoded, checkpoint.encoded, signature.headerValue,
        try StateSubmission(state: state, opening: bytes(4, 32), cards: [card]).encoded,
        try SignedFriendRequest(isAgreement: false, signature: signature, body: bytes("{}")).encoded,
        LinkCard(card, checkpoint).encoded, try contactCard(state, checkpoint, by: party),
    ]
}

/// A contact card is made of a verified lookup, which needs a whole directory: these are its lines.
private func contactCard(_ state: AccountState, _ checkpoint: CheckpointCard, by party: Party) throws -> [UInt8] {
    func line(_ value: [UInt8]) -> [UInt8] { Array(Data(value).base64EncodedString().utf8) + [10] }
    let head =
        bytes("signet-contact/v1\n") + state.handle.bytes + [10] + line(state.identityKey) + bytes("1\n")
        + line(state.hash)
    return head + line(try party.identitySignature(head + checkpoint.encoded)) + checkpoint.encoded
}
