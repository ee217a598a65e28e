// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NotesClient
import RecoveryClient
import SignetAPI
import SignetClient
import SignetTesting
import SocialRecovery
import Testing

@testable import Signet

/// Guardians and a lost device, as an app has them, over a real server.
@Suite struct AccountRecoveryTests {
    /// Alice, who has a note, and three friends who guard her.
    private struct Circle: Sendable {
        let profile: DirectoryProfile
        let folder: String
        let alice: AppUser
        let friends: [AppUser]

        var handles: [Handle] { friends.map(\.account.handle) }

        /// Chooses all of them, and puts them in force.
        func guardAlice(wait: Duration) async throws -> Guardianship {
            _ = try await alice.account.chooseGuardians(
                handles, threshold: 2, wait: wait, try await alice.approval(of: .setUpGuardians))
            for friend in friends { _ = try await friend.account.guarding() }
            return try await alice.account.guardians(try await alice.approval(of: .setUpGuardians))
        }

        func begin(calling name: String = "new phone") async throws -> (AccountRecovery, RecoveryProgress) {
            try await AccountRecovery.begin(
                alice.account.handle, at: profile, in: HomeFolder(path: folder + "/new"), passphrase: AppUser.secret,
                calling: name, naming: handles, surroundings: AppUser.surroundings)
        }

        /// Reads the first guardian the number, and every guardian a code.
        func confirm(_ friend: AppUser, _ recovery: AccountRecovery, number: RequestNumber? = nil) async throws {
            if let number {
                _ = try await friend.account.look(at: number, for: alice.account.handle)
            } else {
                _ = try await friend.account.guarding()
            }
            guard let code = try await recovery.progress().codes[friend.account.handle] else {
                throw Unexpected("no code for \(friend.account.handle)")
            }
            if number == nil { _ = try await friend.account.guarding() }
            _ = try await friend.account.confirmRecovery(
                of: alice.account.handle, number: number, code: code,
                try await friend.approval(of: .confirmRecovery(of: alice.account.handle)))
        }

        /// The log takes another account.
        func grow() async throws {
            let secrets = try DeviceSecrets.generate(
                for: Handle("p\(UInt32.random(in: 0 ... .max))@example.org"), withIdentity: true)
            let client = try Client(
                of: profile, over: NIOTransport(to: profile), remembering: InMemoryStore(),
                owner: .init(
                    handle: secrets.handle, deviceKey: secrets.keys.signing, identityKey: secrets.identityKey))
            _ = try await client.createAccount(secrets)
        }

        func close() async {
            for user in friends + [alice] { await user.account.close() }
        }
    }

    private static func withCircle(_ body: @Sendable @escaping (Circle) async throws -> Void) async throws {
        try await MountedDirectory.run { profile, folder in
            let alice = try await AppUser.create("alice", at: profile, in: folder)
            var friends: [AppUser] = []
            for name in ["bob", "carol", "dora"] {
                let friend = try await AppUser.create(name, at: profile, in: folder)
                try await alice.befriend(friend)
                friends.append(friend)
            }
            let circle = Circle(profile: profile, folder: folder, alice: alice, friends: friends)
            try await body(circle)
            await circle.close()
        }
    }

    /// Repeats a question until it is answered with true, without sleeping: each question goes over the network.
    private static func until(_ isSo: () async throws -> Bool) async throws {
        for _ in 0..<500 {
            if try await isSo() { return }
        }
        Issue.record("it did not come about")
    }

    @Test func guardiansRestoreALostIdentity() async throws {
        try await Self.withCircle { circle in
            let alice = circle.alice
            let note = try await alice.account.notes { book throws(NotesError) in
                let note = try await book.create(title: Array("cake".utf8), body: Array("cellar".utf8))
                _ = try await book.sync()
                return note
            }
            let guardianship = try await circle.guardAlice(wait: .seconds(1))
            #expect(guardianship.current?.keptCount == 3 && guardianship.next == nil)
            #expect(guardianship.guarded?.people == 3 && guardianship.refusal == nil)
            #expect(guardianship.comparisons[circle.handles[0]] == ComparisonState.none)
            await alice.account.close()

            let (begun, first) = try await circle.begin()
            #expect(first.start == nil, "no guardian has confirmed")
            // Opened again, from the files on the disk.
            let recovery = try AccountRecovery.open(
                in: begun.home.folder, passphrase: AppUser.secret, surroundings: AppUser.surroundings)
            try await circle.confirm(circle.friends[0], recovery, number: first.number)
            #expect(try await recovery.progress().start != nil, "the log shows everyone that a recovery began")
            try await circle.confirm(circle.friends[1], recovery)
            for friend in circle.friends.prefix(2) { _ = try await friend.account.guarding() }
            try await Self.until { try await recovery.progress().isWaitOver }
            // Guardians help only under a checkpoint from after the wait.
            try await Self.until {
                try await circle.grow()
                for friend in circle.friends.prefix(2) { _ = try await friend.account.guarding() }
                return try await recovery.progress().standing.missing == 0
            }
            let (account, recovered) = try await recovery.finish(
                try await recovery.home.approval(of: .recoverIdentity) { _ in AppUser.secret })
            #expect(Set(recovered.things.people) == Set(circle.handles) && recovered.noteCount == 1)
            #expect(try await account.devices().devices.map(\.isThisDevice) == [true])
            let title = try await account.notes { book throws(NotesError) in
                try await book.facts(note).document?.title
            }
            #expect(title == Array("cake".utf8))
            await account.close()
        }
    }

    /// Any device of the account stops a thief who has called guardians, and the guardians learn of it.
    @Test func aRecoveryThatTheUserDidNotStartIsStopped() async throws {
        try await Self.withCircle { circle in
            let alice = circle.alice
            _ = try await circle.guardAlice(wait: .seconds(86_400))
            let nothing = SignetError.recovery(.nothingToStop)
            await #expect(throws: nothing) {
                try await alice.account.stopRecovery(try await alice.approval(of: .cancelRecovery))
            }
            let (thief, progress) = try await circle.begin(calling: "alice's phone")
            try await circle.confirm(circle.friends[0], thief, number: progress.number)
            #expect(try await thief.progress().start != nil)
            await #expect(throws: SignetError.presence(.unanswered(.notAsked))) {
                try await thief.finish(try await thief.home.approval(of: .unlock) { _ in AppUser.secret })
            }
            try await alice.account.stopRecovery(try await alice.approval(of: .cancelRecovery))
            let requests = try await circle.friends[0].account.guarding().requests
            #expect(requests.map(\.guardianCase.stage) == [.stopped])
            await #expect(throws: SignetError.recovery(.stopped)) {
                try await thief.finish(try await thief.home.approval(of: .recoverIdentity) { _ in AppUser.secret })
            }
            #expect(try await alice.account.devices().alarm == nil)
        }
    }

    /// While guardians are being asked, showing them may put them in force, which needs its own approval.
    @Test func guardians_needsTheApprovalOfTheActionThatItMayTake() async throws {
        try await Self.withCircle { circle in
            let alice = circle.alice
            #expect(try await alice.account.home.guardiansAction() == .updateAccount)
            await #expect(throws: SignetError.recovery(.noGuardians)) {
                try await alice.account.guardians(try await alice.approval(of: .updateAccount))
            }
            _ = try await alice.account.chooseGuardians(
                circle.handles, threshold: 2, try await alice.approval(of: .setUpGuardians))
            await #expect(throws: SignetError.presence(.unanswered(.notAsked))) {
                try await alice.account.guardians(try await alice.approval(of: .updateAccount))
            }
            let asked = try await alice.account.guardians(try await alice.approval(of: .setUpGuardians))
            #expect(asked.next?.keptCount == 0 && asked.current == nil && asked.guarded == nil)
            let withdrawn = try await alice.account.withdrawGuardians(try await alice.approval(of: .setUpGuardians))
            #expect(withdrawn == circle.handles)
        }
    }
}
