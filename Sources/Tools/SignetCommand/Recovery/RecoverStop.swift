// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Signet
import SocialRecovery

extension Recover {
    /// `signet recover stop`
    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop", abstract: "Stop a recovery that was not you. Any of your devices can.",
            discussion: """
                Nothing new can begin for a day. The guardians whom this device knows are also told by letter; with \
                --out you can give them the objection in any other way. Then ask them who called them.

                Examples:
                  signet recover stop
                  signet recover stop --out objection
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
