// SPDX-License-Identifier: Apache-2.0

import CallKeys
public import CallSignalling
import SFrame
import SFrameOpenSSL
import SignetClient

/// A device in a group call: drives `CallParticipant` with real time, real signals and real frames.
///
/// Security: only people of ``CallPeople`` are admitted and believed. While the call's roster has any other device,
/// nothing is sent.
public actor GroupCall {
    /// Which call.
    public nonisolated let callID: CallID
    /// What happens, for one reader. It has no sound in it, and other devices cannot make it grow quickly: neither a
    /// slow player nor a stranger who knocks all the time can push a warning out.
    public nonisolated let notices: AsyncStream<CallNotice>
    /// What is heard, for one reader. A reader that pauses for a few seconds misses the oldest.
    public nonisolated let sound: AsyncStream<HeardFrame>
    /// The counts so far.
    public private(set) var tally = CallTally()

    private let identity: CallIdentity
    /// The people who may take part. Their devices become fewer if one is revoked during the call.
    public private(set) var people: CallPeople
    private let signals: any CallSignals
    let frames: any CallFrames
    private let clock: CallClock
    private let gossip: CallGossip?
    private let check: PeopleCheck?
    private var checkedAt: UInt64 = 0
    /// The devices whose checkpoint was compared: one for each device, so that none can keep this one busy.
    private var met: Set<CallDevice> = []
    private let report: AsyncStream<CallNotice>.Continuation
    private let deliver: AsyncStream<HeardFrame>.Continuation
    private var pace = NoticePace()
    var participant: CallParticipant
    private var strangers: [CallDevice] { members.filter { !isKnown($0) } }
    private var soundCount: UInt32 = 0
    /// Of which call as it is the thirty digits were reported: they take thousands of hashes.
    private var codeShown: (term: UInt32, members: [CallDevice])?
    private var allowance = PacketAllowance()
    private var (unconfirmed, replayed) = (PacedCount(), PacedCount())
    private var tasks: [Task<Void, Never>] = []
    /// The people who are rung, from ``ring(as:for:)`` on.
    var ringing: OutgoingRing?
    /// Rings of other calls, which reach this device meanwhile.
    private let otherRings: AsyncStream<RingEvent>?

    /// A call in which this device does not take part yet.
    public init(
        _ callID: CallID, as identity: CallIdentity, with people: CallPeople, signals: any CallSignals,
        frames: any CallFrames, gossip: CallGossip? = nil, clock: CallClock = CallClock()
    ) {
        self.init(
            callID, as: identity, with: people, signals: signals, frames: frames, gossip: gossip, check: nil,
            clock: clock)
    }

    /// The same, with people who are looked up again.
    package init(
        _ callID: CallID, as identity: CallIdentity, with people: CallPeople, signals: any CallSignals,
        frames: any CallFrames, gossip: CallGossip? = nil, check: PeopleCheck?,
        otherRings: AsyncStream<RingEvent>? = nil, clock: CallClock = CallClock()
    ) {
        self.check = check
        self.otherRings = otherRings
        checkedAt = clock.now
        self.callID = callID
        self.identity = identity
        self.people = people
        self.signals = signals
        self.frames = frames
        self.clock = clock
        self.gossip = gossip
        (notices, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096))
        (sound, deliver) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096))
        participant = CallParticipant(
            callID: callID, device: identity.device, generator: SystemRandomNumberGenerator(),
            suites: CallSuites { key, suite throws(FrameCipherError) in try suite.makeOpenSSLCipher(key: key) })
    }

    /// Starts the call, with this device as its host.
    public func start() {
        begin()
        perform(.start)
    }

    /// Asks the host to be admitted, again every second until it is.
    public func join() {
        begin()
        perform(.join(trusting: people.devices))
    }

    /// Leaves, and wipes every key.
    public func leave() async {
        stopRinging()
        for task in tasks { task.cancel() }
        tasks = []
        perform(.leave)
        // A farewell is repeated for as long.
        for _ in 0..<4 where (try? await Task.sleep(for: .milliseconds(50))) != nil { perform(.tick) }
        await signals.close()
        await frames.close()
        report.finish()
        deliver.finish()
    }

    /// Makes fresh keys now, if this device is the host.
    public func rotate() { perform(.suspect) }

    /// Removes a device, if this device is the host: from the call and from both relays. No later host admits it again
    /// unasked.
    public func exclude(_ device: CallDevice) async {
        guard isHost else { return }
        perform(.exclude(device))
        await signals.remove([device])
    }

    /// Lets a device that was removed come back, if this device is the host.
    public func readmit(_ device: CallDevice) async {
        guard isHost else { return }
        perform(.readmit(device))
        await signals.invite([device])
    }

    /// Sends a piece of sound, or nothing at all: never in the clear.
    ///
    /// - Returns: the outcome of it.
    @discardableResult
    public func send(_ sound: [UInt8]) -> SendOutcome {
        let frame: [UInt8]
        do throws(WithheldReason) { frame = try sealed(sound) } catch {
            tally.withheld += 1
            return .withheld(error)
        }
        defer { soundCount &+= 1 }
        tally.sent += 1
        frames.send(frame)
        return .sent(number: soundCount)
    }

    private func sealed(_ sound: [UInt8]) throws(WithheldReason) -> [UInt8] {
        guard strangers.isEmpty else { throw .stranger }
        guard !tally.isForked else { throw .forked }
        guard let frame = try? participant.seal(AudioFrame(number: soundCount, sound: sound).encoded, .audio) else {
            throw .noKey
        }
        guard frame.count <= RelayPacket.maximumFrameByteCount else { throw .tooLong }
        return frame
    }

    /// Whether this device makes the keys.
    public var isHost: Bool { participant.isHost }
    /// Under which epoch it sends; nil while it cannot.
    public var epoch: Epoch? { participant.sending }
    /// Who is in the call, as far as this device knows.
    public var members: [CallDevice] { participant.roster?.members.map(\.device) ?? [] }

    // MARK: What comes in

    private func begin() {
        guard tasks.isEmpty else { return }
        let (signals, frames) = (signals.incoming, frames.incoming)
        tasks = [
            Task {
                for await bytes in signals { receive(signal: bytes) }
                if !Task.isCancelled { report.yield(.cutOff) }
            },
            Task {
                for await frame in frames { receive(frame) }
            },
            Task { while (try? await Task.sleep(for: .milliseconds(50))) != nil { tick() } },
            Task { [otherRings] in for await event in otherRings ?? AsyncStream.ended { hear(event) } },
        ]
    }

    /// Of another call; a log with two histories is this call's too.
    func hear(_ event: RingEvent) {
        if case .forkMet = event { tally.isForked = true }
        report.yield(.rang(event))
    }

    private func receive(_ frame: ArrivedFrame) {
        guard frame.isSealed else {
            return perform(frame.carriedFor.map { .relayedFrame(frame.bytes, of: $0) } ?? .frame(frame.bytes))
        }
        // Opening takes more work than making junk.
        guard allowance.takes(from: frame.carriedFor, at: clock.now),
            let packet = identity.open(frame.bytes, in: callID), isKnown(packet.sender)
        else { return }
        perform(.packet(packet))
    }

    private func tick() {
        perform(.tick)
        tickRing()
    }

    private func receive(signal bytes: [UInt8]) {
        guard let signal = try? Signal(decoding: bytes), signal.content.sender != identity.device else { return }
        guard let verified = try? signal.verify(for: identity.device, in: callID), isKnown(signal.content.sender) else {
            tally.refusals += 1
            if case .join = signal.content.body, pace.takes(.stranger, of: nil, at: clock.now) {
                report.yield(.stranger(signal.content.sender))
            }
            return
        }
        meet(verified.content.checkpoint, from: signal.content.sender)
        if case .ringAnswer(let answer) = verified.content.body { return take(answer, verified) }
        guard let opened = identity.open(verified) else { return }
        perform(.signal(opened))
    }

    /// Compares a checkpoint in the background; the call goes on meanwhile.
    private func meet(_ checkpoint: [UInt8], from device: CallDevice) {
        guard let gossip, !checkpoint.isEmpty, met.insert(device).inserted else { return }
        Task { settle(await gossip.meet(checkpoint), from: device) }
    }

    private func settle(_ found: MetCheckpoint, from device: CallDevice) {
        if case .fork = found { tally.isForked = true }
        report.yield(.met(found, from: device))
    }

    private func isKnown(_ device: CallDevice) -> Bool { device == identity.device || people[device] != nil }

    /// Looks the people up again, in the background: due with each new generation, which the host makes every five minutes at least.
    private func checkPeople() {
        guard let check, clock.now >= checkedAt + check.pause else { return }
        checkedAt = clock.now
        let people = self.people
        Task { await settle(await check.again(people)) }
    }

    /// Devices that are left out are no longer believed or sent anything; the host removes them.
    private func settle(_ people: CallPeople) async {
        let gone = self.people.devices.subtracting(people.devices)
        guard !gone.isEmpty else { return }
        self.people = people
        report.yield(.revoked(gone.sorted()))
        for device in gone.sorted() { await exclude(device) }
    }

    private func perform(_ event: CallEvent) {
        for action in participant.handle(event, at: clock.now) { carryOut(action) }
    }

    // MARK: What comes of it

    private func carryOut(_ action: CallAction) {
        switch action {
        case .send(let draft): send(draft)
        case .sendPacket(let draft): send(draft)
        case .play(let frame): play(frame)
        case .dropped(let frame): drop(frame)
        case .forged(let count, let device, let holders):
            tally.members[device, default: MemberTally()].denied += count
            report.yield(.denied(frames: count, by: device, holders: holders))
        case .unconfirmed(let count, let device): noteUnconfirmed(count, of: device)
        case .contradicted(let device): report.yield(.contradicted(device))
        case .admissionNeeded(let device): if isKnown(device) { perform(.admit(device)) }
        case .sendingUnder(let epoch): reportEpoch(epoch)
        case .roster(let roster): receive(roster)
        case .recovered(let milliseconds):
            tally.recoveries.append(milliseconds)
            report.yield(.recovered(milliseconds: milliseconds))
        case .refused(let refusal, let device):
            tally.refusals += 1
            if pace.takes(.refused, of: device, at: clock.now) { report.yield(.refused(refusal, from: device)) }
        case .outside(let reason): report.yield(.outside(reason))
        case .keyFrameNeeded: break
        }
    }

    private func send(_ draft: SignalDraft) {
        // Signing fails for one reason, a bug in the keystore, and then nothing is sent.
        guard
            let signal = try? draft.signed(
                by: identity.device, in: callID, checkpoint: gossip?.own ?? [],
                agreementKey: people.agreementKey(of:), sign: identity.sign)
        else { return }
        signals.send(signal)
    }

    private func send(_ draft: PacketDraft) {
        guard let packet = try? draft.packet(by: identity.device, in: callID, sign: identity.sign) else { return }
        for recipient in draft.recipients {
            guard let key = people.agreementKey(of: recipient),
                let bytes = packet.sealed(for: recipient, in: callID, to: key)
            else { continue }
            frames.send(bytes, to: MemberAlias(of: recipient, in: callID))
        }
    }

    var now: UInt64 { clock.now }

    func tell(_ notice: CallNotice) { report.yield(notice) }

    func noteRefusedAnswer() { tally.refusals += 1 }

    /// Sends one device a signal that does not come from the participant's state.
    func tell(_ body: SignalBody, to device: CallDevice) {
        let content = Signal.Content(
            callID: callID, sender: identity.device, recipient: device, term: 0, sequence: clock.now,
            sentAt: clock.now, checkpoint: gossip?.own ?? [], body: body)
        if let signal = try? Signal(signing: content, with: identity.sign) { signals.send(signal) }
    }

    private func receive(_ roster: Roster) {
        let members = roster.members.map(\.device)
        report.yield(.members(members, strangers: strangers))
        reportCode()
    }

    private func reportEpoch(_ epoch: Epoch) {
        if tally.generations.insert(epoch.generation).inserted { checkPeople() }
        reportCode()
    }

    private func reportCode() {
        guard let roster = participant.roster, codeShown?.term != roster.term || codeShown?.members != members,
            let code = participant.verificationCode(identity: people.identityKey(of:))
        else { return }
        codeShown = (roster.term, members)
        report.yield(.code(code))
    }

    private func play(_ frame: PlayedFrame) {
        guard isKnown(frame.sender), let sound = AudioFrame(decoding: frame.plaintext) else { return }
        tally.members[frame.sender, default: MemberTally()]
            .hear(sound.number, generation: frame.generation, step: frame.step, waited: frame.waited)
        deliver.yield(HeardFrame(sound, from: frame.sender))
    }

    private func noteUnconfirmed(_ count: Int, of device: CallDevice) {
        let total = (tally.members[device]?.unconfirmed ?? 0) + count
        tally.members[device, default: MemberTally()].unconfirmed = total
        if let more = unconfirmed.due(total, of: device, at: clock.now) {
            report.yield(.unconfirmed(frames: more, of: device))
        }
    }

    private func drop(_ frame: DroppedFrame) {
        let device = frame.keyID.flatMap { participant.roster?.device(at: $0.index) }
        let isTold = tally.drop(frame.reason, of: device)
        if frame.reason == .replayed, let device, let total = tally.members[device]?.replayed,
            let more = replayed.due(total, of: device, at: clock.now)
        {
            report.yield(.replayed(frames: more, of: device))
        }
        guard isTold else { return }
        let forger = frame.carriedFor.flatMap { alias in
            members.first { MemberAlias(of: $0, in: callID) == alias }
        }
        guard forger != nil || pace.takes(.dropped(frame.reason), of: device, at: clock.now) else { return }
        report.yield(forger.map { .forged(inTheNameOf: device, by: $0) } ?? .failed(frame.reason, of: device))
    }
}

extension AsyncStream {
    /// One in which nothing happens.
    fileprivate static var ended: AsyncStream<Element> { AsyncStream { $0.finish() } }
}
