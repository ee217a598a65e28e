// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation

/// The whole set: every case in its own readable file, the raw parts, and an index.
enum TlogProofSet {
    /// Every case, in order; its number is its place from one.
    static func cases() throws -> [TlogProofCase] {
        let bench = try VectorBench()
        return try AcceptedCases.all(bench) + RefusedFormatCases.all(bench) + RefusedNoteCases.all(bench)
            + RefusedCheckpointCases.all(bench) + RefusedSignatureCases.all(bench)
            + RefusedQuorumCases.all(bench) + RefusedInclusionCases.all(bench) + RefusedPolicyCases.all(bench)
            + OtherKeyCases.all(bench)
    }

    /// The files by their paths in the set's folder.
    static func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var shared = SharedParts()
        var index: [TlogProofEntry] = []
        for (place, test) in try cases().enumerated() {
            let number = String(repeating: "0", count: place < 9 ? 2 : place < 99 ? 1 : 0) + "\(place + 1)"
            let name = "\(number)-\(test.name)"
            files["\(name).txt"] = test.text(name: name)
            files["parts/\(number).tlog-proof"] = test.draft.proof
            index.append(
                TlogProofEntry(
                    name: name, valid: test.fault == nil, why: test.fault?.reason ?? test.covers,
                    proof: "parts/\(number).tlog-proof",
                    entry: shared.path(of: test.draft.entry, kind: "entry"),
                    policy: shared.path(of: test.draft.policy, kind: "policy"), size: test.draft.size,
                    index: test.draft.leafIndex))
        }
        files.merge(shared.files) { first, _ in first }
        files["index.json"] = try indexText(index)
        files[".gitattributes"] = Array("* -text\n".utf8)
        return files
    }

    private static func indexText(_ index: [TlogProofEntry]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try index.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        return Array("[\n\(lines.joined(separator: ",\n"))\n]\n".utf8)
    }
}

/// Entries and policies, which many cases have in common, each written once.
private struct SharedParts {
    private(set) var files: [String: [UInt8]] = [:]
    private var paths: [String: [[UInt8]: String]] = [:]

    mutating func path(of bytes: [UInt8], kind: String) -> String {
        if let path = paths[kind]?[bytes] { return path }
        let path = "parts/\(paths[kind, default: [:]].count + 1).\(kind)"
        paths[kind, default: [:]][bytes] = path
        files[path] = bytes
        return path
    }
}

/// A proof with its entry and policy, and what must become of it.
struct TlogProofCase {
    let name: String
    /// What a good case covers; empty for a bad one.
    let covers: String
    /// The one fault of a bad case.
    let fault: Fault?
    let draft: ProofDraft

    /// A fault, by the way the case was made.
    struct Fault {
        /// The check that must refuse it, where checks run in the specification's order.
        let step: Step
        let reason: String
    }

    /// The checks in their order.
    enum Step: String, CaseIterable {
        case policy, format, note, checkpoint, origin
        case logSignature = "log signature"
        case cosignature, quorum, inclusion

        /// Where the rule stands.
        var clause: String {
            switch self {
            case .policy: "c2sp.org/tlog-policy, Policy file syntax and structure"
            case .format: "c2sp.org/tlog-proof, Format"
            case .note: "c2sp.org/signed-note, Format"
            case .checkpoint: "c2sp.org/tlog-checkpoint, Note text"
            case .origin: "c2sp.org/tlog-proof, Verifying a tlog proof, step 2"
            case .logSignature: "c2sp.org/signed-note, Signatures"
            case .cosignature: "c2sp.org/tlog-cosignature, Format, and c2sp.org/signed-note, Signatures"
            case .quorum: "c2sp.org/tlog-policy, Defining the quorum and Defining a witness group"
            case .inclusion: "RFC 6962, section 2.1.1"
            }
        }
    }

    /// The case as one file: a header that says everything, an empty line, and the three parts.
    func text(name: String) -> [UInt8] {
        var header = "signet tlog-proof vector, version 1\nname: \(name)\n"
        if let fault {
            header +=
                "expect: refuse\nfault: \(fault.reason)\nstep: \(fault.step.rawValue)\nclause: \(fault.step.clause)\n"
        } else {
            header += "expect: accept\ncovers: \(covers)\n"
        }
        header += "size: \(draft.size)\nindex: \(draft.leafIndex)\npolicy: \(draft.policy.count) bytes\n"
        header += "entry: \(draft.entry.count) bytes\nproof: \(draft.proof.count) bytes\n\n"
        return Array(header.utf8) + draft.policy + draft.entry + draft.proof
    }
}
