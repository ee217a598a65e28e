// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency

@testable import ContactMatching
@testable import Meeting
@testable import MulticastDNS

@Sendable func meetingParsers() -> [Parser] {
    [
        .canonical("invitation", { try MeetingInvitation(decoding: $0) }, \.encoded),
        .canonical("link of an invitation", { try MeetingInvitation(link: $0) }, \.link),
        .canonical("proof of a meeting", { try MeetingProof(plaintext: $0) }, \.plaintext),
        .canonical("record of a meeting", { try MeetingRecord(decoding: $0) }, \.encoded),
        .canonical("receipt", { try MeetingReceipt(decoding: $0) }, \.encoded),
        .canonical("list of points", { try PointList.read(1, from: $0).first }, \.encoded),
        .canonical("gift of a meeting", { try MeetingGift(decoding: $0) }, \.encoded),
        // Names may be compressed, so only what is written is read as it was.
        Parser("multicast DNS") { bytes in
            guard let message = try? DNSMessage(decoding: bytes) else { return false }
            let written = message.encoded
            guard written.count <= DNSMessage.maximumByteCount, let again = try? DNSMessage(decoding: written) else {
                return true
            }
            demand(again.encoded, equals: written, "multicast DNS: what was written is not read as it was written")
            return true
        },
        Parser("words") { MeetingWords.isWhole(typed: $0) },
    ]
}

/// An invitation, what a side says of itself, what a device keeps, and a receipt of two people.
func meetingSeeds() throws -> [[UInt8]] {
    let (alice, bob) = (try person("alice", 5), try person("bob", 6))
    let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes(1, 32))
    let host = MeetingHost(
        at: [.version4([192, 0, 2, 1]), .version6(bytes(2, 16))], port: 4711, key: key, randomness: bytes(3, 48),
        now: 1_800_000_000, seconds: 180)
    guard let host else { return [] }
    let proof = MeetingProof(alice, day: 20_833, signature: bytes(4, 64), binding: bytes(5, 32))
    let record = MeetingRecord(
        role: .guest, day: 20_833, own: alice, peerHandle: bob.handle, peerKey: bob.identityKey,
        checkpoint: .init(size: 9, root: bytes(6, 32)))
    let gift = MeetingGift(tokens: [bytes(8, 32)], comparesContacts: true, card: bytes(9, 40))
    let draft = MeetingReceipt.Draft(number: bytes(7, 16), day: 20_833, alice, bob)
    let receipt = try draft.signed(
        own: Party(5).identitySignature(draft.statement), peer: Party(6).identitySignature(draft.statement))
    return [
        host.invitation.encoded, host.invitation.link, proof.plaintext, record.encoded, receipt.encoded,
        bytes("academic acid acne 42"), try listOfPoints(), needed { gift }?.encoded ?? [],
        MeetingAdvert(host.invitation, at: host.invitation.addresses).announcement.encoded,
    ]
}

private func person(_ name: String, _ number: UInt8) throws -> MeetingPerson {
    let handle = try Handle(canonical: bytes("\(name)@example.org"))
    let key = try Party(number).identityKey
    return needed { MeetingPerson(handle: handle, identityKey: key, origin: bytes("example.org/signet")) }
}

/// One point: the generator of ristretto255 (RFC 9496, appendix A.1).
private func listOfPoints() throws -> [UInt8] {
    let generator = try Hex.decode(bytes("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"))
    return [0, 1] + generator
}
