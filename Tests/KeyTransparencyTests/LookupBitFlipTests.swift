// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF
import VerifiableMap

/// Where is this byte checked? Every bit of a golden answer of each shape is flipped; each flip must be refused, and by
/// a check that owns the byte.
@Suite struct LookupBitFlipTests {
    /// What a golden answer says.
    enum Shape: CaseIterable {
        case registered, closed, absent
    }

    /// The parts of the wire form, in order, and the checks that may refuse a change in them.
    struct Region {
        let name: String
        let byteCount: Int
        let owners: Set<LookupCheck>
    }

    /// A count and what it counts. Another count shifts everything behind it: hashes are then read as a closing version, too.
    static func counted(
        _ name: String, _ countBytes: Int, _ byteCount: Int, _ owners: Set<LookupCheck>
    ) -> [Region] {
        [
            Region(
                name: "\(name) count", byteCount: countBytes,
                owners: owners.union([.envelope, .accountState, .checkpointText, .history])),
            Region(name: name, byteCount: byteCount, owners: owners),
        ]
    }

    static func head(_ answer: PaperAnswer) -> [Region] {
        [
            Region(name: "format", byteCount: 17, owners: [.envelope]),
            Region(name: "VRF proof", byteCount: 80, owners: [.envelope, .vrf]),
            Region(name: "epoch record", byteCount: 5 * 8 + 32, owners: [.epoch]),
        ] + counted("epoch path", 1, 32 * answer.epochPath.count, [.epoch]) + [
            Region(
                name: "kind", byteCount: 1,
                owners: [.envelope, .accountState, .checkpointText, .index, .history])
        ]
    }

    static func label(_ answer: PaperAnswer) -> [Region] {
        if case .absent(_, let path) = answer.absence {
            return [
                Region(name: "other leaf flag", byteCount: 1, owners: [.envelope, .checkpointText]),
                Region(name: "other leaf", byteCount: 64, owners: [.index]),
            ] + counted("index path", 2, 33 * path.steps.count, [.envelope, .index])
        }
        return counted("index path", 2, 33 * answer.indexPath.steps.count, [.envelope, .index])
            + [Region(name: "history head", byteCount: 40, owners: [.index])]
            + counted("last path", 1, 32 * answer.lastPath.count, [.history])
            + counted("history growth", 1, 32 * answer.historyConsistency.hashes.count, [.history])
            + [Region(name: "place in the log", byteCount: 8, owners: [.inclusion])]
            + counted("path in the log", 1, 32 * answer.inclusion.hashes.count, [.inclusion])
            + step(answer)
    }

    static func step(_ answer: PaperAnswer) -> [Region] {
        guard case .state(_, let opening, let encoded) = answer.step else {
            return [Region(name: "closing version", byteCount: 8, owners: [.history])]
        }
        return [Region(name: "opening", byteCount: opening.count, owners: [.history])]
            + counted("state", 2, encoded.count, [.accountState])
    }

    static func checkpoint(_ answer: PaperAnswer) throws -> [Region] {
        let note = try SignedNote(decoding: answer.note)
        let origin = try Checkpoint(decoding: note.text).origin.bytes.count
        let logLine = note.signatures[0].encoded.count
        return counted("log growth", 1, 32 * answer.consistency.hashes.count, [.consistency]) + [
            Region(name: "origin", byteCount: origin, owners: [.checkpointText, .origin]),
            Region(
                name: "size and root", byteCount: note.text.count - origin,
                owners: [.checkpointText, .origin, .logSignature]),
            Region(name: "log's line", byteCount: 1 + logLine, owners: [.checkpointText, .logSignature]),
            Region(
                name: "cosigners' lines", byteCount: answer.note.count - note.text.count - 1 - logLine,
                owners: [.checkpointText, .cosignatures]),
        ]
    }

    /// A client that has seen the log and the label before, and the answer that it gets.
    struct Golden {
        let handle: Handle
        let verifier: LookupVerifier
        let view: LogView
        let history: LabelHead?
        let answer: PaperAnswer

        init(_ shape: Shape) throws {
            var directory = try PaperScene().directory
            let erin = try PaperPerson("erin@example.org", seed: 50, deviceCount: 1)
            handle = shape == .absent ? try Handle(typed: Array("carol@example.org".utf8)) : erin.handle
            try directory.publish(erin)
            let known = directory.tree.size
            view = try directory.view(epoch: directory.lastRecord.map { EpochMark($0) })
            history = shape == .absent ? nil : try directory.history(erin.handle)
            let next = shape == .closed ? erin.closed() : try erin.next()
            try directory.publish(next)
            verifier = try directory.verifier()
            answer =
                shape == .absent
                ? try directory.answer(aboutAbsent: handle, knowing: known)
                : try directory.answer(about: next, knowing: (known, 2))
        }

        func verify(_ bytes: [UInt8]) throws(LookupError) {
            _ = try verifier.verify(bytes, for: handle, knowing: view, history: history, at: PaperDirectory.now)
        }
    }

    @Test(arguments: Shape.allCases) func everyBitOfAnAnswerIsOwnedByACheck(shape: Shape) async throws {
        let golden = try Golden(shape)
        let bytes = golden.answer.response.encoded
        try golden.verify(bytes)
        let regions =
            try Self.head(golden.answer) + Self.label(golden.answer) + Self.checkpoint(golden.answer)
        #expect(regions.map(\.byteCount).reduce(0, +) == bytes.count)
        #expect(regions.allSatisfy { $0.byteCount > 0 })

        await withTaskGroup(of: Void.self) { group in
            var start = 0
            for region in regions {
                let range = start..<start + region.byteCount
                start = range.upperBound
                group.addTask { await Self.flip(range, of: bytes, region, golden) }
            }
        }
    }

    /// Gives way after each bit: tests of real servers share the threads.
    private static func flip(_ range: Range<Int>, of bytes: [UInt8], _ region: Region, _ golden: Golden) async {
        for bit in range.lowerBound * 8..<range.upperBound * 8 {
            await Task.yield()
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            do throws(LookupError) {
                try golden.verify(flipped)
                Issue.record("bit \(bit) of \(region.name) may be flipped")
            } catch {
                #expect(
                    region.owners.contains(error.check), "bit \(bit) of \(region.name) was refused by \(error)")
            }
        }
    }
}
