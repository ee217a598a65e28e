// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization
import Testing
import TransparencyLog
import VRF

/// After a handover, the histories that the old log showed must agree with its end and with the new log's beginning.
@Suite struct FormerLogTests {
    private static let bob = "bob@example.org"

    /// The successor's directory, asked without sockets.
    private final class Successor: HTTPTransport {
        let directory: Directory
        private let logs: FormerLogs
        /// Whether it shows the last histories of the old log.
        let showsPast = Mutex(true)
        /// The paths of requests that are not answered.
        let silent = Mutex<Set<String>>([])

        init(_ directory: Directory) {
            self.directory = directory
            logs = FormerLogs(of: directory)
        }

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            guard !silent.withLock({ $0.contains(request.path) }) else { throw .unreachable }
            do {
                guard let body = try await body(request) else { return Self.notFound }
                return TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: body)
            } catch { return Self.notFound }
        }

        private static let notFound = TransportResponse(
            status: 404, mediaType: "application/json", body: Array(#"{"error":"not_found"}"#.utf8))

        private func body(_ request: TransportRequest) async throws -> [UInt8]? {
            switch request.path {
            case Route.lookup.path: return try await directory.lookup(LookupRequest(decoding: request.body)).encoded
            case Route.history.path: return try await directory.history(HistoryRequest(decoding: request.body)).encoded
            case Route.milestones.path:
                return try await directory.milestones(MilestonesRequest(decoding: request.body)).encoded
            case Route.succession.path: return try directory.succession()?.encoded
            case FormerRoute.former.path:
                let question = try FormerRequest(decoding: request.body)
                guard question.handle == nil || showsPast.withLock({ $0 }) else { return nil }
                return try await logs.answer(question).encoded
            default: return try await file(request.path)
            }
        }

        private func file(_ path: String) async throws -> [UInt8]? {
            let size = directory.log.published.head.size
            if path == Route.logPrefix + "/checkpoint" { return directory.log.published.bytes }
            for tile in Tile.added(from: 0, to: size)
            where path == Route.logPrefix + "/" + String(decoding: tile.path, as: UTF8.self) {
                switch tile.content {
                case .hashes(let level):
                    return try directory.log.tile(level: level, index: tile.index, width: tile.width)
                case .entries: return try await directory.log.entryBundle(index: tile.index, width: tile.width)
                }
            }
            return nil
        }
    }

    private static func policy(of keys: DirectoryKeys) throws -> Policy {
        let name = try #require(Policy.Name(Array("clock".utf8)))
        return try Policy(
            logs: [.init(key: keys.log.verifierKey)],
            witnesses: keys.cosigners.map { .init(name: name, key: $0.verifierKey) }, groups: [], quorum: .member(name))
    }

    /// Alice, who knows bob, at the moment when the directory has handed over.
    private struct Scene {
        let old: TestDirectory
        let successor: Successor
        let store: InMemoryStore
        let alice: DeviceSecrets

        /// The log that ended.
        var origin: KeyName {
            get throws { try #require(old.profile.trust.policy.logs.first).name }
        }

        /// The keys of bob that it showed her and that she has not checked again.
        func shown() async throws -> [ShownKeys] { try await store.shownKeys(in: origin) }

        /// Records that it showed her bob's keys with another history, as in a flash attack.
        func showFlash(_ entry: String = "flash", at time: UInt64 = Surroundings.system.now()) async throws -> ShownKeys
        {
            let history = LabelHead(TreeHead(size: 3, root: .leaf(Array(entry.utf8))))
            let keys = ShownKeys(
                handle: try FormerLogTests.handle(), history: history, epoch: MilestoneMark(index: 2, day: 2),
                shownAt: time, response: Array(entry.utf8))
            try await store.keep(keys, in: origin)
            return keys
        }

        /// Her client under the old trust, which asks the successor.
        func before() throws -> Client<InMemoryStore> { try client(old.profile) }

        private func client(_ profile: DirectoryProfile) throws -> Client<InMemoryStore> {
            try Client(
                of: profile, over: successor, remembering: store,
                owner: .init(
                    handle: alice.handle, deviceKey: alice.keys.signing, identityKey: alice.identityKey))
        }

        /// Her client once she has followed the handover.
        func after() async throws -> Client<InMemoryStore> {
            let succession = try #require(try await before().succession())
            try await before().remember(succession)
            await store.moveToLog(from: try #require(old.profile.trust.policy.logs.first?.name))
            return try client(old.profile.following(succession))
        }
    }

    /// - Parameter meddling: runs before the old log ends, and after alice has checked her account.
    private func withScene(
        meddling: @escaping @Sendable (TestDirectory, DeviceSecrets) async throws -> Void = { _, _ in },
        _ body: @escaping @Sendable (Scene) async throws -> Void
    ) async throws {
        try await TestDirectory.run { old in
            let store = InMemoryStore()
            _ = try await old.person(Self.bob)
            let (client, alice) = try await old.person("alice@example.org", remembering: store)
            let bob = try Handle(typed: Array(Self.bob.utf8))
            try await store.remember(Person(handle: bob, since: 1))
            _ = try await client.lookup(bob).verdict
            _ = try await client.checkOwnAccount()
            try await meddling(old, alice)
            try await withTemporaryFolder { folder in
                let keys = try DirectoryKeys.successor()
                let path = folder + "/successor"
                let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                try await Directory.create(at: path, keys: keys, clock: Surroundings.system.now, logger: quiet)
                _ = try await old.directory.succeed(
                    SuccessionRecord(kind: .log, number: 1, vrfKey: keys.vrf.publicKey, policy: Self.policy(of: keys)))
                try await old.directory.handOver(to: path, keys)
                let successor = try await Directory.open(
                    at: path, keys: keys, clock: Surroundings.system.now, logger: quiet)
                try await body(Scene(old: old, successor: Successor(successor), store: store, alice: alice))
                await successor.close()
            }
        }
    }

    private static func handle() throws -> Handle { try Handle(typed: Array(bob.utf8)) }

    @Test func aKnownPersonIsComparedOnceAndPinnedInTheNewLog() async throws {
        try await withScene { scene in
            let client = try await scene.after()
            let bob = try Self.handle()
            #expect(try await scene.store.formerHistory(of: bob)?.history.count == 2)
            guard case .matched = try await client.lookup(bob).verdict.outcome else { throw Unexpected("no match") }
            #expect(try await scene.store.formerHistory(of: bob) == nil)
            #expect(try await scene.store.pinnedPeer(bob)?.history.count == 2, "the new log's, from its beginning")
            #expect(try await scene.shown().isEmpty, "the keys that the old log showed are in its end")
            scene.successor.showsPast.withLock { $0 = false }
            _ = try await client.lookup(bob).verdict
            let end = try #require(try await scene.store.formerLogs().first?.end)
            let view = try await scene.store.logView(origin: end.checkpoint.origin.bytes)
            #expect(view?.head == end.checkpoint.head, "the old log's growth was proved to its end")
        }
    }

    // MARK: Keys that were shown

    /// The attack: the old log showed alice other keys of bob for a moment, which she used, and handed over before the next milestone.
    @Test(arguments: [false, true]) func keysMissingFromTheOldLogsEndRaiseAnAlarmUntilAccepted(
        looksUpFirst: Bool
    ) async throws {
        try await withScene { scene in
            let flash = try await scene.showFlash()
            #expect(try await scene.shown().count == 2)
            let client = try await scene.after()
            if looksUpFirst { _ = try await client.lookup(Self.handle()) }
            for _ in 0..<2 {
                let alarms = try await client.checkShownKeys()
                #expect(alarms.map(\.shown) == [flash] && alarms.map(\.fault) == [.takenBack])
                #expect(
                    try await scene.shown() == [flash], "the others are in the log's end; the signed answer is kept")
            }
            #expect(try await client.checkShownKeys(isAccepting: true).count == 1)
            #expect(try await client.checkShownKeys().isEmpty)
            #expect(try await scene.shown().isEmpty)
        }
    }

    /// The attack: the operator answers every request except that for the end of bob's history.
    @Test func keysOfALogWhoseEndIsWithheldRaiseAnAlarm() async throws {
        try await withScene { scene in
            for number in 0..<40 { _ = try await scene.showFlash("\(number)") }
            let client = try await scene.after()
            scene.successor.showsPast.withLock { $0 = false }
            let alarms = try await client.checkShownKeys()
            #expect(alarms.count == 32, "no more in one go")
            #expect(alarms.allSatisfy { $0.fault == .withheld })
            #expect(try await scene.shown().count == 41)
            scene.successor.showsPast.withLock { $0 = true }
            let found = try await client.checkShownKeys(isAccepting: true) + client.checkShownKeys(isAccepting: true)
            #expect(found.count == 40 && found.allSatisfy { $0.fault == .takenBack })
        }
    }

    @Test func keysThatAreUncheckedBecauseTheServerIsSilentAreReported() async throws {
        try await withScene { scene in
            let long = Surroundings.system.now() - 2 * 86_400
            let flash = try await scene.showFlash(at: long)
            let client = try await scene.after()
            _ = scene.successor.silent.withLock { $0.insert(FormerRoute.former.path) }
            await #expect(throws: ClientError.transport(.unreachable)) { _ = try await client.checkShownKeys() }
            #expect(try await client.uncheckedShownKeysSince() == long)
            scene.successor.silent.withLock { $0 = [] }
            #expect(try await client.checkShownKeys(isAccepting: true).map(\.shown) == [flash])
            #expect(try await client.uncheckedShownKeysSince() == nil)
        }
    }

    /// Alice has learned of the handover, and has not agreed to it.
    @Test func keysOfALogThatIsStillTrustedWaitForItsMilestone() async throws {
        try await withScene { scene in
            _ = try await scene.after()
            #expect(try await scene.store.formerLogs().count == 1)
            #expect(try await scene.shown().count == 1)
            #expect(try await scene.before().checkShownKeys().isEmpty)
            #expect(try await scene.shown().count == 1)
        }
    }

    @Test func aWithheldHistoryOfTheOldLogIsRefused() async throws {
        try await withScene { scene in
            let client = try await scene.after()
            scene.successor.showsPast.withLock { $0 = false }
            let bob = try Self.handle()
            await #expect(throws: ClientError.former(bob, .withheld)) { _ = try await client.lookup(bob) }
            #expect(try await scene.store.formerHistory(of: bob) != nil, "asked again the next time")
        }
    }

    /// The attack: the directory withholds the old log's history, to give steps in the new log any date.
    @Test func theOldLogsLastTimeIsKnownWhenItsHistoryIsWithheld() async throws {
        try await withScene { scene in
            let client = try await scene.after()
            let bob = try Self.handle()
            let shown = try await client.formerHistories(of: bob)
            #expect(shown.histories.count == 1 && shown.end == nil)
            scene.successor.showsPast.withLock { $0 = false }
            let end = try #require(try await scene.store.formerLogs().first?.end.quorumTime)
            let withheld = try await client.formerHistories(of: bob)
            #expect(withheld.histories.isEmpty && withheld.end == end)
            // The same holds for a person whom that log did not have.
            scene.successor.showsPast.withLock { $0 = true }
            let nobody = try await client.formerHistories(of: Handle(typed: Array("nobody@example.org".utf8)))
            #expect(nobody.histories.isEmpty && nobody.end == end)
        }
    }

    /// The attack: bob had another key for one epoch, which alice saw; then the index was corrected and the log was
    /// ended.
    @Test func aKeyThatTheOldLogTookBackIsReportedAsRewritten() async throws {
        try await withScene { scene in
            let bob = try Self.handle()
            let pinned = try #require(try await scene.store.pinnedPeer(bob))
            let seen = LabelHead(TreeHead(size: 3, root: .leaf(Array("flash".utf8))))
            #expect(try await scene.store.pin(Self.peer(pinned, seen), replacing: pinned))
            let client = try await scene.after()
            await #expect(throws: ClientError.former(bob, .refused(.rewritten(known: 3, received: 2)))) {
                _ = try await client.lookup(bob)
            }
        }
    }

    private static func peer(_ peer: PinnedPeer, _ history: LabelHead) -> PinnedPeer {
        PinnedPeer(
            uncheckedHandle: peer.handle, identityKey: peer.identityKey, version: peer.version,
            stateHash: peer.stateHash, devices: peer.devices, history: history, pinnedAt: peer.pinnedAt)
    }

    @Test func theOwnersMonitorCompletesTheOldLogAndContinues() async throws {
        try await withScene { scene in
            let client = try await scene.after()
            #expect(try await scene.store.formerWatch() != nil)
            #expect(try await client.checkOwnAccount().alarms == [])
            #expect(try await scene.store.formerWatch() == nil)
            #expect(try await client.checkOwnAccount().alarms == [])
        }
    }

    @Test func checkOwnAccount_failsWhenTheOldLogsHistoryIsWithheld() async throws {
        try await withScene { scene in
            let client = try await scene.after()
            scene.successor.showsPast.withLock { $0 = false }
            await #expect(throws: ClientError.former(scene.alice.handle, .withheld)) {
                _ = try await client.checkOwnAccount()
            }
        }
    }

    /// The attack: the directory makes the check of its new log fail once, so that the owner accepts the alarms twice.
    @Test func aFailedCheckAcceptsNoAlarm() async throws {
        try await withScene { old, alice in
            let planted = try DeviceSecrets.generate(for: alice.handle, withIdentity: false)
            let thief = try old.client(alice)
            _ = try await thief.lookup(alice.handle)
            _ = try await thief.addDevice(old.client(planted).deviceCard(planted), by: alice)
        } _: { scene in
            let client = try await scene.after()
            let found = try await client.checkOwnAccount()
            #expect(found.alarms.first == .unknownVersion(2) && found.openAlarms == found.alarms)
            _ = scene.successor.silent.withLock { $0.insert(Route.history.path) }
            await #expect(throws: ClientError.transport(.unreachable)) {
                _ = try await client.checkOwnAccount(isAccepting: true)
            }
            #expect(try await client.checkOwnAccount().alarms == found.alarms, "nothing was accepted")
            scene.successor.silent.withLock { $0 = [] }
            let accepted = try await client.checkOwnAccount(isAccepting: true)
            #expect(accepted.acceptedFormer == found.alarms && accepted.alarms.isEmpty && !accepted.isAccepted)
            #expect(try await client.checkOwnAccount().alarms.isEmpty)
        }
    }

    @Test func anErasedPersonsOldHistoryIsErasedToo() async throws {
        try await withScene { scene in
            let logs = FormerLogs(of: scene.successor.directory)
            let bob = try Self.handle()
            let origin = try #require(scene.old.profile.trust.policy.logs.first?.name)
            #expect(try await !logs.answer(FormerRequest(origin: origin, handle: bob)).history.isEmpty)
            try await scene.successor.directory.erase(bob)
            await #expect(throws: DirectoryError.refused(.notFound)) {
                _ = try await logs.answer(FormerRequest(origin: origin, handle: bob))
            }
        }
    }
}
