// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import DeviceIdentity
import DurableStorage
import EngineLab
import Foundation
import HTTPTypes
import KeyDirectory
import KeyTransparency
import Logging
import PinnedHTTP
import RecoveryStore
import SQLStores
import SignetAPI
import SignetClient
import SignetTesting
import SocialRecovery
import Synchronization
import Testing
import TransparencyLog
import VRF

@testable import RecoveryClient
@testable import SignetServer

/// A clock that stands still until a test moves it.
final class StandingClock: Sendable {
    private let time = Mutex<UInt64>(1_800_000_000)
    var now: UInt64 { time.withLock { $0 } }
    func advance(_ seconds: UInt64) { time.withLock { $0 += seconds } }
}

/// A flag that a test sets.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// By how much a device's clock is ahead of the village's, in seconds.
final class Lead: Sendable {
    private let state = Mutex<UInt64>(0)
    var seconds: UInt64 {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// A directory with its mailbox, without sockets, at a time that the test decides.
final class Village: Sendable {
    let folder: String
    let clock: StandingClock
    let directory: Directory
    let mailbox: MailboxStore
    /// Whether the mailbox's disk has no more room than the directory needs.
    let isFull = Flag()
    /// Whether every answer of a guardian is refused, as when that guardian has left too many.
    let refusesAnswers = Flag()
    let profile: DirectoryProfile
    private let answering: RequestAnswering

    init() async throws {
        let clock = StandingClock()
        self.clock = clock
        folder = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let name = try KeyName(Array("directory.example/log".utf8))
        let keys = DirectoryKeys(
            log: try NoteSigner(name: name, algorithm: .ed25519, seed: Array(repeating: 1, count: 32)),
            cosigners: [
                try NoteSigner(
                    name: DirectoryKeys.clockName(of: name), algorithm: .cosignatureV1,
                    seed: Array(repeating: 2, count: 32))
            ], vrf: try VRFPrivateKey([7] + [UInt8](repeating: 0, count: 31)))
        let time: @Sendable () -> UInt64 = { clock.now }
        try await Directory.create(at: folder + "/records", keys: keys, clock: time, logger: Self.silent)
        directory = try await Directory.open(at: folder + "/records", keys: keys, clock: time, logger: Self.silent)
        mailbox = MailboxStore(
            database: try LabPlace().open(RecoverySchema.schema),
            reserve: DiskReserve { [isFull] in isFull.isSet ? .some : .none })
        let parts = [RecoveryAnswering(mailbox, beside: directory, clock: time)]
        answering = RequestAnswering(
            directory: DirectoryAdapter(directory), parts: PartTable(parts),
            accountRate: RateLimiter(.unlimited, remembering: 16), metrics: ServerMetrics(),
            clock: ServerClock(time: time, uptime: { clock.now * 1_000_000_000 }))
        let clockName = try #require(Policy.Name(Array("clock".utf8)))
        let policy = try Policy(
            logs: [Policy.Log(key: keys.log.verifierKey)],
            witnesses: keys.cosigners.map { Policy.Witness(name: clockName, key: $0.verifierKey) }, groups: [],
            quorum: .member(clockName))
        profile = DirectoryProfile(
            url: "https://localhost", tlsRoot: [], pins: [],
            trust: DirectoryTrust(policy: policy, vrfKey: keys.vrf.publicKey, freshness: .standard))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Lets time pass, and signs the checkpoint again.
    func pass(_ seconds: UInt64) async throws {
        clock.advance(seconds)
        try await directory.republish()
    }

    func answer(_ request: TransportRequest) async throws -> TransportResponse {
        if refusesAnswers.isSet, request.path == RecoveryRoute.answer.path {
            return TransportResponse(
                status: 200, mediaType: "application/octet-stream", body: [RecoveryVerdict.full.rawValue])
        }
        let destination = Destination(
            method: request.method, path: request.path,
            parts: PartTable([
                RecoveryAnswering(mailbox, beside: directory, clock: { [clock] in clock.now })
            ]))
        let signature = request.fields.first { $0.name == RequestSignature.headerName }?.value
        let answer = try await answering.answer(
            ReceivedRequest(
                destination: destination, method: request.method, path: request.path, signature: signature,
                body: request.body, client: ClientAddress(nil)))
        return TransportResponse(status: answer.status.code, mediaType: answer.mediaType, body: answer.body)
    }
}

/// Carries requests to the village; on demand it loses one of them and all later ones.
final class VillageTransport: HTTPTransport {
    private let village: Village
    private let state = Mutex<(left: Int, isLostAfter: Bool)?>(nil)

    init(_ village: Village) { self.village = village }

    /// After `count` requests the next is lost, before or after the server receives it.
    func fail(after count: Int?, isLostAfter: Bool = false) {
        state.withLock { $0 = count.map { ($0, isLostAfter) } }
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        enum Fate { case through, lost, answerLost }
        let fate: Fate = state.withLock { state in
            guard let now = state else { return .through }
            state = (now.left - 1, now.isLostAfter)
            if now.left > 0 { return .through }
            return now.left == 0 && now.isLostAfter ? .answerLost : .lost
        }
        if fate == .lost { throw .closedEarly }
        guard let response = try? await village.answer(request) else { throw .closedEarly }
        if fate == .answerLost { throw .closedEarly }
        return response
    }
}

/// A person with one device in the village.
struct Villager: Sendable {
    let handle: Handle
    let secrets: DeviceSecrets
    let transport: VillageTransport
    let files: RecoveryFiles
    let lead = Lead()
    let village: Village
    private let store = InMemoryStore()

    init(_ name: String, in village: Village, device: String = "", withIdentity: Bool = true) throws {
        handle = try Handle(typed: Array((name + "@example.org").utf8))
        secrets = try DeviceSecrets.generate(for: handle, withIdentity: withIdentity)
        transport = VillageTransport(village)
        let home = HomeFolder(path: village.folder + "/" + name + device)
        try home.prepare()
        files = RecoveryFiles(in: home)
        self.village = village
    }

    var client: Client<InMemoryStore> {
        get throws {
            let (clock, lead) = (village.clock, lead)
            return try Client(
                of: village.profile, over: transport, remembering: store,
                owner: .init(handle: handle, deviceKey: secrets.keys.signing, identityKey: secrets.identityKey),
                in: Surroundings(
                    now: { clock.now + lead.seconds }, wait: { _ in },
                    randomBytes: { count in (0..<count).map { _ in .random(in: .min ... .max) } }))
        }
    }

    var owner: OwnerSide<InMemoryStore> { get throws { OwnerSide(try client, secrets, files) } }
    var guardian: GuardianSide<InMemoryStore> { get throws { GuardianSide(try client, secrets, files) } }
    var newDevice: NewDeviceSide<InMemoryStore> { get throws { NewDeviceSide(try client, secrets, files) } }

    func knows(_ other: Villager) async throws {
        try await client.remember([other.handle])
        _ = try await client.lookup(other.handle)
    }

    func outcome(of handle: Handle) async throws -> TrustOutcome {
        try await client.lookup(handle).verdict.outcome
    }

    func accept(_ handle: Handle) async throws {
        let verdict = try await client.lookup(handle).verdict
        _ = try await client.trust(handle, accepting: verdict.stateHash)
    }

    func grant(for owner: Handle) throws -> PresenceGrant {
        var gate = PresenceGate()
        guard case .prompt(let unlock) = gate.ask(.unlock, at: 1) else { throw PresenceError.notAsked }
        _ = try gate.settle(unlock, .present, at: 1)
        guard case .prompt(let prompt) = gate.ask(.confirmRecovery(of: owner), at: 1) else {
            throw PresenceError.notAsked
        }
        return try gate.settle(prompt, .present, at: 1)
    }
}

/// Ming and five guardians, who know ming and whom ming knows.
struct Family: Sendable {
    let village: Village
    let ming: Villager
    let guardians: [Villager]

    init() async throws {
        village = try await Village()
        ming = try Villager("ming", in: village)
        guardians = try ["ana", "ben", "cleo", "dan", "eva"].map { [village] in try Villager($0, in: village) }
        for person in [ming] + guardians { _ = try await person.client.createAccount(person.secrets) }
        for guardian in guardians {
            try await ming.knows(guardian)
            try await guardian.knows(ming)
        }
    }

    var chosen: [(handle: Handle, meeting: MeetingEvidence)] {
        guardians.map { ($0.handle, MeetingEvidence(kind: .person, date: 1_700_000_000)) }
    }

    func ask(delay: UInt32 = RecoveryCommitment.standardDelay, isReplacing: Bool = false) async throws {
        _ = try await ming.owner.ask(chosen, threshold: 3, delay: delay, isReplacing: isReplacing)
    }

    func setUp() async throws {
        try await ask()
        for guardian in guardians { _ = try await guardian.guardian.advance() }
        try await ming.owner.advance()
    }

    /// A complete confirmation that both sides know of; the first one lets the request into the log.
    func confirm(_ guardian: Villager, on device: Villager) async throws {
        try await match(guardian, on: device)
        _ = try await device.newDevice.status()
        _ = try await guardian.guardian.advance()
    }

    /// Three guardians confirm, the delay passes, and they send their parts.
    func help(_ device: Villager) async throws {
        for guardian in guardians.prefix(3) { try await confirm(guardian, on: device) }
        try await village.pass(UInt64(RecoveryCommitment.standardDelay))
        for guardian in guardians.prefix(3) { _ = try await guardian.guardian.advance() }
    }

    /// A guardian's confirmation by the code that the device shows.
    func match(_ guardian: Villager, on device: Villager) async throws {
        let number = try await device.newDevice.status().number
        _ = try await guardian.guardian.look(at: number, for: ming.handle)
        let code = try #require(try await device.newDevice.status().codes[guardian.handle])
        _ = try await guardian.guardian.confirm(
            ming.handle, number: number, code: Array(code.utf8), guardian.grant(for: ming.handle))
    }
}

/// The error of a step; nil on success.
func refusal(_ body: () async throws -> Void) async -> RecoveryClientError? {
    do { try await body() } catch { return error as? RecoveryClientError }
    return nil
}
