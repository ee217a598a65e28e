// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Signet
import TransparencyLog

/// `signet proof`
struct Proof: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proof", abstract: "Proofs in files.",
        discussion: """
            Example: signet proof verify proof/account.tlog-proof --policy proof/policy --entry proof/account.entry
            """, subcommands: [Verify.self])

    /// `signet proof verify`
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Check a C2SP tlog-proof, without any network.",
            discussion: """
                Exit status 0 only if the proof is valid.

                Example: signet proof verify proof/account.tlog-proof --policy proof/policy --entry \
                proof/account.entry
                """)

        @Argument(help: "The proof.") var file: String
        @Option(
            help: ArgumentHelp(
                "A C2SP tlog-policy file, or a directory file, which has one in it: whose signatures count.",
                valueName: "file"))
        var policy: String
        @Option(help: ArgumentHelp("The raw entry that should be in the log.", valueName: "file")) var entry: String
        @OptionGroup var output: OutputOptions

        func run() throws {
            let entryBytes = try InputFile.read(entry, maximumByteCount: 1 << 24)
            let proofBytes = try InputFile.read(file, maximumByteCount: TlogProof.maximumByteCount)
            let trusted = try PolicyFile.read(policy)
            let proof: LookupProof
            do { proof = try LookupProof(proof: proofBytes, entry: entryBytes) } catch {
                throw refuse(error.sentence)
            }
            do { show(proof, try proof.verified(under: trusted)) } catch { throw refuse(error.sentence) }
        }

        private func refuse(_ sentence: Sentence) -> CommandFailure {
            if output.json { Output.json(["reason": .string(sentence.what), "valid": false]) }
            return CommandFailure(.notProven, sentence)
        }

        private func show(_ proof: LookupProof, _ checkpoint: VerifiedCheckpoint) {
            let head = checkpoint.checkpoint.head
            let witnesses = checkpoint.cosignatures.map { witness -> PrintedValue in
                ["name": .text(witness.name.bytes), "time": .number(witness.time)]
            }
            let facts = proof.words(checkpoint)
            output.emit(
                [
                    "index": .number(proof.proof.inclusion.index),
                    "origin": .text(checkpoint.checkpoint.origin.bytes),
                    "root": .base64(head.root.bytes), "size": .number(head.size), "valid": true,
                    "witnesses": .array(witnesses),
                ],
                ([Paint.output.good("✓ valid") + ": " + facts[0]] + facts.dropFirst().map { "  " + $0 })
                    .joined(separator: "\n"))
        }
    }
}
