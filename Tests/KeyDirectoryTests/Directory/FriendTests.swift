// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DurableStorage
import Foundation
import KeyTransparency
import SQLStores
import SignetAPI
import Testing

@testable import KeyDirectory

@Suite(.everyEngine) struct FriendTests {
    let place: Place
    let directory: Directory
    var alice: Person
    var bob: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org", deviceCount: 2)
        bob = try Person("bob@example.org")
        try await alice.register(at: directory)
        try await bob.register(at: directory)
    }

    private func hashes(_ person: Person) -> [String] {
        person.devices.map { text(Base64.encode(Array(SHA256.hash(data: $0.record.keys.signing)))) }
    }

    private func friends(of person: Person) async throws -> [FriendList.Entry] {
        try await directory.friends(of: person.caller(.listFriends, at: directory)).friends
    }

    private func add(_ other: Person, by person: Person) async throws -> FriendAnswer {
        try await directory.addFriend(other.handle, by: person.caller(at: directory))
    }

    private func accept(_ other: Person, by person: Person) async throws -> FriendAnswer {
        try await directory.acceptFriend(other.handle, by: person.caller(at: directory))
    }

    @Test func aRequestIsOnBothLists() async throws {
        #expect(try await add(bob, by: alice).publicKeyHashs == hashes(bob))
        #expect(try await friends(of: alice) == [.init(handle: "bob@example.org", status: .requested)])
        #expect(try await friends(of: bob) == [.init(handle: "alice@example.org", status: .invited)])
    }

    @Test func anAcceptedRequestIsAFriendship() async throws {
        _ = try await add(bob, by: alice)
        #expect(try await accept(alice, by: bob).publicKeyHashs == hashes(alice))
        #expect(try await friends(of: alice).map(\.status) == [.accepted])
        #expect(try await friends(of: bob).map(\.status) == [.accepted])
    }

    @Test func theListIsPaged_andEachPageBeginsAfterTheOneBefore() async throws {
        for name in ["dora", "carl", "eve"] {
            var person = try Person("\(name)@example.org")
            try await person.register(at: directory)
            _ = try await add(person, by: alice)
        }
        _ = try await add(alice, by: bob)
        let caller = try await alice.caller(.listFriends, at: directory)
        var seen: [[String]] = []
        var last: Handle?
        while true {
            let page = try await directory.friends(of: caller, after: last, count: 2)
            seen.append(page.friends.map(\.handle))
            guard page.more == true else { break }
            last = try Handle(canonical: Array(#require(page.friends.last).handle.utf8))
        }
        #expect(seen == [["bob@example.org", "carl@example.org"], ["dora@example.org", "eve@example.org"]])
        #expect(try await directory.friends(of: caller, after: last, count: 2).more == nil)
        let behind = try Handle(canonical: Array("zoe@example.org".utf8))
        #expect(try await directory.friends(of: caller, after: behind).friends.isEmpty)
    }

    /// The audit table stays bounded when two accounts block and accept each other again and again.
    @Test func theAuditTableKeepsABoundedNumberOfFriendEvents() async throws {
        let events = try await directory.database.write { database in
            for time in 0..<20 as Range<UInt64> {
                let event: AuditEvent = time == 3 ? .updated : .friendAccepted
                try event.record(1, at: time, in: database, keeping: 8)
            }
            return try database.rows("SELECT event FROM audit ORDER BY id").map { try $0.text(0) }
        }
        #expect(events == ["registered", "registered", "updated"] + Array(repeating: "friend-accepted", count: 8))
    }

    @Test func repeatedRequestsAndAcceptancesChangeNoStatus() async throws {
        _ = try await add(bob, by: alice)
        _ = try await add(bob, by: alice)
        #expect(try await friends(of: alice).map(\.status) == [.requested])
        _ = try await accept(alice, by: bob)
        _ = try await accept(alice, by: bob)
        _ = try await accept(bob, by: alice)
        _ = try await add(bob, by: alice)
        _ = try await add(alice, by: bob)
        #expect(try await friends(of: alice).map(\.status) == [.accepted])
        #expect(try await friends(of: bob).count == 1)
    }

    @Test func twoAccountsThatAskEachOtherAreFriends() async throws {
        _ = try await add(bob, by: alice)
        _ = try await add(alice, by: bob)
        #expect(try await friends(of: alice).map(\.status) == [.accepted])
    }

    @Test func accept_refusesWithoutARequestOfTheOther() async throws {
        #expect(try await refusal { try await accept(alice, by: bob) } == .notFound)
        _ = try await add(bob, by: alice)
        #expect(try await refusal { try await accept(bob, by: alice) } == .notFound)
    }

    /// Asks, with this text as what is signed.
    private func ask(_ other: Person, by person: Person, saying text: String) async throws {
        let body = Array(text.utf8)
        let caller = try await person.devices[0].caller(.addFriend, body, at: directory, time: StandingClock.start)
        _ = try await directory.addFriend(other.handle, by: caller, saying: body)
    }

    /// Accepts, with this text as what is signed.
    private func agree(with other: Person, by person: Person, saying text: String) async throws {
        let body = Array(text.utf8)
        let caller = try await person.devices[0].caller(.acceptFriend, body, at: directory, time: StandingClock.start)
        _ = try await directory.acceptFriend(other.handle, by: caller, saying: body)
    }

    /// What the directory shows a person of what the other signed.
    private func kept(of other: Person, to person: Person) async throws -> SignedFriendRequest {
        let caller = try await person.caller(.signedFriendRequest, at: directory)
        return try SignedFriendRequest(
            decoding: await directory.signedFriendRequest(of: other.handle, to: caller))
    }

    /// Each direction keeps its own request, and the last one counts.
    @Test func theLastSignedRequestOfEachSideIsKeptForTheOther() async throws {
        for text in ["one", "two"] {
            try await ask(bob, by: alice, saying: text)
            #expect(try await kept(of: alice, to: bob).body == Array(text.utf8))
        }
        #expect(try await kept(of: alice, to: bob).isSigned(forLog: directory.origin))
        #expect(try await refusal { try await kept(of: bob, to: alice).encoded } == .notFound)
        try await agree(with: alice, by: bob, saying: "yes")
        let agreed = try await kept(of: bob, to: alice)
        #expect(agreed.isAgreement && agreed.body == Array("yes".utf8) && agreed.isSigned(forLog: directory.origin))
        #expect(try await kept(of: alice, to: bob).body == Array("two".utf8))
    }

    /// A client accepts nothing that is not signed: without the request, it would take the directory for dishonest.
    @Test func whoRejectedARequestMayAcceptItLater_asItWasSignedLast() async throws {
        try await ask(bob, by: alice, saying: "one")
        _ = try await directory.blockFriend(alice.handle, by: bob.caller(at: directory))
        #expect(try await kept(of: alice, to: bob).body == Array("one".utf8))
        try await ask(bob, by: alice, saying: "two")
        #expect(try await friends(of: bob).isEmpty)
        #expect(try await kept(of: alice, to: bob).body == Array("two".utf8))
        try await agree(with: alice, by: bob, saying: "yes")
        #expect(try await friends(of: bob).map(\.status) == [.accepted])
        #expect(try await kept(of: bob, to: alice).body == Array("yes".utf8))
    }

    /// An agreement is no request: only a new one can be accepted.
    @Test func afterAnEndedFriendshipOnlyANewRequestOfTheOtherIsShown() async throws {
        try await ask(alice, by: bob, saying: "one")
        try await agree(with: bob, by: alice, saying: "yes")
        _ = try await directory.blockFriend(alice.handle, by: bob.caller(at: directory))
        #expect(try await refusal { try await kept(of: alice, to: bob).encoded } == .notFound)
        try await ask(bob, by: alice, saying: "again")
        #expect(try await kept(of: alice, to: bob).body == Array("again".utf8))
    }

    @Test func addFriend_refusesABodyThatTheCallerDidNotSign() async throws {
        let caller = try await alice.caller(at: directory)
        #expect(
            try await refusal { try await directory.addFriend(bob.handle, by: caller, saying: [1]) } == .badRequest)
        let long = [UInt8](repeating: 1, count: SignedFriendRequest.maximumBodyByteCount + 1)
        let longCaller = try await alice.devices[0].caller(.addFriend, long, at: directory, time: StandingClock.start)
        #expect(
            try await refusal { try await directory.addFriend(bob.handle, by: longCaller, saying: long) } == .badRequest
        )
        #expect(try await friends(of: alice).isEmpty)
    }

    @Test func friendRequestsDoNotFindAnUnknownHandle() async throws {
        let nobody = try Person("nobody@example.org")
        #expect(try await refusal { try await add(nobody, by: alice) } == .notFound)
        #expect(try await refusal { try await accept(nobody, by: alice) } == .notFound)
    }

    @Test func addFriend_refusesTheCallersOwnHandle() async throws {
        #expect(try await refusal { try await add(alice, by: alice) } == .badRequest)
    }

    @Test func addFriend_refusesMoreThanTenThousandRequests() async throws {
        let account = try await alice.caller(at: directory).accountID
        let count = FriendRows.maximumRequestCount
        try await directory.database.write { database in
            for number in 1...count { try database.addPerson(number) }
            try database.run(
                "INSERT INTO friends (requester, invitee, accepted) SELECT ?, id, 0 FROM accounts WHERE id > 1000",
                [account])
        }
        #expect(try await refusal { try await add(bob, by: alice) } == .tooLarge)
    }

    /// The attack: accounts that cost nothing send one person requests until the list is longer than any client takes.
    /// They come from one network, or each from another network of one site, or of one provider.
    @Test(arguments: Crowd.allCases) func aFullListOfRequestsDropsTheOldestOfTheNetworkWithTheMost(
        crowd: Crowd
    ) async throws {
        let account = try await bob.caller(at: directory).accountID
        func ask(_ person: Person, from network: [UInt8]) async throws {
            _ = try await directory.addFriend(bob.handle, by: person.caller(at: directory), from: network)
        }
        try await ask(alice, from: [1])
        let count = FriendRows.maximumWaitingCount
        try await directory.database.write { database in
            for number in 1..<count {
                try database.addPerson(number, named: "mal\(number)@example.org")
                try database.run(
                    "INSERT INTO friends (requester, invitee, accepted, network, asked_at) VALUES (?, ?, 0, ?, ?)",
                    [1000 + number, account, crowd.network(of: number), 1000 + number])
            }
        }
        var last = try Person("carol@example.org")
        try await last.register(at: directory)
        try await ask(last, from: [3])
        let waiting = try await friends(of: bob).map(\.handle)
        #expect(waiting.count == count)
        #expect(waiting.contains("alice@example.org") && waiting.contains("carol@example.org"))
        #expect(!waiting.contains(crowd.first) && waiting.contains("mal2@example.org"))
    }

    @Test func aBlockedAccountIsNotTold_andItsRequestsAreNotShown() async throws {
        func block(_ other: Person, by person: Person) async throws {
            _ = try await directory.blockFriend(other.handle, by: person.caller(at: directory))
        }
        #expect(try await refusal { try await block(alice, by: bob) } == .notFound)
        _ = try await add(bob, by: alice)
        try await block(alice, by: bob)
        _ = try await add(bob, by: alice)
        #expect(try await friends(of: bob).isEmpty)
        #expect(try await friends(of: alice).map(\.status) == [.requested])
        #expect(try await refusal { try await block(alice, by: bob) } == .notFound)
        // The blocking account may change its mind.
        _ = try await add(alice, by: bob)
        #expect(try await friends(of: bob).map(\.status) == [.accepted])
    }

    @Test func friendsAreListedInOrderOfHandle() async throws {
        for name in ["zoe@example.org", "carol@example.org"] {
            var person = try Person(name)
            try await person.register(at: directory)
            _ = try await add(person, by: alice)
        }
        _ = try await add(alice, by: bob)
        #expect(
            try await friends(of: alice).map(\.handle)
                == ["bob@example.org", "carol@example.org", "zoe@example.org"])
    }

    @Test func anErasedAccountHasNoFriends() async throws {
        let caller = try await alice.caller(at: directory)
        _ = try await add(alice, by: bob)
        try await directory.erase(alice.handle)
        #expect(try await friends(of: bob).isEmpty)
        #expect(
            try await refusal { try await directory.addFriend(bob.handle, by: caller) } == .notYourAccount)
        #expect(try await refusal { try await add(alice, by: bob) } == .notFound)
    }
}

/// Where accounts that cost nothing ask from.
enum Crowd: CaseIterable {
    case oneNetwork, oneSite, oneProvider

    func network(of number: Int) -> [UInt8] {
        switch self {
        case .oneNetwork: [2]
        case .oneSite: [6, 0x20, 1, 0, 5, 0, 1, 0] + "\(number)".utf8
        case .oneProvider: [6, 0x20, 1, 0, 5] + String(format: "%03d", number).utf8
        }
    }

    /// Who asked first, in the site that asked the most.
    var first: String { self == .oneProvider ? "mal10@example.org" : "mal1@example.org" }
}

extension SQLTransaction {
    /// Adds an account that nothing else knows of, with a number above a thousand.
    fileprivate func addPerson(_ number: Int, named name: String? = nil) throws {
        try run(
            "INSERT INTO accounts (id, handle, vrf_hash, vrf_proof, label) VALUES (?, ?, ?, ?, ?)",
            [1000 + number, Array((name ?? "\(number)").utf8), [UInt8](), [UInt8](), Array("\(number)".utf8)])
    }
}
