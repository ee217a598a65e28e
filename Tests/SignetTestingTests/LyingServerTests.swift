// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogEngine
import Logging
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetServer
import SignetTesting
import Testing
import TransparencyLog

@testable import KeyDirectory

/// Every attack of the lying server, over real TLS, at a client that knows the person and has seen the log.
@Suite(.serialized) struct LyingServerTests {
    /// The real log grows between two lookups, even if only by an epoch without entries.
    @Test(arguments: [false, true]) func everyAttackEndsTheLookupAsExpected(afterAnotherEpoch: Bool) async throws {
        try await Town.withTown { town in
            if afterAnotherEpoch {
                let log = town.stored.directory.log
                let size = log.published.head.size
                try log.seal()
                _ = try await log.awaitPublished(size: size + 1)
            }
            for attack in Attack.allCases {
                let lying = try LyingDirectory(town.stored, keysIn: town.data.keys, attack: attack)
                try await town.serving(lying) { profile in
                    let stop = try await town.stop(of: town.alice(profile, copyOfStore: attack.rawValue))
                    #expect(attack.stop.allows(stop), "\(attack.rawValue) was stopped by \(stop)")
                }
            }
        }
    }

    @Test func withoutAnAttackTheSameLookupPasses() async throws {
        try await Town.withTown { town in
            try await town.serving(DirectoryAdapter(town.stored.directory)) { profile in
                let verdict = try await town.alice(profile, copyOfStore: "honest").lookup(town.bob).verdict
                guard case .matched = verdict.outcome else {
                    Issue.record("not a match: \(verdict.outcome)")
                    return
                }
            }
        }
    }

    @Test(arguments: [Attack.hiddenDevice, .flashKey, .wrongStep])
    func theOwnersMonitorReportsChangesThatAFriendsLookupDoesNotShow(_ attack: Attack) async throws {
        try await Town.withTown { town in
            let lying = try LyingDirectory(town.stored, keysIn: town.data.keys, attack: attack)
            try await town.serving(lying) { profile in
                let client = try town.bob(profile, copyOfStore: "watched")
                let report = try await client.checkOwnAccount()
                #expect(try Self.alarms(of: attack).isSubset(of: report.alarms.map(Self.kind)), "\(report.alarms)")
                #expect(report.version == 2, "the old state was logged again, so that lookups pass")
                #expect(try await client.checkOwnAccount().alarms == report.alarms, "an alarm stays until accepted")
                _ = try await client.checkOwnAccount(isAccepting: true)
                #expect(try await client.checkOwnAccount().alarms.isEmpty)
            }
        }
    }

    @Test func theOwnersMonitorRaisesNoAlarmAboutTheOwnersOwnChanges() async throws {
        try await Town.withTown { town in
            try await town.serving(DirectoryAdapter(town.stored.directory)) { profile in
                let client = try town.bob(profile, copyOfStore: "quiet")
                let report = try await client.checkOwnAccount()
                #expect(report.alarms.isEmpty && !report.isFirst)
                #expect(report.entryCount == 4)
                #expect(try await client.checkOwnAccount().entryCount == 0)
                #expect(try await !client.isCheckDue())
            }
        }
    }

    @Test func theOwnersMonitorRaisesTheAlarmAboutAnErasedLabel() async throws {
        try await Town.withTown { town in
            try await town.serving(DirectoryAdapter(town.stored.directory)) { profile in
                _ = try await town.bob(profile, copyOfStore: "erased").checkOwnAccount()
            }
            try FileManager.default.copyItem(
                atPath: town.folder + "/bob-erased.sqlite", toPath: town.folder + "/bob-again.sqlite")
            let lying = try LyingDirectory(town.stored, keysIn: town.data.keys, attack: .erasedLabel)
            try await town.serving(lying) { profile in
                let client = try town.bob(profile, reopening: "again")
                #expect(try await client.checkOwnAccount().alarms == [.vanished])
            }
        }
    }

    private enum Kind: Hashable {
        case device, version, step, other
    }

    private static func alarms(of attack: Attack) throws -> Set<Kind> {
        switch attack {
        case .hiddenDevice: [.device, .step]
        case .flashKey: [.device, .version, .step]
        default: [.version, .step]
        }
    }

    private static func kind(_ alarm: MonitorAlarm) -> Kind {
        switch alarm {
        case .unknownDevice: .device
        case .unknownVersion, .withheldVersion, .reset: .version
        case .wrongStep: .step
        default: .other
        }
    }

    @Test func contradictingLogsAreKeptAsEvidence() async throws {
        try await Town.withTown { town in
            for attack in [Attack.rollback, .splitView, .forkedWitness] {
                let lying = try LyingDirectory(town.stored, keysIn: town.data.keys, attack: attack)
                try await town.serving(lying) { profile in
                    let client = try town.alice(profile, copyOfStore: "evidence-\(attack.rawValue)")
                    let known = try #require(try await client.logView())
                    _ = await town.stop(of: client)
                    let evidence = try await client.store.evidence()
                    #expect(evidence.map(\.known) == [known])
                    #expect(try await client.logView() == known, "the view must not move")
                    // Both notes carry the log's signature.
                    for note in [evidence[0].known.note, evidence[0].received.note] {
                        _ = try profile.trust.policy.verify(SignedNote(decoding: note))
                    }
                }
            }
        }
    }
}

/// How a lookup ended.
enum Outcome: Hashable, CustomStringConvertible {
    case check(LookupCheck)
    case changedKeys
    case transport
    case nothing
    case somethingElse(String)

    var description: String {
        switch self {
        case .check(let check): "check \(check)"
        case .changedKeys: "changed keys"
        case .transport: "the transport"
        case .nothing: "nothing"
        case .somethingElse(let text): String(text.prefix(200))
        }
    }
}

extension Attack.Stop {
    func allows(_ outcome: Outcome) -> Bool {
        switch (self, outcome) {
        case (.check(let expected), .check(let check)): expected == check
        case (.changedKeys, .changedKeys), (.transport, .transport), (.monitor, .nothing): true
        default: false
        }
    }
}

/// A directory on disk in which alice and bob are friends, bob has two devices, and the log has grown since.
struct Town {
    let folder: String
    let data: DataDirectory
    let stored: StoredDirectory
    let alice: Handle
    let bob: Handle
    /// The key of bob's first device.
    let bobKey: [UInt8]

    static func withTown(_ body: (Town) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/signet-town-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let data = DataDirectory(path: folder + "/server")
        let logger = Logger(label: "town") { _ in SwiftLogNoOpLogHandler() }
        let host = try #require(ServerHost("localhost"))
        _ = try await DirectorySetup(
            origin: KeyName(Array("town.example/signet".utf8)), url: "https://localhost:1",
            tls: .own(hosts: [host]), logger: logger
        ).make(data, at: UInt64(Date().timeIntervalSince1970))
        let stored = try await StoredDirectory.open(data, logger: logger)
        let bobKeys = try DeviceSecrets.generate(
            for: Handle(typed: Array("bob@example.org".utf8)), withIdentity: true)
        let town = Town(
            folder: folder, data: data, stored: stored,
            alice: try Handle(typed: Array("alice@example.org".utf8)),
            bob: bobKeys.handle, bobKey: bobKeys.keys.signing)
        try await town.settle(bobKeys)
        try await body(town)
        await stored.directory.close()
    }

    /// Runs a server on a free port while `body` runs, and hands over the profile that leads to it.
    func serving(
        _ directory: any DirectoryAnswering, _ body: (DirectoryProfile) async throws -> Void
    ) async throws {
        var configuration = HTTPSServer.Configuration()
        configuration.port = 0
        configuration.republishInterval = nil
        let server = try HTTPSServer(
            answering: directory, identity: stored.identity, configuration: configuration,
            logger: Logger(label: "town") { _ in SwiftLogNoOpLogHandler() })
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await server.run(stoppingOnSignals: false) { listening.yield($0) } }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let profile = stored.profile
            try await body(
                DirectoryProfile(
                    url: "https://localhost:\(port)", tlsRoot: profile.tlsRoot, pins: profile.pins,
                    trust: profile.trust))
            group.cancelAll()
        }
    }

    /// Alice's client, with a copy of what she remembers.
    func alice(_ profile: DirectoryProfile, copyOfStore name: String) throws -> Client<SQLiteStore> {
        let copy = folder + "/alice-\(name).sqlite"
        try FileManager.default.copyItem(atPath: folder + "/alice.sqlite", toPath: copy)
        return try Client(
            of: profile, over: NIOTransport(to: profile), remembering: SQLiteStore.open(at: copy), owner: nil)
    }

    /// Bob's client, with a copy of what he remembers.
    func bob(_ profile: DirectoryProfile, copyOfStore name: String) throws -> Client<SQLiteStore> {
        let copy = folder + "/bob-\(name).sqlite"
        try FileManager.default.copyItem(atPath: folder + "/bob.sqlite", toPath: copy)
        return try bob(profile, reopening: name)
    }

    /// Bob's client, with what such a copy remembers by now.
    func bob(_ profile: DirectoryProfile, reopening name: String) throws -> Client<SQLiteStore> {
        try Client(
            of: profile, over: NIOTransport(to: profile),
            remembering: SQLiteStore.open(at: folder + "/bob-\(name).sqlite"),
            owner: .init(handle: bob, deviceKey: bobKey))
    }

    /// Looks bob up, and returns what stopped the lookup.
    func stop(of client: Client<SQLiteStore>) async -> Outcome {
        do {
            let verdict = try await client.lookup(bob).verdict
            switch verdict.outcome {
            case .changed: return .changedKeys
            default: return .nothing
            }
        } catch ClientError.lookup(let refusal) {
            return .check(refusal.error.check)
        } catch ClientError.transport {
            return .transport
        } catch { return .somethingElse("\(error)") }
    }

    private func settle(_ bobKeys: DeviceSecrets) async throws {
        try await serving(DirectoryAdapter(stored.directory)) { profile in
            let transport = try NIOTransport(to: profile)
            func client(_ name: String, _ secrets: DeviceSecrets) throws -> Client<SQLiteStore> {
                try Client(
                    of: profile, over: transport,
                    remembering: SQLiteStore.open(at: folder + "/\(name).sqlite"),
                    owner: .init(
                        handle: secrets.handle, deviceKey: secrets.keys.signing, identityKey: secrets.identityKey))
            }
            let aliceKeys = try DeviceSecrets.generate(for: alice, withIdentity: true)
            let phoneKeys = try DeviceSecrets.generate(for: bob, withIdentity: false)
            let aliceClient = try client("alice", aliceKeys)
            let bobClient = try client("bob", bobKeys)
            _ = try await aliceClient.createAccount(aliceKeys)
            _ = try await bobClient.createAccount(bobKeys)
            let card = try await client("phone", phoneKeys).deviceCard(phoneKeys)
            _ = try await bobClient.addDevice(card, by: bobKeys)
            _ = try await aliceClient.addFriend(bob, by: aliceKeys).pinning.value
            // The log grows after bob's entries, and alice sees it.
            let tabletKeys = try DeviceSecrets.generate(for: alice, withIdentity: false)
            let tabletCard = try await client("tablet", tabletKeys).deviceCard(tabletKeys)
            _ = try await aliceClient.addDevice(tabletCard, by: aliceKeys)
            _ = try await aliceClient.lookup(bob)
            try aliceClient.store.close()
            try bobClient.store.close()
        }
    }
}
