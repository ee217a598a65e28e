// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import Crypto
import SFrame

/// A device that follows Signet's rules: the state machine itself. Signatures and wraps are left out, since every message
/// comes from whom it says; the cipher of frames is a cheap one.
struct SignetMember: SimulatedMember {
    enum Message {
        case signal(SignalDraft, from: CallDevice)
        case packet(OpenedPacket)
    }

    private let number: Int
    private let everybody: [CallDevice]
    private var participant: CallParticipant
    private let isStrict: Bool

    init(number: Int, scenario: Scenario, policy: KeyChangePolicy) {
        self.number = number
        let joiners = scenario.faults.count { if case .join = $0 { true } else { false } }
        everybody = (0..<scenario.participants + joiners).compactMap(Self.device)
        var seeds = Chance(seed: scenario.seed ^ UInt64(number) << 32)
        // An unsigned statement proves nothing.
        var times = CallTimes()
        times.digestInterval = 0
        participant = CallParticipant(
            callID: .simulated, device: everybody[number], generator: Chance(seed: seeds.next()),
            suites: CallSuites { key, suite throws(FrameCipherError) in PaperCipher(key, suite) }, times: times)
        isStrict = scenario.isAudited
    }

    var isMember: Bool { participant.isMember && participant.sending != nil }
    var isHost: Bool { participant.isHost }

    var view: [UInt32]? { participant.isMember ? participant.roster.map { [$0.term, $0.number] } : nil }

    func knows(_ number: Int) -> Bool { participant.roster?.contains(everybody[number]) ?? false }

    mutating func start(at now: UInt64) -> [SimulatedAction<Message>] {
        translate(participant.handle(.start, at: now), at: now)
    }

    mutating func join(at now: UInt64) -> [SimulatedAction<Message>] {
        translate(participant.handle(.join(trusting: Set(everybody)), at: now), at: now)
    }

    mutating func leave(at now: UInt64) -> [SimulatedAction<Message>] {
        translate(participant.handle(.leave, at: now), at: now)
    }

    mutating func rotate(at now: UInt64) -> [SimulatedAction<Message>] {
        translate(participant.handle(.suspect, at: now), at: now)
    }

    mutating func tick(at now: UInt64) -> [SimulatedAction<Message>] {
        translate(participant.handle(.tick, at: now), at: now)
    }

    mutating func receive(_ message: Message, at now: UInt64) -> [SimulatedAction<Message>] {
        switch message {
        case .packet(let packet): return translate(participant.handle(.packet(packet), at: now), at: now)
        case .signal(let draft, let sender):
            let keys = draft.keys.filter { $0.recipient == everybody[number] }
            let signal = OpenedSignal(sender: sender, sequence: draft.sequence, body: draft.body, keys: keys)
            return translate(participant.handle(.signal(signal), at: now), at: now)
        }
    }

    mutating func frame(_ id: UInt64, at now: UInt64) -> SimulatedFrame? {
        let plaintext = (0..<8).map { UInt8(truncatingIfNeeded: id >> UInt64(8 * $0)) }
        guard let sending = participant.sending, let bytes = try? participant.seal(plaintext, .audio) else {
            return nil
        }
        guard isStrict, let header = try? FrameHeader(startOf: bytes) else {
            return SimulatedFrame(id: id, bytes: bytes, nonce: [])
        }
        let nonce = [UInt64(sending.term), UInt64(sending.generation), header.keyID, header.counter]
        return SimulatedFrame(id: id, bytes: bytes, nonce: nonce)
    }

    mutating func receive(_ frame: SimulatedFrame, at now: UInt64) -> [SimulatedAction<Message>] {
        translate(participant.handle(.frame(frame.bytes), at: now), at: now)
    }

    private mutating func translate(_ actions: [CallAction], at now: UInt64) -> [SimulatedAction<Message>] {
        var result: [SimulatedAction<Message>] = []
        for action in actions {
            switch action {
            case .send(let draft): result += sending(draft)
            case .sendPacket(let draft): result += sending(draft)
            case .play(let frame):
                result.append(
                    .played(frame.plaintext.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) })
                )
            case .recovered(let milliseconds): result.append(.recovered(milliseconds))
            case .sendingUnder(let epoch):
                result.append(.epoch(generation: UInt64(epoch.generation), step: UInt64(epoch.step)))
            case .roster(let roster):
                result.append(.tenure(term: UInt64(roster.term), host: everybody.firstIndex(of: roster.host) ?? -1))
            case .admissionNeeded(let device): result += translate(participant.handle(.admit(device), at: now), at: now)
            case .refused: result.append(.refused)
            case .outside: result.append(.outside)
            case .dropped, .keyFrameNeeded, .forged, .unconfirmed, .contradicted: break
            }
        }
        return result
    }

    private func sending(_ draft: SignalDraft) -> [SimulatedAction<Message>] {
        var actions: [SimulatedAction<Message>] = []
        if case .request(let request) = draft.body {
            actions.append(.asked(id: request.id.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }))
        }
        let isRotation = if case .rotation = draft.body { true } else { false }
        let to = draft.recipient.flatMap { everybody.firstIndex(of: $0) }
        actions.append(.send(.signal(draft, from: everybody[number]), to: to, carriesKey: isRotation))
        return actions
    }

    private func sending(_ draft: PacketDraft) -> [SimulatedAction<Message>] {
        draft.recipients.compactMap { recipient in
            guard let to = everybody.firstIndex(of: recipient),
                let packet = draft.opened(by: recipient, sentBy: everybody[number], in: .simulated)
            else { return nil }
            return .sendPacket(.packet(packet), to: to, carriesKey: draft.isKey)
        }
    }

    private static func device(_ number: Int) -> CallDevice? {
        CallDevice(
            [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 31) + [UInt8(truncatingIfNeeded: number >> 8)])
    }
}

extension CallID {
    /// Of every simulated call.
    static let simulated: CallID = {
        var chance = Chance(seed: 0)
        return CallID(using: &chance)
    }()
}

/// Encrypts nothing and authenticates cheaply: another key, nonce or byte gives another tag. For virtual time only.
struct PaperCipher: FrameCipher {
    private let key: UInt64
    private let tagByteCount: Int

    init(_ key: SymmetricKey, _ suite: CipherSuite) {
        self.key = key.withUnsafeBytes { $0.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } }
        tagByteCount = suite.tagByteCount
    }

    func seal(
        _ plaintext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8],
        into output: inout [UInt8]
    ) throws(FrameCipherError) {
        output += plaintext
        output += tag(plaintext, nonce, authenticated)
    }

    func open(
        _ ciphertext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8]
    ) throws(FrameCipherError) -> [UInt8] {
        let plaintext = ciphertext.dropLast(tagByteCount)
        guard ciphertext.suffix(tagByteCount).elementsEqual(tag(plaintext, nonce, authenticated)) else {
            throw .notAuthentic
        }
        return Array(plaintext)
    }

    private func tag(_ plaintext: ArraySlice<UInt8>, _ nonce: [UInt8], _ authenticated: [UInt8]) -> [UInt8] {
        var state = key
        for byte in plaintext { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in nonce { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in authenticated { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<tagByteCount).map { UInt8(truncatingIfNeeded: state >> UInt64($0 % 8 * 8)) }
    }
}
