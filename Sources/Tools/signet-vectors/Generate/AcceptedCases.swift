// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// Proofs that every verifier must accept.
enum AcceptedCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        try trees(bench) + extras(bench) + notes(bench) + policies(bench)
    }

    private static func trees(_ bench: VectorBench) throws -> [TlogProofCase] {
        let places = [
            (0, 1), (0, 2), (1, 2), (2, 3), (0, 4), (4, 5), (6, 7), (3, 8), (8, 9), (127, 255), (128, 256),
            (256, 257),
            (511, 1000), (999, 1000),
        ]
        var cases = try places.map { index, size in
            let draft = try bench.draft(index: index, size: size)
            return try bench.accept(
                "index-\(index)-of-\(size)", "a path of \(draft.hashes.count) hashes", draft)
        }
        let large: [(String, UInt64, UInt64)] = [
            ("two-to-32-plus-1", 1 << 32, (1 << 32) + 1), ("two-to-53-plus-1", (1 << 53) - 1, (1 << 53) + 1),
            ("two-to-63-minus-1", 0, (1 << 63) - 1),
        ]
        for (name, index, size) in large {
            cases.append(
                try bench.accept(
                    "size-\(name)", "numbers beyond 32 or 53 bits; the siblings are invented", bench.draft()
                ) {
                    let path = VectorBench.inventedPath(index: index, size: size, leaf: .leaf($0.entry))
                    $0.index = line("index \(index)")
                    $0.hashes = path.hashes.map { base64Line($0.bytes) }
                    $0.text = try bench.text(size: Int(size), root: path.root)
                    $0.signatures = try bench.sign($0.text)
                    ($0.size, $0.leafIndex) = (size, index)
                })
        }
        return cases
    }

    private static func extras(_ bench: VectorBench) throws -> [TlogProofCase] {
        let draft = try bench.draft()
        let sizes = try [1, 2, 3, 80].map { count in
            try bench.accept("extra-\(count)", "extra data of \(count) bytes", draft) {
                $0.extra =
                    Array("extra ".utf8) + base64Line((0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) })
            }
        }
        let entries: [(String, String, [UInt8])] = [
            ("entry-empty", "an entry without bytes", []),
            ("entry-binary", "an entry with every byte value", Array(0...255)),
            (
                "entry-node-like", "an entry of 65 bytes that starts like the preimage of a node",
                [1] + Array(repeating: 7, count: 64)
            ),
        ]
        return sizes
            + (try entries.map { name, covers, entry in
                try bench.accept(name, covers, draft) {
                    $0.entry = entry
                    $0.index = line("index 0")
                    $0.hashes = []
                    $0.text = try bench.text(size: 1, root: .leaf(entry))
                    $0.signatures = try bench.sign($0.text)
                    ($0.size, $0.leafIndex) = (1, 0)
                }
            })
    }

    private static func notes(_ bench: VectorBench) throws -> [TlogProofCase] {
        let draft = try bench.draft()
        let logID = bench.log.verifierKey.keyID.bytes, alphaID = bench.witnesses[0].verifierKey.keyID.bytes
        func unknown(_ name: String, _ covers: String, _ lines: [[UInt8]]) throws -> TlogProofCase {
            try bench.accept(name, covers, draft) { $0.signatures = lines + $0.signatures }
        }
        return [
            try bench.accept("log-signature-last", "the log's line stands last", draft) {
                $0.signatures.reverse()
            },
            try unknown(
                "unknown-key-id", "a line with the log's name and another key ID is ignored",
                [
                    VectorBench.signatureLine(
                        "log.example/signet", id: [0, 0, 0, 1], blob: Array(repeating: 1, count: 64))
                ]),
            try unknown(
                "unknown-name", "lines with a known key ID and another name are ignored",
                [
                    VectorBench.signatureLine(
                        "log.example/other", id: logID, blob: Array(repeating: 1, count: 64)),
                    VectorBench.signatureLine(
                        "witness.example/other", id: alphaID, blob: Array(repeating: 1, count: 72)),
                ]),
            try unknown(
                "unknown-algorithm", "a line of ML-DSA-44 length is ignored",
                [
                    VectorBench.signatureLine(
                        "pq.example", id: [6, 6, 6, 6], blob: Array(repeating: 9, count: 2428))
                ]),
            try unknown(
                "unknown-short", "a line with one byte after the key ID is ignored",
                [VectorBench.signatureLine("short.example", id: [6, 6, 6, 6], blob: [1])]),
            try unknown(
                "sixteen-signatures", "16 lines, which every verifier must take",
                (0..<13).map {
                    VectorBench.signatureLine("s\($0).example", id: [0, 0, 0, UInt8($0)], blob: [1, 2, 3])
                }),
            try unknown(
                "unlisted-witness-fails",
                "a false cosignature of a witness that the policy does not list is ignored",
                [try bench.stranger.cosign(line("something else"), time: 1).encoded]),
            try bench.accept("log-signs-twice", "the log's line stands twice", draft) {
                $0.signatures.append($0.signatures[0])
            },
            try bench.accept("witness-twice", "one witness cosigned at two times and another once", draft) {
                $0.signatures.append(try bench.cosign($0.text, 0, time: VectorBench.time + 999))
            },
            try bench.accept("times-at-the-limits", "cosigned at 0 and at 2^63 - 1 seconds", draft) {
                $0.signatures = [
                    $0.signatures[0], try bench.cosign($0.text, 0, time: 0),
                    try bench.cosign($0.text, 1, time: UInt64(Int64.max)),
                ]
            },
            try bench.accept("extension-lines", "two extension lines, one that looks like a signature", draft) {
                $0.text = try bench.text(
                    size: 11, extensions: ["extension", "— log.example/signet AAAAAAA="])
                $0.signatures = try bench.sign($0.text)
            },
        ]
    }

    private static func policies(_ bench: VectorBench) throws -> [TlogProofCase] {
        let draft = try bench.draft()
        let rules: [(String, String, String, Int)] = [
            ("quorum-none", "no cosignature asked for, none there", "quorum none\n", 0),
            ("quorum-none-cosigned", "no cosignature asked for, two there", "quorum none\n", 2),
            ("quorum-one-witness", "one witness asked for by its name", "quorum beta\n", 2),
            ("quorum-any", "any of three, one cosigned", "group g any alpha beta gamma\nquorum g\n", 1),
            ("quorum-all", "all of three", "group g all alpha beta gamma\nquorum g\n", 3),
            ("quorum-of-one", "one of one, written as a number", "group g 1 alpha\nquorum g\n", 1),
            (
                "quorum-nested", "a group within a group",
                "group pair all alpha beta\ngroup either any pair gamma\nquorum either\n", 2
            ),
            (
                "quorum-other-group-unmet", "a group that nothing asks for is unmet",
                "group g all gamma\nquorum alpha\n", 2
            ),
        ]
        return try rules.map { name, covers, rule, cosigners in
            try bench.accept(name, covers, try bench.draft(cosigners: cosigners)) {
                $0.policy = bench.policy(rule)
            }
        } + [
            try bench.accept("policy-comments", "comments, empty lines, tabs and addresses", draft) {
                $0.policy =
                    Array("# comment \u{2603}\n \t\n".utf8)
                    + $0.policy.replacing(" ", with: " \t ").replacing(
                        "\ngroup", with: " https://w.example/\n\t# x\n\ngroup")
            },
            try bench.accept("policy-second-log", "the second of two listed logs signed", draft) {
                $0.policy = VectorBench.logLine(bench.secondLog) + $0.policy
            },
            try bench.accept("log-key-succession", "two keys of one log are listed and both signed", draft) {
                let successor = try VectorBench.signer("log.example/signet", .ed25519, seed: "successor")
                $0.policy = VectorBench.logLine(successor) + $0.policy
                $0.signatures.insert(try successor.sign($0.text).encoded, at: 1)
            },
            try bench.accept(
                "cosigner-named-as-log", "the log's operator also runs a listed witness of its name", draft
            ) {
                $0.policy =
                    VectorBench.logLine(bench.log) + VectorBench.witnessLine("own", bench.logCosigner)
                    + Array("quorum own\n".utf8)
                $0.signatures = [$0.signatures[0], try bench.logCosigner.cosign($0.text, time: 5).encoded]
            },
            try bench.accept(
                "names-in-two-normal-forms", "two witnesses whose names differ in Unicode normal form", draft
            ) {
                let names = ["caf\u{E9}", "cafe\u{301}"]
                let cafes = try names.map { try VectorBench.signer("\($0).example", .cosignatureV1) }
                $0.policy =
                    VectorBench.logLine(bench.log)
                    + zip(names, cafes).flatMap { VectorBench.witnessLine($0, $1) }
                    + Array("group \u{E9} all \(names[0]) \(names[1])\nquorum \u{E9}\n".utf8)
                $0.signatures = [$0.signatures[0]]
                for cafe in cafes { $0.signatures.append(try cafe.cosign($0.text, time: 7).encoded) }
            },
            try bench.accept("policy-32-of-each", "32 logs, 32 witnesses and 32 groups", draft) {
                $0.policy = try largePolicy(bench)
            },
        ]
    }

    private static func largePolicy(_ bench: VectorBench) throws -> [UInt8] {
        var text = VectorBench.logLine(bench.log) + bench.witnessLines
        for number in 1..<32 {
            text += VectorBench.logLine(try VectorBench.signer("log.example/\(number)", .ed25519))
        }
        for number in 3..<32 {
            text += VectorBench.witnessLine(
                "w\(number)", try VectorBench.signer("witness.example/\(number)", .cosignatureV1))
        }
        text += Array("group g0 2 alpha beta gamma\n".utf8)
        for number in 1..<31 {
            text += Array("group g\(number) any g\(number - 1)\(number < 29 ? " w\(number + 2)" : "")\n".utf8)
        }
        return text + Array("group g31 all g30\nquorum g31\n".utf8)
    }
}
