// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// An honest log and one with another first person, under one key.
struct TwoHistories {
    let one: ForgedLog
    let other: ForgedLog

    init(oneEpochs: Int = 2, otherEpochs: Int = 2, otherSeed: UInt8 = 1, otherOrigin: String? = nil) throws {
        one = try ForgedLog(witnessCount: 2)
        other = try ForgedLog(origin: otherOrigin ?? "directory.example/log", seed: otherSeed, witnessCount: 2)
        try one.grow(epochs: oneEpochs, people: 3)
        try other.grow(epochs: otherEpochs, people: 3, from: 100)
    }

    var verifier: EvidenceVerifier { get throws { EvidenceVerifier(policy: try one.policy()) } }

    /// The proof that `other` at its full size does not begin with `one`.
    func link(from size: UInt64) throws -> ForgedLink {
        ForgedLink(
            root: try other.tree.root(size: size),
            proof: try other.tree.consistencyProof(from: size, to: other.size))
    }
}

typealias ForgedLink = ForkEvidence.Link

@Suite struct ForkEvidenceTests {
    @Test func twoRootsOfOneSizeAreAFork_andNameTheWitnessesOfBoth() throws {
        let two = try TwoHistories()
        let evidence = Evidence.fork(.init(first: try two.one.checkpoint(), second: try two.other.checkpoint()))
        let proven = try two.verifier.verify(Evidence(decoding: evidence.encoded))
        let heads = (try two.one.tree.head(size: 14), try two.other.tree.head(size: 14))
        #expect(proven.deed == .fork(heads.0, heads.1, witnesses: two.one.witnesses.map(\.verifierKey)))
        #expect(proven.log == two.one.signer.verifierKey)
    }

    @Test func aWitnessOfOneSideOnlyIsNotBlamed() throws {
        let two = try TwoHistories()
        let note = try two.other.checkpoint()
        let bare = try SignedNote(text: note.text, signatures: Array(note.signatures.prefix(2)))
        let proven = try two.verifier.verify(.fork(.init(first: try two.one.checkpoint(), second: bare)))
        guard case .fork(_, _, let witnesses) = proven.deed else { throw EvidenceVerificationError.sameTree }
        #expect(witnesses == [two.one.witnesses[0].verifierKey])
    }

    @Test func twoSizesAreAForkWithALink() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let fork = ForkEvidence(
            first: try two.one.checkpoint(), second: try two.other.checkpoint(),
            link: try two.link(from: two.one.size))
        let proven = try two.verifier.verify(Evidence(decoding: Evidence.fork(fork).encoded))
        guard case .fork(let smaller, let larger, _) = proven.deed else { throw EvidenceVerificationError.sameTree }
        #expect(smaller.size == 14 && larger.size == 28)
    }

    @Test func twoSizesWithoutALinkAreNoEvidence() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let fork = ForkEvidence(first: try two.one.checkpoint(), second: try two.other.checkpoint())
        #expect(throws: EvidenceVerificationError.linkMissing(from: 14, to: 28)) {
            try two.verifier.verify(.fork(fork))
        }
    }

    @Test func aLinkOfOneHistoryIsNoFork() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let fork = ForkEvidence(
            first: try two.other.checkpoint(size: 14), second: try two.other.checkpoint(),
            link: try two.link(from: 14))
        #expect(throws: EvidenceVerificationError.linkShowsOneHistory) { try two.verifier.verify(.fork(fork)) }
    }

    @Test func aMadeUpLinkIsNoFork() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let link = ForgedLink(root: .emptyTree, proof: try two.link(from: 14).proof)
        let fork = ForkEvidence(
            first: try two.other.checkpoint(size: 14), second: try two.other.checkpoint(), link: link)
        #expect(throws: EvidenceVerificationError.link(.oldRootMismatch)) { try two.verifier.verify(.fork(fork)) }
    }

    @Test func aLinkBetweenEqualSizesIsRefused() throws {
        let two = try TwoHistories()
        let fork = ForkEvidence(
            first: try two.one.checkpoint(), second: try two.other.checkpoint(),
            link: ForgedLink(root: .emptyTree, proof: ConsistencyProof(hashes: [])))
        #expect(throws: EvidenceVerificationError.linkNotNeeded) { try two.verifier.verify(.fork(fork)) }
    }

    @Test func aForgedEmptyTreeIsAFork() throws {
        let two = try TwoHistories()
        let lie = TreeHead(size: 0, root: try two.one.tree.root(size: 3))
        let link = ForgedLink(root: .emptyTree, proof: ConsistencyProof(hashes: []))
        let fork = ForkEvidence(first: try two.one.sign(lie), second: try two.one.checkpoint(), link: link)
        #expect(throws: Never.self) { try two.verifier.verify(.fork(fork)) }
        let honest = ForkEvidence(first: try two.one.sign(.empty), second: try two.one.checkpoint(), link: link)
        #expect(throws: EvidenceVerificationError.linkShowsOneHistory) { try two.verifier.verify(.fork(honest)) }
    }

    @Test func oneCheckpointTwiceIsNoFork() throws {
        let two = try TwoHistories()
        let fork = ForkEvidence(first: try two.one.checkpoint(), second: try two.one.checkpoint(time: 9))
        #expect(throws: EvidenceVerificationError.sameTree) { try two.verifier.verify(.fork(fork)) }
    }

    @Test func evidenceWithTheLargerCheckpointFirstIsRefused() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let fork = ForkEvidence(
            first: try two.other.checkpoint(), second: try two.one.checkpoint(), link: try two.link(from: 14))
        #expect(throws: EvidenceVerificationError.wrongOrder) { try two.verifier.verify(.fork(fork)) }
    }

    @Test func checkpointsOfTwoLogsAreNoFork() throws {
        let two = try TwoHistories(otherSeed: 2, otherOrigin: "another.example/log")
        let policy = try Policy(
            logs: [.init(key: two.one.signer.verifierKey), .init(key: two.other.signer.verifierKey)], quorum: .none)
        let fork = ForkEvidence(first: try two.one.checkpoint(), second: try two.other.checkpoint())
        #expect(throws: EvidenceVerificationError.otherOrigin) {
            try EvidenceVerifier(policy: policy).verify(.fork(fork))
        }
    }

    @Test func aCheckpointOfAnotherKeyIsNoEvidence() throws {
        let two = try TwoHistories(otherSeed: 2)
        for (first, second) in [(two.one, two.other), (two.other, two.one)] {
            let fork = ForkEvidence(first: try first.checkpoint(), second: try second.checkpoint())
            #expect(throws: EvidenceVerificationError.checkpoint(.logSignatureMissing)) {
                try two.verifier.verify(.fork(fork))
            }
        }
    }
}

@Suite struct RuleEvidenceTests {
    /// A log that commits the fault between honest epochs, with an auditor's evidence of it.
    static func guilty(of fault: ForgedFault) throws -> (log: ForgedLog, evidence: RuleEvidence) {
        let log = try ForgedLog()
        try log.grow(epochs: 2, people: 3)
        try log.commit(fault)
        guard case .fault(let found, let place) = try log.finding(),
            let evidence = try Self.collected(of: found, at: place, in: log)
        else { throw LogEntryError.invalidField }
        return (log, evidence)
    }

    /// The evidence that an auditor collects, out of all entries at once.
    private static func collected(of fault: IndexFault, at place: UInt64, in log: ForgedLog) throws -> RuleEvidence? {
        guard let name = FaultName(fault) else { return nil }
        let (entries, place) = (log.entries, Int(place))
        let at = entries.indices.contains(place) ? entries[place] : []
        let indexes = RuleEvidence.searches(showing: name, at: UInt64(place), at).compactMap { search in
            switch search {
            case .entry(let index): Int(index)
            case .firstEpoch(let start): entries[Int(start)...].firstIndex(where: search.isFound)
            case .lastStep(_, let end), .lastEpoch(let end), .lastSuccession(let end):
                entries[..<Int(end)].lastIndex(where: search.isFound)
            }
        }
        let shown = try indexes.map { index in
            RuleEvidence.Entry(
                bytes: entries[index], inclusion: try log.tree.inclusionProof(index: UInt64(index), size: log.size))
        }
        let full = RuleEvidence(
            fault: name, place: UInt64(place), checkpoint: try log.checkpoint(), entries: shown)
        let isEnough = (try? EvidenceVerifier(policy: log.policy()).verify(.rule(full))) != nil
        return isEnough ? full : RuleEvidence(fault: name, place: UInt64(place), checkpoint: try log.checkpoint())
    }

    @Test(arguments: ForgedFault.allCases.filter(\.isShownByEntries))
    func aFewEntriesProveTheFaultOffline(_ fault: ForgedFault) throws {
        let (log, evidence) = try Self.guilty(of: fault)
        let read = try Evidence(decoding: Evidence.rule(evidence).encoded)
        #expect(read == .rule(evidence))
        #expect(try EvidenceVerifier(policy: log.policy()).verify(read).log == log.signer.verifierKey)
    }

    @Test(arguments: ForgedFault.allCases) func allEntriesProveTheFault(_ fault: ForgedFault) throws {
        let (log, evidence) = try Self.guilty(of: fault)
        var audit = CheckpointAudit()
        for entry in log.entries { audit.add(entry) }
        let proven = try EvidenceVerifier(policy: log.policy()).verify(evidence, entries: audit)
        guard case .replayed(let found, let place) = proven.deed else {
            Issue.record("\(proven.deed)")
            return
        }
        #expect(FaultName(found) == fault.name && place == evidence.place)
    }

    @Test(arguments: ForgedFault.allCases.filter { !$0.isShownByEntries })
    func otherFaultsNeedAllEntries(_ fault: ForgedFault) throws {
        let (log, evidence) = try Self.guilty(of: fault)
        #expect(evidence.entries.isEmpty)
        #expect(throws: EvidenceVerificationError.logNeeded(size: log.size)) {
            try EvidenceVerifier(policy: log.policy()).verify(.rule(evidence))
        }
    }

    @Test(arguments: ForgedFault.allCases.filter(\.isShownByEntries))
    func evidenceAgainstAnotherLogIsRefused(_ fault: ForgedFault) throws {
        let (_, evidence) = try Self.guilty(of: fault)
        let other = try ForgedLog(seed: 2)
        #expect(throws: EvidenceVerificationError.checkpoint(.logSignatureMissing)) {
            try EvidenceVerifier(policy: other.policy()).verify(.rule(evidence))
        }
    }

    @Test(arguments: ForgedFault.allCases.filter(\.isShownByEntries))
    func anEntryOutsideTheLogIsRefused(_ fault: ForgedFault) throws {
        let (log, evidence) = try Self.guilty(of: fault)
        let entry = evidence.entries[0]
        let lie = RuleEvidence.Entry(bytes: entry.bytes + [0x0A], inclusion: entry.inclusion)
        let made = RuleEvidence(
            fault: evidence.fault, place: evidence.place, checkpoint: evidence.checkpoint,
            entries: [lie] + evidence.entries.dropFirst())
        #expect(throws: EvidenceVerificationError.inclusion(index: entry.inclusion.index, .rootMismatch)) {
            try EvidenceVerifier(policy: log.policy()).verify(.rule(made))
        }
    }

    /// All combinations of as many entries of an honest log as a fault may have, under every name of a fault.
    @Test func entriesOfAnHonestLogProveNoFault() throws {
        let log = try ForgedLog()
        try log.step(0)
        try log.closeEpoch()
        try log.step(0)
        try log.step(1)
        try log.closeEpoch()
        try log.closeEpoch()
        let verifier = EvidenceVerifier(policy: try log.policy())
        let note = try log.checkpoint()
        let all = try log.entries.enumerated().map { index, bytes in
            RuleEvidence.Entry(
                bytes: bytes, inclusion: try log.tree.inclusionProof(index: UInt64(index), size: log.size))
        }
        let few = all.map { [$0] } + all.flatMap { one in all.map { [one, $0] } }
        let three = all.flatMap { one in all.flatMap { two in all.map { [one, two, $0] } } }
        for fault in FaultName.allCases {
            for entries in fault == .secondStep ? few + three : few {
                for place in Set(entries.map(\.inclusion.index) + [log.size]) {
                    let claim = RuleEvidence(
                        fault: fault, place: place, checkpoint: note, entries: entries)
                    #expect(throws: EvidenceVerificationError.entriesShowNoFault) {
                        try verifier.verify(.rule(claim))
                    }
                }
            }
        }
    }

    @Test func aReplayThatFindsAnotherFaultRefutesTheClaim() throws {
        let (log, evidence) = try Self.guilty(of: .flashKey)
        var audit = CheckpointAudit()
        for entry in log.entries { audit.add(entry) }
        let finding = try log.finding()
        for lie in [
            RuleEvidence(fault: .unsettled, place: evidence.place, checkpoint: evidence.checkpoint),
            RuleEvidence(fault: evidence.fault, place: evidence.place + 1, checkpoint: evidence.checkpoint),
        ] {
            #expect(throws: EvidenceVerificationError.replayShowsOtherwise(finding)) {
                try EvidenceVerifier(policy: log.policy()).verify(lie, entries: audit)
            }
        }
    }

    @Test func entriesThatTheLogDidNotSignAreRefused() throws {
        let (log, evidence) = try Self.guilty(of: .flashKey)
        var audit = CheckpointAudit()
        for entry in log.entries.dropLast() { audit.add(entry) }
        #expect(throws: EvidenceVerificationError.otherEntries(computed: audit.head.root)) {
            try EvidenceVerifier(policy: log.policy()).verify(evidence, entries: audit)
        }
    }
}

@Suite struct EvidenceCodingTests {
    static func files() throws -> [[UInt8]] {
        let two = try TwoHistories(otherEpochs: 4)
        let fork = ForkEvidence(
            first: try two.one.checkpoint(), second: try two.other.checkpoint(), link: try two.link(from: 14))
        let bare = ForkEvidence(first: fork.first, second: fork.first)
        return try [Evidence.fork(fork).encoded, Evidence.fork(bare).encoded]
            + ForgedFault.allCases.map { Evidence.rule(try RuleEvidenceTests.guilty(of: $0).evidence).encoded }
    }

    @Test func evidenceReadsBackUnchanged() throws {
        for file in try Self.files() { #expect(try Evidence(decoding: file).encoded == file) }
    }

    @Test func mutatedEvidenceIsRefusedOrReadsBack() throws {
        var state: UInt64 = 7
        for file in try Self.files() {
            for _ in 0..<600 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                var changed = file
                let place = Int(state >> 33) % changed.count
                switch state >> 20 & 3 {
                case 0: changed[place] ^= 1 << UInt8(state >> 24 & 7)
                case 1: changed.remove(at: place)
                case 2: changed.insert(UInt8(ascii: "0"), at: place)
                default: changed.removeSubrange(place...)
                }
                guard let read = try? Evidence(decoding: changed) else { continue }
                #expect(read.encoded == changed)
            }
        }
    }

    @Test func aLengthBeyondTheFileIsRefused() throws {
        let text = "signet-evidence/v1\nfork\ncheckpoint 18446744073709551615\nx"
        #expect(throws: EvidenceError.malformed(.truncated(needed: .max, remaining: 1))) {
            try Evidence(decoding: Array(text.utf8))
        }
    }

    @Test func anotherFormatOrClaimIsRefused() {
        #expect(throws: EvidenceError.unknownFormat) { try Evidence(decoding: Array("signet-evidence/v2\n".utf8)) }
        #expect(throws: EvidenceError.unknownClaim) {
            try Evidence(decoding: Array("signet-evidence/v1\nmurder\n".utf8))
        }
        #expect(throws: EvidenceError.tooLong(byteCount: Evidence.maximumByteCount + 1)) {
            try Evidence(decoding: [UInt8](repeating: 0, count: Evidence.maximumByteCount + 1))
        }
    }
}
