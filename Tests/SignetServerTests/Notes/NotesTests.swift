// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import ProcessTesting
import ProtocolTesting
import SignetAPI
import Testing

@testable import SignetServer

/// Notes over a real TLS socket.
@Suite struct NotesTests {
    @Test func aMemberReadsAndWritesUntilRemoved() async throws {
        try await withNotes { notes in
            let (alice, bob) = try await (notes.join("alice"), notes.join("bob"))
            var draft = try NoteDraft(by: alice.writer)
            #expect(try await notes.push(draft.creation(), by: alice) == .applied(cursor: 2))
            #expect(
                try await notes.push(draft.share(with: bob.writer, by: alice.writer), by: alice) == .applied(cursor: 3))
            #expect(try await notes.push(draft.write(by: bob.writer), by: bob) == .applied(cursor: 4))
            #expect(try await notes.page(of: alice).entries.count == 4)
            #expect(try await notes.push(draft.unshare(bob.writer, by: alice.writer), by: alice) == .applied(cursor: 7))
            #expect(try await notes.page(of: bob).entries.map(\.position) == [5])
            #expect(try await notes.push(draft.write(by: bob.writer), by: bob) == .refused(.forbidden))
        }
    }

    @Test func push_refusesTheRecordOfAnotherPerson() async throws {
        try await withNotes { notes in
            let (alice, bob) = try await (notes.join("alice"), notes.join("bob"))
            let draft = try NoteDraft(by: alice.writer)
            #expect(try await notes.push(draft.creation(), by: bob) == .refused(.notTheRequesters))
        }
    }

    /// An unknown handle would keep a row and a feed for ever; a person who has not accepted the sharer would get the
    /// sharer's notes on every device.
    @Test func push_refusesSharingWithAPersonWhoIsNoFriend() async throws {
        let people = try ["alice@example.org", "bob@example.org"].map { try Handle(typed: Array($0.utf8)) }
        try await withNotes(areFriends: { Set([$0, $1]) == Set(people) }) { client in
            let (alice, bob) = try await (client.join("alice"), client.join("bob"))
            var draft = try NoteDraft(by: alice.writer)
            guard case .applied = try await client.push(draft.creation(), by: alice) else { throw Missing() }
            let kept = draft
            let outcome = try await client.push(
                draft.share(with: NoteWriter("nobody"), by: alice.writer), by: alice)
            #expect(outcome == .refused(.forbidden))
            draft = kept
            guard case .applied = try await client.push(draft.share(with: bob.writer, by: alice.writer), by: alice)
            else { throw Missing() }
            #expect(try await client.feed(of: bob).count > 1)
        }
    }

    @Test func everyRouteButTheLoginNeedsASignature() async throws {
        try await withNotes { notes in
            for route in NoteRoute.allCases {
                let answer = try await notes.client.call(route, [])
                #expect(answer?.status == (route.access == .open ? 400 : 401), "\(route)")
            }
        }
    }

    @Test func aMalformedBodyIsABadRequest() async throws {
        try await withNotes { notes in
            let alice = try await notes.join("alice")
            for route in NoteRoute.allCases {
                let answer = try await alice.person.call(route, [0xFF, 1, 2], notes.client)
                #expect(answer?.status == 400, "\(route)")
            }
        }
    }

    @Test func aPushAnswersAWaitingClient() async throws {
        try await withNotes { notes in
            let (alice, bob) = try await (notes.join("alice"), notes.join("bob"))
            var draft = try NoteDraft(by: alice.writer)
            _ = try await notes.push(draft.creation(), by: alice)
            let share = try draft.share(with: bob.writer, by: alice.writer)
            _ = try await notes.push(share, by: alice)
            let cursor = try await notes.page(of: bob).newest
            let push = try draft.write(by: alice.writer)
            async let woken: WaitAnswer? = notes.call(.wait, WaitRequest(cursor: cursor), by: bob)
            _ = try await notes.push(push, by: alice)
            #expect(try await woken?.newest == cursor + 1)
        }
    }

    @Test func filesAndWrapsAndHeadsAreStored() async throws {
        try await withNotes { notes in
            let alice = try await notes.join("alice")
            let draft = try NoteDraft(by: alice.writer)
            _ = try await notes.push(draft.creation(), by: alice)
            let blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
            let chunks = (0..<16).map { [UInt8](repeating: $0, count: ChunkUpload.chunkByteCount) }
            let upload = try ChunkUpload(note: draft.note, blob: blob, first: 0, chunks: chunks)
            let stored: BlobOutcome? = try await notes.call(.putChunks, upload, by: alice)
            #expect(stored == .applied)
            let request = ChunkRequest(note: draft.note, blob: blob, first: 0, count: 16)
            let found: ChunkAnswer? = try await notes.call(.chunks, request, by: alice)
            #expect(found?.chunks == chunks)
            let dropped: BlobOutcome? = try await notes.call(
                .dropBlob, BlobRemoval(note: draft.note, blob: blob), by: alice)
            #expect(dropped == .applied)
            let writer = alice.writer
            let head = try AccountHead(
                author: writer.author, number: 1, previous: .none, notes: NoteHeads().hash, with: writer.sign)
            let change = AccountHeadChange(head: head, notes: NoteHeads())
            let kept: AccountHeadOutcome? = try await notes.call(.putAccountHead, change, by: alice)
            #expect(kept == .applied)
            let heads: AccountHeadsAnswer? = try await notes.call(
                .accountHeads, AccountHeadsRequest(after: 0), by: alice)
            #expect(heads == AccountHeadsAnswer(heads: [head], notes: NoteHeads()))
        }
    }

    @Test func anOwnerWhoErasesTheirNotesHasAnEmptyFeed() async throws {
        try await withNotes { notes in
            let (alice, bob) = try await (notes.join("alice"), notes.join("bob"))
            _ = try await notes.push(NoteDraft(by: alice.writer).creation(), by: alice)
            let mistaken = try await alice.person.call(
                NoteRoute.erase, NotesErasure(handle: bob.writer.handle).encoded, notes.client)
            #expect(mistaken?.status == 400)
            #expect(try await notes.page(of: alice).entries.count == 2)
            let answer = try await alice.person.call(
                NoteRoute.erase, NotesErasure(handle: alice.writer.handle).encoded, notes.client)
            #expect(answer?.status == 200 && answer?.body == [])
            #expect(try await notes.page(of: alice).entries.isEmpty)
            let pulled: FeedAnswer? = try await notes.call(.pull, FeedRequest(cursor: 2), by: alice)
            #expect(pulled == .resyncRequired)
        }
    }
}

/// Notes of the real `signetd`.
@Suite struct NotesDaemonTests {
    private func withDaemon(_ body: (NotesClient, Daemon) async throws -> Void) async throws -> Daemon.End {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            let daemon = try Daemon(data)
            let port = try #require(await daemon.port())
            try await body(NotesClient(TestClient(port: port, root: profile.tlsRoot)), daemon)
            daemon.signal(SIGTERM)
            return await daemon.ended()
        }
    }

    @Test func aStoppingServerAnswersAWaitingClient() async throws {
        let end = try await withDaemon { notes, daemon in
            let alice = try await notes.join("alice")
            _ = try await notes.push(NoteDraft(by: alice.writer).creation(), by: alice)
            async let answer: WaitAnswer? = notes.call(.wait, WaitRequest(cursor: 2), by: alice)
            // Meanwhile the call has probably arrived. If it has not, it gets no answer, and the test shows nothing.
            for _ in 0..<20 { _ = try await notes.client.get("/health") }
            daemon.signal(SIGTERM)
            let newest = try await answer?.newest
            #expect(newest == nil || newest == 2)
        }
        #expect(end.status == 0 && !end.wasKilled)
    }

    @Test func erase_erasesTheNotesOfTheAccount() async throws {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            let daemon = try Daemon(data)
            let notes = NotesClient(TestClient(port: try #require(await daemon.port()), root: profile.tlsRoot))
            let alice = try await notes.join("alice")
            let draft = try NoteDraft(by: alice.writer)
            _ = try await notes.push(draft.creation(), by: alice)
            daemon.signal(SIGTERM)
            #expect(await daemon.ended().status == 0)
            func isThere(_ bytes: [UInt8]) -> Bool {
                FileManager.default.contents(atPath: data.notesDatabase)?.range(of: Data(bytes)) != nil
            }
            #expect(isThere(draft.note.bytes) && isThere(alice.writer.handle.bytes))
            #expect(try await erase(String(decoding: alice.writer.handle.bytes, as: UTF8.self), data) == 0)
            #expect(!isThere(draft.note.bytes) && !isThere(alice.writer.handle.bytes))
        }
    }

    /// The exit status of `signetd erase`.
    private func erase(_ handle: String, _ data: DataDirectory) async throws -> Int32 {
        let process = Process()
        process.executableURL = Daemon.executable("signetd")
        process.arguments = ["erase", handle, "--yes", "--data", data.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ends, reportEnd) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { reportEnd.yield($0.terminationStatus) }
        try process.run()
        for await status in ends { return status }
        return -1
    }

    @Test func theServersLogNamesNoAccountAndNoNote() async throws {
        var names: [String] = ["alice", "bob"]
        let end = try await withDaemon { notes, _ in
            let (alice, bob) = try await (notes.join("alice"), notes.join("bob"))
            var draft = try NoteDraft(by: alice.writer)
            _ = try await notes.push(draft.creation(), by: alice)
            _ = try await notes.push(draft.share(with: bob.writer, by: alice.writer), by: alice)
            _ = try await notes.push(draft.unshare(bob.writer, by: alice.writer), by: alice)
            _ = try await notes.push(draft.write(by: bob.writer), by: bob)
            _ = try await alice.person.call(NoteRoute.push, [1, 2, 3], notes.client)
            for bytes in [draft.note.bytes, alice.writer.author.device] {
                names.append(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
                names.append(Data(bytes).base64EncodedString())
            }
        }
        for name in names { #expect(!end.complaints.contains(name), "\(name)") }
    }
}
