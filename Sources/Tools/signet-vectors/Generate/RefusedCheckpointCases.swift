// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// Faults of the checkpoint's text, each properly signed by the log and both witnesses.
enum RefusedCheckpointCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        let origin = "log.example/signet"
        let good = String(decoding: try bench.text(size: 11), as: UTF8.self)
        let root = String(good.split(separator: "\n")[2])
        let short = String(decoding: Base64.encode([UInt8](repeating: 1, count: 31)), as: UTF8.self)
        let long = String(decoding: Base64.encode([UInt8](repeating: 1, count: 33)), as: UTF8.self)
        let texts: [(String, String, String)] = [
            ("size-leading-zero", "the size has a leading zero", "\(origin)\n011\n\(root)\n"),
            ("size-plus-sign", "the size has a plus sign", "\(origin)\n+11\n\(root)\n"),
            ("size-trailing-space", "a space after the size", "\(origin)\n11 \n\(root)\n"),
            ("size-hexadecimal", "the size is hexadecimal", "\(origin)\n0xb\n\(root)\n"),
            ("size-two-to-64-plus-11", "the size is 2^64 + 11", "\(origin)\n18446744073709551627\n\(root)\n"),
            ("size-missing", "no size line", "\(origin)\n\(root)\n"),
            ("root-missing", "no root line", "\(origin)\n11\n"),
            ("root-31-bytes", "the root has 31 bytes", "\(origin)\n11\n\(short)\n"),
            ("root-33-bytes", "the root has 33 bytes", "\(origin)\n11\n\(long)\n"),
            ("root-padding-missing", "the root has no padding", "\(origin)\n11\n\(root.dropLast())\n"),
            ("root-trailing-space", "a space after the root", "\(origin)\n11\n\(root) \n"),
            (
                "extension-line-empty", "an empty extension line between two others",
                "\(good)first\n\nsecond\n"
            ),
            ("extension-line-only-empty", "a single, empty extension line", "\(good)\n"),
            ("origin-empty", "the origin line is empty", "\n11\n\(root)\n"),
        ]
        return try texts.map { name, reason, text in
            try bench.refuse(name, .checkpoint, reason) {
                $0.text = Array(text.utf8)
                $0.signatures = try bench.sign($0.text)
            }
        } + [
            try bench.refuse(
                "origin-not-listed", .origin, "the checkpoint names another log; the listed key signed it"
            ) {
                $0.text = Array(good.replacing(origin, with: "log.example/other").utf8)
                $0.signatures = try bench.sign($0.text)
            },
            try bench.refuse(
                "origin-in-upper-case", .origin, "the origin differs from the listed name in case"
            ) {
                $0.text = Array(good.replacing(origin, with: "LOG.example/signet").utf8)
                $0.signatures = try bench.sign($0.text)
            },
            try bench.refuse(
                "origin-other-normal-form", .origin,
                "the origin is the listed name in another Unicode normal form"
            ) {
                let log = try VectorBench.signer("caf\u{E9}.example", .ed25519)
                $0.policy = VectorBench.logLine(log) + bench.witnessLines + Array("quorum alpha\n".utf8)
                $0.text = Array(good.replacing(origin, with: "cafe\u{301}.example").utf8)
                $0.signatures = [try log.sign($0.text).encoded, try bench.cosign($0.text, 0)]
            },
        ]
    }
}
