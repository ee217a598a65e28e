// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
import KeyTransparency
import NoteLog
import NotesAPI
import Testing

@testable import NotesClient
@testable import SealedNotes
@testable import SignetClient

/// Z5 against the real client: each fault of the server is refused with its name, and the device keeps its notes.
struct LyingNotesServerTests {
    /// A device's keys and its copy of the note.
    private func held(_ home: String, _ lying: LyingNotesServer) throws -> (home: OpenedHome, note: HeldNote) {
        let opened = try OpenedHome(lying.town[home])
        return (opened, try #require(opened.notes.first))
    }

    @Test func aGhostMemberIsRefused() async throws {
        try await LyingNotesServer.with { lying in
            try await lying.journey.notes("bob", "sync")
            let (_, note) = try held("bob", lying)
            let device = Curve25519.Signing.PrivateKey()
            let author = Author(
                handle: note.control.state.owner, device: Array(device.publicKey.rawRepresentation))
            let ghost = try ControlEntry(
                note: note.note, number: note.control.state.number + 1, previous: note.control.state.head, time: 1,
                author: author, action: .share(Handle(typed: Array("ghost@example.org".utf8)), .reader),
                with: { Array(try device.signature(for: $0)) })
            try await lying.tell(Town.bob, .control(ghost, children: nil))
            let trouble = try await lying.trouble("bob") ?? ""
            #expect(trouble.contains("entry 3 was signed by a device that does not belong to its author"), "\(trouble)")
            let facts = try await lying.facts("bob")
            #expect("\(facts["members"] ?? "")".contains(Town.bob) && !"\(facts["members"] ?? "")".contains("ghost"))
            #expect(try await lying.body("bob") == "one")
        }
    }

    /// A forged entry and a forged revision come first; the owner's later changes are accepted all the same.
    @Test func unsignedRecordsDoNotBlockLaterOnes() async throws {
        try await LyingNotesServer.with { lying in
            try await lying.journey.notes("bob", "sync")
            let (home, note) = try held("bob", lying)
            let device = Curve25519.Signing.PrivateKey()
            let author = Author(
                handle: note.control.state.owner, device: Array(device.publicKey.rawRepresentation))
            let sign: ([UInt8]) throws -> [UInt8] = { Array(try device.signature(for: $0)) }
            let ghost = try ControlEntry(
                note: note.note, number: note.control.state.number + 1, previous: note.control.state.head, time: 1,
                author: author, action: .share(Handle(typed: Array("ghost@example.org".utf8)), .reader), with: sign)
            try await lying.tell(Town.bob, .control(ghost, children: nil))
            let forged = try #require(note.currentKey).seal(
                NoteDocument(title: [], body: Array("forged".utf8), created: 0, modified: 0),
                after: note.revisions.head, state: note.control.state, author: author, with: sign)
            try await lying.tell(Town.bob, .revision(forged))
            _ = home
            #expect(try await lying.trouble("bob") != nil)
            try await lying.journey.notes("alice", "edit", lying.note, "two")
            try await lying.journey.notes("alice", "rekey", lying.note)
            try await lying.journey.notes("alice", "edit", lying.note, "three")
            _ = try await lying.sync("bob")
            #expect(try await lying.body("bob") == "three")
            #expect(try await lying.trouble("bob") == nil, "refuted records are not checked again")
        }
    }

    @Test func aReadersRevisionIsRefused_andAReplayChangesNothing() async throws {
        try await LyingNotesServer.with(sharing: []) { lying in
            try await lying.journey.notes("bob", "sync")
            let (home, note) = try held("bob", lying)
            try await lying.tell(Town.alice, .revision(try #require(note.revisions.head).record))
            #expect(try await lying.trouble("alice") == nil)
            let forged = try #require(note.currentKey).seal(
                NoteDocument(title: [], body: Array("forged".utf8), created: 0, modified: 0),
                after: note.revisions.head, state: note.control.state, author: home.author, with: home.device.sign)
            try await lying.tell(Town.alice, .revision(forged))
            let trouble = try await lying.trouble("alice") ?? ""
            #expect(trouble.contains("the author of revision 2 had no right to write"), "\(trouble)")
            #expect(try await lying.body("alice") == "one")
        }
    }

    @Test func anOldStateIsRefused() async throws {
        try await LyingNotesServer.with { lying in
            try await lying.journey.notes("bob", "sync")
            try await lying.save()
            try await lying.journey.notes("alice", "edit", lying.note, "two")
            try await lying.restore()
            let exit = try await lying.sync("alice")
            #expect(exit.status == 1)
            #expect(isRollback(exit), "\(exit.errors)")
            #expect(try await lying.body("alice") == "two")
        }
    }

    /// Two devices write without seeing each other's change; then the server shows both only one of the changes.
    @Test func devicesShownDifferentHistoriesDetectIt() async throws {
        try await LyingNotesServer.with { lying in
            for home in ["bob", "phone", "bob"] { try await lying.journey.notes(home, "sync") }
            try await lying.save()
            try await lying.journey.notes("bob", "edit", lying.note, "by bob")
            try await lying.restore()
            try await lying.journey.notes("phone", "edit", lying.note, "by phone")
            let exit = try await lying.sync("bob")
            #expect(exit.status == 1)
            #expect(isRollback(exit), "\(exit.errors)")
            #expect(try await lying.body("bob") == "by bob")
        }
    }

    /// Reported by the feed or by the account's heads, whichever the server has rolled back further.
    private func isRollback(_ exit: Exit) -> Bool {
        [
            "a history of your notes other than the one your devices signed",
            "no longer has what it showed this device before",
        ]
        .contains { exit.complaint.contains($0) }
    }

    @Test func aWithheldRevisionIsReported() async throws {
        try await LyingNotesServer.with { lying in
            for home in ["bob", "phone"] { try await lying.journey.notes(home, "sync") }
            try await lying.journey.notes("alice", "edit", lying.note, "two")
            try await lying.journey.notes("bob", "sync")
            try await lying.lie { try $0.execute(sql: "DELETE FROM records WHERE kind = 2 AND number = 2") }
            // Each time, and not only the first: the phone's own head still includes the revision.
            for _ in 0..<2 {
                let trouble = try await lying.trouble("phone") ?? ""
                #expect(trouble.contains("Another of your devices has seen more of it"), "\(trouble)")
            }
            #expect(try await lying.body("phone") == "one")
        }
    }

    @Test func aChangedCiphertextIsRefused() async throws {
        try await LyingNotesServer.with { lying in
            try await lying.journey.notes("phone", "sync")
            try await lying.journey.notes("alice", "edit", lying.note, "two")
            try await lying.lie { db in
                let sql = "SELECT item FROM records WHERE kind = 2 AND number = 2"
                guard var item = try Data.fetchOne(db, sql: sql) else { throw NothingToChange() }
                item[item.count - 100] ^= 1
                try db.execute(sql: "UPDATE records SET item = ? WHERE kind = 2 AND number = 2", arguments: [item])
            }
            let exit = try await lying.sync("phone")
            #expect(exit.status != 0, "\(exit.errors)")
            #expect(try await lying.body("phone") == "one")
        }
    }

    /// Both of Bob's devices get the phone's wrap: it opens on the phone, and the other device has no key.
    @Test func anotherDevicesKeyWrapDoesNotOpen() async throws {
        try await LyingNotesServer.with { lying in
            let phone = try Keystore(
                decoding: HomeFolder(path: lying.town["phone"].path()).keystore.read(maximumByteCount: 1 << 16)
            ).open(with: OpenedHome.passphrase).keys.signing
            try await lying.lie { db in
                let items = try Data.fetchAll(db, sql: "SELECT item FROM records WHERE kind = 4")
                guard items.count == 2, let item = items.first(where: { $0.firstRange(of: phone) != nil }) else {
                    throw NothingToChange()
                }
                try db.execute(sql: "UPDATE records SET item = ? WHERE kind = 4", arguments: [item])
            }
            for home in ["bob", "phone"] { _ = try await lying.sync(home) }
            #expect("\(try await lying.facts("bob")["locked"] ?? "")".contains("key has not reached this device"))
            #expect(try await lying.body("phone") == "one")
        }
    }

    /// The server signs the wrap of the account's key for the phone with a key of its own.
    @Test func anAccountKeyThatNoOwnDeviceSignedIsRefused() async throws {
        try await LyingNotesServer.with { lying in
            try await lying.journey.notes("bob", "sync")
            let (bob, device) = (try OpenedHome(lying.town["bob"]), Curve25519.Signing.PrivateKey())
            let phone = try Keystore(
                decoding: HomeFolder(path: lying.town["phone"].path()).keystore.read(maximumByteCount: 1 << 16)
            ).open(with: OpenedHome.passphrase).keys.signing
            try await lying.lie { db in
                guard
                    let wrap = try Data.fetchOne(
                        db, sql: "SELECT wrap FROM device_wraps WHERE device = ?", arguments: [Data(phone)])
                else { throw NothingToChange() }
                let unsigned = Array(wrap.dropLast(64)).replacing(
                    bob.author.device, with: Array(device.publicKey.rawRepresentation))
                let forged = Data(unsigned + (try device.signature(for: unsigned)))
                try db.execute(
                    sql: "UPDATE device_wraps SET wrap = ? WHERE device = ?", arguments: [forged, Data(phone)])
            }
            let exit = try await lying.sync("phone")
            #expect(exit.status == 1 && exit.complaint.contains("a key for your notes that none of your devices made"))
            #expect(try OpenedHome(lying.town["phone"]).accounts.isEmpty)
        }
    }
}

/// The database lacks the row that a test wants to change.
private struct NothingToChange: Error {}
