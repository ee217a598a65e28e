// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto

@testable import CallKeys

/// Whom packets are for, and in which call.
func fuzzedCall() throws -> (call: CallID, device: CallDevice) {
    (needed { CallID(bytes(1, 16)) }, needed { CallDevice(bytes(2, 32)) })
}

/// The key of the guide's frames.
let legacyKey = SymmetricKey(data: bytes(3, 32))

func callSeeds() throws -> [[UInt8]] {
    let party = LegacyParty(participant: "p", device: "d")
    var keys = LegacyKeys.session()
    keys.setCurrent(legacyKey, at: 0)
    return [
        LegacySignal.keyRotation(callID: "call", encryptedAESKey: bytes(1, 40), keyRotationTimestamp: 1).encoded,
        LegacySignal.requestAESKey(callID: "call", host: party, requester: party).encoded,
        LegacySignal.sendAESKey(callID: "call", requester: party, encryptedAESKey: bytes(1, 40)).encoded,
        RingMemory().encoded, try keys.seal(bytes(9, 20)),
        try LegacyWrap.wrapP256(legacyKey, to: Party(1).agreement.publicKey),
    ] + (try packetSeeds())
}

/// Packets as they stand behind their seal, and sealed.
private func packetSeeds() throws -> [[UInt8]] {
    let ((call, device), party) = (try fuzzedCall(), try Party(1))
    let host = needed { CallDevice(party.deviceKey) }
    func signal(_ body: SignalBody) throws -> Signal {
        let content = Signal.Content(
            callID: call, sender: host, recipient: nil, term: 1 << 16, sequence: 9, sentAt: 1000, body: body)
        return try Signal(signing: content, with: party.deviceSignature)
    }
    let roster = try Roster(
        callID: call, term: 1 << 16, number: 1, previous: bytes(0, 32), host: host,
        members: [RosterMember(index: 0, device: host), RosterMember(index: 1, device: device)])
    let epoch = Epoch(term: 1 << 16, generation: 3, step: 0)
    let secret = needed { GroupSecret(SymmetricKey(data: bytes(4, 32))) }
    let scope = CallScope(callID: call, term: epoch.term, generation: epoch.generation)
    let rotation = KeyRotation(
        epoch: epoch, reason: .leave, commitment: secret.commitment(in: scope), notBefore: 5, roster: roster, wraps: [])
    let packets: [KeyPacket] = [
        .signal(try signal(.leave)), .signal(try signal(.roster(RosterChange(roster: roster, floors: [epoch])))),
        .signal(try signal(.ack(epoch))), .key(secret, announcement: try signal(.rotation(rotation))),
    ]
    return packets.flatMap { packet in
        [packet.encoded, needed { packet.sealed(for: device, in: call, to: party.agreement.publicKey) }]
    }
}
