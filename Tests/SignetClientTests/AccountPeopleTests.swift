// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import SignetClient
import SignetTesting
import Testing

@testable import Signet

/// Apps over a real server: the list of people, contact cards, comparisons, and requests without the passphrase.
@Suite struct AccountPeopleTests {
    private static func withPeople(
        attack: Attack? = nil,
        _ body: @Sendable @escaping (TestDirectory, _ alice: Account, _ bob: Account) async throws -> Void
    ) async throws {
        try await TestDirectory.run(attack: attack) { directory in
            try await withTemporaryFolder { folder in
                let alice = try await AppUser.create("alice", at: directory.profile, in: folder).account
                let bob = try await AppUser.create("bob", at: directory.profile, in: folder).account
                try await body(directory, alice, bob)
                await alice.close()
                await bob.close()
            }
        }
    }

    @Test func theListCombinesTheDirectorysFriendsWithTheDevicesPins() async throws {
        try await Self.withPeople { _, alice, bob in
            _ = try await alice.add(bob.handle)
            let asking = try #require(try await bob.people().first)
            #expect(asking.handle == alice.handle && asking.status == .invited && asking.pinned == nil)
            _ = try await bob.accept(alice.handle)
            let friend = try #require(try await alice.people().first)
            #expect(friend.status == .accepted && friend.pinned != nil)
            let request = try #require(friend.request, "the answer that bob signed is judged once")
            #expect(try request.get().handle == bob.handle)
            #expect(try await alice.people().first?.request == nil)
            let known = try await alice.home.people()
            #expect(known.map(\.handle) == [bob.handle] && known.first?.status == nil, "nor is the own account in it")
            #expect(known.first?.pinned == friend.pinned)
        }
    }

    @Test func aBlockedPersonsRequestIsRemoved() async throws {
        try await Self.withPeople { _, alice, bob in
            #expect(try await !bob.block(alice.handle), "there is nothing to refuse")
            _ = try await alice.add(bob.handle)
            #expect(try await bob.block(alice.handle))
            #expect(try await bob.requests().isEmpty)
        }
    }

    /// A card is a comparison too.
    @Test func aContactCardIsComparedAndRecorded() async throws {
        try await Self.withPeople { _, alice, bob in
            let contact = try await alice.add(by: try await bob.contactCard(), metOn: 20_000)
            #expect(contact.handle == bob.handle && contact.comparison.comparison?.kind == .card)
            #expect(contact.comparison.comparison?.metOn == 20_000)
        }
    }

    @Test func aComparisonIsRecordedOnlyAfterAMatch() async throws {
        try await Self.withPeople { _, alice, bob in
            _ = try await alice.add(bob.handle)
            _ = try await bob.accept(alice.handle)
            let (mine, theirs) = (
                try await alice.identities(with: bob.handle), try await bob.identities(with: alice.handle)
            )
            let digits = theirs.number.groups.map { String(decoding: $0, as: UTF8.self) }
            #expect(mine.digits == digits.joined(separator: " ") && mine.digits == theirs.digits)
            #expect(mine.digits.count == 71, "twelve groups of five digits")
            let other = (digits.last == "00000" ? "00001" : "00000")
            #expect(throws: SignetError.comparison(.tooFewDigits, with: bob.handle)) {
                try mine.matched(typed: digits.dropLast().joined(separator: " "))
            }
            #expect(throws: SignetError.comparison(.otherDigits, with: bob.handle)) {
                try mine.matched(typed: (digits.dropLast() + [other]).joined(separator: " "))
            }
            #expect(throws: SignetError.comparison(.code(.malformed), with: bob.handle)) {
                try mine.matched(scanned: [1, 2, 3])
            }
            #expect(throws: SignetError.self, "it is the code of one's own screen") {
                try mine.matched(scanned: mine.code.encoded)
            }
            #expect(try await alice.home.comparison(with: bob.handle).comparison == nil)
            try await alice.keep(try mine.matched(typed: digits.joined(separator: " ")))
            #expect(try await alice.home.comparison(with: bob.handle).comparison?.kind == .number)
            try await alice.keep(try mine.matched(scanned: theirs.code.encoded), metOn: 20_000)
            #expect(
                try await alice.contact(bob.handle).comparison.comparison?.metOn == 20_000, "not an answer of before")
        }
    }

    /// A lookup that fails a check is a result that the app shows, with the check; it is not thrown.
    @Test func aRefusedAnswerIsAResult() async throws {
        try await Self.withPeople(attack: .swappedKey) { directory, alice, bob in
            let honest = try await alice.home.lookup(bob.handle)
            #expect(try honest.result.get().handle == bob.handle)
            try await alice.home.folder.directory.replace(with: directory.lyingProfile.encoded)
            let deceived = try await OpenHome(alice.home.folder, in: AppUser.surroundings).lookup(bob.handle)
            #expect(throws: LookupRefusal.self) { try deceived.result.get() }
        }
    }

    @Test func checkNow_checksTheOwnAccountAtOnce() async throws {
        try await Self.withPeople { _, alice, _ in
            let check = try await alice.home.checkNow()
            #expect(check.report.alarms.isEmpty && check.shownKeys.isEmpty && check.report.handle == alice.handle)
            #expect(try await alice.home.directoryKeyChange() == nil)
        }
    }
}
