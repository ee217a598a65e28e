// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SQLStores
import SignetAPI
import Testing

@testable import KeyDirectory

@Suite(.everyEngine) struct AdministrationTests {
    let place: Place
    let directory: Directory
    var alice: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org", deviceCount: 2)
        try await alice.register(at: directory)
    }

    private func register(_ name: String) async throws -> Person {
        var person = try Person(name)
        try await person.register(at: directory)
        return person
    }

    @Test func pagesHaveEveryAccountOnce_inTheOrderOfTheirHandles() async throws {
        for name in ["zoe", "bob", "b.b", "bo"] { _ = try await register("\(name)@example.org") }
        var (found, last): ([String], Handle?) = ([], nil)
        while true {
            let page = try await directory.accounts(after: last, count: 2)
            found += page.accounts.map(\.handle.description)
            last = page.next
            if last == nil { break }
        }
        #expect(
            found == ["alice@example.org", "b.b@example.org", "bo@example.org", "bob@example.org", "zoe@example.org"])
    }

    private func execute(_ sql: String, _ arguments: SQLArguments) throws {
        try directory.database.rows.writeNow { _ = try $0.run(sql, arguments) }
    }

    @Test(arguments: [
        "UPDATE accounts SET vrf_hash = vrf_proof WHERE handle = ?",
        "UPDATE states SET version = -1 WHERE account = (SELECT id FROM accounts WHERE handle = ?)",
    ])
    func aDamagedAccountIsNamed_andTheOthersAreShown(_ damage: String) async throws {
        for name in ["bob", "carol", "dan"] { _ = try await register("\(name)@example.org") }
        for name in ["bob", "dan"] { try execute(damage, [Array("\(name)@example.org".utf8)]) }
        let first = try await directory.accounts(count: 2)
        #expect(first.accounts.map(\.handle.description) == ["alice@example.org"])
        #expect(first.damaged == ["bob@example.org"])
        let second = try await directory.accounts(after: first.next, count: 2)
        #expect(second.accounts.map(\.handle.description) == ["carol@example.org"])
        #expect(second.damaged == ["dan@example.org"])
        #expect(try await directory.accounts(after: second.next, count: 2).next == nil)
    }

    /// Where the next page begins is a handle, and so is never what is damaged.
    @Test func aHandleThatIsNoneEndsNoPage() async throws {
        for name in ["bob", "carol"] { _ = try await register("\(name)@example.org") }
        try execute(
            "UPDATE accounts SET handle = ? WHERE handle = ?",
            [Array("b\u{1}".utf8), Array("bob@example.org".utf8)])
        let first = try await directory.accounts(count: 2)
        #expect(first.accounts.map(\.handle.description) == ["alice@example.org", "carol@example.org"])
        #expect(first.damaged == ["b\u{1}"])
        #expect(first.next?.description == "carol@example.org")
        #expect(try await directory.accounts(after: first.next, count: 2).next == nil)
    }

    @Test func theEventsOfAnErasedAccountStay() async throws {
        let bob = try await register("bob@example.org")
        try await directory.suspend(alice.handle)
        try await directory.erase(alice.handle)
        #expect(try await directory.events(of: alice.handle).map(\.name) == ["erased", "suspended", "registered"])
        #expect(try await directory.events(of: bob.handle).map(\.name) == ["registered"])
    }

    @Test mutating func aSummaryCountsActiveDevicesAndPeople() async throws {
        let bob = try await register("bob@example.org")
        _ = try await directory.addFriend(bob.handle, by: alice.caller(at: directory))
        place.clock.advance(100)
        try await alice.change(to: [alice.devices[0]], at: directory, time: place.clock.now)
        let summary = try await directory.account(alice.handle)
        #expect(summary.version == 2)
        #expect(summary.deviceCount == 1)
        #expect(summary.contactCount == 1)
        #expect(summary.registeredAt == StandingClock.start)
        #expect(summary.changedAt == StandingClock.start + 100)
        #expect(summary.suspendedAt == nil)
    }

    @Test func anUnknownAccountIsNotFound() async throws {
        let handle = try Handle(typed: Array("carol@example.org".utf8))
        #expect(try await refusal { try await directory.account(handle) } == .notFound)
        #expect(try await refusal { try await directory.suspend(handle) } == .notFound)
        #expect(try await refusal { try await directory.resume(handle) } == .notFound)
        #expect(try await refusal { try await directory.events(of: handle) } == .notFound)
    }

    @Test func aSuspendedAccountIsRefused_untilItIsResumed() async throws {
        try await directory.suspend(alice.handle)
        #expect(try await refusal { try await alice.caller(at: directory) } == .suspended)
        #expect(try await directory.account(alice.handle).suspendedAt == StandingClock.start)
        try await directory.resume(alice.handle)
        _ = try await alice.caller(at: directory)
        #expect(try await directory.account(alice.handle).suspendedAt == nil)
    }

    /// A refused request is the same request later.
    @Test func aSuspendedAccountUsesUpNoNonce() async throws {
        let (signature, content) = try alice.devices[0].sign(.listFriends, [], at: directory, time: place.clock.now)
        try await directory.suspend(alice.handle)
        #expect(try await refusal { try await directory.authenticate(signature, content) } == .suspended)
        try await directory.resume(alice.handle)
        _ = try await directory.authenticate(signature, content)
    }

    @Test mutating func aSuspendedAccountStillRevokesADevice_andIsLookedUp() async throws {
        try await directory.suspend(alice.handle)
        let submission = try await alice.submission(devices: [alice.devices[0]], at: directory)
        let (signature, content) = try alice.devices[0].sign(
            .updateState, submission.encoded, at: directory, time: place.clock.now)
        let signer = try await directory.signer(of: signature, content)
        let caller = try directory.admit(signer, protectsAccount: true)
        _ = try await directory.update(submission, by: caller)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state.devices.count == 1)
    }

    @Test func theDevicesOfASuspendedAccountTakeNoSignals() async throws {
        let key = alice.devices[0].record.keys.signing
        #expect(try await directory.isDevice(key))
        try await directory.suspend(alice.handle)
        #expect(try await !directory.isDevice(key))
    }

    @Test func aSuspensionOutlastsTheProcess() async throws {
        try await directory.suspend(alice.handle)
        await directory.close()
        let again = try await place.open()
        #expect(try await refusal { try await alice.caller(at: again) } == .suspended)
        await again.close()
    }

    @Test func theAuditTrailHasEveryDecisionOnce() async throws {
        place.clock.advance(10)
        try await directory.suspend(alice.handle)
        place.clock.advance(10)
        try await directory.suspend(alice.handle)
        try await directory.resume(alice.handle)
        try await directory.resume(alice.handle)
        let start = StandingClock.start
        #expect(
            try await directory.events(of: alice.handle) == [
                AuditedEvent(time: start + 20, name: "resumed"), AuditedEvent(time: start + 10, name: "suspended"),
                AuditedEvent(time: start, name: "registered"),
            ])
        #expect(try await directory.account(alice.handle).suspendedAt == nil)
    }

    private static let root = Administrator(userID: 0, userName: "root", claim: "carol")

    @Test func theAuditTrailSaysWhoDecidedAndHowMuch() async throws {
        let root = Self.root
        try await directory.suspend(alice.handle, by: root)
        try await directory.resume(alice.handle, by: Administrator(userID: 1000))
        try await directory.recordQuota(from: nil, to: 5_000_000, of: alice.handle, by: root)
        try await directory.recordQuota(from: 5_000_000, to: nil, of: alice.handle, by: root)
        try await directory.erase(alice.handle, by: root)
        let events = try await directory.events(of: alice.handle)
        #expect(
            events.map(\.name) == ["erased", "quota-removed", "quota-set", "resumed", "suspended", "registered"])
        #expect(events.map(\.administrator) == [root, root, root, Administrator(userID: 1000), root, nil])
        #expect(events.map(\.quotaBefore) == [nil, 5_000_000, nil, nil, nil, nil])
        #expect(events.map(\.quotaAfter) == [nil, nil, 5_000_000, nil, nil, nil])
    }

    /// Lines as a program wrote them that knew no more than time, event and account.
    @Test func aLineOfAnOlderProgramNamesNobody() async throws {
        try execute("INSERT INTO audit (time, event, account) VALUES (?, ?, 1)", [Int64(7), "quota-set"])
        #expect(try await directory.events(of: alice.handle).first == AuditedEvent(time: 7, name: "quota-set"))
    }

    @Test func whatIsSaidOfAnAdministratorCanBePrinted() {
        let strange = Administrator(
            userID: 1, userName: "", claim: "eve\u{1B}[2J é" + String(repeating: "x", count: 99))
        #expect(strange.userName == nil)
        #expect(strange.claim == "eve?[2J??" + String(repeating: "x", count: 55))
    }

    @Test func aSecondSuspensionKeepsTheTimeOfTheFirst() async throws {
        try await directory.suspend(alice.handle)
        place.clock.advance(10)
        try await directory.suspend(alice.handle)
        #expect(try await directory.account(alice.handle).suspendedAt == StandingClock.start)
    }
}
