// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CallSignalling
import KeyTransparency
import Platform
import Signet
import SignetCalls

extension Call {
    /// `signet call wait`
    struct Wait: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wait", abstract: "Wait for calls, and answer them.",
            discussion: """
                Rings when someone whom you have added or accepted calls; nothing is shown when anyone else rings. \
                Callers are looked up and verified first. Type 'accept' or 'decline', with the caller's handle if \
                several ring. Keeps waiting after a call, until it is interrupted. During a call, Ctrl-C (SIGINT) ends the call \
                alone, and SIGTERM the call and the command. While another call runs in this \
                home folder, that call answers for this device.

                Example: signet call wait
                """)

        @Flag(help: "Stop after the first call that was answered, declined or missed.") var once = false
        @Option(
            help: ArgumentHelp(
                "Run this command with the shell when it rings and when it stops ringing; SIGNET_RING (ringing, "
                    + "stopped or missed), SIGNET_CALLER, SIGNET_CALL and SIGNET_SECONDS give details.",
                valueName: "command"))
        var onRing: String?
        @OptionGroup var options: CallOptions

        func validate() throws {
            guard options.source != "-" else {
                throw ValidationError(
                    "'signet call wait' reads your answer from standard input: --source takes a file.")
            }
        }

        func run() async throws {
            _ = try options.takeOutlet()
            let session = try Session(options.home)
            let secrets = try session.secrets()
            guard let mark = CallMark.waiting(in: session.home).hold() else {
                throw CommandFailure(
                    .usage, "Another signet process is already waiting for calls in \(session.home.path).",
                    "One is enough.")
            }
            defer { withExtendedLifetime(mark) {} }
            let page = RingPage(options.output, onRing.map(RingHook.init))
            let isTerminated = try await session.with(secrets) { account in
                repeat {
                    let accepted = try await WaitingDevice(session, account, page, isOnce: once).wait()
                    if let accepted, try await enter(accepted, session, account) { return true }
                } while !once && !Output.isUnread
                return false
            }
            // The call is over in good order. The process ends as it would have ended at once without one.
            guard isTerminated else { return }
            kill(getpid(), SIGTERM)
            // It reaches the process on another thread, a moment later.
            try? await Task.sleep(for: .seconds(5))
            throw ExitCode(128 + SIGTERM)
        }

        /// - Returns: whether SIGTERM ended the call, and is to end the process.
        private func enter(_ call: IncomingCall, _ session: Session, _ account: Account) async throws -> Bool {
            let running = RunningCall(options)
            do {
                try await running.run(.join(call.ring.callID), with: call.people, session, account)
            } catch let failure as CommandFailure where !once || running.isTerminated {
                failure.report(asJSON: options.output.json)
            }
            return running.isTerminated
        }
    }
}

/// A device that waits until it is rung and the person accepts.
struct WaitingDevice {
    private let session: Session
    private let account: Account
    private let page: RingPage
    private let isOnce: Bool

    init(_ session: Session, _ account: Account, _ page: RingPage, isOnce: Bool) {
        self.session = session
        self.account = account
        self.page = page
        self.isOnce = isOnce
    }

    private enum Happening: Sendable {
        case event(RingEvent)
        case typed(String)
        /// The way to the inbox is gone, or another process needs it.
        case over
    }

    /// - Returns: the call to enter; nil if the call was declined or missed and one was enough.
    func wait() async throws -> IncomingCall? {
        while true {
            while CallMark.running(in: session.home).isHeld { try await Task.sleep(for: .seconds(1)) }
            let listener: RingListener
            do { listener = try await account.incomingCalls() } catch { throw CommandFailure(error, session: session) }
            page.waiting()
            let outcome = await hear(listener)
            await listener.close()
            if case .end(let call) = outcome { return call }
        }
    }

    private enum Outcome { case end(IncomingCall?), again }

    private func hear(_ listener: RingListener) async -> Outcome {
        let (happenings, happen) = AsyncStream.makeStream(of: Happening.self)
        let tasks = [
            Task {
                for await event in listener.events { happen.yield(.event(event)) }
                happen.yield(.over)
            },
            Task { for await line in TypedLines.standard.lines() where !line.isEmpty { happen.yield(.typed(line)) } },
            // Another process of this device begins a call: the inbox is its own then.
            Task {
                while (try? await Task.sleep(for: .seconds(1))) != nil {
                    if CallMark.running(in: session.home).isHeld { happen.yield(.over) }
                }
            },
        ]
        defer { for task in tasks { task.cancel() } }
        for await happening in happenings {
            switch happening {
            case .over: return .again
            case .event(let event):
                page.show(event)
                if isOnce, event.isEnd, await listener.ringing.isEmpty { return .end(nil) }
            case .typed(let line):
                guard let order = RingOrder(line, await listener.ringing) else {
                    page.explain()
                    continue
                }
                await listener.answer(order.answer, to: order.call)
                page.answered(order.call, order.answer)
                if order.answer == .accept { return .end(order.call) }
                if isOnce { return .end(nil) }
            }
        }
        return .again
    }
}

extension RingEvent {
    /// Whether a call was missed, or answered elsewhere.
    fileprivate var isEnd: Bool {
        switch self {
        case .stopped, .missed: true
        case .ringing, .busy, .refused, .unproven, .contradicted, .forkMet: false
        }
    }
}

/// What a person types while it rings: `accept` or `decline`, and whose call it is, if several ring.
struct RingOrder {
    let answer: RingAnswer.Answer
    let call: IncomingCall

    /// - Returns: nil if the line is not an answer, or names no caller.
    init?(_ line: String, _ ringing: [IncomingCall]) {
        let words = line.split(separator: " ").map(String.init)
        let answers: [String: RingAnswer.Answer] = ["accept": .accept, "decline": .decline]
        guard let answer = words.first.flatMap({ answers[$0] }), words.count <= 2 else { return nil }
        let meant = words.count == 1 ? ringing : ringing.filter { "\($0.caller)" == words[1] }
        guard let call = meant.first, meant.count == 1 || words.count == 2 else { return nil }
        self.answer = answer
        self.call = call
    }
}
