// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import TransparencyLog
import VerifiableMap

/// Alice's name in a directory over four days: she registers on the first, adds a device on the second, and others come on
/// the third and fourth.
package struct WatchScene {
    /// In seconds.
    package static let day: UInt64 = 86_400
    /// The fourth day.
    package static let now = PaperDirectory.now + 3 * day

    /// Alice on the first day.
    package let aliceBefore: PaperPerson
    /// Alice from the second day on.
    package let alice: PaperPerson
    /// The directory.
    package var directory: PaperDirectory

    /// - Parameters:
    ///   - flash: on this day the index says something else of alice, and the truth again the day after.
    ///   - recorded: signatures made earlier, as in ``PaperPerson/recorded``.
    package init(flashingOnDay flash: UInt64? = nil, recorded: [[UInt8]: [UInt8]] = [:]) throws {
        aliceBefore = try PaperPerson("alice@example.org", seed: 10, recorded: recorded)
        alice = try aliceBefore.next(devices: aliceBefore.devices + [PaperPerson.device(3, seed: 13)])
        directory = try PaperDirectory()
        try publish(aliceBefore, onDay: 0)
        try publish(alice, onDay: 1)
        let (key, value) = (try directory.key(alice.handle), LabelHead(try tree().head(size: 5)).value)
        try directory.log(PaperPerson("bob@example.org", seed: 20, recorded: recorded))
        let lie = LabelHead(try tree().head(size: 4)).value
        try directory.endEpoch(
            at: (PaperDirectory.now + 2 * Self.day) * 1000, lieInIndex: { $0[key] = flash == 2 ? lie : value })
        try directory.log(PaperPerson("carol@example.org", seed: 30, recorded: recorded))
        try directory.endEpoch(at: Self.now * 1000, lieInIndex: { $0[key] = value })
        try publish(PaperPerson("dave@example.org", seed: 40, recorded: recorded), onDay: 3)
    }

    /// Logs a person in an epoch that ends on a day, counted from 0.
    package mutating func publish(_ person: PaperPerson, onDay day: UInt64) throws {
        try directory.log(person)
        try directory.endEpoch(at: (PaperDirectory.now + day * Self.day) * 1000)
    }

    /// Logs anything under alice's label, with an index that covers it.
    package mutating func force(_ entries: [[UInt8]], onDay day: UInt64 = 3) throws {
        for entry in entries { directory.logUnseen(entry) }
        let key = try directory.key(alice.handle)
        let value = LabelHead(try tree().head(size: tree().size)).value
        try directory.endEpoch(
            at: (PaperDirectory.now + day * Self.day) * 1000, lieInIndex: { $0[key] = value })
    }

    // MARK: What the log has of alice

    /// Her entries, in order.
    package func logged() throws -> [LogEntry] {
        let label = try LabelIndex(directory.label(alice.handle).hash)
        return try directory.entries.map { try LogEntry(decoding: $0) }.filter { entry in
            switch entry {
            case .device(let leaf): LabelIndex(leaf.label) == label
            case .state(let record): record.label == label
            case .epoch, .succession, .predecessor: false
            }
        }
    }

    /// Where her entries stand.
    package func places() throws -> [UInt64] {
        let own = try logged().map(\.entry)
        return directory.entries.indices.filter { own.contains(directory.entries[$0]) }.map { UInt64($0) }
    }

    /// Her history.
    package func tree() throws -> MerkleTree {
        var tree = MerkleTree()
        for entry in try logged() { tree.append(.leaf(entry.entry)) }
        return tree
    }

    /// What a client knows that has seen this many of her entries.
    package func frontier(_ count: Int) throws -> MerkleFrontier {
        var frontier = MerkleFrontier()
        for entry in try logged().prefix(count) { frontier.append(.leaf(entry.entry)) }
        return frontier
    }

    // MARK: Answers

    /// The honest answer to the question for her history, of which `edit` changes the entries.
    ///
    /// - Parameters:
    ///   - last: what her last entry commits to.
    ///   - shown: whose states are shown.
    package func answer(
        since known: Int = 0, last: PaperPerson? = nil, showing shown: [PaperPerson]? = nil,
        at now: UInt64 = now, steps: [LoggedStep] = [], _ edit: (inout [HistoryResponse.Entry]) -> Void = { _ in }
    ) throws -> [UInt8] {
        let tree = try tree()
        var lookup = try directory.answer(
            about: last ?? alice, knowing: (0, UInt64(known)), history: tree)
        lookup.note = try directory.note(at: now).encoded
        let known = min(known, Int(tree.size))
        var entries = try logged().dropFirst(known).dropLast().map { try entry($0, shown ?? [aliceBefore, alice]) }
        edit(&entries)
        return HistoryResponse(lookup: lookup.response.encoded, steps: steps, entries: entries).encoded
    }

    private func entry(_ entry: LogEntry, _ shown: [PaperPerson]) throws -> HistoryResponse.Entry {
        switch entry {
        case .device(let leaf): return .device(leaf.publicKey)
        case .epoch, .succession, .predecessor: throw PaperFault.notThere
        case .state(let record):
            if record.kind == .close { return .closed(version: record.version) }
            let label = try directory.label(alice.handle).hash
            for person in shown where try person.record(label) == record {
                return .state(person.kind, opening: person.opening, encoded: person.encodedState)
            }
            return .withheld(record.kind, version: record.version, record.commitment)
        }
    }

    /// What the verifier makes of such an answer.
    package func verify(_ bytes: [UInt8], since known: Int = 0, at now: UInt64 = now) throws -> VerifiedHistory {
        try HistoryVerifier(trust: directory.trust()).verify(
            bytes, for: alice.handle, knowing: nil, since: frontier(known), at: now)
    }

    /// What she did herself.
    package func act(_ person: PaperPerson) throws -> OwnAct {
        let state = try AccountState(decoding: person.encodedState)
        return OwnAct(
            version: state.version, stateHash: state.hash,
            commitment: StateCommitment(to: state, opening: person.opening),
            devices: state.devices.map(\.keys.signing))
    }

    // MARK: Milestones

    /// The honest answer about the milestones before the log's last entry.
    package func milestones(after index: UInt64) throws -> MilestoneDraft {
        guard let last = directory.lastRecord else { throw PaperFault.notThere }
        var (answers, wanted) = ([MilestoneAnswer](), Optional(last.milestone))
        while let place = wanted, place > index, answers.count < MilestonesResponse.maximumCount {
            answers.append(try milestone(at: place))
            let record = answers[answers.count - 1].epoch.record
            wanted = record.number == 1 ? nil : record.milestone
        }
        return MilestoneDraft(before: try epoch(rightBefore: last), answers: answers)
    }

    /// The epoch record that stands at a place.
    package func epoch(at place: UInt64) throws -> PlacedEpoch { try directory.epoch(at: place) }

    /// The one before a record; nil before the first.
    package func epoch(rightBefore record: EpochRecord) throws -> PlacedEpoch? {
        record.number == 1 ? nil : try epoch(at: record.start - 1)
    }

    /// Where the epochs of the log end.
    package func epochs() throws -> [UInt64] {
        try directory.entries.indices.filter {
            if case .epoch = try LogEntry(decoding: directory.entries[$0]) { true } else { false }
        }.map { UInt64($0) }
    }

    /// What an honest directory would say of an epoch as a milestone.
    package func milestone(at place: UInt64) throws -> MilestoneAnswer {
        let (then, epoch) = (try replay(until: place), try epoch(at: place))
        let before = try self.epoch(rightBefore: epoch.record)
        let proof = then.index.proof(of: try directory.key(alice.handle))
        guard case .present(value: _, path: let labelPath) = proof else {
            return MilestoneAnswer(epoch: epoch, before: before, present: nil, absence: proof)
        }
        return MilestoneAnswer(epoch: epoch, before: before, present: .init(count: then.count, path: labelPath))
    }

    /// The honest index of the entries before a place, and how many of them are alice's.
    private func replay(until place: UInt64) throws -> (index: MapVersion, count: UInt64) {
        var histories = LabelHistories()
        var trie = MapTrie()
        for bytes in directory.entries.prefix(Int(place)) {
            let entry = try LogEntry(decoding: bytes)
            if case .epoch = entry { try trie.update(histories.settle()) }
            try histories.add(entry, leaf: .leaf(bytes))
        }
        try trie.update(histories.settle())
        let key = try directory.key(alice.handle)
        return (trie.current, UInt64(histories.indexes(of: key, size: place).count))
    }
}

/// An answer about milestones of which every part can be replaced.
package struct MilestoneDraft {
    /// The epoch right before the last one.
    package var before: PlacedEpoch?
    /// The milestones, the newest first.
    package var answers: [MilestoneAnswer]

    /// The answer as it is sent.
    package var response: MilestonesResponse { MilestonesResponse(before: before, answers: answers) }
}

extension MilestoneAnswer {
    /// The answer with some parts replaced.
    package func with(
        index: UInt64? = nil, record: EpochRecord? = nil, before: PlacedEpoch?? = nil, present: Presence?? = nil
    ) -> MilestoneAnswer {
        MilestoneAnswer(
            epoch: PlacedEpoch(index: index ?? epoch.index, record: record ?? epoch.record, path: epoch.path),
            before: before ?? self.before, present: present ?? self.present, absence: absence)
    }
}
