// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import CallSignalling

/// A device with its key, made from a number.
struct Actor {
    let key: Curve25519.Signing.PrivateKey
    let device: CallDevice

    init(_ number: UInt8) throws {
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: number, count: 32))
        device = try #require(CallDevice(Array(key.publicKey.rawRepresentation)))
    }

    func sign(_ content: Signal.Content) throws -> Signal {
        try Signal(signing: content) { bytes in Array(try key.signature(for: bytes)) }
    }
}

/// A call of three, and one signal of every kind in it.
struct Cast {
    let host: Actor
    let member: Actor
    let other: Actor
    let callID: CallID
    let roster: Roster
    let epoch = Epoch(term: 2, generation: 7, step: 0)

    init() throws {
        host = try Actor(1)
        member = try Actor(2)
        other = try Actor(3)
        callID = try #require(CallID([UInt8](repeating: 9, count: 16)))
        roster = try Roster(
            callID: callID, term: 2, number: 4, previous: [UInt8](repeating: 5, count: 32), host: host.device,
            members: [
                RosterMember(index: 0, device: member.device), RosterMember(index: 3, device: host.device),
                RosterMember(index: 9, device: other.device),
            ], excluded: [try Actor(4).device])
    }

    func content(_ body: SignalBody, to recipient: CallDevice? = nil) -> Signal.Content {
        Signal.Content(
            callID: callID, sender: host.device, recipient: recipient, term: 2, sequence: 11, sentAt: 1000, body: body)
    }

    /// By the first, for the second, in a call with the third.
    func ring(duration: UInt16 = 45, id: UInt8 = 6) throws -> Ring {
        try Ring(
            id: try #require(SignalNonce([UInt8](repeating: id, count: 16))), duration: duration,
            caller: Array("host@example.org".utf8),
            others: [Array("member@example.org".utf8), Array("other@example.org".utf8)])
    }

    /// Of sound under the epoch, and sound and pictures under the one before.
    func digest() throws -> FrameDigest {
        let before = Epoch(term: 2, generation: 6, step: 3)
        return try FrameDigest(
            mark: 77, heard: [4, 5],
            sent: [
                FrameDigest.Sent(
                    epoch: epoch, index: 3, streams: [FrameDigest.Stream(context: 0, count: 9, hashes: [1, 2, 3])]),
                FrameDigest.Sent(
                    epoch: before, index: 3,
                    streams: [
                        FrameDigest.Stream(context: 0, count: 700, hashes: []),
                        FrameDigest.Stream(context: 2, count: 1, hashes: [8]),
                    ]),
            ])
    }

    func bodies() throws -> [SignalBody] {
        let nonce = try #require(SignalNonce([UInt8](repeating: 6, count: 16)))
        let wraps = WrapForm.allCases.map {
            KeyWrap(recipient: member.device, epoch: epoch, form: $0, bytes: [1, 2, 3])
        }
        return [
            .join(nonce), .leave, .roster(RosterChange(roster: roster, floors: [epoch])),
            .rotation(
                KeyRotation(
                    epoch: epoch, reason: .leave, commitment: [UInt8](repeating: 8, count: 32), notBefore: 5,
                    roster: roster, wraps: wraps)),
            .ack(epoch), .commit(epoch), .request(KeyRequest(id: nonce, reason: .audioDecryptFailed, newest: 6)),
            .reply(KeyReply(id: nonce, current: epoch, roster: roster, wraps: wraps)),
            .heartbeat(Heartbeat(epoch: epoch, rosterNumber: 4, rosterHash: roster.hash, heard: 2, isHost: true)),
            .yield(Yielding(to: other.device, term: 1 << 16 | 1)), .reunite(nonce), .ring(try ring()),
            .ringAnswer(RingAnswer(.busy, to: nonce)), .ringEnd(RingEnd(.acceptedElsewhere, of: nonce)),
            .digest(try digest()),
        ]
    }
}
