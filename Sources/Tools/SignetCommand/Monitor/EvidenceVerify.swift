// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import LogAuditor
import TransparencyLog

extension EvidenceCommand {
    /// `signet evidence verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Check evidence against a log, without any server.",
            discussion: """
                Exit status 0 only if the evidence proves a fault of the log. Some faults only show when all entries \
                are replayed; then name a copy of the log with --log, such as an auditor's folder.

                Example: signet evidence verify fork.evidence --policy policy
                """)

        @Argument(help: "The file.") var file: String
        @Option(help: ArgumentHelp("A C2SP tlog-policy file that names the log's keys.", valueName: "file"))
        var policy: String?
        @Option(help: ArgumentHelp("The log's verifier key, instead of a policy.", valueName: "key")) var vkey: String?
        @Option(help: ArgumentHelp("A copy of the log: a folder, or a URL.", valueName: "place")) var log: String?
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (policy == nil) != (vkey == nil) else { throw ValidationError("Give --policy or --vkey.") }
        }

        func run() async throws {
            let bytes = try InputFile.read(file, maximumByteCount: Evidence.maximumByteCount)
            let evidence: Evidence
            do { evidence = try Evidence(decoding: bytes) } catch {
                throw CommandFailure(.badFile, error.sentence(file))
            }
            let verifier = EvidenceVerifier(policy: try trusted())
            let proven: ProvenFault
            do throws(EvidenceVerificationError) { proven = try await verify(evidence, verifier) } catch {
                if output.json { Output.json(["proven": false, "reason": .string(error.sentence.what)]) }
                throw CommandFailure(.notProven, error.sentence)
            }
            output.emit(
                [
                    "deed": .string(proven.deed.sentence), "fault": .string(evidence.claim),
                    "origin": .text(proven.log.name.bytes), "proven": true,
                ],
                """
                \(Paint.output.bad("proven")): \(PrintedValue.printable(proven.log.name.bytes)) \(proven.deed.sentence)
                  signed by \(PrintedValue.printable(proven.log.encoded))
                """)
        }

        private func verify(
            _ evidence: Evidence, _ verifier: EvidenceVerifier
        ) async throws(EvidenceVerificationError) -> ProvenFault {
            do throws(EvidenceVerificationError) { return try verifier.verify(evidence) } catch {
                guard let log, let source = try? LogOptions.source(log, of: nil) else { throw error }
                switch (error, evidence) {
                case (.logNeeded(let size), .rule(let rule)):
                    let show = AuditProgress().show
                    guard let audit = try? await source.replay(size: size, progress: show) else { throw error }
                    return try verifier.verify(rule, entries: audit)
                case (.linkMissing(let old, let size), .fork(let fork)):
                    guard let link = try? await source.link(from: old, to: size) else { throw error }
                    return try verifier.verify(.fork(.init(first: fork.first, second: fork.second, link: link)))
                default: throw error
                }
            }
        }

        private func trusted() throws -> Policy {
            if let policy { return try PolicyFile.read(policy) }
            guard let vkey, let key = try? VerifierKey(decoding: Array(vkey.utf8)),
                let policy = try? Policy(logs: [.init(key: key)], quorum: .none)
            else {
                throw CommandFailure(
                    .usage, "That is not a log's verifier key.", "It has the form name+id+key, as in a policy.")
            }
            return policy
        }
    }
}
