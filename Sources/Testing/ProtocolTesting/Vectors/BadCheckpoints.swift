// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// Checkpoints that no known key signed, or whose known keys signed something else.
enum BadCheckpoints {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try logs(bench) + witnesses(bench)
    }

    private static func logs(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.checkpointText, "no-note", "no signed note") {
                $0.answer.note = Array("no note\n".utf8)
            },
            try bench.bad(.checkpointText, "no-checkpoint", "a note, properly signed, that is no checkpoint") {
                $0.answer.note = try $0.directory.sign(Array("\(PaperDirectory.origin)\n012\n".utf8)).encoded
            },
            try bench.bad(.origin, "another-log", "the same key signs under the name of another log") {
                let other = try PaperDirectory.signer("directory.example/other", .ed25519, seed: 1)
                $0.answer.note = try $0.directory.note(by: other).encoded
            },
            try bench.bad(.logSignature, "another-key", "another key signs under the log's name") {
                let other = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 9)
                $0.answer.note = try $0.directory.note(by: other).encoded
            },
            try bench.bad(.logSignature, "edited-size", "the size was edited, and only the witnesses signed that") {
                let head = try $0.directory.tree.head(size: $0.directory.tree.size)
                $0.answer.note = try note($0, TreeHead(size: head.size + 1, root: head.root))
            },
            try bench.bad(.logSignature, "edited-root", "the root was edited, and only the witnesses signed that") {
                $0.answer.note = try note($0, TreeHead(size: $0.directory.tree.size, root: .emptyTree))
            },
        ]
    }

    /// A checkpoint with this head under the log's honest signature and the witnesses' new ones.
    private static func note(_ draft: LookupDraft, _ head: TreeHead) throws -> [UInt8] {
        let text = try Checkpoint(origin: draft.directory.log.verifierKey.name, head: head).text
        let honest = try draft.directory.note().signatures[0]
        return try SignedNote(
            text: text, signatures: [honest] + draft.directory.sign(text).signatures.dropFirst()
        ).encoded
    }

    private static func witnesses(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.cosignatures, "one-short", "one of two witnesses cosigned") {
                $0.answer.note = try $0.directory.note(cosigners: [$0.directory.witnesses[0]]).encoded
            },
            try bench.bad(.cosignatures, "one-twice", "one witness cosigned twice, the other one not at all") {
                let one = $0.directory.witnesses[0]
                let text = try $0.directory.note().text
                $0.answer.note = try SignedNote(
                    text: text,
                    signatures: [
                        try $0.directory.log.sign(text), try one.cosign(text, time: PaperDirectory.now),
                        try one.cosign(text, time: PaperDirectory.now - 1),
                    ]
                ).encoded
            },
            try bench.bad(.cosignatures, "by-stranger", "an unknown key cosigned in place of a witness") {
                let stranger = try PaperDirectory.signer("stranger.example", .cosignatureV1, seed: 44)
                $0.answer.note = try $0.directory.note(cosigners: [$0.directory.witnesses[0], stranger]).encoded
            },
            try bench.bad(.cosignatures, "unknown-key-known-name", "an unknown key cosigned under a witness's name") {
                let other = try PaperDirectory.signer("witness.example/two", .cosignatureV1, seed: 44)
                $0.answer.note = try $0.directory.note(cosigners: [$0.directory.witnesses[0], other]).encoded
            },
            try bench.bad(.cosignatures, "of-another-checkpoint", "a witness's cosignature of another checkpoint") {
                let (honest, other) = (
                    try $0.directory.note(), try $0.directory.note(size: $0.directory.tree.size - 1)
                )
                $0.answer.note = try SignedNote(
                    text: honest.text,
                    signatures: [honest.signatures[0], honest.signatures[1], other.signatures[2]]
                ).encoded
            },
        ]
    }
}
