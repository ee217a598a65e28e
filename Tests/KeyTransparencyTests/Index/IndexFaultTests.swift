// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VerifiableMap

/// What an auditor finds: an honest log holds, and for each rule there is a log in which only that rule is broken.
@Suite struct IndexFaultTests {
    let scene: PaperScene
    let label: LabelIndex

    init() throws {
        scene = try PaperScene()
        label = LabelIndex(try scene.directory.label(scene.alice.handle).hash)
    }

    /// What a replay of the whole log ends with.
    func fault(_ entries: [[UInt8]]) -> IndexFault? {
        var replay = DirectoryReplay()
        do throws(IndexFault) {
            for entry in entries { try replay.add(entry) }
            try replay.requireEnd()
            return nil
        } catch { return error }
    }

    /// The honest log with something after it, and where it begins.
    func fault(after entries: [[UInt8]]) -> IndexFault? { fault(scene.directory.entries + entries) }

    var size: UInt64 { scene.directory.tree.size }

    @Test func anHonestLogHolds() throws {
        var directory = scene.directory
        try directory.publish(scene.alice.next())
        try directory.publish(scene.bob.closed())
        try directory.endEpoch(at: PaperDirectory.now * 1000 + 90_000_000)
        var replay = DirectoryReplay()
        for entry in directory.entries { try replay.add(entry) }
        try replay.requireEnd()
        #expect(replay.frontier.head == (try directory.tree.head(size: directory.tree.size)))
        #expect(replay.lastEpoch == directory.lastRecord)
        #expect(replay.lastEpoch?.root == (try directory.map().root))
        #expect(replay.histories.labelCount == UInt64(directory.index.count))
    }

    @Test func aLogMayBeReadUpToAnyEntryAndPublishedAfterAnEpochRecordOnly() throws {
        var replay = DirectoryReplay()
        for (place, entry) in scene.directory.entries.enumerated() {
            try replay.add(entry)
            let isEnd = (try? EpochRecord(decoding: entry)) != nil
            let expected = isEnd ? nil : IndexFault.noEpochRecord(size: UInt64(place + 1))
            do throws(IndexFault) {
                try replay.requireEnd()
                #expect(expected == nil)
            } catch { #expect(error == expected) }
        }
    }

    @Test func noEpochRecord_theEmptyLogIsNoDirectoryYet() {
        #expect(fault([]) == .noEpochRecord(size: 0))
    }

    @Test func unknownEntry() {
        for entry in ["", "hello\n", "kt-state/v2\n", "kt-epoch/v1\n"] {
            #expect(fault(after: [Array(entry.utf8)]) == .unknownEntry(at: size))
        }
    }

    // MARK: Rule S

    func record(_ version: UInt64, _ kind: StateKind = .set) throws -> [UInt8] {
        let commitment = try #require(StateCommitment([UInt8](repeating: 9, count: 32)))
        return StateRecord(
            label: label, version: version, kind: kind, commitment: kind == .close ? .toNothing : commitment
        ).entry
    }

    @Test(arguments: [1, 2, 4, .max] as [UInt64]) func version_aStepIsOfOne(version: UInt64) throws {
        #expect(
            fault(after: [try record(version)])
                == .version(label: label, expected: 3, found: version, at: size))
    }

    @Test func version_theFirstIsOne() throws {
        let other = LabelIndex(try scene.directory.label(scene.carol).hash)
        let commitment = try #require(StateCommitment([UInt8](repeating: 9, count: 32)))
        let record = StateRecord(label: other, version: 2, kind: .set, commitment: commitment)
        #expect(fault(after: [record.entry]) == .version(label: other, expected: 1, found: 2, at: size))
    }

    @Test func secondStep_inOneEpoch() throws {
        #expect(fault(after: [try record(3), try record(4)]) == .secondStep(label: label, at: size + 1))
    }

    @Test func stepAfterClose_inALaterEpoch() throws {
        var directory = scene.directory
        try directory.publish(scene.alice.closed())
        #expect(fault(directory.entries) == nil)
        #expect(
            fault(directory.entries + [try record(4)]) == .stepAfterClose(label: label, at: size + 2))
    }

    @Test(arguments: [true, false]) func unsettled_aDeviceWithoutAStepAfterIt(hasStepBefore: Bool) throws {
        var directory = scene.directory
        let label = try directory.label(scene.alice.handle).hash
        if hasStepBefore { directory.logUnseen(try record(3)) }
        directory.logUnseen(DeviceLeaf(label: label, device: try PaperPerson.device(9, seed: 99).keys).entry)
        // The index that these entries would lead to, so that only the rule is broken.
        let leaves = directory.entries.suffix(hasStepBefore ? 2 : 1).map { TreeHash.leaf($0) }
        let history = try scene.aliceHistory { $0 += leaves }
        let value = LabelHead(try history.head(size: history.size)).value
        try directory.endEpoch(lieInIndex: { $0[self.label.key] = value })
        #expect(fault(directory.entries) == .unsettled(label: self.label.key))
    }

    // MARK: Epoch records

    @Test func epochFields_eachIsCompared() throws {
        let lies: [(EpochRecord) -> EpochRecord] = [
            { $0.with(number: $0.number + 1) }, { $0.with(number: $0.number - 1) },
            { $0.with(start: $0.start - 1) }, { $0.with(start: $0.start + 1) },
            { $0.with(labelCount: $0.labelCount - 1) }, { $0.with(labelCount: $0.labelCount + 1) },
            { $0.with(milestone: $0.milestone + 1) }, { $0.with(milestone: 0) },
        ]
        for lie in lies {
            var directory = scene.directory
            let honest = directory.epochs.next(
                at: PaperDirectory.now * 1000, index: size, labelCount: UInt64(directory.index.count),
                root: try directory.map().root)
            try directory.endEpoch(lieInRecord: lie)
            #expect(fault(directory.entries) == .epochFields(found: lie(honest), expected: honest))
        }
    }

    @Test func timeRunsBack() throws {
        var directory = scene.directory
        let time = PaperDirectory.now * 1000
        try directory.endEpoch(lieInRecord: { $0.with(time: $0.time - 1) })
        #expect(fault(directory.entries) == .timeRunsBack(from: time, to: time - 1, at: size))
    }

    @Test func indexRoot_ofAnotherEpoch() throws {
        var directory = scene.directory
        let old = try directory.map().root
        try directory.log(scene.alice.next())
        try directory.endEpoch(lieInRecord: { $0.with(root: old) })
        let found = try #require(directory.lastRecord)
        #expect(fault(directory.entries) == .indexRoot(found: found, expected: try directory.map().root))
    }

    @Test func indexRoot_aKeyThatTheIndexShowsForOneEpochAndTheLogDoesNot() throws {
        var flashing = scene
        let honest = try flashing.directory.map().root
        let evil = try scene.aliceHistory { $0.append(.leaf(try record(3))) }
        try flashing.lie(evil)
        let found = try #require(flashing.directory.lastRecord)
        try flashing.lie(scene.aliceHistory())
        #expect(try flashing.directory.map().root == honest)
        #expect(fault(flashing.directory.entries) == .indexRoot(found: found, expected: honest))
    }

    @Test func indexRoot_aLabelThatIsHiddenFromTheIndex() throws {
        // As many labels as there should be: a made-up one stands in for alice.
        var directory = scene.directory
        let key = label.key
        let stand = try directory.key(scene.carol)
        try directory.endEpoch(lieInIndex: { index in
            index[stand] = index[key]
            index[key] = nil
        })
        let found = try #require(directory.lastRecord)
        #expect(
            fault(directory.entries) == .indexRoot(found: found, expected: try scene.directory.map().root))
    }

    @Test func epochFields_aLabelThatIsSimplyMissing() throws {
        var directory = scene.directory
        let key = label.key
        try directory.endEpoch(lieInIndex: { $0[key] = nil })
        guard case .epochFields(let found, let expected) = fault(directory.entries) else {
            Issue.record("not found")
            return
        }
        #expect(found.labelCount + 1 == expected.labelCount)
    }
}
