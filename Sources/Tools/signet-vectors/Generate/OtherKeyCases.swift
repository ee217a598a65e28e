// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// Keys for which anyone can sign, and policies with keys of a kind that a verifier may not know.
enum OtherKeyCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        try Spelling.all.map { try log(bench, $0) } + Spelling.all.map { try witness(bench, $0) } + unknown(bench)
    }

    /// The log's key is none: its line was made without a private key, and Ed25519 itself finds no fault with it.
    private static func log(_ bench: VectorBench, _ spelling: Spelling) throws -> TlogProofCase {
        try bench.refuse("key-\(spelling.name)-of-the-log", .policy, "the log's key is \(spelling.words)") {
            let key = try vkey("log.example/signet", 1, try Hex.decode(Array(spelling.key.utf8)))
            $0.policy = Array("log ".utf8) + key.text + [0x0A] + bench.policyWithoutLog
            $0.signatures[0] = VectorBench.signatureLine(
                "log.example/signet", id: key.id, blob: try Base64.decode(Array(spelling.log.utf8)))
        }
    }

    /// The same with the one witness of the quorum.
    private static func witness(_ bench: VectorBench, _ spelling: Spelling) throws -> TlogProofCase {
        try bench.refuse(
            "key-\(spelling.name)-of-the-witness", .policy,
            "the quorum's only witness has \(spelling.words) for its key"
        ) {
            let key = try vkey("nobody.example", 4, try Hex.decode(Array(spelling.key.utf8)))
            $0.policy = bench.policy("witness nobody \(String(decoding: key.text, as: UTF8.self))\nquorum nobody\n")
            var time = ByteWriter()
            time.write(VectorBench.time)
            let blob = time.bytes + (try Base64.decode(Array(spelling.witness.utf8)))
            $0.signatures = [$0.signatures[0], VectorBench.signatureLine("nobody.example", id: key.id, blob: blob)]
        }
    }

    /// Type 0xFF is reserved for what no specification names, so no verifier knows this key.
    private static func unknown(_ bench: VectorBench) throws -> [TlogProofCase] {
        let key = try vkey("other.example", 0xFF, Array("a kind of key of tomorrow".utf8))
        let line = "witness other \(String(decoding: key.text, as: UTF8.self))\n"
        let blob = [UInt8](repeating: 0, count: 72)
        let draft = try bench.draft()
        return [
            try bench.accept(
                "policy-unknown-key", "a witness with a key of an unknown type is listed; the others meet the quorum",
                draft
            ) { $0.policy = bench.policy("\(line)group g 2 alpha beta gamma other\nquorum g\n") },
            try bench.accept("policy-unknown-log-key", "a log with a key of an unknown type is listed", draft) {
                $0.policy += Array("log ".utf8) + key.text + [0x0A]
            },
            try bench.refuse(
                "policy-unknown-key-counted", .quorum,
                "without the line of a witness with a key of an unknown type the quorum is not met"
            ) {
                $0.policy = bench.policy("\(line)group g 3 alpha beta gamma other\nquorum g\n")
                $0.signatures.append(VectorBench.signatureLine("other.example", id: key.id, blob: blob))
            },
            try bench.refuse(
                "policy-unknown-key-needed", .policy, "the quorum needs a witness with a key of an unknown type"
            ) { $0.policy = bench.policy("\(line)group g all alpha other\nquorum g\n") },
        ]
    }

    private static func vkey(_ name: String, _ type: UInt8, _ key: [UInt8]) throws -> (text: [UInt8], id: [UInt8]) {
        let id = KeyID(name: try KeyName(Array(name.utf8)), keyMaterial: [type] + key).bytes
        let plus = UInt8(ascii: "+")
        return (Array(name.utf8) + [plus] + Hex.encode(id) + [plus] + Base64.encode([type] + key), id)
    }
}

/// A spelling of a point of small order, with signatures over the usual draft's checkpoint and over its cosigned message, all by
/// `Scripts/interop/small-order.py`, which `check Vectors/tlog-proof` verifies again.
private struct Spelling {
    let name: String
    let words: String
    /// Hexadecimal.
    let key: String
    /// Base64 of 64 bytes.
    let log: String
    /// Base64 of 64 bytes.
    let witness: String

    init(_ name: String, _ words: String, key: String, log: String, witness: String) {
        self.name = name
        self.words = words
        self.key = key
        self.log = log
        self.witness = witness
    }

    static let all = [
        Spelling(
            "identity", "the neutral element",
            key: "0100000000000000000000000000000000000000000000000000000000000000",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-2", "the point of order 2",
            key: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            log: "1LT1eEhowwIEAyRnF+wWn/eeJmCOoSahq2nud9GxZxIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-4-1", "a point of order 4",
            key: "0000000000000000000000000000000000000000000000000000000000000000",
            log: "LHvoarB0iLpD6OA9haZ2Jc+/mMhUTeTIdyQbeqr8f+MKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "1LT1eEhowwIEAyRnF+wWn/eeJmCOoSahq2nud9GxZxIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-4-2", "a point of order 4",
            key: "0000000000000000000000000000000000000000000000000000000000000080",
            log: "LxEyymGrON/wDy/qMijyTGxx1YCFuA5H4ZUVyyfo0EcEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "nihtM1Fgxv9updjHxdUGrjXM+PTd5SPz5VqXtxbRKGYVAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-8-1", "a point of order 8",
            key: "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            log: "LxEyymGrON/wDy/qMijyTGxx1YCFuA5H4ZUVyyfo0EcEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "6ydnwTeretgnnAeO/xFqsHhurTouD5ifcsN/gvKWlnAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-8-2", "a point of order 8",
            key: "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            log: "yaP4aq5GXw5WUThkUQ85l1YfosnoXqIdwikjCfPNYCICAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "SrB14JA+TjWwltTWTg6BvKXDlorq6Oh9mNgLfoQmES4SAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-8-3", "a point of order 8",
            key: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            log: "EzcDasMtjzDUWJw8HFlYEs4P/0DjfG9al6shPzGCkK0LAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "7ch21oMf0hBdC0OJyi4oMWZGkokUbizgb67+mLIlSN8FAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-8-4", "a point of order 8",
            key: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "LxEyymGrON/wDy/qMijyTGxx1YCFuA5H4ZUVyyfo0EcEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "identity-sign-of-zero", "the neutral element, with a sign though x is zero",
            key: "0100000000000000000000000000000000000000000000000000000000000080",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "identity-y-not-below-p", "the neutral element, with a y that is not below p",
            key: "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "identity-y-not-below-p-and-sign", "the neutral element, with a y not below p and a sign though x is zero",
            key: "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-2-sign-of-zero", "the point of order 2, with a sign though x is zero",
            key: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "yaP4aq5GXw5WUThkUQ85l1YfosnoXqIdwikjCfPNYCICAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-4-y-not-below-p-1", "a point of order 4, with a y that is not below p",
            key: "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            log: "1LT1eEhowwIEAyRnF+wWn/eeJmCOoSahq2nud9GxZxIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
        Spelling(
            "order-4-y-not-below-p-2", "a point of order 4, with a y that is not below p",
            key: "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            log: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
            witness: "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmYBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
    ]
}
