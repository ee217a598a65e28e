// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import CanonicalCoding
import Crypto

/// A device that does what the call guide says, line by line, with its three keys for media and for audio, its messages as the JSON that
/// goes over the wire, and its wraps; frames are sealed for real. It knows neither leaves nor another host.
///
/// Frames of an even number are media, the others audio.
///
/// Spec: call guide, "Key Rotation & Emergency Key Redistribution".
struct GuideMember: SimulatedMember {
    enum Message {
        /// What one does in a call: a STOMP destination.
        case act([UInt8], from: Int)
        /// A message of the guide.
        case signal([UInt8])
    }

    /// From a rotation until its key is in use, in milliseconds. The guide says only that there is such a time.
    static let lead: UInt64 = 1000

    private let number: Int
    private let identities: [GuideIdentity?]
    private var media = LegacyKeys.session()
    private var audio = LegacyKeys.audio()
    private var scheduled: (key: SymmetricKey, at: UInt64)?
    private var requests = LegacyKeyRequests()
    private var missedSince: UInt64?
    /// The key in use, by which the host answers.
    private var session: SymmetricKey?
    private var keyCount: UInt64 = 0
    private(set) var isHost = false

    init(number: Int, scenario: Scenario, policy: KeyChangePolicy) {
        self.number = number
        let joiners = scenario.faults.count { if case .join = $0 { true } else { false } }
        identities = (0..<scenario.participants + joiners).map { GuideIdentity($0) }
    }

    var isMember: Bool { session != nil }

    var view: [UInt32]? { nil }

    func knows(_ number: Int) -> Bool { true }

    mutating func start(at now: UInt64) -> [SimulatedAction<Message>] {
        isHost = true
        return setUpAESKey(freshKey(), at: now)
    }

    mutating func join(at now: UInt64) -> [SimulatedAction<Message>] {
        [.send(.act(CallAct.join(.simulated).destination, from: number), to: 0, carriesKey: false)]
    }

    mutating func leave(at now: UInt64) -> [SimulatedAction<Message>] { [] }

    /// Scheduled rotation: a fresh key, wrapped for each participant, with the time at which it comes into use.
    mutating func rotate(at now: UInt64) -> [SimulatedAction<Message>] {
        let (key, time) = (freshKey(), now + Self.lead)
        let messages = identities.indices.filter { $0 != number }.compactMap { to -> SimulatedAction<Message>? in
            guard let wrap = identities[to]?.wrap(key) else { return nil }
            let signal = LegacySignal.keyRotation(
                callID: Self.callID, encryptedAESKey: wrap, keyRotationTimestamp: time)
            return .send(.signal(signal.encoded), to: to, carriesKey: true)
        }
        return messages + schedule(key, time, at: now)
    }

    mutating func receive(_ message: Message, at now: UInt64) -> [SimulatedAction<Message>] {
        switch message {
        case .act(let destination, let from):
            guard isHost, CallAct(destination: destination, body: []) == .join(.simulated) else { return [.refused] }
            return giveKey(to: Self.party(from))
        case .signal(let bytes):
            guard let signal = try? LegacySignal(decoding: bytes) else { return [.refused] }
            return receive(signal, at: now)
        }
    }

    private mutating func receive(_ signal: LegacySignal, at now: UInt64) -> [SimulatedAction<Message>] {
        switch signal {
        case .keyRotation(Self.callID, let wrap, let time):
            guard !isHost, let key = identities[number]?.open(wrap) else { return [.refused] }
            return schedule(key, time, at: now)
        case .requestAESKey(Self.callID, let host, let requester):
            guard isHost, host == Self.party(number) else { return [.refused] }
            return giveKey(to: requester)
        case .sendAESKey(Self.callID, let requester, let wrap):
            guard !isHost, requester == Self.party(number), let key = identities[number]?.open(wrap) else {
                return [.refused]
            }
            let recovered = missedSince.map { [SimulatedAction<Message>.recovered(now - $0)] } ?? []
            missedSince = nil
            requests.complete()
            return recovered + (key == session ? [] : setUpAESKey(key, at: now))
        default: return [.refused]
        }
    }

    mutating func tick(at now: UInt64) -> [SimulatedAction<Message>] {
        guard let scheduled, now >= scheduled.at else { return [] }
        return setUpAESKey(scheduled.key, at: now)
    }

    mutating func frame(_ id: UInt64, at now: UInt64) -> SimulatedFrame? {
        let plaintext = (0..<8).map { UInt8(truncatingIfNeeded: id >> (8 * UInt64($0))) }
        guard let bytes = try? (Self.isAudio(id) ? audio : media).seal(plaintext) else { return nil }
        return SimulatedFrame(id: id, bytes: bytes, nonce: [])
    }

    /// Current, backup, future; and where none fits, the host is asked.
    mutating func receive(_ frame: SimulatedFrame, at now: UInt64) -> [SimulatedAction<Message>] {
        guard isMember else { return [] }
        do throws(LegacyFailure) {
            if Self.isAudio(frame.id) {
                _ = try audio.open(frame.bytes, at: now)
            } else {
                _ = try media.open(frame.bytes, at: now)
            }
            return [.played(frame.id)]
        } catch {
            guard requests.ask(because: error, isHost: isHost, at: now) else { return [] }
            missedSince = missedSince ?? now
            let request = LegacySignal.requestAESKey(
                callID: Self.callID, host: Self.party(0), requester: Self.party(number))
            return [.send(.signal(request.encoded), to: 0, carriesKey: false)]
        }
    }

    // MARK: Keys

    private mutating func schedule(_ key: SymmetricKey, _ time: UInt64, at now: UInt64) -> [SimulatedAction<Message>] {
        media.setFuture(key, at: now)
        audio.setFuture(key, at: now)
        scheduled = (key, time)
        return tick(at: now)
    }

    /// `setUpAesKey`, which also brings the audio path up to date.
    private mutating func setUpAESKey(_ key: SymmetricKey, at now: UInt64) -> [SimulatedAction<Message>] {
        media.setCurrent(key, at: now)
        audio.setCurrent(key, at: now)
        session = key
        if scheduled?.key == key { scheduled = nil }
        return [.epoch(generation: Self.count(of: key), step: 0)]
    }

    private func giveKey(to requester: LegacyParty) -> [SimulatedAction<Message>] {
        guard let session, let to = identities.indices.first(where: { Self.party($0) == requester }),
            let wrap = identities[to]?.wrap(session)
        else { return [.refused] }
        let signal = LegacySignal.sendAESKey(callID: Self.callID, requester: requester, encryptedAESKey: wrap)
        return [.send(.signal(signal.encoded), to: to, carriesKey: false)]
    }

    /// Random but for its last eight bytes: they count, so that the simulation can tell which key is newer.
    private mutating func freshKey() -> SymmetricKey {
        keyCount += 1
        let count = (0..<8).map { UInt8(truncatingIfNeeded: keyCount >> (8 * UInt64($0))) }
        return SymmetricKey(data: SymmetricKey(size: .bits192).withUnsafeBytes { Array($0) } + count)
    }

    private static func count(of key: SymmetricKey) -> UInt64 {
        key.withUnsafeBytes { $0.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    }

    // MARK: Names

    private static let callID = LegacyText(Hex.encode(CallID.simulated.bytes)) ?? "call"

    private static func party(_ number: Int) -> LegacyParty {
        LegacyParty(
            participant: LegacyText(Array("person-\(number)".utf8)) ?? "person",
            device: LegacyText(Array("device-\(number)".utf8)) ?? "device")
    }

    private static func isAudio(_ id: UInt64) -> Bool { !id.isMultiple(of: 2) }
}
