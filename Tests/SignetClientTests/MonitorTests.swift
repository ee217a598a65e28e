// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import PinnedHTTP
import ProtocolTesting
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization
import Testing
import TransparencyLog

/// The owner's monitor over a real directory, from day to day.
@Suite struct MonitorTests {
    /// A clock that stands still until it is moved.
    private final class Clock: Sendable {
        private let time: Mutex<UInt64>
        init(secondOfDay: UInt64 = 43_200) { time = Mutex(20_833 * 86_400 + secondOfDay) }
        var now: UInt64 { time.withLock { $0 } }
        func advance(days: UInt64) { advance(seconds: days * 86_400) }
        func advance(seconds: UInt64) { time.withLock { $0 += seconds } }
    }

    private static func account(
        _ name: String, in directory: TestDirectory, at clock: Clock
    ) async throws -> (client: Client<InMemoryStore>, secrets: DeviceSecrets) {
        let secrets = try DeviceSecrets.generate(for: Handle(typed: Array(name.utf8)), withIdentity: true)
        let client = try directory.client(secrets, now: { clock.now })
        _ = try await client.createAccount(secrets)
        return (client, secrets)
    }

    @Test func everyDayIsCheckedOnce_andTheOwnersChangesRaiseNoAlarm() async throws {
        let clock = Clock()
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await Self.account("alice@example.org", in: directory, at: clock)
            #expect(try await alice.isCheckDue())
            let first = try await alice.checkOwnAccount()
            #expect(first.alarms.isEmpty && first.entryCount == 2 && first.milestoneCount == 0)
            #expect(try await !alice.isCheckDue())

            for name in ["bob@example.org", "carol@example.org"] {
                clock.advance(days: 1)
                _ = try await Self.account(name, in: directory, at: clock)
            }
            _ = try await alice.lookup(secrets.handle)
            #expect(try await alice.isCheckDue(), "a day has begun in the log")
            let later = try await alice.checkOwnAccount()
            #expect(later.alarms.isEmpty && later.entryCount == 0)
            #expect(later.milestoneCount >= 1, "the day between")
            #expect(try await !alice.isCheckDue())
        }
    }

    @Test func anotherDevicesChangeRaisesAnAlarmUntilItIsAccepted() async throws {
        try await TestDirectory.run { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            _ = try await alice.checkOwnAccount()
            // Another client with the same identity key, as after a theft.
            let thief = try directory.client(secrets)
            _ = try await thief.lookup(secrets.handle)
            let planted = try DeviceSecrets.generate(for: secrets.handle, withIdentity: false)
            _ = try await thief.addDevice(directory.client(planted).deviceCard(planted), by: secrets)

            let expected = [MonitorAlarm.unknownVersion(2), .unknownDevice(planted.keys.signing)]
            #expect(try await alice.checkOwnAccount().alarms == expected)
            let seen = try await alice.lookup(secrets.handle).verdict
            _ = try await alice.trust(secrets.handle, accepting: seen.stateHash)
            let report = try await alice.checkOwnAccount()
            #expect(report.alarms.isEmpty && report.version == 2)
        }
    }

    @Test func aDeviceThatJoinsAcceptsTheHistoryThatItFinds() async throws {
        try await TestDirectory.run { directory in
            let (alice, secrets) = try await directory.person("alice@example.org")
            let second = try DeviceSecrets.generate(for: secrets.handle, withIdentity: false)
            let joining = try directory.client(second)
            _ = try await alice.addDevice(joining.linkCard(second), by: secrets)
            try await joining.acceptCompared(joining.accountToConfirm())
            let first = try await joining.checkOwnAccount()
            #expect(first.isFirst && first.alarms.isEmpty && first.entryCount == 4)
            _ = try await alice.revokeDevice(2, by: secrets)
            #expect(try await joining.checkOwnAccount().alarms == [.unknownVersion(3)])
        }
    }

    /// An attacker with the server's keys shows an old log as current, with new cosignatures each minute.
    @Test func anOldLogWithNewCosignaturesIsRefusedAfterAnHour() async throws {
        let clock = Clock()
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await Self.account("alice@example.org", in: directory, at: clock)
            clock.advance(seconds: 3_600)
            try await directory.directory.log.republish()
            _ = try await alice.lookup(secrets.handle)
            clock.advance(seconds: 1)
            try await directory.directory.log.republish()
            let refusal = await #expect(throws: ClientError.self) { try await alice.lookup(secrets.handle) }
            guard case .lookup(let found) = refusal else { throw Unexpected() }
            #expect(found.error == .epoch(.behind(seconds: 3_601)))
            // An honest directory ends an epoch, though nothing has happened.
            let size = directory.directory.log.published.head.size
            try await directory.directory.republish()
            _ = try await directory.directory.log.awaitPublished(size: size + 1)
            _ = try await alice.lookup(secrets.handle)
        }
    }

    /// The log's clock stands still, within the hour that it may be behind, so that no day begins in the log.
    @Test func aNewDayOfTheLocalClockMakesACheckDue() async throws {
        let clock = Clock(secondOfDay: 86_400 - 1_800)
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await Self.account("alice@example.org", in: directory, at: clock)
            _ = try await alice.checkOwnAccount()
            #expect(try await !alice.isCheckDue())
            clock.advance(seconds: 1_799)
            #expect(try await !alice.isCheckDue())
            clock.advance(seconds: 1)
            #expect(try await alice.isCheckDue())
            // An answer of the old day, which is still within the hour, changes nothing about it.
            _ = try await alice.lookup(secrets.handle)
            #expect(try await alice.isCheckDue())
            _ = try await alice.checkOwnAccount()
            #expect(try await !alice.isCheckDue())
        }
    }

    @Test func daysBeyondTheLastNinetyRaiseAnAlarm() async throws {
        let clock = Clock()
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await Self.account("alice@example.org", in: directory, at: clock)
            _ = try await alice.checkOwnAccount()
            let first = clock.now / 86_400
            for _ in 0..<95 { try await Self.nextDay(directory, clock) }
            _ = try await alice.lookup(secrets.handle)
            // Of the 94 past days, the 90 latest are shown; the present day is not among them.
            for _ in 0..<2 { #expect(try await alice.checkOwnAccount().alarms == [.unseenDays(first..<(first + 5))]) }
            #expect(try await alice.checkOwnAccount(isAccepting: true).isAccepted)
            #expect(try await alice.checkOwnAccount().alarms.isEmpty)
        }
    }

    // MARK: Keys of others

    /// Bob's keys are used by alice, who looks once more when a day has begun.
    private static func withShownKeys(
        _ body: @Sendable @escaping (Client<InMemoryStore>, TestDirectory, Clock, Handle) async throws -> Void
    ) async throws {
        let clock = Clock()
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await account("alice@example.org", in: directory, at: clock)
            let (_, bob) = try await account("bob@example.org", in: directory, at: clock)
            _ = try await alice.addFriend(bob.handle, by: secrets).pinning.value.get()
            _ = try await alice.checkOwnAccount()
            try await body(alice, directory, clock, bob.handle)
        }
    }

    private static func nextDay(_ directory: TestDirectory, _ clock: Clock) async throws {
        clock.advance(days: 1)
        try await directory.directory.republish()
    }

    @Test func usedKeysAreCheckedAgainAfterTheNextMilestone() async throws {
        try await Self.withShownKeys { alice, directory, clock, bob in
            let origin = try #require(directory.profile.trust.policy.logs.first).name
            #expect(try await alice.store.shownKeys(in: origin).map(\.handle) == [bob])
            _ = try await alice.lookup(bob)
            #expect(try await alice.store.shownKeys(in: origin).count == 1, "the same keys on the same day")
            #expect(try await !alice.isCheckDue())
            #expect(try await alice.checkShownKeys().isEmpty)
            #expect(try await alice.store.shownKeys(in: origin).count == 1, "not before a milestone")
            try await Self.nextDay(directory, clock)
            _ = try await alice.lookup(bob)
            _ = try await alice.checkOwnAccount()
            #expect(try await alice.isCheckDue(), "yesterday's keys are to be checked")
            #expect(try await alice.checkShownKeys().isEmpty)
            #expect(try await alice.store.shownKeys(in: origin).map(\.epoch.day) == [clock.now / 86_400])
            #expect(try await !alice.isCheckDue())
        }
    }

    /// The attack: the operator shows alice a forged key of bob, in the index of one epoch only.
    @Test func keysThatTheDirectoryTookBackRaiseAnAlarmUntilAccepted() async throws {
        let directory = try FlashingDirectory()
        let (alice, bob, carol) = (try await directory.client(), directory.victim.handle, directory.bystander.handle)
        let flashed = try await alice.lookup(bob).verdict
        #expect(flashed.keys != nil && flashed.lookup.state.devices == directory.forged.devices)
        _ = try await alice.lookup(carol)
        #expect(try await alice.checkShownKeys().isEmpty, "not before a milestone")
        // Alice asks for others, and bob sees his own keys.
        try directory.takeBack()
        _ = try await alice.lookup(carol)
        let bobs = try await directory.client().lookup(bob).verdict
        #expect(bobs.keys != nil && bobs.lookup.state.devices == directory.victim.devices)
        for _ in 0..<2 {
            let alarms = try await alice.checkShownKeys()
            #expect(alarms.map(\.shown.handle) == [bob], "carol's keys are still in the index")
            #expect(alarms.map(\.fault) == [.takenBack])
            #expect(alarms.map(\.shown.history) == [flashed.lookup.history])
        }
        #expect(try await alice.checkShownKeys(isAccepting: true).count == 1)
        #expect(try await alice.checkShownKeys().isEmpty)
    }

    /// The server answers lookups, and no request that would show the entries that it logged.
    @Test func anUnfinishedCheckIsReportedAfterADay() async throws {
        let clock = Clock()
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await Self.account("alice@example.org", in: directory, at: clock)
            _ = try await alice.checkOwnAccount()
            let looked = clock.now
            let silent = ScriptedTransport(try NIOTransport(to: directory.profile)) { request, _ in
                request.path == Route.history.path ? .lose(.unreachable) : .pass
            }
            let client = try directory.client(
                secrets, over: silent, remembering: alice.store, now: { clock.now })
            clock.advance(seconds: 86_399)
            await #expect(throws: ClientError.transport(.unreachable)) { try await client.checkOwnAccount() }
            #expect(try await client.uncheckedSince() == nil)
            clock.advance(seconds: 1)
            _ = try await client.lookup(secrets.handle)
            #expect(try await client.uncheckedSince() == looked)
            _ = try await alice.checkOwnAccount()
            #expect(try await client.uncheckedSince() == nil)
        }
    }

    /// One person's history is too long for an answer, for example.
    @Test func aPersonWhoseHistoryIsRefusedDoesNotBlockTheCheckOfOthers() async throws {
        let clock = Clock()
        try await TestDirectory.run(clock: { clock.now }) { directory in
            let (alice, secrets) = try await Self.account("alice@example.org", in: directory, at: clock)
            for name in ["bob@example.org", "carol@example.org", "mallory@example.org"] {
                let (_, friend) = try await Self.account(name, in: directory, at: clock)
                _ = try await alice.addFriend(friend.handle, by: secrets).pinning.value.get()
            }
            _ = try await alice.checkOwnAccount()
            let (origin, shownAt) = (try #require(directory.profile.trust.policy.logs.first).name, clock.now)
            #expect(try await alice.store.shownKeys(in: origin).count == 3)
            try await Self.nextDay(directory, clock)
            let refusal = TransportResponse(
                status: 413, mediaType: "application/json", body: Array(#"{"error":"too_large"}"#.utf8))
            let partial = ScriptedTransport(try NIOTransport(to: directory.profile)) { request, number in
                request.path == Route.history.path && number == 1 ? .answer(refusal) : .pass
            }
            let client = try directory.client(
                secrets, over: partial, remembering: alice.store, now: { clock.now })
            _ = try await client.lookup(secrets.handle)
            await #expect(throws: ClientError.self) { try await client.checkShownKeys() }
            #expect(try await alice.store.shownKeys(in: origin).count == 1, "the two others were checked")
            #expect(try await client.uncheckedShownKeysSince() == nil)
            try await Self.nextDay(directory, clock)
            #expect(try await client.uncheckedShownKeysSince() == shownAt)
            #expect(try await client.checkShownKeys().isEmpty)
            #expect(try await client.uncheckedShownKeysSince() == nil)
        }
    }

    @Test func everyLookupThatReturnsKeysIsRecorded() async throws {
        try await Self.withShownKeys { alice, directory, clock, bob in
            let first = try #require(try await alice.store.lastLook(at: bob))
            #expect(first.epochTime <= clock.now && first.epochTime + 60 > clock.now)
            try await Self.nextDay(directory, clock)
            _ = try await alice.lookup(bob)
            #expect(try await alice.store.lastLook(at: bob)?.epochTime == clock.now)
        }
    }

    private struct Unexpected: Error {}
}
