// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import SeededRandomness
import Testing

@testable import CallKeys

/// Packets as they travel: sealed for one device, signed by whom they name.
struct KeyPacketTests {
    private struct Owner {
        let signing = Curve25519.Signing.PrivateKey()
        let agreement = P256.KeyAgreement.PrivateKey()
        let device: CallDevice

        init() throws { device = try #require(CallDevice(Array(signing.publicKey.rawRepresentation))) }

        func sign(_ content: Signal.Content) throws -> Signal {
            try Signal(signing: content) { Array(try signing.signature(for: $0)) }
        }

        func open(_ bytes: [UInt8], in call: CallID) throws(KeyPacketError) -> OpenedPacket {
            try KeyPacket.open(bytes, for: device, in: call, with: agreement)
        }
    }

    /// A host, a member and another, and a rotation of the host's.
    private struct Stage {
        let host: Owner
        let member: Owner
        let other: Owner
        let call: CallID
        let secret: GroupSecret

        init() throws {
            (host, member, other) = (try Owner(), try Owner(), try Owner())
            call = try #require(Room.call)
            var generator = SystemRandomNumberGenerator()
            secret = GroupSecret(using: &generator)
        }

        func roster(_ devices: [CallDevice], excluded: [CallDevice] = []) throws -> Roster {
            try Roster(
                callID: call, term: 1 << 16, number: 1, previous: [UInt8](repeating: 0, count: 32), host: host.device,
                members: devices.enumerated().map { RosterMember(index: UInt16($0.offset), device: $0.element) },
                excluded: excluded)
        }

        func rotation(_ roster: Roster? = nil, wraps: [KeyWrap] = []) throws -> SignalBody {
            let epoch = Epoch(term: 1 << 16, generation: 3, step: 0)
            let scope = CallScope(callID: call, term: epoch.term, generation: epoch.generation)
            return .rotation(
                KeyRotation(
                    epoch: epoch, reason: .leave, commitment: secret.commitment(in: scope), notBefore: 5,
                    roster: try roster ?? self.roster([host.device, member.device]), wraps: wraps))
        }

        func content(_ body: SignalBody, from sender: Owner, to recipient: CallDevice? = nil) -> Signal.Content {
            Signal.Content(
                callID: call, sender: sender.device, recipient: recipient, term: 1 << 16, sequence: 9, sentAt: 1000,
                body: body)
        }

        func key(_ secret: GroupSecret? = nil) throws -> KeyPacket {
            .key(secret ?? self.secret, announcement: try host.sign(content(try rotation(), from: host)))
        }

        func sealed(_ packet: KeyPacket) throws -> [UInt8] {
            try #require(packet.sealed(for: member.device, in: call, to: member.agreement.publicKey))
        }
    }

    private func refusal(_ stage: Stage, _ packet: KeyPacket) throws -> KeyPacketError? {
        let bytes = try stage.sealed(packet)
        do throws(KeyPacketError) { _ = try stage.member.open(bytes, in: stage.call) } catch { return error }
        return nil
    }

    @Test func aKeyIsOpenedByWhomItIsFor() throws {
        let stage = try Stage()
        let bytes = try stage.sealed(try stage.key())
        guard case .key(let key) = try stage.member.open(bytes, in: stage.call) else {
            Issue.record("no key")
            return
        }
        #expect(key.secret == stage.secret && key.rotation.epoch.generation == 3)
        #expect(bytes.count == 65 + 16 + 33 + 22 + 16 + 64 + 20 + 2 + 1 + 50 + 62 + 2 * 34 + 2 + 64)
    }

    @Test func keyPacket_opensForNoOtherDeviceOrCall() throws {
        let stage = try Stage()
        let bytes = try stage.sealed(try stage.key())
        let another = try #require(CallID([UInt8](repeating: 1, count: 16)))
        #expect(throws: KeyPacketError.notSealedForThis) { try stage.other.open(bytes, in: stage.call) }
        #expect(throws: KeyPacketError.notSealedForThis) { try stage.member.open(bytes, in: another) }
        // Neither by a key that somebody has beside the device that it is for.
        #expect(throws: KeyPacketError.notSealedForThis) {
            try KeyPacket.open(bytes, for: stage.other.device, in: stage.call, with: stage.member.agreement)
        }
    }

    @Test func everyDamagedByteIsRefused_andEveryOtherLength() throws {
        let stage = try Stage()
        let bytes = try stage.sealed(try stage.key())
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 1 << UInt8(place % 8)
            #expect(throws: KeyPacketError.notSealedForThis) { try stage.member.open(damaged, in: stage.call) }
        }
        for count in [0, 1, 64, 65, 81, 1384, 2000] {
            let zeros = [UInt8](repeating: 4, count: count)
            #expect(throws: KeyPacketError.wrongLength(count)) { try stage.member.open(zeros, in: stage.call) }
        }
    }

    /// A member gives another secret out as the host's.
    @Test func aSecretThatTheHostDidNotCommitToIsRefused() throws {
        let stage = try Stage()
        var generator = SystemRandomNumberGenerator()
        let another = GroupSecret(using: &generator)
        #expect(try refusal(stage, try stage.key(another)) == .notAnnounced)
        #expect(try refusal(stage, try stage.key()) == nil)
    }

    @Test func keyPacket_refusesAnyOtherRotationThanTheHostsAnnouncement() throws {
        let stage = try Stage()
        func refusal(_ body: SignalBody, from sender: Owner, to recipient: CallDevice? = nil) throws -> KeyPacketError?
        {
            let signal = try sender.sign(stage.content(body, from: sender, to: recipient))
            return try self.refusal(stage, .key(stage.secret, announcement: signal))
        }
        let wrap = KeyWrap(
            recipient: stage.member.device, epoch: Epoch(term: 1, generation: 1, step: 0), form: .hpkeP256, bytes: [1])
        let without = try stage.roster([stage.host.device, stage.other.device])
        #expect(try refusal(try stage.rotation(), from: stage.host) == nil)
        #expect(try refusal(try stage.rotation(), from: stage.other) == .notAnnounced)
        #expect(try refusal(try stage.rotation(), from: stage.host, to: stage.member.device) == .notAnnounced)
        #expect(try refusal(try stage.rotation(wraps: [wrap]), from: stage.host) == .notAnnounced)
        #expect(try refusal(try stage.rotation(without), from: stage.host) == .notAnnounced)
        #expect(try refusal(.leave, from: stage.host) == .notForPackets)
    }

    @Test func aSignalIsVerifiedAsTheSignalsAre() throws {
        let stage = try Stage()
        let forged = Signal.Content(
            callID: stage.call, sender: stage.host.device, recipient: nil, term: 1, sequence: 1, sentAt: 1, body: .leave
        )
        #expect(try refusal(stage, .signal(try stage.other.sign(forged))) == .verification(.invalidSignature))
        let ack = SignalBody.ack(Epoch(term: 1, generation: 1, step: 0))
        let toAnother = stage.content(ack, from: stage.other, to: stage.host.device)
        #expect(try refusal(stage, .signal(try stage.other.sign(toAnother))) == .verification(.anotherRecipient))
        let leave = try stage.other.sign(stage.content(.leave, from: stage.other))
        #expect(try refusal(stage, .signal(leave)) == nil)
    }

    @Test func onlyWhatSaysItselfWhatItFollowsComesInPackets() throws {
        let stage = try Stage()
        let nonce = try #require(SignalNonce([UInt8](repeating: 6, count: 16)))
        let epoch = Epoch(term: 1, generation: 1, step: 0)
        let roster = try stage.roster([stage.host.device])
        let bodies: [SignalBody] = [
            .join(nonce), .reunite(nonce), try stage.rotation(), .commit(epoch),
            .request(KeyRequest(id: nonce, reason: .signalMissed, newest: 1)),
            .reply(KeyReply(id: nonce, current: epoch, roster: roster, wraps: [])),
            .heartbeat(Heartbeat(epoch: epoch, rosterNumber: 1, rosterHash: roster.hash, heard: 1, isHost: true)),
            .yield(Yielding(to: stage.other.device, term: 1)),
        ]
        for body in bodies {
            let signal = try stage.host.sign(stage.content(body, from: stage.host))
            #expect(try refusal(stage, .signal(signal)) == .notForPackets)
        }
    }

    @Test func aCallOf20FitsIntoADatagram_andALargerOneGoesByTheSignals() throws {
        let stage = try Stage()
        func packet(_ count: UInt8) throws -> [UInt8]? {
            let others = try (0..<count - 2).map { try #require(CallDevice([UInt8](repeating: $0, count: 32))) }
            let roster = try stage.roster([stage.host.device, stage.member.device] + others)
            let signal = try stage.host.sign(stage.content(try stage.rotation(roster), from: stage.host))
            return KeyPacket.key(stage.secret, announcement: signal)
                .sealed(for: stage.member.device, in: stage.call, to: stage.member.agreement.publicKey)
        }
        let largest = try #require(try packet(28))
        #expect(largest.count <= RelayPacket.maximumFrameByteCount)
        #expect(try packet(29) == nil)
    }

    /// What a member, who can seal, puts into a packet.
    @Test func damagedContentIsReadOrRefused() throws {
        let stage = try Stage()
        var generator = SeededGenerator(seed: 7)
        let leave = try stage.other.sign(stage.content(.leave, from: stage.other))
        let contents = [try stage.key().encoded, KeyPacket.signal(leave).encoded, [], [1], [2] + stage.call.bytes]
        for round in 0..<20_000 {
            var bytes = contents[round % contents.count]
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                }
            }
            guard !contents.contains(bytes) else { continue }
            #expect(throws: KeyPacketError.self) {
                try KeyPacket.verify(bytes, for: stage.member.device, in: stage.call)
            }
        }
        #expect(throws: KeyPacketError.unknownKind) {
            try KeyPacket.verify([3] + contents[0].dropFirst(), for: stage.member.device, in: stage.call)
        }
    }

    /// A call with real signatures and boxes: a rotation that no signal carries.
    @Test func draftsBecomePacketsAndComeBack() throws {
        let owners = try (0..<2).map { _ in try Owner() }
        let call = try #require(Room.call)
        var people = owners.map {
            CallParticipant(callID: call, device: $0.device, generator: SystemRandomNumberGenerator())
        }
        func step(_ number: Int, _ event: CallEvent, isDeaf: Bool) throws {
            for action in people[number].handle(event, at: 1_000_000) {
                switch action {
                case .send(let draft) where !isDeaf:
                    let keys = draft.keys.filter { $0.recipient == owners[1 - number].device }
                    let signal = OpenedSignal(
                        sender: owners[number].device, sequence: draft.sequence, body: draft.body, keys: keys)
                    try step(1 - number, .signal(signal), isDeaf: isDeaf)
                case .sendPacket(let draft) where isDeaf:
                    let packet = try draft.packet(by: owners[number].device, in: call) {
                        Array(try owners[number].signing.signature(for: $0))
                    }
                    let bytes = try #require(
                        packet.sealed(
                            for: draft.recipients[0], in: call, to: owners[1 - number].agreement.publicKey))
                    try step(1 - number, .packet(try owners[1 - number].open(bytes, in: call)), isDeaf: isDeaf)
                case .admissionNeeded(let device): try step(number, .admit(device), isDeaf: isDeaf)
                default: break
                }
            }
        }
        try step(0, .start, isDeaf: false)
        try step(1, .join(trusting: [owners[0].device]), isDeaf: false)
        try step(0, .suspect, isDeaf: true)
        #expect(people[0].sending?.generation == 2 && people[1].ring.newest == 2)
    }
}
