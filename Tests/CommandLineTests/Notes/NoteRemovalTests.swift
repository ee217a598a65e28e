// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient
import SignetTesting
import Testing

@testable import NotesClient

/// A device of the account is removed, or several make new keys at once.
extension NoteBookTests {
    /// The removing device has not fetched the other's records, or was stopped after the revocation; then the next sync
    /// completes the removal. The other devices and the members of shared notes continue.
    @Test(arguments: [false, true]) func recordsOfARemovedDeviceDoNotBlockOthers(isKeepingKeys: Bool) async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            // Bob's phone revises a note, and makes a note and a head of the account: no other device has fetched them.
            try await Self.edit(town, "phone", server, note, "by the phone")
            let own = try await NoteStage.with(town, "phone", server) { book in
                let own = try await book.create(title: Self.bytes("Own"), body: Self.bytes("of the phone"))
                _ = try await book.sync()
                return own
            }
            let desk = try await NoteStage(town, "bob", server)
            try await desk.book.prepareRemoval(of: 2, isKeepingKeys: isKeepingKeys)
            _ = try await desk.client.revokeDevice(2, by: desk.secrets)
            try desk.close()
            let report = try await Self.sync(town, "bob", server)
            #expect(report.rekeyed == [own] && report.notRekeyed.isEmpty)
            try await NoteStage.with(town, "bob", server) { book in
                let (mine, shared) = try await (Self.facts(book, own), Self.facts(book, note))
                #expect(Self.body(mine) == "of the phone" && Self.body(shared) == "by the phone")
            }
            #expect(server.state.notes[own]?.snapshot.control.epoch == 2)
            let head = try #require(server.state.heads[try Self.handle(Town.bob)]?.last?.head)
            let left = try await NoteStage.with(town, "bob", server) { await $0.author.device }
            #expect(head.author.device == left, "another device of bob has to accept the newest head")
            let again = try await Self.sync(town, "bob", server)
            #expect(again.rekeyed.isEmpty && again.notRekeyed.isEmpty)
            let version = try #require(server.state.accountKeys[try Self.handle(Town.bob)]?.version)
            #expect(version == (isKeepingKeys ? 2 : 3))
            // Records that it signs from now on are not accepted.
            try await NoteStage.with(town, "bob", server) { book in
                let left = try await book.removalsToSettle()
                #expect(left.isEmpty)
            }
        }
    }

    /// The directory was asked to revoke the device, and did not.
    @Test func aRemovalThatDidNotHappenIsNotCompleted() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Self.shared(town, server)
            try await NoteStage.with(town, "bob", server) { book in
                try await book.prepareRemoval(of: 2, isKeepingKeys: false)
                _ = try await book.sync()
                #expect(await book.account?.epoch == 1)
            }
        }
    }

    /// The removed device signed the newest head, and another device of the account has to accept it.
    @Test func theNewestHeadIsSignedAgainByARemainingDevice() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Self.shared(town, server)
            // Alice shares another one, and the phone is the first that sees it.
            try await NoteStage.with(town, "alice", server) { book in
                let note = try await book.create(title: Self.bytes("Other"), body: [])
                try await book.share(note, with: Self.handle(Town.bob), as: .reader)
            }
            try await Self.sync(town, "phone", server)
            try await Self.sync(town, "bob", server)
            let handle = try Self.handle(Town.bob)
            let phone = try #require(server.state.heads[handle]?.last)
            let desk = try await NoteStage(town, "bob", server)
            _ = try await desk.client.revokeDevice(2, by: desk.secrets)
            try #require(phone.head.author.device != desk.secrets.keys.signing)
            _ = try await desk.book.sync()
            try desk.close()
            let newest = try #require(server.state.heads[handle]?.last)
            #expect(newest.notes == phone.notes && newest.head.author.device == desk.secrets.keys.signing)
            try await Self.sync(town, "bob", server)
            #expect(server.state.heads[handle]?.last == newest)
        }
    }

    /// The device with the identity key has no notes, and removes one whose note no device has fetched; a third one has
    /// accepted that.
    private static func removedByADeviceWithoutNotes(_ town: Town, _ server: PaperNoteServer) async throws -> NoteID {
        _ = try await shared(town, server)
        try await town.addDeviceOfBob("tablet")
        expect(0, try await town.signet("phone", "people", "trust", Town.bob, "--yes"))
        for home in ["bob", "tablet"] { try await sync(town, home, server) }
        let own = try await NoteStage.with(town, "phone", server) { book in
            let own = try await book.create(title: bytes("Own"), body: bytes("of the phone"))
            _ = try await book.sync()
            return own
        }
        let desk = try await NoteStage(town, "bob", server)
        _ = try await desk.client.revokeDevice(2, by: desk.secrets)
        try desk.close()
        expect(0, try await town.signet("tablet", "people", "trust", Town.bob, "--yes"))
        return own
    }

    @Test func anotherDeviceCompletesARemovalByADeviceWithoutNotes() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let own = try await Self.removedByADeviceWithoutNotes(town, server)
            for _ in 0..<2 {
                let report = try await Self.sync(town, "tablet", server)
                #expect(report.notRekeyed.isEmpty && report.doubts.isEmpty)
            }
            let desk = try await NoteStage(town, "tablet", server)
            #expect(try await Self.body(Self.facts(desk.book, own)) == "of the phone")
            #expect(await desk.book.account?.epoch == 1, "only the removing device knows whether it was lost")
            let head = try #require(server.state.heads[try Self.handle(Town.bob)]?.last?.head)
            #expect(head.author.device == desk.secrets.keys.signing)
            try desk.close()
        }
    }

    /// After another device has signed on top, later records of the removed device are refused, also by a device that
    /// was offline.
    @Test func aCompletedRemovalIsNotRepeatedByADeviceThatWasAway() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Self.removedByADeviceWithoutNotes(town, server)
            let away = try town.bytes("tablet/notes.sqlite")
            try await Self.sync(town, "tablet", server)
            try town.write(away, to: "tablet/notes.sqlite")
            try await NoteStage.with(town, "tablet", server) { book in
                let removals = try await book.removalsToSettle()
                #expect(removals.isEmpty)
                _ = try await book.sync()
            }
        }
    }

    /// A thief gives the account another key before the device is removed. The next key is not known to them.
    @Test func aKeyThatTheRemovedDeviceMadeIsReplaced() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Self.shared(town, server)
            try await NoteStage.with(town, "phone", server) { try await $0.replaceAccountKey() }
            let desk = try await NoteStage(town, "bob", server)
            try await desk.book.prepareRemoval(of: 2, isKeepingKeys: false)
            _ = try await desk.client.revokeDevice(2, by: desk.secrets)
            _ = try await desk.book.sync()
            #expect(await desk.book.account?.epoch == 3)
            try desk.close()
        }
    }

    /// Another device made the next key without a wrap for this one, or the server withholds the wrap.
    @Test func aDeviceWithoutTheNewestKeyMakesNoFurtherKey() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await town.addDeviceOfAlice("tablet")
            for home in ["alice", "tablet"] { try await Self.sync(town, home, server) }
            try await NoteStage.with(town, "tablet", server) { try await $0.replaceAccountKey() }
            let handle = try Self.handle(Town.alice)
            let device = try await NoteStage.with(town, "alice", server) { book in
                let device = await book.author.device
                let there = try #require(server.state.accountKeys[handle])
                server.state.accountKeys[handle] = AccountKeys(
                    version: there.version, password: there.password, recovery: there.recovery,
                    devices: there.devices.filter { $0.key != device })
                await #expect(throws: NotesError.noAccountKey) { try await book.replaceAccountKey() }
                await #expect(throws: NotesError.noAccountKey) { _ = try await book.sync() }
                return device
            }
            #expect(server.state.accountKeys[handle]?.devices[device] == nil)
            try await Self.sync(town, "tablet", server)
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                #expect(await book.account?.epoch == 2)
            }
        }
    }

    @Test func aKeyOfAnUnknownDeviceDoesNotReplaceTheAccountsKey() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await Self.sync(town, "alice", server)
            let handle = try Self.handle(Town.alice)
            try await NoteStage.with(town, "alice", server) { book in
                let stranger = Curve25519.Signing.PrivateKey()
                let author = Author(handle: handle, device: Array(stranger.publicKey.rawRepresentation))
                let recipient = try #require(WrapRecipient.devices(of: try await book.ownLookup()).first)
                let wrap = try AccountDeviceWrap(
                    AccountMasterKey.generate(for: handle, epoch: 9), to: recipient, sender: author,
                    with: { Array(try stranger.signature(for: $0)) })
                let there = try #require(server.state.accountKeys[handle])
                server.state.accountKeys[handle] = AccountKeys(
                    version: there.version, password: nil, recovery: nil, devices: [author.device: wrap.encoded])
                _ = try await book.sync()
                #expect(await book.account?.epoch == 1)
            }
        }
    }

    /// The server always claims that the note has moved on: the note keeps its key, which is reported.
    @Test func aNoteThatCannotBeRekeyedIsReported() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            server.state.notes[note]?.snapshot.revision = RevisionView(
                number: 9, head: RecordHash(of: Self.bytes("nothing")))
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                try await book.replaceAccountKey()
            }
            let report = try await Self.sync(town, "alice", server)
            #expect(report.notRekeyed == [note: .keepsMoving] && report.rekeyed.isEmpty)
        }
    }

    /// Two devices of an account rotate at once, in each order of their requests. Each epoch has one key.
    @Test func concurrentRotationsMakeOneKeyForAnEpoch() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await town.addDeviceOfAlice("tablet")
            let first = try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let note = try await book.create(title: Self.bytes("T"), body: Self.bytes("before"))
                _ = try await book.sync()
                return note
            }
            try await Self.sync(town, "tablet", server)
            let handle = try Self.handle(Town.alice)
            for order in 0..<16 {
                let before = try #require(server.state.accountKeys[handle]).version
                let turns = Turns((0..<4).map { order >> $0 & 1 })
                let desks = try await [
                    NoteStage(town, "alice", server, turn: { _ in await turns.wait(0) }),
                    NoteStage(town, "tablet", server, turn: { _ in await turns.wait(1) }),
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, desk) in desks.enumerated() {
                        group.addTask {
                            do { try await desk.book.replaceAccountKey() } catch {
                                await turns.end(number)
                                throw error
                            }
                            await turns.end(number)
                        }
                    }
                    try await group.waitForAll()
                }
                for desk in desks + desks { _ = try await desk.book.sync() }
                #expect(server.state.accountKeys[handle]?.version == before + 1, "order \(order)")
                let keys = await [desks[0].book.account, desks[1].book.account]
                let secrets = keys.map { $0.map { $0.secret.withUnsafeBytes { Array($0) } } }
                #expect(secrets[0] != nil && secrets[0] == secrets[1], "order \(order)")
                let note = try await desks[1].book.create(title: Self.bytes("T"), body: Self.bytes("\(order)"))
                for desk in [desks[1], desks[0]] { _ = try await desk.book.sync() }
                for name in [first, note] {
                    #expect(try await Self.facts(desks[0].book, name).document != nil, "order \(order)")
                }
                for desk in desks { try desk.close() }
            }
        }
    }
}
