import ArgumentParser
import DeviceIdentity
import KeyTransparency
import RecoveryClient
import SignetClient
import SocialRecovery

/// `signet guardian`
struct GuardianCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guardian", abstract: "What you keep for others, and who asks you for help.",
        subcommands: [List.self, Confirm.self, Decline.self], defaultSubcommand: List.self)
}

extension GuardianCommand {
    /// `signet guardian list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take what people ask you to keep, and show who asks for their identity.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let side = session.guardianSide(try session.secrets())
            let requests = try await session.recovering { () throws(RecoveryClientError) in try await side.advance() }
            let duties = try await session.recovering { () throws(RecoveryClientError) in try side.duties() }
            output.emit(
                [
                    "keptFor": .array(duties.map { .string($0.owner.description) }),
                    "requests": .array(requests.map(\.json)),
                ], Self.text(duties, requests))
        }

        private static func text(_ duties: [GuardianDuty], _ requests: [GuardianRequest]) -> String {
            let kept =
                duties.isEmpty
                ? "You keep nothing for anybody."
                : "You keep a part for \(duties.map { Paint.output.strong($0.owner.description) }.joined(separator: ", "))."
            return ([kept] + requests.map(\.screen)).joined(separator: "\n\n")
        }
    }

    /// `signet guardian confirm`
    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Help somebody who read you the right code.",
            discussion: "You have one try: a wrong code ends the request for you.")

        @Argument(help: "Whose identity.") var handle: String
        @Option(help: "The three words and two digits that they read to you.") var code: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = try Handle.typed(handle)
            let session = try Session(home)
            let request = try await session.granted(.confirmRecovery(of: owner)) { opened, grant in
                do throws(RecoveryClientError) {
                    return try await session.guardianSide(opened.secrets).confirm(owner, code: Array(code.utf8), grant)
                } catch { throw CommandFailure(error, session: session) }
            }
            output.emit(request.json, request.screen)
        }
    }

    /// `signet guardian decline`
    struct Decline: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Do not help with this request.")

        @Argument(help: "Whose identity.") var handle: String
        @Flag(help: "Somebody pretends to be them.") var report = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = try Handle.typed(handle)
            let session = try Session(home)
            let side = session.guardianSide(try session.secrets())
            try await session.recovering { () throws(RecoveryClientError) in
                try await side.decline(owner, reporting: report)
            }
            output.emit(
                ["handle": .string(owner.description), "outcome": .string(report ? "reported" : "declined")],
                """
                \(Paint.output.good("✓")) You do not help with this request.
                  Tell \(owner) in another way: if it was not them, 'signet recover stop' on their device ends it.
                """)
        }
    }
}

extension GuardianRequest {
    fileprivate var json: JSONValue {
        [
            "claimedName": .string(JSONValue.printable(guardianCase.request.claimedName)),
            "codeIsReady": .bool(isRevealed), "deviceAdded": .number(newestDevice),
            "handle": .string(guardianCase.owner.description), "notBefore": .number(guardianCase.notBefore),
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
              Asked \(Moment.date(guardianCase.start.started)), from a device that calls itself "\(name)" (claimed, not proven).
              \(activity)
            \(guidance.map { "  " + $0 }.joined(separator: "\n"))
            """
    }

    private var activity: String {
        let owner = guardianCase.owner
        guard followsActivity else { return "If \(owner) still has a device that works, call them there first." }
        return Paint.output.warning("They added a device on \(Moment.date(newestDevice)).")
            + " If one of theirs still works, call \(owner) there first."
    }

    private var guidance: [String] {
        let owner = guardianCase.owner
        switch guardianCase.stage {
        case .asked, .numbered, .matched:
            guard isRevealed else {
                return [
                    "Ask \(owner) to look at 'signet recover' on the new device; it shows a code then.",
                    "Call them yourself: do not use a number that came with this request.",
                ]
            }
            return [
                "Ask \(owner) to read you the code: three words and two digits.",
                "Right?       signet guardian confirm \(owner) --code \"word word word 42\"",
                "Not them?    signet guardian decline \(owner) --report",
            ]
        case .confirmed:
            return [
                "Confirmed. Your part is sent after \(Moment.date(guardianCase.notBefore)): run 'signet guardian' then."
            ]
        case .released: return ["\(Paint.output.good("✓")) Your part is on its way, sealed to the new device."]
        case .declined: return ["You do not help with this request."]
        case .reported: return ["You said that somebody pretends to be \(owner)."]
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
        }
    }
}
