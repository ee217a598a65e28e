// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing
import TransparencyLog
import VRF

/// A directory that changes its keys, and clients that slept meanwhile. Each rule has a chain in which only it is broken.
@Suite struct SuccessionTests {
    let logKeys: [NoteSigner]
    let witnesses: [NoteSigner]
    let vrfKey: VRFPublicKey

    init() throws {
        logKeys = try (0..<4).map { try Self.signer("drill.example/log", .ed25519, seed: 10 + $0) }
        witnesses = try (0..<3).map { try Self.signer("witness.example/\($0)", .cosignatureV1, seed: 20 + $0) }
        vrfKey = try VRFPrivateKey([7] + [UInt8](repeating: 0, count: 31)).publicKey
    }

    static func signer(_ name: String, _ algorithm: VerifierKey.Algorithm, seed: UInt8) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: [UInt8](repeating: seed, count: 32))
    }

    /// This log key, and `threshold` of the three witnesses.
    func policy(_ log: NoteSigner, threshold: Int = 2) throws -> Policy {
        let names = try (0..<3).map { try #require(Policy.Name(Array("w\($0)".utf8))) }
        let group = try #require(Policy.Name(Array("group".utf8)))
        return try Policy(
            logs: [.init(key: log.verifierKey)],
            witnesses: zip(names, witnesses).map { .init(name: $0, key: $1.verifierKey) },
            groups: [.init(name: group, threshold: threshold, members: names)], quorum: .member(group))
    }

    func trust(_ log: NoteSigner, threshold: Int = 2) throws -> DirectoryTrust {
        DirectoryTrust(policy: try policy(log, threshold: threshold), vrfKey: vrfKey, freshness: .standard)
    }

    /// A link whose record stands in a log of seven entries, signed by one key and some of the witnesses, long ago.
    func link(
        _ record: SuccessionRecord, by log: NoteSigner, cosigned count: Int = 2
    ) throws -> SuccessionLink {
        var tree = MerkleTree()
        for number in 0..<7 {
            tree.append(number == 3 ? .leaf(record.entry) : .leaf(Array("\(log.verifierKey.keyID) \(number)".utf8)))
        }
        let text = try Checkpoint(origin: log.verifierKey.name, head: tree.head(size: 7)).text
        let signatures = [try log.sign(text)] + (try witnesses.prefix(count).map { try $0.cosign(text, time: 1) })
        return SuccessionLink(
            record: record, inclusion: try tree.inclusionProof(index: 3, size: 7),
            note: try SignedNote(text: text, signatures: signatures))
    }

    func rotation(_ number: UInt64, to log: NoteSigner, threshold: Int = 2) throws -> SuccessionRecord {
        SuccessionRecord(
            kind: .keys, number: number, vrfKey: vrfKey, policy: try policy(log, threshold: threshold))
    }

    /// Three rotations of the log's key.
    func honestLinks() throws -> [SuccessionLink] {
        try (1...3).map { try link(rotation(UInt64($0), to: logKeys[$0]), by: logKeys[$0 - 1]) }
    }

    func follow(_ links: [SuccessionLink], from start: Int = 0) throws -> VerifiedSuccession? {
        let chain = try SuccessionChain(decoding: SuccessionChain(links: links).encoded)
        return try SuccessionVerifier(trust: trust(logKeys[start])).follow(chain)
    }

    @Test(arguments: 0..<3) func aClientThatSleptThroughAnyNumberOfChangesCatchesUp(start: Int) throws {
        let found = try #require(try follow(honestLinks(), from: start))
        #expect(found.trust == (try trust(logKeys[3])))
        #expect(found.changes.count == 3 - start)
        #expect(!found.weakensQuorum)
    }

    @Test func aClientThatIsUpToDateHasNothingToFollow() throws {
        #expect(try follow(honestLinks(), from: 3) == nil)
        #expect(try follow([], from: 0) == nil)
    }

    @Test func aChangeBelowTheQuorumIsRefused() throws {
        var links = try honestLinks()
        links[1] = try link(rotation(2, to: logKeys[2]), by: logKeys[1], cosigned: 1)
        #expect(throws: SuccessionError.checkpoint(link: 1, .quorumNotMet)) { try follow(links) }
    }

    @Test func aChangeSignedByTheNewKeyAloneIsRefused() throws {
        let links = [try link(rotation(1, to: logKeys[1]), by: logKeys[1])]
        #expect(throws: SuccessionError.checkpoint(link: 0, .logSignatureMissing)) { try follow(links) }
    }

    @Test func aChangeThatIsNotInTheLogIsRefused() throws {
        let honest = try link(rotation(1, to: logKeys[1]), by: logKeys[0])
        let other = SuccessionLink(
            record: try rotation(1, to: logKeys[2]), inclusion: honest.inclusion, note: honest.note)
        #expect(throws: SuccessionError.inclusion(link: 0, .rootMismatch)) { try follow([other]) }
    }

    @Test func aChangeLeftOutIsNoticed() throws {
        let links = try honestLinks()
        #expect(throws: SuccessionError.number(link: 0, expected: 1, found: 2)) { try follow(Array(links.dropFirst())) }
        #expect(throws: SuccessionError.number(link: 1, expected: 2, found: 3)) { try follow([links[0], links[2]]) }
    }

    @Test func aChangeOfKeysForAnotherLogIsRefused() throws {
        let other = try Self.signer("drill.example/other", .ed25519, seed: 99)
        let links = [try link(rotation(1, to: other), by: logKeys[0])]
        #expect(throws: SuccessionError.otherLog(link: 0)) { try follow(links) }
    }

    @Test func aLogThatHandsOverToItselfIsRefused() throws {
        let record = SuccessionRecord(kind: .log, number: 1, vrfKey: vrfKey, policy: try policy(logKeys[1]))
        #expect(throws: SuccessionError.sameLog(link: 0)) { try follow([link(record, by: logKeys[0])]) }
    }

    @Test func anotherVRFKeyUnderTheSameLogIsRefused() throws {
        let other = try VRFPrivateKey([8] + [UInt8](repeating: 0, count: 31)).publicKey
        let record = SuccessionRecord(kind: .keys, number: 1, vrfKey: other, policy: try policy(logKeys[1]))
        #expect(throws: SuccessionError.otherVRFKey(link: 0)) { try follow([link(record, by: logKeys[0])]) }
    }

    @Test func aLogMayHandOverToAnotherWithAnotherVRFKey() throws {
        let next = try Self.signer("drill.example/next", .ed25519, seed: 77)
        let other = try VRFPrivateKey([8] + [UInt8](repeating: 0, count: 31)).publicKey
        let record = SuccessionRecord(kind: .log, number: 1, vrfKey: other, policy: try policy(next))
        let found = try #require(try follow([link(record, by: logKeys[0])]))
        #expect(found.trust.vrfKey == other && found.trust.policy.logs == [next.verifierKey])
    }

    @Test(arguments: [(1, true), (2, false), (3, false)])
    func onlyAWeakerQuorumNeedsTheUsersWord(threshold: Int, weakens: Bool) throws {
        let links = [try link(rotation(1, to: logKeys[1], threshold: threshold), by: logKeys[0])]
        #expect(try #require(try follow(links)).weakensQuorum == weakens)
    }

    @Test func otherWitnessesNeedTheUsersWord() throws {
        let stranger = try Self.signer("stranger.example", .cosignatureV1, seed: 66)
        let name = try #require(Policy.Name(Array("s".utf8)))
        let policy = try Policy(
            logs: [.init(key: logKeys[1].verifierKey)], witnesses: [.init(name: name, key: stranger.verifierKey)],
            quorum: .member(name))
        let record = SuccessionRecord(kind: .keys, number: 1, vrfKey: vrfKey, policy: policy)
        #expect(try #require(try follow([link(record, by: logKeys[0])])).weakensQuorum)
    }

    @Test func everyTruncationOfAChainIsRefused() throws {
        let bytes = SuccessionChain(links: try honestLinks()).encoded
        for count in 0..<bytes.count {
            #expect(throws: SuccessionError.malformed) { try SuccessionChain(decoding: Array(bytes.prefix(count))) }
        }
    }

    @Test func recordsAreReadBackUnchangedAndInNoOtherSpelling() throws {
        let record = try rotation(3, to: logKeys[1])
        #expect(try LogEntry(decoding: record.entry) == .succession(record))
        let note = try honestLinks()[0].note
        #expect(
            try LogEntry(decoding: PredecessorRecord(note: note).entry) == .predecessor(PredecessorRecord(note: note)))
        for change in [[UInt8(ascii: "\n")], Array(" ".utf8)] {
            #expect(throws: LogEntryError.self) { try SuccessionRecord(decoding: record.entry + change) }
        }
        #expect(throws: LogEntryError.self) {
            try SuccessionRecord(decoding: Array(record.entry.dropLast()))
        }
    }

    // MARK: The log's own rules

    private func replay(_ entries: [LogEntry]) throws(IndexFault) {
        var histories = LabelHistories()
        for entry in entries { try histories.add(entry, leaf: .leaf(entry.entry)) }
    }

    @Test func changesAreNumberedOneByOne() throws {
        let first = LogEntry.succession(try rotation(1, to: logKeys[1]))
        try replay([first, .succession(rotation(2, to: logKeys[2]))])
        #expect(throws: IndexFault.successionNumber(expected: 2, found: 1, at: 1)) { try replay([first, first]) }
        #expect(throws: IndexFault.successionNumber(expected: 1, found: 2, at: 0)) {
            try replay([.succession(rotation(2, to: logKeys[1]))])
        }
    }

    @Test func nothingButAnEpochFollowsTheHandover() throws {
        let next = try Self.signer("drill.example/next", .ed25519, seed: 77)
        let end = LogEntry.succession(
            SuccessionRecord(kind: .log, number: 1, vrfKey: vrfKey, policy: try policy(next)))
        let label = try #require(LabelIndex([UInt8](repeating: 1, count: 32)))
        #expect(throws: IndexFault.afterTheEnd(at: 1)) {
            try replay([end, .state(StateRecord(closing: label, version: 1))])
        }
    }

    @Test func onlyTheFirstEntryNamesAPredecessorAndThenLabelsBeginAnywhere() throws {
        let before = LogEntry.predecessor(PredecessorRecord(note: try honestLinks()[0].note))
        let label = try #require(LabelIndex([UInt8](repeating: 1, count: 32)))
        try replay([before, .state(StateRecord(closing: label, version: 7))])
        #expect(throws: IndexFault.version(label: label, expected: 1, found: 7, at: 0)) {
            try replay([.state(StateRecord(closing: label, version: 7))])
        }
        #expect(throws: IndexFault.predecessorTooLate(at: 1)) { try replay([before, before]) }
        let fourth = LogEntry.succession(try rotation(4, to: logKeys[1]))
        try replay([before, fourth, .succession(rotation(5, to: logKeys[2]))])
        #expect(throws: IndexFault.successionNumber(expected: 5, found: 4, at: 2)) {
            try replay([before, fourth, fourth])
        }
    }
}
