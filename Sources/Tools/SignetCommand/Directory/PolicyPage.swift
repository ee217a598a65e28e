// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What a policy means, for people and for programs.
struct PolicyPage {
    private let policy: Policy
    private let strength: QuorumStrength

    init(_ policy: Policy) {
        self.policy = policy
        strength = policy.quorumStrength
    }

    /// Whether it takes the keys of at least two witnesses to deceive.
    var isSound: Bool { strength.fewestToMeet >= 2 }

    var summary: String {
        guard strength.fewestToMeet > 0 else { return "no witness is required" }
        return "\(count(strength.fewestToMeet)) of \(strength.counting.count) can be enough; "
            + "with \(strength.fewestToStop) down the log can stop"
    }

    var text: String {
        (listing + ["", rule] + effectLines + remarkLines).joined(separator: "\n")
    }

    var json: PrintedValue {
        [
            "fewestToMeet": .number(UInt64(strength.fewestToMeet)),
            "fewestToStop": .number(UInt64(strength.fewestToStop)),
            "logs": .array(
                policy.listedLogs.map {
                    ["key": .key(Self.text($0.key)), "name": .text($0.key.name.bytes), "url": url($0.url)]
                }),
            "quorum": .string(quorum), "remarks": .array(remarks.map(PrintedValue.string)), "sound": .bool(isSound),
            "witnesses": .array(policy.witnesses.map(witness)),
        ]
    }

    /// What is odd about it, each with a mark in front.
    var remarkLines: [String] { remarks.map { "\(Paint.output.warning("!")) \($0)" } }

    private var listing: [String] {
        policy.listedLogs.map { line("log", [$0.key.name.bytes, $0.url]) }
            + policy.witnesses.map { line("witness", [$0.name.bytes, $0.key.name.bytes, $0.url]) }
    }

    private var rule: String {
        guard case .member(let name) = policy.quorum else {
            return "A checkpoint counts when one of the logs has signed it; no witness is required."
        }
        return
            "A checkpoint counts when one of the logs has signed it, and \(Paint.output.strong(describe(name))) cosigned it."
    }

    private var effectLines: [String] {
        guard strength.fewestToMeet > 0 else { return [] }
        let effects = strength.counting.map { name in
            "  without \(printable(name))  \(stops(name) ? Paint.output.bad("the log stops") : "the log continues")"
        }
        return [
            "The fewest that are enough: \(count(strength.fewestToMeet)). That many must lie together to show "
                + "two histories.",
            "The fewest that can stop the log by being down: \(count(strength.fewestToStop)).",
        ] + effects
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if strength.fewestToMeet == 0 { remarks.append("without a quorum, the log's key alone can show two histories") }
        if strength.fewestToMeet == 1 { remarks.append("one witness is enough: one key can vouch for two histories") }
        if policy.listedLogs.isEmpty { remarks.append("no log is listed: nothing can be verified with it alone") }
        for key in policy.listedLogs.map(\.key) + policy.witnesses.map(\.key) where !key.algorithm.isVerified {
            remarks.append(
                "\(PrintedValue.printable(key.name.bytes)) has a key of type \(key.algorithm.rawValue), which signet cannot "
                    + "verify: it never counts")
        }
        for witness in policy.witnesses where !strength.counting.contains(witness.name) {
            remarks.append("\(printable(witness.name)) does not count towards the quorum")
        }
        for witness in policy.witnesses where witness.url == nil {
            remarks.append("\(printable(witness.name)) has no address: the log cannot ask it")
        }
        return remarks
    }

    private var quorum: String {
        guard case .member(let name) = policy.quorum else { return "none" }
        return describe(name)
    }

    /// A witness by its name, a group by what it asks for.
    private func describe(_ name: Policy.Name) -> String {
        guard let group = policy.groups.first(where: { $0.name == name }) else { return printable(name) }
        let members = group.members.map(describe).joined(separator: ", ")
        if group.members.count == 1 { return members }
        if group.threshold == group.members.count { return "all of (\(members))" }
        return "\(group.threshold == 1 ? "any one" : "\(group.threshold)") of (\(members))"
    }

    private func stops(_ name: Policy.Name) -> Bool {
        !policy.isQuorumMet(by: Set(strength.counting).subtracting([name]))
    }

    private func witness(_ witness: Policy.Witness) -> PrintedValue {
        [
            "counts": .bool(strength.counting.contains(witness.name)), "key": .key(Self.text(witness.key)),
            "name": .text(witness.name.bytes), "stopsTheLog": .bool(stops(witness.name)), "url": url(witness.url),
        ]
    }

    private static func text(_ key: VerifierKey) -> String { String(decoding: key.encoded, as: UTF8.self) }

    private func url(_ url: [UInt8]?) -> PrintedValue { url.map(PrintedValue.text) ?? .null }

    private func line(_ kind: String, _ words: [[UInt8]?]) -> String {
        kind + "  " + words.compactMap(\.self).map(PrintedValue.printable).joined(separator: "  ")
    }

    private func printable(_ name: Policy.Name) -> String { PrintedValue.printable(name.bytes) }

    private func count(_ number: Int) -> String { number == 1 ? "1 witness" : "\(number) witnesses" }
}
