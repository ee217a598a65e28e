// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// Faults of the log's signature and of cosignatures.
enum RefusedSignatureCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        try logLines(bench) + signedText(bench) + cosignatures(bench)
    }

    private static func logLines(_ bench: VectorBench) throws -> [TlogProofCase] {
        let key = bench.log.verifierKey
        let name = "log.example/signet"
        func replace(
            _ id: String, _ reason: String, _ make: (ProofDraft, [UInt8]) throws -> [UInt8]
        ) throws -> TlogProofCase {
            try bench.refuse(id, .logSignature, reason) {
                $0.signatures[0] = try make($0, try bench.log.sign($0.text).blob)
            }
        }
        func known(_ blob: [UInt8]) -> [UInt8] {
            VectorBench.signatureLine(name, id: key.keyID.bytes, blob: blob)
        }
        return [
            try bench.refuse("log-signature-missing", .logSignature, "no line of the log") {
                $0.signatures.removeFirst()
            },
            try replace("log-signature-first-bit", "the first bit of the log's signature is flipped") {
                known($1.flipping(at: 0))
            },
            try replace("log-signature-last-bit", "the last bit of the log's signature is flipped") {
                known($1.flipping(bit: 7, at: -1))
            },
            try replace("log-signature-63-bytes", "the log's signature lacks its last byte") {
                known($1.dropLast())
            },
            try replace("log-signature-65-bytes", "the log's signature has a surplus byte") {
                known($1 + [0])
            },
            try replace("log-signature-zero", "the log's signature is all zeros") {
                known($1.map { _ in 0 })
            },
            try replace(
                "log-signature-s-plus-order", "the group's order was added to the signature's second half"
            ) {
                known($1[..<32] + adding(groupOrder, to: Array($1[32...])))
            },
            try replace("log-signature-other-key", "another key signed under the log's name and key ID") {
                draft, _ in
                known(try bench.secondLog.sign(draft.text).blob)
            },
            try replace("log-signature-other-id", "the log's line has another key ID, so no known log signed") {
                VectorBench.signatureLine(name, id: key.keyID.bytes.flipping(at: 3), blob: $1)
            },
            try replace("log-signature-other-name", "the log's line has another name, so no known log signed") {
                VectorBench.signatureLine("log.example/other", id: key.keyID.bytes, blob: $1)
            },
            try replace(
                "log-signature-as-cosignature",
                "the log's key signed as a cosigner in place of signing as a log"
            ) { draft, _ in
                let cosigner = try VectorBench.signer(name, .cosignatureV1, seed: name, seedType: .ed25519)
                return VectorBench.signatureLine(
                    name, id: cosigner.verifierKey.keyID.bytes,
                    blob: try cosigner.cosign(draft.text, time: 1).blob)
            },
            try bench.refuse(
                "log-signature-second-fails", .logSignature, "a second line of the log's key does not verify"
            ) {
                $0.signatures.append(known([UInt8](repeating: 1, count: 64)))
            },
            try bench.refuse(
                "log-signature-of-second-log-fails", .logSignature,
                "a line of another listed log does not verify"
            ) {
                $0.policy = VectorBench.logLine(bench.secondLog) + $0.policy
                let key = bench.secondLog.verifierKey
                $0.signatures.append(
                    VectorBench.signatureLine(
                        "log.example/second", id: key.keyID.bytes, blob: .init(repeating: 1, count: 64)))
            },
            try bench.refuse(
                "log-signature-by-second-log", .logSignature, "only another listed log signed the checkpoint"
            ) {
                $0.policy = VectorBench.logLine(bench.secondLog) + $0.policy
                $0.signatures[0] = try bench.secondLog.sign($0.text).encoded
            },
        ]
    }

    /// The text was changed after all had signed, or they signed something else.
    private static func signedText(_ bench: VectorBench) throws -> [TlogProofCase] {
        let good = String(decoding: try bench.text(size: 11), as: UTF8.self)
        return [
            try bench.refuse(
                "size-changed", .logSignature,
                "the size was changed after signing to one that the path fits too"
            ) {
                $0.text = Array(good.replacing("\n11\n", with: "\n12\n").utf8)
            },
            try bench.refuse("extension-added", .logSignature, "an extension line was added after signing") {
                $0.text += line("extension")
            },
            try bench.refuse(
                "extension-removed", .logSignature, "an extension line was removed after signing"
            ) {
                $0.signatures = try bench.sign($0.text + line("extension"))
            },
            try bench.refuse(
                "text-signed-without-newline", .logSignature, "the text was signed without its last LF"
            ) {
                $0.signatures = try bench.sign(Array($0.text.dropLast()))
            },
            try bench.refuse(
                "text-signed-with-empty-line", .logSignature, "the empty line after the text was signed too"
            ) {
                $0.signatures = try bench.sign($0.text + line(""))
            },
        ]
    }

    private static func cosignatures(_ bench: VectorBench) throws -> [TlogProofCase] {
        let alpha = bench.witnesses[0].verifierKey
        func replace(
            _ id: String, _ reason: String, _ make: (ProofDraft, [UInt8]) throws -> [UInt8]
        ) throws -> TlogProofCase {
            try bench.refuse(id, .cosignature, reason) { draft in
                let blob = try bench.witnesses[0].cosign(draft.text, time: VectorBench.time).blob
                draft.signatures[1] = VectorBench.signatureLine(
                    "witness.example/alpha", id: alpha.keyID.bytes, blob: try make(draft, blob))
            }
        }
        return [
            try replace("cosignature-flipped", "one bit of a cosignature is flipped") { $1.flipping(at: 20) },
            try replace("cosignature-time-moved", "a cosignature's time was moved by a second") {
                $1.flipping(at: 7)
            },
            try replace("cosignature-time-little-endian", "a cosignature's time is little-endian") {
                $1[..<8].reversed() + $1[8...]
            },
            try replace("cosignature-time-missing", "a cosignature without its time") { Array($1[8...]) },
            try replace("cosignature-73-bytes", "a cosignature with a surplus byte") { $1 + [0] },
            try replace(
                "cosignature-time-two-to-63",
                "a cosignature's time is 2^63, above the limit, and properly signed"
            ) { draft, _ in
                try beyondTheLimit(draft.text)
            },
            try replace(
                "cosignature-without-extension",
                "a cosignature covers the first three lines only, and there are four"
            ) { draft, _ in
                try bench.witnesses[0].cosign(draft.text, time: VectorBench.time).blob
            }.resigned(bench),
            try replace(
                "cosignature-of-other-size", "a cosignature of the same witness on another checkpoint"
            ) { _, _ in
                try bench.witnesses[0].cosign(bench.text(size: 10), time: VectorBench.time).blob
            },
            try replace(
                "cosignature-plain", "the witness signed the text alone, without the two lines before it"
            ) { draft, blob in
                blob[..<8] + (try plainSigner().sign(draft.text).blob)
            },
            try replace(
                "cosignature-by-other-witness",
                "another witness's cosignature under this one's name and key ID"
            ) { draft, _ in
                try bench.witnesses[1].cosign(draft.text, time: VectorBench.time).blob
            },
            try bench.refuse(
                "cosignature-surplus-fails", .cosignature,
                "a third cosignature fails; the other two meet the quorum"
            ) {
                $0.signatures.append(try bench.cosign(bench.text(size: 10), 2))
            },
            try bench.refuse(
                "cosignature-fails-without-quorum", .cosignature,
                "a listed witness's cosignature fails where none is asked for"
            ) {
                $0.policy = bench.policy("quorum none\n")
                $0.signatures[1] = try bench.cosign(bench.text(size: 10), 0)
            },
            try bench.refuse(
                "cosignature-second-fails", .cosignature,
                "a second line of a witness that cosigned does not verify"
            ) {
                $0.signatures.append(try bench.cosign(bench.text(size: 10), 0))
            },
        ]
    }

    /// The witness alpha's key, as one that signs plainly.
    private static func plainSigner() throws -> NoteSigner {
        try VectorBench.plainTwin(ofWitness: "alpha")
    }

    private static func beyondTheLimit(_ text: [UInt8]) throws -> [UInt8] {
        let time: UInt64 = 1 << 63
        let message = line("cosignature/v1") + line("time \(time)") + text
        return [0x80, 0, 0, 0, 0, 0, 0, 0] + (try plainSigner().sign(message).blob)
    }

    /// The order of the Ed25519 group, little-endian.
    private static let groupOrder: [UInt8] =
        [
            0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
        ] + Array(repeating: 0, count: 15) + [0x10]

    /// The sum of two little-endian numbers of the same length.
    private static func adding(_ left: [UInt8], to right: [UInt8]) -> [UInt8] {
        var carry: UInt16 = 0
        return zip(left, right).map { left, right in
            let sum = UInt16(left) + UInt16(right) + carry
            carry = sum >> 8
            return UInt8(truncatingIfNeeded: sum)
        }
    }
}

extension VectorBench {
    /// The private key of a witness as a plain signer, for faults that need its signature on something else.
    static func plainTwin(ofWitness name: String) throws -> NoteSigner {
        try signer(
            "witness.example/\(name)", .ed25519, seed: "witness.example/\(name)", seedType: .cosignatureV1)
    }
}

extension TlogProofCase {
    /// The case after an extension line was added and all but the first witness signed again.
    fileprivate func resigned(_ bench: VectorBench) throws -> TlogProofCase {
        var draft = draft
        draft.text += line("extension")
        draft.signatures[0] = try bench.log.sign(draft.text).encoded
        draft.signatures[2] = try bench.cosign(draft.text, 1)
        return TlogProofCase(name: name, covers: covers, fault: fault, draft: draft)
    }
}
