// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// States that are not the last entry of the history that the index holds, histories with another past than a client
/// knows, and records that are not in the log.
enum BadHistories {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try lastEntries(bench) + kinds(bench) + pasts(bench) + records(bench)
    }

    private static func lastEntries(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.history, "old-state", "the state before the last, without the new device") {
                let before = try $0.directory.answer(about: $0.scene.aliceBefore)
                ($0.answer.step, $0.answer.inclusion) = (before.step, before.inclusion)
            },
            try bench.bad(.history, "hidden-device", "a device was logged behind the last state") {
                let label = try $0.directory.label($0.handle).hash
                let hidden = DeviceLeaf(label: label, device: try PaperPerson.device(9, seed: 99).keys).entry
                $0.directory.logUnseen(hidden)
                let history = try $0.scene.aliceHistory { $0.append(.leaf(hidden)) }
                try $0.scene.lie(history)
                $0.answer = try $0.directory.answer(about: $0.scene.alice, history: history)
            },
            try bench.bad(.history, "version-step", "the log says version 3, the state that it commits to 4") {
                var skipped = try $0.scene.alice.next().next()
                skipped.version = 3
                try $0.directory.publish(skipped)
                $0.answer = try $0.directory.answer(about: skipped)
            },
            try bench.bad(.history, "empty", "a label in the index without any entry") {
                try $0.scene.lie(MerkleTree())
                $0.answer = try $0.directory.answer(about: $0.scene.alice)
                ($0.answer.head, $0.answer.lastPath) = (LabelHead(.empty), [])
            },
        ]
    }

    private static func kinds(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.history, "another-kind", "the log says set, the answer reset") {
                var reset = $0.scene.alice
                reset.kind = .reset
                $0.answer.step = reset.step
            },
            try bench.bad(.history, "another-opening", "the opening is not that of the logged commitment") {
                $0.answer.step = .state(
                    .set, opening: Array(repeating: 1, count: 32), encoded: $0.scene.alice.encodedState)
            },
            try bench.bad(.history, "closed-though-open", "an open account is said to be closed") {
                $0.answer.step = .closed(version: 3)
            },
            try bench.bad(.history, "open-though-closed", "a closed account's keys are shown") {
                let closed = $0.scene.alice.closed()
                let before = try $0.directory.answer(about: $0.scene.alice)
                try $0.directory.publish(closed)
                $0.answer = try $0.directory.answer(about: closed)
                $0.answer.step = before.step
            },
        ]
    }

    private static func pasts(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.history, "shrank", "fewer entries than the client has seen") {
                let shorter = try $0.scene.aliceHistory { $0.removeLast(2) }
                try $0.scene.lie(shorter)
                $0.answer = try $0.directory.answer(about: $0.scene.aliceBefore, history: shorter)
                $0.history = try bench.known()
            },
            try bench.bad(.history, "rewritten", "as many entries as the client has seen, the first another one") {
                let other = try $0.scene.aliceHistory { $0[0] = .leaf([]) }
                try $0.scene.lie(other)
                $0.answer = try $0.directory.answer(about: $0.scene.alice, knowing: (0, 4), history: other)
                $0.history = try bench.known()
            },
            try bench.bad(
                .history, "rewritten-and-longer", "more entries than the client has seen, the first another one"
            ) {
                let next = try $0.scene.alice.next()
                let record = try next.record($0.directory.label($0.handle).hash).entry
                $0.directory.logUnseen(record)
                let other = try $0.scene.aliceHistory {
                    $0[0] = .leaf([])
                    $0.append(.leaf(record))
                }
                try $0.scene.lie(other)
                $0.answer = try $0.directory.answer(about: next, knowing: (0, 4), history: other)
                $0.history = try bench.known()
            },
            try bench.bad(.history, "vanished", "somebody whom the client knows has left the index") {
                try $0.scene.lie(nil)
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                $0.history = try bench.known()
            },
            try bench.bad(.history, "uncalled-for-proof", "a proof of growth for a client that knows nothing") {
                $0.answer = try $0.directory.answer(about: $0.scene.alice, knowing: (0, 1))
            },
        ]
    }

    private static func records(_ bench: LookupVectorBench) throws -> [LookupVector] {
        func indexOnly(_ draft: inout LookupDraft, _ person: PaperPerson) throws {
            let place = draft.answer.inclusion
            let record = try person.record(draft.directory.label(draft.handle).hash).entry
            let history = try draft.scene.aliceHistory { $0.append(.leaf(record)) }
            try draft.scene.lie(history)
            draft.answer = try draft.directory.answer(about: person, history: history)
            draft.answer.inclusion = try draft.directory.tree.inclusionProof(
                index: place.index, size: draft.directory.tree.size)
        }
        return [
            try bench.bad(.inclusion, "state-in-index-only", "the index holds a state that was never logged") {
                try indexOnly(&$0, $0.scene.alice.next())
            },
            try bench.bad(.inclusion, "end-in-index-only", "the index holds an end that was never logged") {
                try indexOnly(&$0, $0.scene.alice.closed())
            },
            try bench.bad(.inclusion, "another-place", "the state record is said to stand one entry later") {
                $0.answer.inclusion = InclusionProof(
                    index: $0.answer.inclusion.index + 1, hashes: $0.answer.inclusion.hashes)
            },
            try bench.bad(.inclusion, "path-too-short", "the record's path lacks its last hash") {
                $0.answer.inclusion = InclusionProof(
                    index: $0.answer.inclusion.index, hashes: $0.answer.inclusion.hashes.dropLast())
            },
        ]
    }
}
