// SPDX-License-Identifier: Apache-2.0

import Signet
import SignetCalls
import Synchronization

/// A call in which this device takes part: what was said of it, and who is heard.
actor TakenCall {
    /// How many remarks are kept.
    private static let remarkCount = 50
    /// For how long a person is counted as heard after their last frame, in seconds.
    static let heardSeconds: UInt64 = 3
    /// For how long a frame that could not be opened is the reason why nothing is heard, in seconds.
    static let closedSeconds: UInt64 = 10

    nonisolated let call: GroupCall
    /// The people, without the user's own devices.
    nonisolated let people: [Handle]
    nonisolated let began: UInt64
    /// Whether this device rang the others.
    nonisolated let isRinging: Bool
    private nonisolated let mute = Mutex(false)
    private nonisolated let trouble = Mutex<String?>(nil)
    private let now: @Sendable () -> UInt64

    private struct Hearing {
        var frames = 0
        var closed = 0
        var heardAt: UInt64?
        var closedAt: UInt64?
        let since: UInt64
    }

    private var hearing: [CallDevice: Hearing] = [:]
    private var outcomes: [Handle: RingOutcome] = [:]
    private var code: [UInt8]?
    private var remarks: [(time: UInt64, notice: CallNotice)] = []
    private var hasStranger = false
    /// The newest sign that somebody speaks in the name of another.
    private var forgery: CallNotice?
    private var isLeft = false

    init(_ call: GroupCall, with people: [Handle], isRinging: Bool, now: @escaping @Sendable () -> UInt64) {
        (self.call, self.people, self.isRinging, self.now) = (call, people, isRinging, now)
        began = now()
    }

    nonisolated var isMuted: Bool { mute.withLock { $0 } }

    nonisolated func set(muted: Bool) { mute.withLock { $0 = muted } }

    // MARK: Taking part

    /// Takes part until the call is over.
    ///
    /// - Returns: how it ended.
    func takePart(with voice: any CallVoice, _ surroundings: Surroundings) async -> PastCall.End {
        let tasks = [
            Task { [call, self] in
                await voice.talk(in: call) {
                    self.isMuted
                } telling: { trouble in
                    self.trouble.withLock { $0 = trouble }
                }
            },
            Task { [weak self] in
                while !Task.isCancelled {
                    await self?.listen()
                    await surroundings.wait(.seconds(1))
                }
            },
        ]
        let end = await read()
        for task in tasks { task.cancel() }
        // The programs of the sound end with the call.
        for task in tasks { await task.value }
        return end
    }

    private func read() async -> PastCall.End {
        for await notice in call.notices {
            note(notice)
            let end: PastCall.End? =
                switch notice {
                case .outside(.removed), .cutOff: .removed
                case .rung where !isLeft: await call.isUnanswered ? .unanswered(isDeclined: isDeclined) : nil
                default: nil
                }
            if let end {
                await call.leave()
                return end
            }
        }
        return isLeft ? .left : .removed
    }

    private var isDeclined: Bool { people.allSatisfy { outcomes[$0] == .declined } }

    func leave() async {
        isLeft = true
        await call.leave()
    }

    /// Removes a person for good, if this device is the host.
    func remove(_ handle: Handle) async {
        let people = await call.people
        for device in people.devices where people[device]?.handle == handle { await call.exclude(device) }
    }

    private func note(_ notice: CallNotice) {
        switch notice {
        case .code(let digits): code = digits
        case .members(_, let strangers): hasStranger = !strangers.isEmpty
        case .rung(let handle, let outcome): outcomes[handle] = outcome
        case .denied, .contradicted: forgery = notice
        // What the speaker's own signature says is stronger than what the relay says.
        case .forged: if forgery == nil { forgery = notice }
        default: break
        }
        remarks.append((now(), notice))
        if remarks.count > Self.remarkCount { remarks.removeFirst() }
    }

    /// Notes whose frames have come since the last time.
    private func listen() async {
        let tally = await call.tally
        let time = now()
        for device in await call.members {
            var own = hearing[device] ?? Hearing(since: time)
            if let counted = tally.members[device] {
                if counted.frames > own.frames { (own.frames, own.heardAt) = (counted.frames, time) }
                if counted.undecryptable > own.closed { (own.closed, own.closedAt) = (counted.undecryptable, time) }
            }
            hearing[device] = own
        }
    }

    // MARK: What a page shows

    func facts() async -> CallFacts {
        await listen()
        let (members, known) = (await call.members, await call.people)
        let standings = people.map { handle in
            (handle, standing(of: handle, members.filter { known[$0]?.handle == handle }, known))
        }
        return CallFacts(
            people: standings.map { CallFacts.Person(handle: $0.0, standing: $0.1) }, began: began,
            code: standings.contains { $0.1.isPresent } ? code : nil,
            isHost: await call.isHost, isMuted: isMuted, trouble: trouble.withLock { $0 },
            isForked: await call.tally.isForked,
            hasStranger: hasStranger, forgery: forgery, remarks: remarks, known: known)
    }

    private func standing(of handle: Handle, _ devices: [CallDevice], _ known: CallPeople) -> CallFacts.Standing {
        guard !devices.isEmpty else {
            if hearing.keys.contains(where: { known[$0]?.handle == handle }) { return .left }
            switch outcomes[handle] {
            case .accepted: return .coming
            case .declined: return .declined
            case .busy: return .busy
            case .missed: return .missed
            case nil: return isRinging ? .ringing : .awaited
            }
        }
        let time = now()
        let heard = devices.compactMap { hearing[$0] }
        if let last = heard.compactMap(\.heardAt).max(), time <= last + Self.heardSeconds { return .heard }
        let since = heard.map { $0.heardAt ?? $0.since }.max() ?? time
        guard time > since + Self.heardSeconds else { return .here }
        let isClosed = heard.contains { $0.closedAt.map { time <= $0 + Self.closedSeconds } ?? false }
        return .silent(seconds: time - since, isClosed: isClosed)
    }
}

/// What a page shows of a call.
struct CallFacts: Sendable {
    enum Standing: Hashable, Sendable {
        case ringing, awaited, coming, declined, busy, missed, left
        /// In the call, for moments.
        case here
        case heard
        /// Nothing is heard of them. If it is closed, frames come, and what opens them does not.
        case silent(seconds: UInt64, isClosed: Bool)

        var isPresent: Bool {
            switch self {
            case .here, .heard, .silent: true
            case .ringing, .awaited, .coming, .declined, .busy, .missed, .left: false
            }
        }
    }

    struct Person: Sendable {
        let handle: Handle
        let standing: Standing
    }

    let people: [Person]
    let began: UInt64
    /// The thirty digits that everyone in the call sees; nil while this device is alone in it.
    let code: [UInt8]?
    let isHost: Bool
    let isMuted: Bool
    /// What is wrong with the sound of this device.
    let trouble: String?
    let isForked: Bool
    /// Whether a device of no one in the call takes part: nothing is sent meanwhile.
    let hasStranger: Bool
    /// That somebody speaks in the name of another; nil if nothing shows it.
    let forgery: CallNotice?
    /// Oldest first.
    let remarks: [(time: UInt64, notice: CallNotice)]
    /// Whose devices are which.
    let known: CallPeople
}

/// A call that is over, or that never was.
struct PastCall: Sendable {
    enum End: Hashable, Sendable {
        /// This device left, or it was removed.
        case left, removed
        /// No one came; whether all of them declined.
        case unanswered(isDeclined: Bool)
        /// It rang, and the user declined.
        case declined
        /// It rang, and the user did not answer here.
        case rang(RingEvent)
    }

    let people: [Handle]
    let time: UInt64
    let end: End
}
