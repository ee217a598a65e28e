// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// Answers that every client must accept.
enum GoodLookups {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try registered(bench) + ended(bench) + times(bench)
    }

    private static func registered(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.good("registered-first-visit", "keys, to somebody who knows nothing") { _ in },
            try bench.good("registered-returning", "keys, to somebody who has seen log and label before") {
                $0.view = try $0.directory.view(size: 29)
                $0.history = LabelHead(try $0.scene.aliceHistory().head(size: 2))
                $0.answer = try $0.directory.answer(about: $0.scene.alice, knowing: (29, 2))
            },
            try bench.good("registered-nothing-new", "keys, to somebody who has seen everything") {
                let size = $0.directory.tree.size
                $0.view = try $0.directory.view(epoch: $0.directory.lastRecord.map { EpochMark($0) })
                $0.history = try bench.known()
                $0.answer = try $0.directory.answer(about: $0.scene.alice, knowing: (size, 4))
            },
            try bench.good("registered-seen-empty", "keys, to somebody who has seen the empty log") {
                $0.view = LogView(
                    uncheckedOrigin: $0.directory.log.verifierKey.name, head: .empty, note: [])
            },
            try bench.good("registered-other-log-seen", "keys, to somebody who has seen another log") {
                $0.view = LogView(
                    uncheckedOrigin: try PaperDirectory.signer("other.example/log", .ed25519, seed: 1)
                        .verifierKey.name, head: TreeHead(size: 9, root: .emptyTree), note: [],
                    epoch: EpochMark(number: 99, time: .max))
            },
            try bench.good("registered-reset", "keys under a new identity, logged as a reset") {
                var reset = try $0.scene.alice.next(identity: PaperPerson("x@y", seed: 70).identity)
                reset.kind = .reset
                try $0.directory.publish(reset)
                $0.answer = try $0.directory.answer(about: reset)
            },
            try bench.good("registered-with-keys", "the devices' X-Wing keys come beside the state") {
                var alice = $0.scene.alice
                alice.sendsKeys = true
                $0.answer = try $0.directory.answer(about: alice)
            },
            try bench.good("registered-stranger-cosigned", "an unknown key cosigned as well") {
                let stranger = try PaperDirectory.signer("stranger.example", .cosignatureV1, seed: 44)
                $0.answer.note = try $0.directory.note(cosigners: $0.directory.witnesses + [stranger]).encoded
            },
        ]
    }

    private static func ended(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.good("closed", "an account that was closed, to somebody who knew it") {
                let closed = $0.scene.alice.closed()
                $0.history = try bench.known()
                try $0.directory.publish(closed)
                $0.answer = try $0.directory.answer(about: closed, knowing: (0, 4))
            },
            try bench.good("absent", "nobody has the handle") {
                $0.handle = $0.scene.carol
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
            },
            try bench.good("absent-returning", "nobody has the handle, to somebody who has seen the log before") {
                $0.handle = $0.scene.carol
                $0.view = try $0.directory.view(size: 29)
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle, knowing: 29)
            },
            try bench.good("absent-from-empty-index", "nobody is registered at all") {
                $0.directory = try PaperDirectory(filler: 0)
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
            },
        ]
    }

    private static func times(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.good("as-old-as-allowed", "the newest quorum time is the maximum age ago") {
                $0.now += 86_400
            },
            try bench.good("as-far-ahead-as-allowed", "epoch and cosigners are ahead by the allowed skew") {
                try $0.directory.endEpoch(at: PaperDirectory.now * 1000 + 300_999)
                $0.answer = try $0.directory.answer(about: $0.scene.alice)
                $0.answer.note = try $0.directory.note(at: PaperDirectory.now + 300).encoded
            },
        ]
    }
}
