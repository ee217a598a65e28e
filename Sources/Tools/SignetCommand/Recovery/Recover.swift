// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI
import SocialRecovery

/// `signet recover`
struct Recover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Get your identity back on a new device, with the help of your guardians.",
        subcommands: [Status.self, Start.self, Finish.self, Stop.self], defaultSubcommand: Status.self)
}

extension Recover {
    fileprivate static let guardianHelp = ArgumentHelp(
        "A guardian whom you remember: codes are shown only for guardians named here; may be repeated.",
        valueName: "handle")

    /// `signet recover start`
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Begin, on a device that is not yours yet.",
            discussion: """
                Call your guardians yourself: no one else tells them. Read the first of them the number that is shown; \
                when they have confirmed, the log shows everyone that a recovery began, and your other devices can \
                stop it. If it is interrupted, run the same command again.
                """)

        @Argument(help: "Your handle.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(help: "The name of this device that guardians are shown.") var name = "new device"
        @Option(help: ArgumentHelp("Begin at once, with what 'signet guardians paper' wrote.", valueName: "file"))
        var paper: String?
        @Option(help: Recover.guardianHelp) var guardian: [String] = []
        @Flag(help: "Ask only if the guardians from before the last change may still help.") var before = false
        @OptionGroup var keys: KeystoreOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let askKey = try paper.map(Self.askKey)
            let guardians = try guardian.map(Handle.typed)
            guard name.utf8.count <= RecoveryRequest.maximumNameByteCount else {
                throw CommandFailure(
                    .usage, "That name is too long.", "At most \(RecoveryRequest.maximumNameByteCount) bytes.")
            }
            let beginning = try AccountCommand.begin(
                home, handle, directory: directory, withIdentity: true, keys)
            defer { withExtendedLifetime(beginning) {} }
            let session = Session(home, beginning.home)
            do throws(SignetError) {
                let progress = try await beginning.recover(
                    calling: name, with: askKey, naming: guardians, withFormer: before)
                OwnAccountWatch.arm(session)
                output.emit(progress.json, progress.beginning(handle))
            } catch { throw CommandFailure(error, session: session) }
        }

        private static func askKey(_ path: String) throws -> AskKey {
            let bytes: [UInt8]
            do { bytes = try DurableFile(path: path).read(maximumByteCount: 4096) } catch {
                throw CommandFailure(error, path: path)
            }
            guard let key = AskKey(paper: bytes) else {
                throw CommandFailure(
                    .badFile, "\(path) is not what 'signet guardians paper' wrote.",
                    "Without it, a guardian can let you begin: leave out --paper.")
            }
            return key
        }
    }

    /// `signet recover status`
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show what to read to each guardian, and who has helped.")

        @Option(help: Recover.guardianHelp) var guardian: [String] = []
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let guardians = try guardian.map(Handle.typed)
            let session = try Session(home)
            let progress = try await session.with(try session.secrets()) { account in
                try await account.recoveryProgress(naming: guardians)
            }
            output.emit(progress.json, progress.text)
        }
    }

    /// `signet recover finish`
    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "finish",
            abstract: "Make the identity yours again, once enough guardians have helped and the wait is over.",
            discussion: "Every device from before is removed from the account.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let handle = try session.owner().handle
            let recovered = try await session.approved(.recoverIdentity) { account, approval in
                try await account.finishRecovery(approval)
            }
            let (things, notes) = (recovered.things, recovered.noteCount)
            output.emit(Self.json(things, handle, notes), Self.text(things, handle, notes))
        }

        private static func json(_ things: RecoveredThings, _ handle: Handle, _ notes: Int) -> JSONValue {
            [
                "changed": .array(things.changed.map { .string($0.description) }),
                "handle": .string(handle.description), "notes": .number(UInt64(notes)),
                "people": .array(things.people.map { .string($0.description) }),
                "sites": .array(things.sites.map { .string($0.words) }),
                "unreadable": .number(UInt64(things.unreadable)),
            ]
        }

        private static func text(_ things: RecoveredThings, _ handle: Handle, _ notes: Int) -> String {
            let paint = Paint.output
            var lines = [
                "\(paint.good("✓")) \(paint.strong(handle.description)) is yours again, on this device alone.",
                "  People:  \(list(things.people.map(\.description)))",
                "  Notes:   \(notes == 0 ? "none" : "\(notes), under new keys; a notes password has to be set again")",
                "  Sites:   \(list(things.sites.map(\.words)))",
            ]
            if !things.sites.isEmpty {
                lines.append("           Give each your new keys, at different times: signet sites re-register HOST")
            }
            if things.unreadable > 0 {
                lines.append(
                    "  \(paint.warning("!")) \(things.unreadable) of the items that your devices added cannot be "
                        + "read: one of the devices may have been in a thief's hands."
                )
            }
            lines += things.changed.map {
                "  \(paint.warning("!")) \($0) is not who you knew: add them again, and compare keys."
            }
            return
                (lines + [
                    "  Your friends are told that you recovered your identity; compare again when you meet.",
                    "  \(paint.warning("You have no guardians now.")) Choose them: signet guardians add …",
                ]).joined(separator: "\n")
        }

        private static func list(_ names: [String]) -> String {
            names.isEmpty ? "none" : names.joined(separator: ", ")
        }
    }

    /// `signet recover stop`
    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop", abstract: "Stop a recovery that was not you. Any of your devices can.",
            discussion: """
                Nothing new can begin for a day. The guardians whom this device knows are also told by letter; with \
                --out you can give them the objection in any other way. Then ask them who called them.
                """)

        @Option(
            help: ArgumentHelp(
                "First write the objection for guardians, whatever the directory answers: signet guardian objection.",
                valueName: "file"))
        var out: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let isStopped = try await session.approved(.cancelRecovery) { account, approval in
                if let out {
                    // Before the directory is asked: it may refuse.
                    try Self.write(try await account.objection(approval), to: out, session)
                }
                do throws(SignetError) { try await account.stopRecovery(approval) } catch {
                    guard case .recovery(let refusal) = error else { throw error }
                    if case .nothingToStop = refusal, out != nil { return false }
                    throw Self.refused(refusal, session, isWritten: out != nil)
                }
                return true
            }
            if let out, !isStopped { return sayWritten(out) }
            output.emit(
                ["outcome": "stopped"],
                """
                \(Paint.output.good("✓")) Stopped, and the log proves it. Nothing new can begin for a day.
                  Ask your guardians who called them, and consider replacing them: signet guardians replace
                """)
        }

        private static func write(_ objection: GuardianObjection, to path: String, _ session: Session) throws {
            try OutputFile.write(objection.encoded, to: path, outside: session.home) {
                (try? GuardianObjection(decoding: $0))?.owner == objection.owner
            }
        }

        /// The log shows no request: if a guardian was asked all the same, the directory keeps it from this device.
        private func sayWritten(_ path: String) {
            output.emit(
                ["outcome": "written"],
                """
                \(Paint.output.good("✓")) The log shows no request for your identity. \(path) is an objection to any request.
                  If a guardian told you of one, give them that file: signet guardian objection FILE
                  It stops every request that they know of, and those of the next day.
                """)
        }

        /// What a directory refuses to log, guardians can still be told.
        private static func refused(_ error: RecoveryClientError, _ session: Session, isWritten: Bool) -> CommandFailure
        {
            let failure = CommandFailure(error, session: session)
            switch error {
            case .nothingToStop, .removedDevice: return failure
            default: break
            }
            let way =
                isWritten
                ? "The objection is written: give it to your guardians yourself."
                : "Tell your guardians yourself: signet recover stop --out FILE writes what they need."
            return CommandFailure(failure.status, failure.sentence.what, "\(failure.sentence.remedy) \(way)")
        }
    }
}

extension RecoveryProgress {
    fileprivate var json: JSONValue {
        [
            "codes": .array(
                codes.sorted { $0.key.description < $1.key.description }.map {
                    ["code": .string($0.value), "handle": .string($0.key.description)]
                }), "missing": .number(UInt64(standing.missing)),
            "notBefore": start.map { .number($0.notBefore) } ?? .null,
            "others": .array(others.map { .string($0.description) }), "request": .string(number.text),
            "right": .array(standing.right.map { .string($0.description) }),
            "stage": .string(stage?.name ?? "not-begun"),
            "unjudged": .array(standing.unjudged.map { .string($0.description) }),
            "wrong": .array(standing.wrong.map { .string($0.description) }),
        ]
    }

    /// Who answered without being named or listed; a few of them.
    private var strangers: [String] {
        guard !others.isEmpty else { return [] }
        let names = others.prefix(8).map(\.description).joined(separator: ", ") + (others.count > 8 ? ", …" : "")
        return [
            "  \(Moment.count(UInt64(others.count), "answer")) came from people whom you did not name: \(names).",
            "  Is one of them your guardian? signet recover --guardian HANDLE",
        ]
    }

    fileprivate var deadline: String {
        guard let start else { return "No guardian has confirmed yet." }
        guard !isWaitOver else { return "The wait is over; until \(Moment.date(start.expires)) it can be finished." }
        return
            "Until \(Moment.date(start.notBefore)) your other devices can stop this; until \(Moment.date(start.expires)) it can be finished."
    }

    fileprivate func beginning(_ handle: Handle) -> String {
        let good = Paint.output.good("✓")
        guard start == nil else {
            return """
                \(good) The log shows that you ask for \(handle) back.
                  Call your guardians, and have each run 'signet guardian'. Then run here: signet recover
                  \(deadline)
                """
        }
        return """
            \(good) Your request for \(handle) is number \(Paint.output.strong(number.text)). Nothing has begun yet.
              Call one of your guardians and read them that number. They run:
                signet guardian confirm \(handle) --request "\(number.text)"
              Then run here: signet recover
            """
    }

    fileprivate var text: String {
        let paint = Paint.output
        switch stage {
        case .rearming:
            return
                "\(paint.good("✓")) Your identity is yours again. \(paint.warning("Choose guardians: signet guardians add …"))"
        case .done: return "\(paint.good("✓")) Your identity is yours again, and guarded."
        case .succeeding: return "Enough guardians have helped. Finish: signet recover finish"
        case .collecting, nil: break
        }
        let helped = standing.right.count + standing.unjudged.count
        let missing = standing.isMissingExact ? "\(standing.missing)" : "at least \(standing.missing)"
        var lines =
            start == nil
            ? ["Your request is number \(paint.strong(number.text)). \(deadline)"]
            : ["\(helped) helped, \(missing) more needed. \(deadline)"]
        lines += standing.unjudged.map { "  \($0) helped; whether it is right becomes clear when a second one has" }
        lines += standing.right.map { "  \(paint.good("✓")) \($0) helped" }
        lines += standing.wrong.map {
            "  \(paint.bad("✗")) What \($0) sent is damaged or false. Ask them to look at 'signet guardian', or "
                + "ask someone else."
        }
        let answered = standing.right + standing.wrong + standing.unjudged
        let waiting = codes.filter { !answered.contains($0.key) }
        lines += waiting.sorted { $0.key.description < $1.key.description }.map {
            "  Read this to \($0.key), by telephone or in person: \(paint.strong($0.value))"
        }
        let silent = guardians.filter { codes[$0] == nil }
        if !silent.isEmpty {
            lines.append("  You could also ask \(silent.map(\.description).joined(separator: ", ")).")
        }
        lines += strangers
        if start != nil && standing.missing == 0 {
            lines.append("  Finish\(isWaitOver ? "" : ", when the wait is over"): signet recover finish")
        }
        return lines.joined(separator: "\n")
    }
}

extension RecoveryAttempt.Stage {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .collecting: "asking"
        case .succeeding: "finishing"
        case .rearming: "without-guardians"
        case .done: "done"
        }
    }
}
