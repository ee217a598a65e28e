// SPDX-License-Identifier: Apache-2.0

import Signet
import SignetCalls

/// The calls of an open account: waits for rings, and takes part in one call at a time.
actor CallDesk {
    /// Whether this process hears rings.
    enum Waiting: Sendable {
        case beginning, here
        /// Another process of this home waits for calls, or is in one.
        case elsewhere
        case trouble(CallFailure)
    }

    private static let pastCount = 50

    private let account: Account
    private let folder: HomeFolder
    private let voice: any CallVoice
    private let surroundings: Surroundings
    private(set) var waiting = Waiting.beginning
    private(set) var running: TakenCall?
    /// Newest first, of this process alone.
    private(set) var past: [PastCall] = []
    private var listener: RingListener?
    private var isEntering = false
    private var isClosed = false
    private var tasks: [Task<Void, Never>] = []
    /// Plays while something rings.
    private var sound: Task<Void, Never>?

    init(_ account: Account, in folder: HomeFolder, with voice: any CallVoice, _ surroundings: Surroundings) {
        (self.account, self.folder, self.voice, self.surroundings) = (account, folder, voice, surroundings)
    }

    nonisolated var shortcoming: String? { voice.shortcoming }

    /// Waits for rings from now on.
    func begin() {
        guard !isClosed else { return }
        tasks.append(Task { [weak self] in while !Task.isCancelled, let self { await self.hear() } })
    }

    /// Leaves the call, also one that is being entered, and waits no more.
    func close() async {
        isClosed = true
        for task in tasks { task.cancel() }
        await listener?.close()
        await running?.leave()
        for task in tasks { await task.value }
        tasks = []
    }

    /// What rings, the oldest first.
    var ringing: [IncomingCall] { get async { await listener?.ringing ?? [] } }

    // MARK: Rings

    private func hear() async {
        guard running == nil, !isEntering, !CallMark.running(in: folder).isHeld,
            let mark = CallMark.waiting(in: folder).hold()
        else {
            if running == nil, !isEntering { waiting = .elsewhere }
            return await surroundings.wait(.seconds(1))
        }
        defer { withExtendedLifetime(mark) {} }
        let listener: RingListener
        do throws(CallFailure) { listener = try await account.incomingCalls() } catch {
            waiting = .trouble(error)
            return await surroundings.wait(.seconds(5))
        }
        (self.listener, waiting) = (listener, .here)
        // The inbox is that of the call, whichever process begins one.
        let watch = Task { [folder, surroundings] in
            while !Task.isCancelled, !CallMark.running(in: folder).isHeld { await surroundings.wait(.seconds(1)) }
            await listener.close()
        }
        if Task.isCancelled { await listener.close() }
        for await event in listener.events {
            note(event)
            await sound(of: listener)
        }
        await stopSound()
        watch.cancel()
        await listener.close()
        self.listener = nil
    }

    /// Plays while something rings, and not once a call is being entered.
    private func sound(of listener: RingListener) async {
        guard await !listener.ringing.isEmpty else { return await stopSound() }
        if sound == nil, !isEntering { sound = Task { [voice] in await voice.ring() } }
    }

    private func stopSound() async {
        guard let sound else { return }
        self.sound = nil
        sound.cancel()
        // The program of the sound has ended before that of a call begins.
        await sound.value
    }

    private func note(_ event: RingEvent) {
        switch event {
        case .ringing: break
        case .stopped(let call, _): remember(call.people, .rang(event))
        case .missed(let caller), .busy(let caller, _), .refused(.tooOften, let caller?), .unproven(let caller, _),
            .contradicted(let caller), .forkMet(let caller):
            remember([caller], .rang(event))
        case .refused: break
        }
    }

    private func remember(_ people: [Handle], _ end: PastCall.End) {
        past.insert(PastCall(people: people, time: surroundings.now(), end: end), at: 0)
        if past.count > Self.pastCount { past.removeLast() }
    }

    // MARK: Entering

    /// Rings people. No one is rung before all of them were looked up and compared with what was accepted.
    func ring(_ people: [Handle]) async throws(CallRefusal) {
        try await enter(people, isRinging: true) { account, listener throws(CallFailure) in
            let checked = try await account.peopleForCall(people)
            return { () async throws(CallFailure) in
                await listener?.close()
                return try await account.call(checked)
            }
        }
    }

    /// Answers a call that rings.
    func accept(_ call: CallID) async throws(CallRefusal) {
        guard let incoming = await ringing.first(where: { $0.ring.callID == call }) else { throw .notRinging }
        try await enter(incoming.people, isRinging: false) { account, listener throws(CallFailure) in
            let checked = try await account.peopleForCall(incoming.people)
            return { () async throws(CallFailure) in
                await listener?.answer(.accept, to: incoming)
                await listener?.close()
                return try await account.join(call, with: checked)
            }
        }
    }

    /// Declines it.
    func decline(_ call: CallID) async {
        guard let listener, let incoming = await listener.ringing.first(where: { $0.ring.callID == call }) else {
            return
        }
        await listener.answer(.decline, to: incoming)
        await sound(of: listener)
        remember(incoming.people, .declined)
    }

    /// - Parameter check: makes the trust check, and returns how the call is entered.
    private func enter(
        _ people: [Handle], isRinging: Bool,
        _ check: @Sendable (Account, RingListener?) async throws(CallFailure) -> Entrance
    ) async throws(CallRefusal) {
        guard running == nil, !isEntering else { throw .inCall }
        isEntering = true
        defer { isEntering = false }
        await stopSound()
        let entrance: Entrance
        do { entrance = try await check(account, listener) } catch { throw .failure(error) }
        guard let mark = CallMark.running(in: folder).hold(isInterruptible: false) else { throw .elsewhere }
        let call: GroupCall
        do { call = try await entrance() } catch { throw .failure(error) }
        guard !isClosed else {
            await call.leave()
            throw .failure(.account(.presence(.locked)))
        }
        let taken = TakenCall(call, with: people, isRinging: isRinging, now: surroundings.now)
        running = taken
        tasks.append(
            Task { [voice, surroundings] in
                let end = await taken.takePart(with: voice, surroundings)
                withExtendedLifetime(mark) {}
                over(taken, end)
            })
    }

    private typealias Entrance = @Sendable () async throws(CallFailure) -> GroupCall

    private func over(_ call: TakenCall, _ end: PastCall.End) {
        remember(call.people, end)
        if running === call { running = nil }
    }
}

/// Why there is no call.
enum CallRefusal: Error, Sendable {
    case failure(CallFailure)
    /// This process is in a call.
    case inCall
    /// Another process of this home is.
    case elsewhere
    /// It rings no more.
    case notRinging
}
