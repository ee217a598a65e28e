// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import Testing

@testable import NoteStore

/// An account's keys, heads and own wraps: compare and set.
@Suite(.everyEngine) struct AccountTests {
    let alice: NoteWriter
    let folder: StoreFolder
    let record = [UInt8](repeating: 9, count: RegistrationEnd.recordByteCount)

    init() throws {
        alice = try NoteWriter("alice")
        folder = try StoreFolder()
    }

    private func register(_ version: UInt64, _ wrap: [UInt8] = [1]) async throws -> AccountKeysOutcome {
        try await folder.store.register(
            RegistrationEnd(version: version, record: record, wrap: wrap), of: alice.handle)
    }

    private func change(_ keys: AccountKeys) async throws -> AccountKeysOutcome {
        try await folder.store.change(AccountKeysChange(keys), of: alice.handle)
    }

    @Test func change_replacesAllKeysOfTheNamedVersion() async throws {
        let devices = [alice.author.device: [UInt8](repeating: 4, count: 300)]
        #expect(try await change(AccountKeys(version: 0, recovery: [2], devices: devices)) == .applied(version: 1))
        #expect(
            try await folder.store.accountKeys(of: alice.handle)
                == AccountKeys(version: 1, recovery: [2], devices: devices))
        #expect(try await change(AccountKeys(version: 0)) == .conflict(version: 1))
        #expect(try await change(AccountKeys(version: 1)) == .applied(version: 2))
        #expect(try await folder.store.accountKeys(of: alice.handle) == AccountKeys(version: 2))
    }

    @Test func register_replacesRecordAndWrapTogether() async throws {
        #expect(try await register(1) == .conflict(version: 0))
        #expect(try await register(0) == .applied(version: 1))
        let found = try await folder.store.registration(of: alice.handle)
        #expect(found?.record == record)
        #expect(found?.grant == LoginGrant(version: 1, wrap: [1]))
        #expect(try await register(1, [2]) == .applied(version: 2))
        #expect(try await folder.store.registration(of: alice.handle)?.grant == LoginGrant(version: 2, wrap: [2]))
    }

    @Test func change_refusesAPasswordWrapWithoutARegistration() async throws {
        #expect(try await change(AccountKeys(version: 0, password: [1])) == .notRegistered)
        #expect(try await folder.store.accountKeys(of: alice.handle).version == 0)
    }

    @Test func aSetWithoutAPasswordEndsTheRegistration() async throws {
        #expect(try await register(0) == .applied(version: 1))
        #expect(try await folder.store.hasRegistrations())
        #expect(try await change(AccountKeys(version: 1)) == .applied(version: 2))
        #expect(try await folder.store.registration(of: alice.handle) == nil)
        #expect(try await !folder.store.hasRegistrations())
    }

    @Test func theFeedNamesTheNewestVersionOnly() async throws {
        #expect(try await register(0) == .applied(version: 1))
        #expect(try await register(1) == .applied(version: 2))
        #expect(try await folder.feed(of: alice).map(\.item) == [.accountKeys(version: 2)])
    }

    // MARK: Heads

    private func head(
        _ number: UInt64, after previous: RecordHash, _ notes: NoteHeads = NoteHeads(), by writer: NoteWriter? = nil
    ) throws -> AccountHeadChange {
        let writer = writer ?? alice
        let head = try AccountHead(
            author: writer.author, number: number, previous: previous, notes: notes.hash, with: writer.sign)
        return AccountHeadChange(head: head, notes: notes)
    }

    private func put(_ change: AccountHeadChange) async throws -> AccountHeadOutcome {
        try await folder.store.put(change, by: alice.author)
    }

    @Test func put_refusesAHeadThatDoesNotFollowTheLast() async throws {
        let note = try unwrapped(NoteID(NoteDraft.bytes(16)))
        let view = ControlView(number: 1, head: RecordHash(of: [1]))
        let first = try head(1, after: .none)
        let second = try head(2, after: first.head.hash, NoteHeads([note: .init(control: view, revision: nil)]))
        #expect(try await put(second) == .conflict(nil))
        #expect(try await put(first) == .applied)
        #expect(try await put(first) == .applied)
        #expect(try await put(second) == .applied)
        #expect(try await put(head(3, after: first.head.hash)) == .conflict(second.head))
        let answer = try await folder.store.heads(AccountHeadsRequest(after: 0), of: alice.handle)
        #expect(answer == AccountHeadsAnswer(heads: [first.head, second.head], notes: second.notes))
        let rest = try await folder.store.heads(AccountHeadsRequest(after: 2), of: alice.handle)
        #expect(rest == AccountHeadsAnswer(heads: [], notes: nil))
        #expect(try await folder.items(of: alice) == [.accountHead(second.head)])
    }

    @Test func put_refusesAHeadOfAnotherAuthorOrOfOtherNotes() async throws {
        #expect(try await put(head(1, after: .none, by: NoteWriter("bob"))) == .forbidden)
        let note = try unwrapped(NoteID(NoteDraft.bytes(16)))
        let view = ControlView(number: 1, head: RecordHash(of: [1]))
        let others = NoteHeads([note: .init(control: view, revision: nil)])
        #expect(try await put(AccountHeadChange(head: head(1, after: .none).head, notes: others)) == .forbidden)
    }

    // MARK: Own wraps

    @Test func put_replacesTheNamedOwnWrapOnly() async throws {
        let bob = try NoteWriter("bob")
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, .reader, by: alice), by: alice)
        func put(
            _ wrap: [UInt8], epoch: UInt32 = 1, over replaced: RecordHash, by writer: NoteWriter
        ) async throws
            -> OwnWrapOutcome?
        {
            let change = OwnWrapChange(note: draft.note, epoch: epoch, replaced: replaced, wrap: wrap)
            return try await folder.store.put(OwnWrapChanges([change]), by: writer.handle).outcomes.first
        }
        #expect(try await put([1], over: RecordHash(of: [9]), by: bob) == .conflict)
        #expect(try await put([1], over: .none, by: bob) == .applied)
        #expect(try await put([1], over: .none, by: bob) == .applied)
        #expect(try await put([2], over: RecordHash(of: [1]), by: bob) == .applied)
        #expect(try await put([2], epoch: 2, over: .none, by: bob) == .unknown)
        #expect(try await put([2], over: .none, by: NoteWriter("carol")) == .unknown)
        let wraps = try await folder.items(of: bob).filter { if case .ownWrap = $0 { true } else { false } }
        #expect(wraps == [.ownWrap(draft.note, epoch: 1, [2])])
    }
}
