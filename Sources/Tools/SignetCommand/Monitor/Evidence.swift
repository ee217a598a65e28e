// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// `signet evidence`
struct EvidenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evidence",
        abstract: "Contradictory statements that a directory signed; they are kept until you delete the home folder.",
        discussion: "Example: signet evidence list",
        subcommands: [List.self, Export.self, Verify.self])
}

extension LogContradiction {
    fileprivate var faultName: String {
        switch fault {
        case .rollback: "rollback"
        case .fork: "fork"
        case .inconsistent: "inconsistent"
        }
    }
}

extension EvidenceCommand {
    /// `signet evidence list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List what was kept.",
            discussion: "Example: signet evidence list")

        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let all = try await KeptEvidence.all(in: home.folder)
            let (kept, forks) = (all.flatMap(\.contradictions), all.flatMap(\.forks))
            let values = kept.map { evidence -> PrintedValue in
                [
                    "fault": .string(evidence.faultName),
                    "known": .key(String(decoding: evidence.known.note, as: UTF8.self)),
                    "origin": .text(evidence.known.origin.bytes),
                    "received": .key(String(decoding: evidence.received.note, as: UTF8.self)),
                ]
            }
            let lines = kept.enumerated().map { number, evidence in
                """
                  \(number + 1)  \(PrintedValue.printable(evidence.known.origin.bytes)): \(evidence.sentence.what)
                     had   \(describe(evidence.known))
                     shown \(describe(evidence.received))
                """
            }
            let met = forks.map { fork in "  A contact was shown a different log from yours: \(Self.name(fork))" }
            output.emit(
                ["evidence": .array(values), "metForks": .array(forks.map { .string(Self.name($0)) })],
                (lines + met).isEmpty
                    ? "Nothing: no directory has contradicted itself." : (lines + met).joined(separator: "\n"))
        }

        private static func name(_ fork: ForkEvidence) -> String {
            let checkpoints = [fork.first, fork.second].compactMap { try? Checkpoint(decoding: $0.text) }
            let origin = checkpoints.first.map { PrintedValue.printable($0.origin.bytes) } ?? "a log"
            return "\(origin), \(checkpoints.map { Moment.entries($0.head.size) }.joined(separator: " and "))"
        }

        private func describe(_ view: LogView) -> String {
            output.advanced ? LookupFacts.describe(view) : Moment.entries(view.head.size)
        }
    }

    /// `signet evidence export`
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Write each pair of signed statements into files that anyone can check.",
            discussion: "Example: signet evidence export evidence")

        @Argument(help: "A folder.") var folder: String
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let kept = try await KeptEvidence.all(in: home.folder)
            let files = kept.flatMap(\.files)
            try OutputFile.write(files.map { (name: $0.0, bytes: $0.1) }, into: folder, outside: home.folder)
            output.emit(
                ["files": .array(files.map { .string($0.0) })],
                "\(Moment.count(UInt64(kept.reduce(0) { $0 + $1.contradictions.count + $1.forks.count }), "contradiction")) in \(folder)."
            )
        }
    }
}

extension KeptEvidence {
    /// Of every directory that was ever looked at from a home.
    fileprivate static func all(in home: HomeFolder) async throws -> [KeptEvidence] {
        let kept: [KeptEvidence]?
        do { kept = try await home.keptEvidence() } catch { throw CommandFailure(error) }
        guard let kept else {
            throw CommandFailure(
                .usage, "There is nothing in \(home.path): no account, and no record of a lookup.",
                "Name another folder with --home.")
        }
        return kept
    }

    /// The policy, and for each contradiction its two notes and the two of them as one file of evidence.
    fileprivate var files: [(String, [UInt8])] {
        let prefix = name.map { $0 + "-" } ?? ""
        var files = policy.map { [(prefix + "policy", $0.encoded)] } ?? []
        for (number, contradiction) in contradictions.enumerated() {
            let start = "\(prefix)\(number + 1)-\(contradiction.faultName)"
            files.append((start + "-known.note", contradiction.known.note))
            files.append((start + "-received.note", contradiction.received.note))
            if let evidence = contradiction.evidence { files.append((start + ".evidence", evidence.encoded)) }
        }
        for (number, fork) in forks.enumerated() {
            files.append(("\(prefix)met-\(number + 1)-fork.evidence", Evidence.fork(fork).encoded))
        }
        return files
    }
}
