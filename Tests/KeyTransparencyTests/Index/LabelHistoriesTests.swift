// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing
import TransparencyLog
import VRF
import VerifiableMap

/// Histories over random logs beside a plain model: a list of entries that is read from the start each time.
@Suite struct LabelHistoriesTests {
    /// What the rules make of a log, written as the rules are.
    struct Model {
        var entries: [LogEntry] = []
        var epochStart = 0

        static func key(_ entry: LogEntry) -> MapKey? {
            switch entry {
            case .device(let leaf): LabelIndex(leaf.label).key
            case .state(let record): record.label.key
            case .epoch, .succession, .predecessor: nil
            }
        }

        func places(_ key: MapKey, size: Int) -> [Int] { (0..<size).filter { Self.key(entries[$0]) == key } }

        func records(_ key: MapKey, from start: Int = 0) -> [StateRecord] {
            entries[start...].compactMap { entry in
                if case .state(let record) = entry, record.label.key == key { record } else { nil }
            }
        }

        func fault(_ entry: LogEntry) -> IndexFault? {
            guard case .state(let record) = entry else { return nil }
            let (before, at) = (records(record.label.key), UInt64(entries.count))
            if before.last?.kind == .close { return .stepAfterClose(label: record.label, at: at) }
            let expected = (before.last?.version ?? 0) + 1
            if record.version != expected {
                return .version(label: record.label, expected: expected, found: record.version, at: at)
            }
            let hasStep = !records(record.label.key, from: epochStart).isEmpty
            return hasStep ? .secondStep(label: record.label, at: at) : nil
        }

        /// What the index is to hold for the labels of this epoch; nil when one does not end in a state record.
        func settled() -> [MapKey: MapValue]? {
            let keys = Set(entries[epochStart...].compactMap(Self.key))
            var values: [MapKey: MapValue] = [:]
            for key in keys {
                let places = places(key, size: entries.count)
                guard let last = places.last, case .state = entries[last] else { return nil }
                let root = TreeHash.root(of: places.map { .leaf(entries[$0].entry) })
                values[key] = LabelHead(TreeHead(size: UInt64(places.count), root: root)).value
            }
            return values
        }
    }

    static func label(_ number: Int) throws -> VRFHash {
        try #require(VRFHash([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 64)))
    }

    /// Mostly what may come, sometimes what may not.
    static func entry(_ random: inout SplitMix, _ model: Model) throws -> LogEntry {
        let label = try Self.label(random.below(5))
        let filler = [UInt8](repeating: UInt8(random.below(256)), count: 32)
        if random.below(3) == 0, let leaf = DeviceLeaf(label: label, publicKey: filler) { return .device(leaf) }
        let next = (model.records(LabelIndex(label).key).last?.version ?? 0) + 1
        let version = random.below(6) == 0 ? UInt64(1 + random.below(5)) : next
        if random.below(12) == 0 { return .state(StateRecord(closing: LabelIndex(label), version: version)) }
        let commitment = try #require(StateCommitment(filler))
        return .state(
            StateRecord(
                label: LabelIndex(label), version: version, kind: random.below(4) == 0 ? .reset : .set,
                commitment: commitment))
    }

    @Test(arguments: 0..<30) func labelHistoriesAgreeWithAPlainModel(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        var (histories, model) = (LabelHistories(), Model())
        for _ in 0..<120 {
            let entry = try Self.entry(&random, model)
            do throws(IndexFault) {
                try histories.add(entry, leaf: .leaf(entry.entry))
                #expect(model.fault(entry) == nil)
                model.entries.append(entry)
            } catch {
                #expect(error == model.fault(entry))
            }
            #expect(histories.size == UInt64(model.entries.count))
            if random.below(6) == 0, try !Self.settle(&histories, &model) { return }
        }
        try Self.compare(histories, model)
    }

    /// Ends the epoch; false when it cannot end, and the log is over.
    static func settle(_ histories: inout LabelHistories, _ model: inout Model) throws -> Bool {
        guard let expected = model.settled() else {
            #expect(throws: IndexFault.self) { try histories.settle() }
            return false
        }
        let changes = try histories.settle()
        #expect(changes.count == expected.count)
        #expect(changes.allSatisfy { expected[$0.key] == $0.value })
        let record = EpochRecord(
            number: 1, time: 0, start: 0, labelCount: 0, milestone: 0, root: .emptyTrie)
        try histories.add(.epoch(record), leaf: .leaf(record.entry))
        model.entries.append(.epoch(record))
        model.epochStart = model.entries.count
        return true
    }

    static func compare(_ histories: LabelHistories, _ model: Model) throws {
        let labels = Set(model.entries.compactMap(Model.key))
        #expect(histories.labelCount == UInt64(labels.count))
        for number in 0..<6 {
            let label = LabelIndex(try Self.label(number))
            #expect(histories.version(of: label) == model.records(label.key).last?.version ?? 0)
            let touched = !model.places(label.key, size: model.entries.count)
                .filter { $0 >= model.epochStart }.isEmpty
            #expect(histories.isTouched(label) == touched)
            for size in 0...model.entries.count {
                let places = model.places(label.key, size: size)
                #expect(histories.indexes(of: label.key, size: UInt64(size)) == places.map { UInt64($0) })
                let tree = histories.tree(of: label.key, size: UInt64(size))
                let root = TreeHash.root(of: places.map { .leaf(model.entries[$0].entry) })
                #expect(try tree.head(size: tree.size) == TreeHead(size: UInt64(places.count), root: root))
            }
        }
        for (place, entry) in model.entries.enumerated() {
            #expect(histories.leaf(at: UInt64(place)) == .leaf(entry.entry))
        }
        #expect(histories.leaf(at: histories.size) == nil)
    }

    @Test func theValueInTheIndexIsTheHashOfCountAndRoot() throws {
        // printf 'kt-head/v1\0\0\0\0\0\0\0\3' and the SHA-256 of nothing, through coreutils' sha256sum.
        let head = LabelHead(TreeHead(size: 3, root: .emptyTree))
        #expect(
            head.value.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                == "6681cb829548aa5f5c4e7c8048f4fd529c3a604b8484fbb177a7d44ba4286dc2")
    }
}
