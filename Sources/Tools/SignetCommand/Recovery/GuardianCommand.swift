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
        discussion: "Example: signet guardian list",
        subcommands: [List.self, Confirm.self, Decline.self, Objection.self], defaultSubcommand: List.self)
}

extension GuardianCommand {
    /// `signet guardian list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Take the parts that people ask you to keep, and show who is asking for their identity.",
            discussion: "Example: signet guardian list")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let (found, requests) = try await session.with(try session.secrets()) { account in
                let found = try await account.guarding()
                var requests: [GuardianScreen] = []
                for request in found.requests { requests.append(try await GuardianScreen(request, account)) }
                return (found, requests)
            }
            let (duties, notices) = (found.duties, found.notices)
            output.emit(
                [
                    "keptFor": .array(duties.map { .string($0.owner.description) }),
                    "notices": .array(notices.map(\.json)),
                    "requests": .array(requests.map(\.json)),
                ],
                ([Self.text(duties, requests)]
                    + notices.map { $0.words(session) }).joined(separator: "\n\n"))
        }

        private static func text(_ duties: [GuardianDuty], _ requests: [GuardianScreen]) -> String {
            let kept =
                duties.isEmpty
                ? "You keep nothing for anyone."
                : "You keep a part for \(duties.map { Paint.output.strong($0.owner.description) }.joined(separator: ", "))."
            return ([kept] + requests.map(\.text)).joined(separator: "\n\n")
        }
    }

    /// `signet guardian confirm`
    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm", abstract: "Help someone who read you the right code.",
            discussion: """
                The first guardian whom they call is read a number: enter it without a code, and their device then \
                shows a code. You have one try: after a wrong code you can no longer help with this request.

                Examples:
                  signet guardian confirm bob@example.org --request 12345678
                  signet guardian confirm bob@example.org --code "academic acid acne 42"
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
                try await GuardianScreen(
                    account.confirmRecovery(of: owner, number: number, code: code, approval), account)
            }
            output.emit(request.json, request.text)
        }

        /// Sends this guardian's number for the code; the new device shows one then.
        private func look(at number: RequestNumber?, for owner: Handle, _ session: Session) async throws {
            guard let number else {
                throw CommandFailure(
                    .usage, "Name the request, or give the code.",
                    "They first read you a number: --request NUMBER; then a code: --code \"word word word 42\".")
            }
            let seen = try await session.with(try session.secrets()) { account in
                try await GuardianScreen(account.look(at: number, for: owner), account)
            }
            output.emit(seen.json, seen.text)
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
            commandName: "decline", abstract: "Do not help with this request.",
            discussion: "Example: signet guardian decline bob@example.org --report")

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
            discussion: """
                It counts even if the directory does not show it. The person makes it: signet recover stop --out FILE

                Example: signet guardian objection objection
                """)

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
