// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import CallKeys
import CallSignalling
import KeyTransparency
import Platform
import Signet
import SignetCalls
import Synchronization

/// What ended a call.
private final class CallEnding: Sendable {
    private let terminated = Atomic(false)

    var isTerminated: Bool { terminated.load(ordering: .relaxed) }

    func terminate() { terminated.store(true, ordering: .relaxed) }
}

/// A call from the trust check to the summary at its end.
struct RunningCall {
    /// How a call is entered.
    enum Entry {
        case start
        case join(CallID)
        /// For so many seconds.
        case ring(UInt16)

        fileprivate var isStart: Bool { if case .join = self { false } else { true } }
    }

    private let options: CallOptions
    private let outage = Outage()
    private let ending = CallEnding()
    /// Whether SIGTERM ended the call: then the process is to end, too.
    var isTerminated: Bool { ending.isTerminated }

    init(_ options: CallOptions) { self.options = options }

    /// Opens the home folder, and takes part until the call is over.
    func run(_ entry: Entry, with handles: [Handle]) async throws {
        _ = try options.takeOutlet()
        let session = try Session(options.home)
        try await session.with(try session.secrets()) { account in
            try await run(entry, with: handles, session, account)
        }
    }

    /// Takes part until the call is over.
    func run(_ entry: Entry, with handles: [Handle], _ session: Session, _ account: Account) async throws {
        let outlet = try options.takeOutlet()
        let source = try SoundSource(options.source)
        let recorder = try options.record.map { try SoundRecorder(folder: $0) }
        guard let mark = CallMark.running(in: session.home).hold() else {
            throw CommandFailure(
                .usage, "A call is running in \(session.home.path).", "End it with 'signet call leave'.")
        }
        defer { withExtendedLifetime(mark) {} }
        let people = try await session.peopleForCall(handles, account)
        var compared: [Handle: ComparisonState] = [:]
        for handle in handles { compared[handle] = try await session.comparison(with: handle) }
        let call = try await enter(entry, people, session, account)
        let page = CallPage(call, people, compared, options.output)
        page.showPeople()
        if entry.isStart { page.showName() }
        if case .ring = entry { page.showRinging(handles) }
        let sound = HeardSound(recorder, outlet)
        await take(part: call, entry, as: account.handle, source, sound, page)
        await sound.finish()
        await page.show(isOver: true)
        if await call.tally.isForked { throw CommandFailure.forkMet("someone in the call") }
        guard await !call.isUnanswered else {
            throw CommandFailure(.notProven, "No one joined.", "Those who missed the call will see that it rang.")
        }
    }

    private func enter(
        _ entry: Entry, _ people: CallPeople, _ session: Session, _ account: Account
    ) async throws -> GroupCall {
        let act: CallAct? = if case .join(let name) = entry { .join(name) } else { nil }
        do { return try await account.enterCall(act, with: people, suffering: faults) } catch {
            throw CommandFailure(error, session: session)
        }
    }

    private var faults: CallFaults {
        CallFaults(losesKeys: options.missKeysForTests, outage: options.outageForTests > 0 ? outage : nil)
    }

    /// Begins whenever a test says so.
    private func watchForOutages() async {
        guard options.outageForTests > 0 else { return }
        let starts = Interrupts([SIGUSR1])
        while !Task.isCancelled {
            await starts.wait()
            outage.last(for: .seconds(options.outageForTests))
        }
    }

    /// Once a second, a frame that another did not send.
    private func forge(_ call: GroupCall, _ page: CallPage) async {
        guard let victim = options.forgeForTests else { return }
        var number: UInt64 = 500
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let devices = await call.members.filter { page.people[$0]?.handle.description == victim }
            guard let device = devices.first else { continue }
            if await call.forge([6, 6, 6], as: device, number: number) { number += 1 }
        }
    }

    /// Sends, listens and reports until it is time to go, then leaves.
    private func take(
        part call: GroupCall, _ entry: Entry, as handle: Handle, _ source: SoundSource, _ sound: HeardSound,
        _ page: CallPage
    ) async {
        let interrupts = Interrupts([SIGINT, SIGTERM])
        defer {
            interrupts.release()
            if interrupts.has(SIGTERM) { ending.terminate() }
        }
        let (rotate, duration) = (options.rotate, options.duration)
        if entry.isStart { await call.start() } else { await call.join() }
        if case .ring(let seconds) = entry { await call.ring(as: handle, for: seconds) }
        let watches = [
            Task { await watchForOutages() }, Task { await forge(call, page) },
            Task { if options.source != "-" { await Self.obey(call, page) } }, Task { await sound.play() },
            Task { for await heard in call.sound { await sound.hear(heard.frame, of: heard.sender, page.people) } },
        ]
        defer { for watch in watches { watch.cancel() } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Self.speak(call, source) }
            group.addTask { await Self.keepTime(call, page, rotatingEvery: rotate) }
            group.addTask { await Self.listen(call, page) }
            group.addTask { await Self.waitForEnd(interrupts, duration) }
            // The first task to end, by time, interrupt or removal, ends the call.
            _ = await group.next()
            await call.leave()
            group.cancelAll()
        }
    }

    private static func speak(_ call: GroupCall, _ source: SoundSource) async {
        var due = ContinuousClock.now
        while !Task.isCancelled {
            if let piece = await source.next() { await call.send(piece.encoded) }
            due += SoundSource.pause
            try? await Task.sleep(until: due, clock: .continuous)
        }
    }

    private static func obey(_ call: GroupCall, _ page: CallPage) async {
        for await line in TypedLines.standard.lines() where !line.isEmpty {
            guard let order = CallOrder(line, page.people) else {
                page.typed("  type 'remove HANDLE' or 'readmit HANDLE', naming someone in this call")
                continue
            }
            guard await call.isHost else {
                page.typed("  only the device that hosts the call can remove someone, or let them back in")
                continue
            }
            page.typed()
            await order.carryOut(call)
        }
    }

    private static func keepTime(_ call: GroupCall, _ page: CallPage, rotatingEvery seconds: UInt32) async {
        var count: UInt32 = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            count += 1
            if seconds > 0, count.isMultiple(of: seconds) { await call.rotate() }
            await page.show()
        }
    }

    private static func listen(_ call: GroupCall, _ page: CallPage) async {
        for await notice in call.notices {
            switch notice {
            case .outside(.removed), .cutOff: return page.tell(notice)
            case .rung:
                page.tell(notice)
                if await call.isUnanswered { return }
            default: page.tell(notice)
            }
        }
    }

    private static func waitForEnd(_ interrupts: Interrupts, _ seconds: UInt32) async {
        guard seconds > 0 else { return await interrupts.wait() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await interrupts.wait() }
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            _ = await group.next()
            group.cancelAll()
        }
    }
}
