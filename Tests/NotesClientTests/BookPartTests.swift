// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import SealedNotes
import SignetClient
import Testing

@testable import NotesClient

/// The parts of a book of notes, each by itself.
@Suite struct BookPartTests {
    private static let alice = "alice@example.org"

    private func secrets() throws -> DeviceSecrets {
        try DeviceSecrets.generate(for: Handle(typed: Array(Self.alice.utf8)), withIdentity: true)
    }

    private func keyring(_ secrets: DeviceSecrets) throws -> AccountKeyring {
        AccountKeyring(secrets, try DeviceAgreementKeys(secrets))
    }

    private func key(_ secrets: DeviceSecrets, epoch: UInt32) -> AccountMasterKey {
        AccountMasterKey.generate(for: secrets.handle, epoch: epoch)
    }

    // MARK: Keys of the account

    @Test func theNewestKeyIsThatOfTheHighestEpoch() throws {
        let secrets = try secrets()
        var keyring = try keyring(secrets)
        #expect(keyring.newest == nil)
        for epoch in [2, 9, 1] as [UInt32] { keyring.add(key(secrets, epoch: epoch)) }
        #expect(keyring.newest?.epoch == 9 && keyring.keys.count == 3)
        keyring.removeAll()
        #expect(keyring.newest == nil)
    }

    @Test func check_refusesAWrapThatCannotBeRead() throws {
        let secrets = try secrets()
        let own = AuthorKeys(pinned: [secrets.keys.signing], of: secrets.handle)
        let there = AccountKeys(version: 1, devices: [secrets.keys.signing: [1, 2, 3]])
        #expect(throws: NotesError.malformedAnswer) { try keyring(secrets).newer(in: there, from: own) }
    }

    @Test func withoutAWrapForThisDeviceThereIsNoNewerKey() throws {
        let secrets = try secrets()
        let own = AuthorKeys(pinned: [secrets.keys.signing], of: secrets.handle)
        let there = AccountKeys(version: 1, devices: [[UInt8](repeating: 1, count: 32): [1, 2, 3]])
        #expect(try keyring(secrets).newer(in: there, from: own) == nil)
    }

    // MARK: Heads of the account

    private func heads(_ count: UInt64, _ author: NoteWriter) throws -> [AccountHead] {
        var heads: [AccountHead] = []
        for number in 1...count {
            heads.append(
                try AccountHead(
                    author: author.author, number: number, previous: heads.last?.hash ?? .none,
                    notes: NoteHeads().hash, with: author.sign))
        }
        return heads
    }

    @Test func newHeadsStartAfterTheKnownHead() throws {
        let heads = try heads(3, NoteWriter("alice"))
        #expect(try AccountHeads.news(heads, after: nil) == heads)
        #expect(try AccountHeads.news(Array(heads.dropFirst()), after: heads[1]) == [heads[2]])
    }

    @Test func check_refusesHeadsWithoutTheKnownOne() throws {
        let heads = try heads(3, NoteWriter("alice"))
        #expect(throws: NotesError.serverWentBack) { try AccountHeads.news([], after: heads[1]) }
        #expect(throws: NotesError.serverWentBack) { try AccountHeads.news([heads[2]], after: heads[1]) }
    }

    @Test func check_refusesAnotherHeadOfTheKnownNumber() throws {
        let (heads, others) = (try heads(2, NoteWriter("alice")), try heads(2, NoteWriter("alice")))
        #expect(throws: NotesError.accountHead(.fork(number: 2))) {
            try AccountHeads.news([others[1]], after: heads[1])
        }
    }

    // MARK: In memory

    @Test func aNoteWithoutContentIsReportedMissingOrLocked() throws {
        var notes = NotesInMemory()
        let note = try BookFile.note(1)
        #expect(throws: NotesError.noSuchNote(note)) { try notes.note(note) }
        notes.lock(note, .withheld)
        #expect(throws: NotesError.locked(.withheld)) { try notes.note(note) }
        let reader = try Handle(typed: Array(Self.alice.utf8))
        #expect(notes.facts(for: reader).map(\.lock) == [.withheld])
        let hits = notes.search(Array("a".utf8), atWordStart: false, for: reader)
        #expect(hits.isEmpty)
        notes.removeAll()
        #expect(notes.facts(for: reader).isEmpty)
    }

    /// All places of a term in texts around the sixteen bytes that are looked at together, against a comparison place by place.
    @Test func aTermIsFoundAtItsFirstPlace_andNoneWhereThereIsNone() async throws {
        for period in [[UInt8]("ab".utf8), [UInt8]("aab".utf8), [UInt8]("abcabd".utf8)] {
            for count in 0...52 {
                let text = (0..<count).map { period[$0 % period.count] }
                for length in 1...19 {
                    await Task.yield()  // Tests of real servers share the threads.
                    for start in 0..<max(1, count - length) where start + length <= count {
                        var term = Array(text[start..<(start + length)])
                        try Self.compare(term, text)
                        term[length / 2] ^= 1
                        try Self.compare(term, text)
                    }
                }
            }
        }
        #expect(WordFinder([]) == nil)
    }

    private static func compare(_ term: [UInt8], _ text: [UInt8]) throws {
        let finder = try #require(WordFinder(term))
        for start in [0, 1, 15, 16] {
            let places = (start..<max(start, text.count)).first { text[$0...].starts(with: term) }
            let found = text.withUnsafeBytes { finder.first(in: $0, from: start) }
            if found != places { Issue.record("\(term) in \(text) from \(start): \(String(describing: found))") }
        }
    }

    // MARK: The log

    @Test func aDoubtStaysUntilItIsResolved_andAComparisonForOneSync() throws {
        var logged = LogComparison()
        let (first, second) = (try BookFile.note(1), try BookFile.note(2))
        logged.add(first)
        let isNew = logged.set(.noHead, about: first)
        let isNewAgain = logged.set(.noHead, about: first)
        let isOther = logged.set(.noRoot, about: second)
        #expect(isNew && !isNewAgain && isOther)
        logged.begin()
        #expect(logged.compared.isEmpty && logged.doubts == [first: .noHead, second: .noRoot])
        #expect(logged.hasMissingDelivery)
        logged.keepDoubts(about: [second])
        #expect(logged.doubts == [second: .noRoot] && !logged.hasMissingDelivery)
        let isResolved = logged.set(nil, about: second)
        #expect(isResolved && logged.doubts.isEmpty)
    }
}
