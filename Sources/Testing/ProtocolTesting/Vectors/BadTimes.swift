// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// Checkpoints of another time, and logs that do not lead on from what a client has seen.
enum BadTimes {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try ages(bench) + logs(bench)
    }

    private static func ages(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.freshness, "stale", "the quorum's time is a second too long ago") { $0.now += 86_401 },
            try bench.bad(.freshness, "one-witness-stale", "one of the two witnesses cosigned too long ago") {
                let text = try $0.directory.note().text
                $0.answer.note = try SignedNote(
                    text: text,
                    signatures: [
                        try $0.directory.log.sign(text),
                        try $0.directory.witnesses[0].cosign(text, time: PaperDirectory.now),
                        try $0.directory.witnesses[1].cosign(text, time: PaperDirectory.now - 86_401),
                    ]
                ).encoded
            },
            try bench.bad(.freshness, "from-the-future", "the quorum's time is ahead by more than the skew") {
                $0.answer.note = try $0.directory.note(at: PaperDirectory.now + 301).encoded
            },
            try bench.bad(.freshness, "no-time", "the policy asks for no cosigner, so nothing carries a time") {
                $0.quorum = Policy.Quorum.none
            },
        ]
    }

    private static func logs(_ bench: LookupVectorBench) throws -> [LookupVector] {
        func fork() throws -> PaperScene {
            try PaperScene(deviceCount: 1, isFork: true, recorded: bench.scene.bob.recorded)
        }
        return [
            try bench.bad(.consistency, "rollback", "a smaller log than the client has seen") {
                var later = $0.directory
                try later.publish($0.scene.bob.closed())
                $0.view = try later.view()
            },
            try bench.bad(.consistency, "fork", "another root for the size that the client has seen, cosigned by all") {
                $0.answer = try fork().directory.answer(about: $0.scene.alice)
                $0.view = try bench.scene.directory.view()
            },
            try bench.bad(.consistency, "fork-and-longer", "a larger log with another past, cosigned by all") {
                var other = try fork()
                try other.directory.publish($0.scene.bob.closed())
                $0.answer = try other.directory.answer(
                    about: $0.scene.alice, knowing: ($0.directory.tree.size, 0))
                $0.view = try bench.scene.directory.view()
            },
            try bench.bad(.consistency, "no-proof", "a larger log without proof that it leads on") {
                $0.view = try $0.directory.view(size: 29)
            },
            try bench.bad(.consistency, "uncalled-for-proof", "a proof for a client that knows nothing") {
                $0.answer = try $0.directory.answer(about: $0.scene.alice, knowing: (29, 0))
            },
        ]
    }
}
