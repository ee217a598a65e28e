// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog
import VerifiableMap

/// Answers that are malformed, or are by or about another person.
enum BadForms {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try envelopes(bench) + people(bench) + keys(bench)
    }

    private static func envelopes(_ bench: LookupVectorBench) throws -> [LookupVector] {
        let epochPath = 17 + 80 + 72
        return [
            try bench.bad(.envelope, "version-1", "the first line names version 1") {
                $0.edit = { $0[15] = UInt8(ascii: "1") }
            },
            try bench.bad(.envelope, "nothing", "no byte at all") { $0.edit = { $0 = [] } },
            try bench.bad(.envelope, "cut", "cut within the account state") {
                let behind = $0.answer.note.count + 101
                $0.edit = { $0.removeLast(behind) }
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
            try bench.bad(
                .accountState, "signature-in-its-other-spelling", "(r, n - s) in place of (r, s); it is logged"
            ) {
                var respelled = try $0.scene.alice.next()
                let state = respelled.encodedState
                respelled.encodedState = state.dropLast(64) + AccountSignature.other(state.suffix(64))
                try $0.directory.publish(respelled)
                $0.answer = try $0.directory.answer(about: respelled)
            },
            try bench.bad(.accountState, "of-somebody-else", "bob's signed state, logged under carol's label") {
                $0.handle = $0.scene.carol
                try $0.directory.publish($0.scene.bob, under: $0.handle)
                $0.answer = try $0.directory.answer(about: $0.scene.bob, under: $0.handle)
            },
        ]
    }

    /// X-Wing keys beside a state whose hashes are not those that it lists. A first line of 23 bytes, their count, the keys.
    private static func keys(_ bench: LookupVectorBench) throws -> [LookupVector] {
        func change(_ draft: inout LookupDraft, _ edit: (inout [UInt8]) -> Void) throws {
            var alice = draft.scene.alice
            alice.sendsKeys = true
            guard case .state(let kind, let opening, var encoded) = alice.step else { throw PaperFault.notThere }
            edit(&encoded)
            draft.answer.step = .state(kind, opening: opening, encoded: encoded)
        }
        return [
            try bench.bad(.accountState, "another-device-key", "one bit of a device's X-Wing key is another one") {
                try change(&$0) { $0[24 + 700] ^= 1 }
            },
            try bench.bad(.accountState, "device-key-left-out", "an X-Wing key for one of the two devices") {
                try change(&$0) {
                    $0[23] = 1
                    $0.removeSubrange(24..<24 + 1216)
                }
            },
            try bench.bad(.accountState, "device-key-surplus", "three X-Wing keys for two devices") {
                try change(&$0) {
                    $0[23] = 3
                    $0.insert(contentsOf: $0[24..<24 + 1216], at: 24)
                }
            },
        ]
    }
}
