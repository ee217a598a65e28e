import KeyTransparency
import TransparencyLog
import VerifiableMap

/// What is malformed, or is said by or of somebody else.
enum BadForms {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try envelopes(bench) + people(bench)
    }

    private static func envelopes(_ bench: LookupVectorBench) throws -> [LookupVector] {
        let epochPath = 17 + 80 + 72
        return [
            try bench.bad(.envelope, "version-1", "the first line names version 1") {
                $0.edit = { $0[15] = UInt8(ascii: "1") }
            },
            try bench.bad(.envelope, "nothing", "no byte at all") { $0.edit = { $0 = [] } },
            try bench.bad(.envelope, "cut", "cut within the account state") {
                $0.edit = { $0.removeLast(1800) }
            },
            try bench.bad(.envelope, "vrf-proof-no-point", "the VRF proof's point is no canonical encoding") {
                $0.edit = { $0[17 + 31] = 0xFF }
            },
            try bench.bad(.envelope, "path-of-64", "a path in the log of 64 hashes") {
                $0.answer.epochPath = Array(repeating: .emptyTree, count: 64)
            },
            try bench.bad(.envelope, "unknown-kind", "a last step of kind 4") {
                let kind = epochPath + 1 + 32 * $0.answer.epochPath.count
                $0.edit = { $0[kind] = 4 }
            },
            try bench.bad(.envelope, "index-path-repeats-a-node", "two steps of an index path name the same bit") {
                $0.handle = $0.scene.carol
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                let first = epochPath + 1 + 32 * $0.answer.epochPath.count + 1 + 1 + 64 + 2
                $0.edit = { $0[first + 33] = $0[first] }
            },
            try bench.bad(.envelope, "index-path-out-of-order", "a deeper node stands above another one") {
                let first = epochPath + 1 + 32 * $0.answer.epochPath.count + 1 + 2
                $0.edit = { $0[first + 33] = $0[first] + 1 }
            },
        ]
    }

    private static func people(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.vrf, "replayed-answer", "a whole good answer about somebody else") {
                $0.answer = try $0.directory.answer(about: $0.scene.bob)
            },
            try bench.bad(.vrf, "replayed-absence", "a good proof that somebody else is absent") {
                $0.answer = try $0.directory.answer(aboutAbsent: $0.scene.carol)
            },
            try bench.bad(.vrf, "altered-proof", "the VRF proof's last scalar is another one") {
                $0.edit = { $0[17 + 48] ^= 1 }
            },
            try bench.bad(.accountState, "not-signed", "the state's identity key did not sign it; it is logged") {
                var forged = try $0.scene.alice.next()
                forged.encodedState[forged.encodedState.count - 1] ^= 1
                try $0.directory.publish(forged)
                $0.answer = try $0.directory.answer(about: forged)
            },
            try bench.bad(.accountState, "of-somebody-else", "bob's signed state, logged under carol's label") {
                $0.handle = $0.scene.carol
                try $0.directory.publish($0.scene.bob, under: $0.handle)
                $0.answer = try $0.directory.answer(about: $0.scene.bob, under: $0.handle)
            },
        ]
    }
}
