// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NotesClient
import SecretMemory
import SignetAPI
import SignetClient
import Testing

@testable import Signet

/// Devices of an account, as an app adds and removes them, over a real server.
@Suite struct AccountDeviceTests {
    private static let context = "com.example.chat"

    private static func makeCard(
        _ alice: AppUser, _ profile: DirectoryProfile, in folder: HomeFolder
    ) async throws -> MadeCard {
        try await Account.makeCard(
            for: alice.account.handle, at: profile, in: folder, passphrase: AppUser.secret,
            surroundings: AppUser.surroundings)
    }

    private static func join(_ folder: HomeFolder, typing code: String) async throws -> Account {
        try await Account.join(
            in: folder, passphrase: AppUser.secret, typed: code, surroundings: AppUser.surroundings)
    }

    private static func isRemoved(_ account: Account) async throws -> Bool {
        if case .removedDevice? = try await account.devices().alarm { true } else { false }
    }

    @Test func aDeviceIsLinkedByDigitsOnBothSides_andThenRevoked() async throws {
        try await MountedDirectory.run { profile, folder in
            let alice = try await AppUser.create("alice", at: profile, in: folder)
            let note = try await alice.account.notes { book throws(NotesError) in
                let note = try await book.create(title: Array("cake".utf8), body: Array("cellar".utf8))
                _ = try await book.sync()
                return note
            }
            let home = HomeFolder(path: folder + "/phone")
            let made = try await Self.makeCard(alice, profile, in: home)
            await #expect(throws: SignetError.otherCard) {
                try await alice.account.card(made.bytes, typed: "0000 0000 0000")
            }
            await #expect(throws: SignetError.client(.misuse(.deviceNotAddedYet)), "it was not added yet") {
                try await Self.join(home, typing: made.code)
            }
            let card = try await alice.account.card(made.bytes, typed: made.code.filter { $0 != " " })
            let linked = try await alice.account.link(card, try await alice.approval(of: .linkDevice))
            #expect(linked.number == 2 && linked.account.devices.map(\.isThisDevice) == [true, false])
            await #expect(throws: SignetError.otherAccount) { try await Self.join(home, typing: made.code) }
            let again = try await alice.account.link(card, try await alice.approval(of: .linkDevice))
            #expect(again.confirmation == linked.confirmation, "the same card shows the same digits")

            let phone = try await Self.join(home, typing: linked.confirmation)
            #expect(try await phone.devices().alarm == nil)
            let message = try await alice.account.seal("hello".utf8, to: [], for: Self.context)
            #expect(try await phone.open(message.encoded, for: Self.context).content.body == Array("hello".utf8))
            // The device that has the key to notes hands it over when it syncs.
            _ = try await alice.account.notes { book throws(NotesError) in try await book.sync() }
            let title = try await phone.notes { book throws(NotesError) in
                _ = try await book.sync()
                return try await book.facts(note).document?.title
            }
            #expect(title == Array("cake".utf8))

            let revocation = try await alice.account.revoke(2, try await alice.approval(of: .revokeDevice(2)))
            #expect(revocation.account.devices.map(\.number) == [1])
            guard case .rekeyed(1) = revocation.notes else { throw Unexpected("\(revocation.notes)") }
            #expect(try await Self.isRemoved(phone))
            #expect(alice.questions == [.linkDevice, .linkDevice, .revokeDevice(2)])
            await phone.close()
            await alice.account.close()
            for await event in alice.account.events { Issue.record("\(event)") }
        }
    }

    /// After revoking a device that was not lost, a user may keep the notes' keys; an account without notes has none.
    @Test func aRevocationReportsWhatHappenedToTheNotesKeys() async throws {
        try await MountedDirectory.run { profile, folder in
            let alice = try await AppUser.create("alice", at: profile, in: folder)
            for number in UInt16(2)...3 {
                let made = try await Self.makeCard(alice, profile, in: HomeFolder(path: "\(folder)/\(number)"))
                let card = try await alice.account.card(made.bytes, typed: made.code)
                _ = try await alice.account.link(card, try await alice.approval(of: .linkDevice))
            }
            let first = try await alice.account.revoke(2, try await alice.approval(of: .revokeDevice(2)))
            guard case .none = first.notes else { throw Unexpected("\(first.notes)") }
            _ = try await alice.account.notes { book throws(NotesError) in
                try await book.create(title: Array("cake".utf8), body: [])
            }
            let second = try await alice.account.revoke(
                3, isKeepingKeys: true, try await alice.approval(of: .revokeDevice(3)))
            guard case .kept = second.notes else { throw Unexpected("\(second.notes)") }
            await alice.account.close()
        }
    }

    /// An approval covers one action in one account, and wrong answers delay further ones in an app too.
    @Test func anApprovalIsValidForItsActionInItsAccountOnly() async throws {
        try await TestDirectory.run { directory in
            try await withTemporaryFolder { folder in
                let alice = try await AppUser.create("alice", at: directory.profile, in: folder)
                let bob = try await AppUser.create("bob", at: directory.profile, in: folder)
                let notAsked = SignetError.presence(.unanswered(.notAsked))
                await #expect(throws: notAsked, "another action") {
                    try await alice.account.revoke(1, try await alice.approval(of: .linkDevice))
                }
                await #expect(throws: notAsked, "another device") {
                    try await alice.account.revoke(1, try await alice.approval(of: .revokeDevice(2)))
                }
                await #expect(throws: notAsked, "another account") {
                    try await alice.account.revoke(1, try await bob.approval(of: .revokeDevice(1)))
                }
                await #expect(throws: SignetError.client(.misuse(.ownDevice))) {
                    try await alice.account.revoke(1, try await alice.approval(of: .revokeDevice(1)))
                }
                await #expect(throws: SignetError.presence(.unanswered(.declined))) {
                    _ = try await alice.approval(of: .linkDevice, by: nil)
                }
                for _ in 0..<5 {
                    await #expect(throws: SignetError.presence(.unanswered(.failed(blockedUntil: nil)))) {
                        _ = try await alice.approval(of: .linkDevice, by: "a guess")
                    }
                }
                var until: UInt64?
                do throws(SignetError) {
                    _ = try await alice.account.approval(of: .linkDevice) { _ in SecretBytes(copying: "a guess".utf8) }
                } catch {
                    if case .presence(.unanswered(.failed(let time))) = error { until = time }
                }
                let wait = SignetError.presence(.wait(until: try #require(until)))
                await #expect(throws: wait, "the right one comes too early as well") {
                    _ = try await alice.approval(of: .linkDevice)
                }
                await alice.account.close()
                await bob.account.close()
            }
        }
    }
}
