// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import ProtocolTesting
import Synchronization
import Testing

@testable import NoteStore

/// Every statement of every kind of write fails once without effect, and every write fails once with effect: the store
/// then holds the old state or the new one, and the same push again leads to the new one.
@Suite(.everyEngine) struct FaultTests {
    struct Failure: Error {}

    /// Fails before the n-th statement, or after the commit.
    final class Trap: Sendable {
        private let countdown = Mutex<Int?>(nil)
        private let isAfterCommit = Mutex(false)

        var faults: WriteFaults {
            WriteFaults {
                let isNow = self.countdown.withLock { count -> Bool in
                    guard let left = count else { return false }
                    count = left == 0 ? nil : left - 1
                    return left == 0
                }
                if isNow { throw Failure() }
            } afterCommit: {
                if self.isAfterCommit.withLock({
                    let was = $0; $0 = false; return was
                }) {
                    throw Failure()
                }
            }
        }

        func failBeforeStatement(_ number: Int) { countdown.withLock { $0 = number } }
        func failAfterCommit() { isAfterCommit.withLock { $0 = true } }

        /// Whether a failure was planned and did not happen.
        func disarm() -> Bool {
            countdown.withLock {
                let was = $0 != nil; $0 = nil; return was
            }
        }
    }

    let alice, bob, carol: NoteWriter
    let trap = Trap()
    let folder: StoreFolder

    init() throws {
        (alice, bob, carol) = try (NoteWriter("alice"), NoteWriter("bob"), NoteWriter("carol"))
        folder = try StoreFolder(faults: trap.faults)
    }

    /// Fails the change at each of its statements, then after its commit, so that the answer is lost. The same call
    /// again then changes no row.
    private func survive(
        _ what: String, _ location: SourceLocation = #_sourceLocation, _ change: () async throws -> Void
    ) async throws {
        let before = try folder.dump()
        var count = 0
        while try await !failed(count, change) {
            #expect(try folder.dump() == before, "\(what), statement \(count)", sourceLocation: location)
            count += 1
        }
        let after = try folder.dump()
        #expect(count > 0 && after != before, "\(what) writes no row", sourceLocation: location)
        try await change()
        #expect(try folder.dump() == after, "\(what), again", sourceLocation: location)
    }

    /// Lets the change fail before its n-th statement, or after its commit if it has fewer; returns whether it had
    /// fewer.
    private func failed(_ number: Int, _ change: () async throws -> Void) async throws -> Bool {
        trap.failBeforeStatement(number)
        trap.failAfterCommit()
        do {
            try await change()
            throw Missing()
        } catch is NoteStoreError { return trap.disarm() }
    }

    private func survive(
        _ what: String, _ push: NotePush, by writer: NoteWriter, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await survive(what, location) {
            let outcome = try await folder.push(push, by: writer)
            guard case .applied = outcome else {
                Issue.record("\(what): \(outcome)", sourceLocation: location)
                return
            }
        }
    }

    @Test func aFailedPurgeIsRepeatedWithTheNextPush() async throws {
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.bare(.delete, by: alice), by: alice)
        folder.pass(181 * 86_400)
        let other = try NoteDraft(by: alice).creation()
        for statement in 0..<4 {
            trap.failBeforeStatement(statement)
            await #expect(throws: NoteStoreError.unavailable) { try await folder.push(other, by: alice) }
            #expect(try folder.dump().filter { $0.hasPrefix("notes ") }.count == 1)
        }
        try await folder.push(other, by: alice)
        let answer = try await FeedAnswer(decoding: folder.store.pull(FeedRequest(cursor: 1), of: alice.handle))
        #expect(answer == .resyncRequired)
        #expect(try folder.dump().filter { $0.hasPrefix("notes ") }.count == 1)
    }

    @Test func everyPushIsAppliedCompletelyOrNotAtAll() async throws {
        // The first write of a day also purges.
        try await folder.push(NoteDraft(by: carol).creation(), by: carol)
        var draft = try NoteDraft(by: alice)
        try await survive("create", draft.creation(), by: alice)
        try await survive("share", draft.share(with: bob, by: alice), by: alice)
        try await survive("share again", draft.share(with: carol, .reader, by: alice), by: alice)
        try await survive("write", draft.write(by: bob), by: bob)
        try await survive("comment", draft.comment(by: carol), by: carol)
        try await survive("rekey", draft.rekey(for: [bob, carol], by: alice), by: alice)
        try await survive("unshare", draft.unshare(bob, rest: [carol], by: alice), by: alice)
        try await survive("transfer", draft.bare(.transfer(carol.handle), by: alice), by: alice)
        try await survive("delete", draft.bare(.delete, by: carol), by: carol)
    }

    @Test func everyOtherWriteIsAppliedCompletelyOrNotAtAll() async throws {
        var draft = try NoteDraft(by: alice)
        try await folder.push(draft.creation(), by: alice)
        try await folder.push(draft.share(with: bob, .reader, by: alice), by: alice)
        let upload = try ChunkUpload(
            note: draft.note, blob: unwrapped(BlobID(NoteDraft.bytes(16))), first: 0,
            chunks: [NoteDraft.bytes(ChunkUpload.chunkByteCount), NoteDraft.bytes(ChunkUpload.chunkByteCount)])
        try await survive("pieces") { _ = try await folder.store.put(upload, by: alice.handle) }
        let head = try AccountHead(
            author: alice.author, number: 1, previous: .none, notes: NoteHeads().hash, with: alice.sign)
        let change = AccountHeadChange(head: head, notes: NoteHeads())
        try await survive("head") { _ = try await folder.store.put(change, by: alice.author) }
        let wrap = try OwnWrapChanges([OwnWrapChange(note: draft.note, epoch: 1, wrap: [1])])
        try await survive("own wrap") { _ = try await folder.store.put(wrap, by: bob.handle) }
        let registration = try RegistrationEnd(version: 0, record: NoteDraft.bytes(192), wrap: [1])
        try await survive("registration") { _ = try await folder.store.register(registration, of: alice.handle) }
        let keys = AccountKeysChange(
            AccountKeys(version: 1, password: [2], recovery: [3], devices: [NoteDraft.bytes(32): [4]]))
        try await survive("account keys") { _ = try await folder.store.change(keys, of: alice.handle) }
        try await survive("removal of a file") {
            _ = try await folder.store.drop(BlobRemoval(note: draft.note, blob: upload.blob), by: alice.handle)
        }
        try await survive("emptying") { try await folder.store.erase(bob.handle, keepsPlace: true) }
        try await survive("erasure") { try await folder.store.erase(alice.handle, keepsPlace: false) }
    }
}
