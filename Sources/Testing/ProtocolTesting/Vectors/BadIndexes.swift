// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog
import VerifiableMap

/// Epoch records that are not the log's last entry, and index proofs that do not lead to their roots.
enum BadIndexes {
    static func all(_ bench: LookupVectorBench) throws -> [LookupVector] {
        try places(bench) + fields(bench) + presence(bench) + absence(bench)
    }

    private static func places(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.epoch, "missing", "the log ends in a state record that no epoch covers") {
                let label = try $0.directory.label($0.handle).hash
                $0.directory.logUnseen(try $0.scene.alice.next().record(label).entry)
                let size = $0.directory.tree.size
                $0.answer = try $0.directory.answer(about: $0.scene.alice)
                $0.answer.epochPath = try $0.directory.tree.inclusionProof(index: size - 1, size: size).hashes
            },
            try bench.bad(
                .epoch, "of-another-epoch", "the record and index of the epoch before, under a new checkpoint"
            ) {
                try $0.directory.publish($0.scene.bob.closed())
                let later = try $0.directory.answer(about: $0.scene.alice)
                $0.answer.note = later.note
                $0.answer.epochPath = later.epochPath
                $0.answer.inclusion = later.inclusion
            },
            try bench.bad(.epoch, "empty-log", "the checkpoint is of the empty log") {
                let empty = try Checkpoint(origin: $0.directory.log.verifierKey.name, head: .empty)
                $0.answer.note = try $0.directory.sign(empty.text).encoded
                $0.answer.epochPath = []
            },
        ]
    }

    private static func fields(_ bench: LookupVectorBench) throws -> [LookupVector] {
        func lie(
            _ draft: inout LookupDraft, knowing mark: EpochMark? = nil,
            _ change: (EpochRecord) -> EpochRecord
        ) throws {
            let size = draft.directory.tree.size
            if let mark { draft.view = try draft.directory.view(epoch: mark) }
            try draft.directory.endEpoch(lieInRecord: change)
            draft.answer = try draft.directory.answer(
                about: draft.scene.alice, knowing: (mark == nil ? 0 : size, 0))
        }
        let known = EpochMark(number: 5, time: PaperDirectory.now * 1000)
        return [
            try bench.bad(.epoch, "start-beyond-log", "the epoch starts where the log has not come yet") {
                let size = $0.directory.tree.size + 1
                try lie(&$0) { $0.with(start: size) }
            },
            try bench.bad(.epoch, "from-the-future", "the epoch ends ahead of the clock by more than the skew") {
                try $0.directory.endEpoch(at: PaperDirectory.now * 1000 + 301_000)
                $0.answer = try $0.directory.answer(about: $0.scene.alice)
            },
            try bench.bad(.epoch, "frozen", "the epoch ended a second too long before the quorum cosigned it") {
                $0.now += 3601
                $0.answer.note = try $0.directory.note(at: $0.now).encoded
            },
            try bench.bad(
                .epoch, "ahead-of-quorum", "the epoch ends after the quorum cosigned it, by more than the skew"
            ) {
                $0.now += 301
                try $0.directory.endEpoch(at: $0.now * 1000)
                $0.answer = try $0.directory.answer(about: $0.scene.alice)
            },
            try bench.bad(.epoch, "number-runs-back", "a number below that of the last epoch verified") {
                try lie(&$0, knowing: known) { $0.with(number: 4) }
            },
            try bench.bad(.epoch, "time-runs-back", "a time before that of the last epoch verified") {
                try lie(&$0, knowing: known) { $0.with(time: $0.time - 1) }
            },
        ]
    }

    private static func presence(_ bench: LookupVectorBench) throws -> [LookupVector] {
        [
            try bench.bad(.index, "root-of-another-epoch", "the epoch record names the root of the epoch before") {
                let before = try $0.directory.map().root
                let next = try $0.scene.alice.next()
                try $0.directory.log(next)
                try $0.directory.endEpoch(lieInRecord: { $0.with(root: before) })
                $0.answer = try $0.directory.answer(about: next)
            },
            try bench.bad(.index, "old-state-and-history", "the state before the last, with the history of then") {
                let old = try $0.scene.aliceHistory { $0.removeLast(2) }
                $0.answer = try $0.directory.answer(about: $0.scene.aliceBefore, history: old)
            },
            try bench.bad(.index, "present-though-absent", "somebody is shown whom the index does not have") {
                $0.handle = $0.scene.carol
                let mallory = try PaperPerson(
                    "carol@example.org", seed: 66, deviceCount: 1, recorded: $0.scene.bob.recorded)
                let record = try mallory.record($0.directory.label($0.handle).hash).entry
                $0.directory.logUnseen(record)
                try $0.directory.endEpoch()
                var history = MerkleTree()
                history.append(.leaf(record))
                $0.answer = try $0.directory.answer(about: mallory, history: history)
                $0.answer.indexPath = try $0.directory.answer(about: $0.scene.bob).indexPath
            },
        ]
    }

    private static func absence(_ bench: LookupVectorBench) throws -> [LookupVector] {
        func place(_ draft: LookupDraft, _ person: PaperPerson) throws -> (MapEntry, MapPath) {
            let key = try draft.directory.key(person.handle)
            guard case .present(let value, let path) = try draft.directory.map().proof(of: key) else {
                throw PaperFault.notThere
            }
            return (MapEntry(key: key, value: value), path)
        }
        func bit(_ key: [UInt8], _ place: UInt8) -> UInt8 { key[Int(place) / 8] >> (7 - place % 8) & 1 }
        return [
            try bench.bad(.index, "absent-beside-own-leaf", "the leaf beside which it is absent is its own") {
                let (entry, path) = try place($0, $0.scene.alice)
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                $0.answer.absence = .absent(beside: entry, path: path)
            },
            try bench.bad(.index, "absent-beside-another-leaf", "a search for it does not end at the leaf shown") {
                let (entry, path) = try place($0, $0.scene.bob)
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                $0.answer.absence = .absent(beside: entry, path: path)
            },
            try bench.bad(.index, "absent-by-a-prefix", "the nodes at which the two keys part were left out") {
                let (entry, path) = try place($0, $0.scene.bob)
                let asked = try $0.directory.key($0.handle).bytes
                let kept = path.steps.filter { bit(asked, $0.bit) == bit(entry.key.bytes, $0.bit) }
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                $0.answer.absence = .absent(beside: entry, path: try MapPath(kept))
            },
            try bench.bad(.index, "absent-from-empty", "the index is said to be empty") {
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                $0.answer.absence = .absentFromEmptyTrie
            },
            try bench.bad(.index, "absent-elsewhere", "absence in an index that no epoch record names") {
                var hiding = $0.scene
                try hiding.lie(nil)
                $0.answer = try $0.directory.answer(aboutAbsent: $0.handle)
                $0.answer.absence = try hiding.directory.map().proof(of: $0.directory.key($0.handle))
            },
        ]
    }
}
