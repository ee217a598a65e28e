// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// Every line of a listed key verifies, and they are not enough.
enum RefusedQuorumCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        let rules: [(String, String, String, Int)] = [
            (
                "quorum-one-short", "one cosignature where two of three are asked for",
                "group g 2 alpha beta gamma\nquorum g\n", 1
            ),
            (
                "quorum-none-there", "no cosignature where any of three is asked for",
                "group g any alpha beta gamma\nquorum g\n", 0
            ),
            (
                "quorum-all-but-one", "two cosignatures where all three are asked for",
                "group g all alpha beta gamma\nquorum g\n", 2
            ),
            (
                "quorum-other-witness", "two witnesses cosigned and a third one is asked for",
                "quorum gamma\n", 2
            ),
            (
                "quorum-wrong-group",
                "two cosignatures from one group where one from each of two is asked for",
                "group a any alpha beta\ngroup b any gamma\ngroup both all a b\nquorum both\n", 2
            ),
            (
                "quorum-unmet-group-counts-once", "a group that is met by two members counts as one",
                "group a any alpha beta\ngroup two all a gamma\nquorum two\n", 2
            ),
        ]
        return try rules.map { name, reason, rule, cosigners in
            try bench.refuse(name, .quorum, reason) {
                $0 = try bench.draft(cosigners: cosigners)
                $0.policy = bench.policy(rule)
            }
        } + [
            try bench.refuse(
                "quorum-same-witness-twice", .quorum, "one witness cosigned twice, two of three are asked for"
            ) {
                $0.signatures[2] = try bench.cosign($0.text, 0, time: VectorBench.time + 1)
            },
            try bench.refuse("quorum-by-log", .quorum, "the log cosigned itself in place of a second witness") {
                $0.signatures[2] = try bench.logCosigner.cosign($0.text, time: VectorBench.time).encoded
            },
            try bench.refuse(
                "quorum-by-stranger", .quorum, "an unlisted witness cosigned in place of a second one"
            ) {
                $0.signatures[2] = try bench.stranger.cosign($0.text, time: VectorBench.time).encoded
            },
            try bench.refuse(
                "quorum-other-key-id", .quorum,
                "the second cosignature has another key ID, so nobody known made it"
            ) {
                let key = bench.witnesses[1].verifierKey
                $0.signatures[2] = VectorBench.signatureLine(
                    "witness.example/beta", id: key.keyID.bytes.flipping(at: 0),
                    blob: try bench.witnesses[1].cosign($0.text, time: VectorBench.time).blob)
            },
            try bench.refuse(
                "quorum-key-id-of-plain-key", .quorum,
                "the second cosignature has the key ID that its key would have as a plain key"
            ) {
                let plain = try VectorBench.plainTwin(ofWitness: "beta").verifierKey
                $0.signatures[2] = VectorBench.signatureLine(
                    "witness.example/beta", id: plain.keyID.bytes,
                    blob: try bench.witnesses[1].cosign($0.text, time: VectorBench.time).blob)
            },
        ]
    }
}
