// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The proof is good, and the policy is not one.
enum RefusedPolicyCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        let group = "group g 2 alpha beta gamma\n"
        let rules: [(String, String, String)] = [
            ("policy-no-quorum", "no quorum line", group),
            ("policy-two-quorums", "two quorum lines", "\(group)quorum g\nquorum g\n"),
            ("policy-quorum-undefined", "the quorum names nothing that is defined", "quorum delta\n"),
            ("policy-quorum-before-group", "the quorum stands before its group", "quorum g\n\(group)"),
            ("policy-quorum-two-names", "the quorum line has two names", "quorum alpha beta\n"),
            (
                "policy-member-undefined", "a group has a member that is not defined",
                "group g any alpha delta\nquorum g\n"
            ),
            ("policy-member-none", "a group has the member none", "group g any alpha none\nquorum g\n"),
            ("policy-member-itself", "a group is its own member", "group g any alpha g\nquorum g\n"),
            ("policy-member-twice", "a group has a member twice", "group g 2 alpha alpha\nquorum g\n"),
            (
                "policy-member-of-two-groups", "a witness stands in two groups",
                "group a any alpha\ngroup g any alpha beta\nquorum g\n"
            ),
            ("policy-group-empty", "a group without members", "group g any\nquorum alpha\n"),
            ("policy-threshold-zero", "a group of which none is needed", "group g 0 alpha beta\nquorum g\n"),
            (
                "policy-threshold-too-high", "a group of which more are needed than there are",
                "group g 3 alpha beta\nquorum g\n"
            ),
            (
                "policy-threshold-plus-sign", "a threshold with a plus sign",
                "group g +2 alpha beta\nquorum g\n"
            ),
            (
                "policy-threshold-word", "a threshold that is no keyword and no number",
                "group g most alpha beta\nquorum g\n"
            ),
            (
                "policy-name-taken", "a group has the name of a witness",
                "group alpha any beta\nquorum alpha\n"
            ),
            ("policy-name-none", "a group has the name none", "group none any beta\nquorum none\n"),
            ("policy-keyword", "a line with an unknown keyword", "\(group)quorum g\nexpires 2030\n"),
            ("policy-keyword-upper-case", "a keyword in upper case", "\(group)QUORUM g\n"),
            (
                "policy-comment-after-line",
                "a comment at the end of a line, where only whole lines are comments",
                "\(group)quorum g # two\n"
            ),
            ("policy-crlf", "a line ends in CR LF", "\(group)quorum g\r\n"),
            ("policy-form-feed", "a form feed", "\(group)\u{0C}\nquorum g\n"),
            ("policy-final-newline", "the last line does not end in LF", "\(group)quorum g"),
        ]
        return try rules.map { name, reason, rule in
            try bench.refuse(name, .policy, reason) { $0.policy = bench.policy(rule) }
        } + keys(bench)
    }

    private static func keys(_ bench: VectorBench) throws -> [TlogProofCase] {
        func refuse(
            _ name: String, _ reason: String, _ change: (inout [UInt8]) throws -> Void
        ) throws -> TlogProofCase {
            try bench.refuse(name, .policy, reason) { try change(&$0.policy) }
        }
        let alpha = bench.witnesses[0]
        return [
            try refuse("policy-log-twice", "a log's key is listed twice") {
                $0 = VectorBench.logLine(bench.log) + $0
            },
            try refuse("policy-log-key-twice", "two logs of different names have one public key") {
                $0 =
                    VectorBench.logLine(
                        try VectorBench.signer("log.example/other", .ed25519, seed: "log.example/signet"))
                    + $0
            },
            try refuse("policy-witness-key-twice", "two witnesses of different names have one public key") {
                let twin = try VectorBench.signer(
                    "witness.example/other", .cosignatureV1, seed: "witness.example/alpha")
                $0 = VectorBench.witnessLine("delta", twin) + $0
            },
            try refuse("policy-witness-name-twice", "two witnesses have one name") {
                $0 = VectorBench.witnessLine("alpha", bench.stranger) + $0
            },
            try refuse("policy-key-id", "a key's ID is not the one its name and key give") {
                $0 = $0.replacing(String(decoding: hex(bench.log), as: UTF8.self), with: "00000000")
            },
            try refuse("policy-key-base64", "a key with surplus padding") {
                $0 = VectorBench.logLine(bench.log).dropLast() + line("=") + bench.policyWithoutLog
            },
            try refuse("policy-log-with-witness-key", "a log has a cosigner's kind of key") {
                $0 = VectorBench.logLine(bench.logCosigner) + $0
            },
            try refuse("policy-witness-with-log-key", "a witness has a log's kind of key") {
                $0 = VectorBench.witnessLine("delta", bench.secondLog) + $0
            },
            try refuse("policy-witness-words", "a witness line with five words") {
                $0 = $0.replacing(
                    String(decoding: VectorBench.witnessLine("alpha", alpha).dropLast(), as: UTF8.self),
                    with: String(decoding: VectorBench.witnessLine("alpha", alpha).dropLast(), as: UTF8.self)
                        + " https://a.example https://b.example")
            },
        ]
    }

    /// The key ID as it stands in the verifier key.
    private static func hex(_ signer: NoteSigner) -> [UInt8] {
        let parts = signer.verifierKey.encoded.split(separator: UInt8(ascii: "+"), maxSplits: 2)
        return parts.count == 3 ? Array(parts[1]) : []
    }
}
