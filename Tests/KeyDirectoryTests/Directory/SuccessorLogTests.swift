// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

/// A log that ends, and its successor with the same accounts.
@Suite struct SuccessorLogTests {
    let place: Place
    let next: Place

    init() throws {
        place = try Place(on: .sqlite)
        next = try Place(Place.keys(seed: 5, vrf: 9, origin: "directory.example/next"), on: .sqlite)
    }

    /// The record that names the successor.
    private func record() throws -> SuccessionRecord {
        let trust = try next.verifier().trust
        return SuccessionRecord(kind: .log, number: 1, vrfKey: trust.vrfKey, policy: trust.policy)
    }

    private func makeSuccessor() async throws {
        try await Directory.create(at: next.path, keys: next.keys, clock: next.time, logger: Place.silent)
    }

    @Test func handOver_bringsTheNewestStateOfEachAccount_andTheNewLogNamesTheOldOnesEnd() async throws {
        let old = try await place.create()
        var alice = try Person("alice@example.org", deviceCount: 2)
        var bob = try Person("bob@example.org")
        var carol = try Person("carol@example.org")
        try await alice.register(at: old)
        try await bob.register(at: old)
        try await carol.register(at: old)
        let added = try alice.newDevice()
        try await alice.change(to: [alice.devices[0], added], at: old)
        let asking = try await alice.devices[0].caller(.addFriend, [7], at: old, time: StandingClock.start)
        _ = try await old.addFriend(bob.handle, by: asking, saying: [7])
        _ = try await old.addFriend(carol.handle, by: alice.caller(at: old))
        try await old.erase(carol.handle)
        try await makeSuccessor()
        #expect(
            try await refusal { try await old.handOver(to: next.path, next.keys) } == .versionConflict,
            "before the end")

        let link = try await old.succeed(record())
        let end = old.log.published.head
        place.clock.advance(3 * 86_400)
        try await old.republish()
        #expect(old.log.published.head == end, "not even a new day makes it longer")
        let late = try await bob.submission(devices: bob.devices + [bob.newDevice()], at: old)
        #expect(try await refusal { try await bob.send(late, to: old, time: place.clock.now) } != nil)
        #expect(
            try await refusal { try await old.handOver(to: next.path, place.keys) } == .versionConflict, "of others")
        for _ in 0..<2 { try await old.handOver(to: next.path, next.keys) }
        await old.close()

        let successor = try await next.open()
        #expect(try await successor.log.entry(at: 0) == PredecessorRecord(note: link.note).entry)
        #expect(try successor.succession()?.links == [link])
        let found = try await next.verifiedLookup(alice.handle, at: successor)
        #expect(found.state == alice.state && found.state.version == 2)
        #expect(
            try await next.verifiedLookup(bob.handle, at: successor).state == bob.state, "and not what came too late")
        #expect(try await successor.friends(of: alice.caller(at: successor)).friends.map(\.status) == [.requested])
        let signed = try await SignedFriendRequest(
            decoding: successor.signedFriendRequest(of: alice.handle, to: bob.caller(at: successor)))
        #expect(signed.isSigned(forLog: old.origin), "what was signed for the old log is handed on")

        carol.state = nil
        try await carol.register(at: successor)
        #expect(try await refusal { try await alice.change(to: [added.renumbered(2)], at: successor) } == .badRequest)
        try await alice.change(to: [alice.devices[0]], at: successor)
        #expect(try await next.verifiedLookup(alice.handle, at: successor).state.version == 3)
        await successor.close()

        let again = try await next.open()
        #expect(try await next.verifiedLookup(alice.handle, at: again).state == alice.state)
        let later = SuccessionRecord(
            kind: .keys, number: 2, vrfKey: next.keys.vrf.publicKey, policy: try next.verifier().trust.policy)
        #expect(try await again.succeed(later).record == later, "the numbers go on")
        await again.close()
    }

    /// What an operator has decided does not end with the log.
    @Test func handOver_bringsSuspensionsTheTrailAndInvitations() async throws {
        let old = try await place.create()
        var (alice, bob) = (try Person("alice@example.org"), try Person("bob@example.org"))
        try await alice.register(at: old)
        try await bob.register(at: old)
        try await old.suspend(bob.handle, by: Administrator(userID: 1000, userName: "carol", claim: "dan"))
        let invitation = try #require(Invitation(code: [UInt8](repeating: 7, count: 16)))
        let guest = try Handle(canonical: Array("guest@example.org".utf8))
        try await old.invite(guest, with: invitation)
        let trail = try await old.events(of: bob.handle)
        #expect(trail.map(\.name) == ["suspended", "registered"])
        try await makeSuccessor()
        _ = try await old.succeed(record())
        for _ in 0..<2 { try await old.handOver(to: next.path, next.keys) }
        let suspendedAt = try await old.account(bob.handle).suspendedAt
        await old.close()

        let successor = try await next.open()
        #expect(try await successor.account(bob.handle).suspendedAt == suspendedAt)
        #expect(suspendedAt != nil)
        #expect(try await successor.account(alice.handle).suspendedAt == nil)
        #expect(try await successor.events(of: bob.handle) == trail)
        let suspended = bob
        #expect(
            try await refusal { _ = try await successor.friends(of: suspended.caller(at: successor)) } == .suspended)
        await successor.close()
    }

    @Test func handOver_leavesAReleasedHandleFree() async throws {
        let old = try await place.create()
        var (squatter, alice) = (try Person("ceo@example.org"), try Person("alice@example.org"))
        try await squatter.register(at: old)
        try await alice.register(at: old)
        let invitation = try #require(Invitation(code: [UInt8](repeating: 7, count: 16)))
        _ = try await old.release(squatter.handle, to: invitation)
        try await makeSuccessor()
        _ = try await old.succeed(record())
        try await old.handOver(to: next.path, next.keys)
        await old.close()
        let successor = try await next.open()
        #expect(try await next.verifiedLookup(alice.handle, at: successor).state == alice.state)
        guard case .absent = try await next.verifiedAnswer(about: squatter.handle, at: successor) else {
            Issue.record("the released account came along")
            return
        }
        var owner = try Person("ceo@example.org")
        try await owner.register(at: successor)
        await successor.close()
    }

    @Test func handOver_sharesEpochsAmongAccounts() async throws {
        let old = try await place.create()
        for number in 0..<40 {
            var person = try Person("person\(number)@example.org")
            try await person.register(at: old)
        }
        try await makeSuccessor()
        _ = try await old.succeed(record())
        try await old.handOver(to: next.path, next.keys)
        await old.close()
        // However slow the machine is: what comes within a second shares an epoch.
        let successor = try await next.open(epochInterval: .seconds(1))
        // First entry and its epoch, two entries for each person, and an epoch for several of them.
        #expect(successor.log.published.head.size < 2 + 80 + 40)
        await successor.close()
    }

    /// The opponent takes over an older copy, and shows the true end of the log.
    @Test func aSuccessorThatDropsADeviceContradictsThePin() async throws {
        let old = try await place.create()
        var alice = try Person("alice@example.org")
        try await alice.register(at: old)
        await old.close()
        let stale = try Place(place.keys, on: .sqlite)
        try FileManager.default.copyItem(atPath: place.path, toPath: stale.path)

        let honest = try await place.open()
        let added = try alice.newDevice()
        try await alice.change(to: alice.devices + [added], at: honest)
        let seen = try await place.verifiedLookup(alice.handle, at: honest)
        let pinned = PinnedPeer(seen, at: 1).extended(to: LabelHead(.empty))
        let link = try await honest.succeed(record())
        await honest.close()

        let copy = try await stale.open()
        _ = try await copy.succeed(record())
        try await makeSuccessor()
        try await copy.handOver(to: next.path, next.keys)
        await copy.close()
        try SuccessionFile(path: DirectoryPaths(root: next.path).succession).write(SuccessionChain(links: [link]))
        let successor = try await next.open()
        let found = try await next.verifiedLookup(alice.handle, at: successor)
        #expect(
            PeerTrustDecision(found, comparedWith: pinned)
                == .contradiction(.olderVersion(pinned: 2, received: 1)))
        await successor.close()
    }
}
