// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI
import SocialRecovery

/// `signet guardian`
struct GuardianCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guardian", abstract: "What you keep for others, and who is asking you for help.",
        subcommands: [List.self, Confirm.self, Decline.self, Objection.self], defaultSubcommand: List.self)
}

extension GuardianCommand {
    /// `signet guardian list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Take the parts that people ask you to keep, and show who is asking for their identity.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let found = try await session.with(try session.secrets()) { account in try await account.guarding() }
            let (duties, requests, notices) = (found.duties, found.requests, found.notices)
            output.emit(
                [
                    "keptFor": .array(duties.map { .string($0.owner.description) }),
                    "notices": .array(notices.map(\.json)),
                    "requests": .array(requests.map(\.json)),
                ],
                ([Self.text(duties, requests)]
                    + notices.map { $0.words(session) }).joined(separator: "\n\n"))
        }

        private static func text(_ duties: [GuardianDuty], _ requests: [GuardianRequest]) -> String {
            let kept =
                duties.isEmpty
                ? "You keep nothing for anyone."
                : "You keep a part for \(duties.map { Paint.output.strong($0.owner.description) }.joined(separator: ", "))."
            return ([kept] + requests.map(\.screen)).joined(separator: "\n\n")
        }
    }

    /// `signet guardian confirm`
    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm", abstract: "Help someone who read you the right code.",
            discussion: """
                The first guardian whom they call is read a number: enter it without a code, and their device then \
                shows a code. You have one try: after a wrong code you can no longer help with this request.
                """)

        @Argument(help: "The handle of the person to help.") var handle: String
        @Option(help: ArgumentHelp("The number of their request, if no one has helped them yet.", valueName: "number"))
        var request: String?
        @Option(help: "The three words and two digits that they read to you.") var code: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = try Handle.typed(handle)
            let number = try request.map(Self.number)
            if let code, !SpokenCode.isWhole(typed: Array(code.utf8)) {
                throw CommandFailure(.usage, .incompleteCode)
            }
            let session = try Session(home)
            guard let code else { return try await look(at: number, for: owner, session) }
            let request = try await session.approved(.confirmRecovery(of: owner)) { account, approval in
                try await account.confirmRecovery(of: owner, number: number, code: code, approval)
            }
            output.emit(request.json, request.screen)
        }

        /// Sends this guardian's number for the code; the new device shows one then.
        private func look(at number: RequestNumber?, for owner: Handle, _ session: Session) async throws {
            guard let number else {
                throw CommandFailure(
                    .usage, "Name the request, or give the code.",
                    "They first read you a number: --request NUMBER; then a code: --code \"word word word 42\".")
            }
            let seen = try await session.with(try session.secrets()) { account in
                try await account.look(at: number, for: owner)
            }
            output.emit(seen.json, seen.screen)
        }

        private static func number(_ text: String) throws -> RequestNumber {
            guard let number = RequestNumber(typed: Array(text.utf8)) else {
                throw CommandFailure(.usage, "That is not the number of a request.", "It has eight digits.")
            }
            return number
        }
    }

    /// `signet guardian decline`
    struct Decline: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "decline", abstract: "Do not help with this request.")

        @Argument(help: "The handle of the person in whose name the request was made.") var handle: String
        @Flag(help: "Report that someone is pretending to be them.") var report = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = try Handle.typed(handle)
            let session = try Session(home)
            try await session.with(try session.secrets()) { account in
                try await account.declineRecovery(of: owner, isReporting: report)
            }
            output.emit(
                ["handle": .string(owner.description), "outcome": .string(report ? "reported" : "declined")],
                """
                \(Paint.output.good("✓")) You are not helping with this request.
                  Tell \(owner) over another channel: if it was not them, 'signet recover stop' on their device ends it.
                """)
        }
    }
}

extension GuardianCommand {
    /// `signet guardian objection`
    struct Objection: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "objection",
            abstract: "Take an objection that the person sent you as a file: \"this was not me\".",
            discussion:
                "It counts even if the directory does not show it. The person makes it: signet recover stop --out FILE")

        @Argument(help: "The file.") var file: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let bytes: [UInt8]
            do { bytes = try DurableFile(path: file).read(maximumByteCount: 4096) } catch {
                throw CommandFailure(error, path: file)
            }
            guard let objection = try? GuardianObjection(decoding: bytes) else {
                throw CommandFailure(.badFile, "\(file) is not an objection.", "Ask them for it again.")
            }
            let session = try Session(home)
            let outcome = try await session.with(try session.secrets()) { account in try await account.take(objection) }
            let owner = objection.owner
            switch outcome {
            case .stopped:
                say("stopped", "You are not helping with that request: \(owner) did not make it.", owner)
            case .kept:
                say("kept", "Kept. This device knows of no request for \(owner) to which it applies.", owner)
            case .tooLate:
                throw CommandFailure(
                    .notProven, "Your part for \(owner) has already been sent.",
                    "Tell them and the other guardians: fewer parts than are needed open nothing.")
            }
        }

        private func say(_ outcome: String, _ sentence: String, _ owner: Handle) {
            output.emit(
                ["handle": .string(owner.description), "outcome": .string(outcome)],
                "\(Paint.output.good("✓")) \(sentence)")
        }
    }
}

extension GuardianNotice {
    fileprivate var json: JSONValue {
        switch self {
        case .failed(let owner, _): ["handle": .string(owner.description), "notice": "failed"]
        case .changed(let owner): ["handle": .string(owner.description), "notice": "changed"]
        case .replaced(let owner, let since, let until):
            [
                "handle": .string(owner.description), "notice": "replaced", "since": .number(since),
                "until": .number(until),
            ]
        }
    }

    fileprivate func words(_ session: Session) -> String {
        let mark = Paint.output.warning("!")
        switch self {
        case .failed(let owner, let error):
            return "\(mark) \(owner): \(CommandFailure(error, session: session).sentence.what)"
        case .changed(let owner):
            return """
                \(mark) \(owner) sent you something, but has changed since you accepted them: it is waiting.
                  Look at the change: signet people trust \(owner). Then run 'signet guardian' again.
                """
        case .replaced(let owner, let since, let until):
            return """
                \(mark) \(owner) has had other guardians since \(Moment.date(since)); your part still helps until \
                \(Moment.date(until)).
                  If they did not tell you, call them: someone may have their device. 'signet recover start --before' \
                asks you.
                """
        }
    }
}

extension GuardianRequest {
    fileprivate var json: JSONValue {
        [
            "claimedName": .string(JSONValue.printable(guardianCase.request.claimedName)),
            "codeIsReady": .bool(isRevealed), "deviceAdded": .number(newestDevice),
            "handle": .string(guardianCase.owner.description),
            "notBefore": guardianCase.notBefore.map { .number($0) } ?? .null,
            "stage": .string(guardianCase.stage.name),
        ]
    }

    /// The guardian's screen.
    fileprivate var screen: String {
        let (owner, paint) = (guardianCase.owner, Paint.output)
        let name = JSONValue.printable(guardianCase.request.claimedName)
        return """
            \(paint.strong("Recovery request"))
              \(owner) is asking you to help recover their identity.
              \(meeting.kind == .none ? paint.warning(meeting.words(owner)) : meeting.words(owner))
              Asked \(Moment.date(guardianCase.request.created)), from a device that calls itself "\(name)" (claimed, not proven).
              \(activity)
            \(guidance.map { "  " + $0 }.joined(separator: "\n"))
            """
    }

    private var activity: String {
        let owner = guardianCase.owner
        guard followsActivity else { return "If \(owner) still has a working device, call them there first." }
        return Paint.output.warning("They added a device on \(Moment.date(newestDevice)).")
            + " If one of their devices still works, call \(owner) there first."
    }

    private var guidance: [String] {
        let owner = guardianCase.owner
        switch guardianCase.stage {
        case .asked, .numbered, .matched:
            guard isRevealed else {
                return [
                    "Ask \(owner) to run 'signet recover' on the new device; it then shows a code.",
                    "Call them yourself: do not use a number that came with this request.",
                ]
            }
            return [
                "Ask \(owner) to read you the code: three words and two digits.",
                "Right?       signet guardian confirm \(owner) --code \"word word word 42\"",
                "Not them?    signet guardian decline \(owner) --report",
            ]
        case .confirmed:
            guard let notBefore = guardianCase.notBefore else {
                return [
                    "Confirmed. Ask \(owner) to run 'signet recover'; then run 'signet guardian' here:",
                    "the wait of \(Moment.span(UInt64(guardianCase.commitment.delay))) begins when this device "
                        + "sees the request in the log.",
                ]
            }
            return [
                "Confirmed. Your part is sent after \(Moment.date(notBefore)): run 'signet guardian' then."
            ]
        case .released: return ["\(Paint.output.good("✓")) Your part is on its way, sealed to the new device."]
        case .declined: return ["You are not helping with this request."]
        case .stopped: return [Paint.output.bad("One of their devices says that it was not them. You are not helping.")]
        case .reported: return ["You reported that someone is pretending to be \(owner)."]
        }
    }
}

extension GuardianCase.Stage {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .asked: "asked"
        case .numbered: "code-expected"
        case .matched: "code-right"
        case .confirmed: "confirmed"
        case .released: "sent"
        case .declined: "declined"
        case .reported: "reported"
        case .stopped: "stopped"
        }
    }
}
