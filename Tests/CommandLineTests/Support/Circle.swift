// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import Foundation
import KeyTransparency
import PinnedHTTP
import SecretMemory
import SecretSharing
import SignetAPI
import SignetClient
import Testing
import TransparencyLog

@testable import RecoveryClient
@testable import SocialRecovery

/// Ming, five guardians and a friend who all know ming, and a server; the guardians are in force.
struct Circle: Sendable {
    static let guardians = ["ana", "ben", "cleo", "dan", "eva"]
    static let ming = "ming@example.org"
    let town: Town

    static func handle(_ name: String) -> String { name + "@example.org" }

    /// The original that every test copies. Removed when the process ends.
    private static let original = Task {
        let folder = try temporaryFolder()
        removedAtExit.append(folder)
        let town = Town(folder: folder)
        let made = try await town.signetd(
            "init", "--data", "server", "--origin", "example.org/signet", "--url", "https://localhost:1")
        try #require(made.status == 0, "\(made.errors)")
        try await town.serving { _ in try await Circle(town: town).settle() }
        return town
    }

    /// The options of a server that signs its checkpoint again each second: guardians wait for one from after the
    /// delay.
    static let server = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0", "--republish", "1",
    ]

    /// Runs `body` with a copy of the circle, whose server runs.
    static func with(_ body: (Circle) async throws -> Void) async throws {
        try await withoutServer { circle in
            try await circle.town.serving(.signetd, Self.server) { _ in try await body(circle) }
        }
    }

    /// Runs `body` with a copy of the circle, whose server does not run.
    static func withoutServer(_ body: (Circle) async throws -> Void) async throws {
        let original = try await original.value
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = try await Exit.of(
            URL(filePath: "/bin/cp"), ["-a", original.folder.path() + "/.", "."], in: folder)
        try #require(copy.status == 0, "\(copy.errors)")
        try await body(Circle(town: Town(folder: folder)))
    }

    /// Runs a command that has to succeed, and keeps its output for the scan.
    @discardableResult
    func run(_ home: String, _ arguments: String..., heard: Transcript? = nil) async throws -> Exit {
        let exit = try await town.signet(arguments + ["--home", home])
        await heard?.append(exit)
        try #require(exit.status == 0, "\(home): \(arguments): \(exit.output) \(exit.errors)")
        return exit
    }

    /// Sets the time of a home's last look at a handle, without a recovery, to that many seconds ago.
    func setBackLook(of home: String, at handle: String, by seconds: UInt64) async throws {
        let store = try SQLiteStore.open(at: town["\(home)/store.sqlite"].path())
        let time = UInt64(Date().timeIntervalSince1970) - seconds
        let handle = try Handle(typed: Array(handle.utf8))
        try await store.keep(PeerLook(handle: handle, epochTime: time, seenAt: time))
        try store.close()
    }

    /// Runs a command that may fail.
    func attempt(_ home: String, _ arguments: String..., heard: Transcript? = nil) async throws -> Exit {
        let exit = try await town.signet(arguments + ["--home", home])
        await heard?.append(exit)
        return exit
    }

    private func settle() async throws {
        for name in ["ming", "friend"] + Self.guardians {
            try town.prepareHome(name, Self.handle(name), withIdentity: true)
            try await run(name, "account", "create", Self.handle(name), "--directory", town.profile.path())
        }
        for name in ["friend"] + Self.guardians {
            try await run("ming", "people", "add", Self.handle(name))
            try await run(name, "people", "accept", Self.ming)
        }
        try await meet(Self.guardians[0])
    }

    /// Records that ming met a person on 2025-03-15, and compared keys.
    private func meet(_ name: String) async throws {
        let home = HomeFolder(path: town["ming"].path())
        let store = try SQLiteStore.open(
            at: home.storePath, of: try home.profile().trust.policy.logs.first?.name)
        let peer = try #require(
            try await store.pinnedPeers().first { $0.handle.description == Self.handle(name) })
        try await store.keep(
            Comparison(
                handle: peer.handle, identityKey: peer.identityKey, kind: .number, time: 1_742_040_000, metOn: 20_162))
        try store.close()
    }

    func makeNewDevice(_ home: String) throws { try town.prepareHome(home, Self.ming, withIdentity: true) }

    /// Chooses the five and lets them answer.
    func setGuardians(wait: String = "1s", of home: String = "ming", heard: Transcript? = nil) async throws {
        let handles = Self.guardians.map(Self.handle)
        let exit = try await town.signet(
            ["guardians", "add"] + handles + ["--wait", wait, "--met", handles[0], "--home", home])
        await heard?.append(exit)
        try #require(exit.status == 0, "\(exit.errors)")
        for name in Self.guardians { try await run(name, "guardian", heard: heard) }
    }

    /// The number by which a person names their request to the first guardian.
    func number(on home: String) async throws -> String {
        try #require(try await run(home, "recover", "--json").object()["request"] as? String)
    }

    /// The first guardian is read the number, then the code, and lets the log take the request.
    func letIn(by name: String, on home: String) async throws {
        let number = try await number(on: home)
        try await run(name, "guardian", "confirm", Self.ming, "--request", number)
        let code = try await code(for: name, on: home)
        try await run(name, "guardian", "confirm", Self.ming, "--request", number, "--code", code)
        try await run(home, "recover")
    }

    /// The code that the new device shows for a guardian.
    func code(for name: String, on home: String) async throws -> String {
        let codes = try await run(home, "recover", "--json").object()["codes"] as? [[String: Any]] ?? []
        return try #require(codes.first { $0["handle"] as? String == Self.handle(name) }?["code"] as? String)
    }

    /// Runs `signet guardian` until the delay has passed and the part is on its way.
    func send(_ name: String, heard: Transcript) async throws {
        for _ in 0..<100 {
            let requests = try await run(name, "guardian", "--json").object()["requests"] as? [[String: Any]] ?? []
            if requests.first?["stage"] as? String == "sent" {
                try await run(name, "guardian", heard: heard)
                return
            }
        }
        Issue.record("\(name)'s part was never sent")
    }

    /// Sends a forged part of a lying guardian, properly signed.
    func lie(_ name: String) async throws {
        let home = HomeFolder(path: town[name].path())
        let keystore = try Keystore(decoding: home.keystore.read(maximumByteCount: Keystore.maximumByteCount))
        let secrets = try keystore.open(with: SecretBytes(copying: Program.passphrase.utf8))
        let profile = try home.profile()
        let store = try SQLiteStore.open(at: home.storePath, of: profile.trust.policy.logs.first?.name)
        let transport = NIOTransport(to: try ServerAddress(profile.url), through: try profile.connector { _ in })
        let client = try Client(
            of: profile, over: transport, remembering: store,
            owner: .init(
                handle: keystore.handle, deviceKey: keystore.keys.signing,
                identityKey: keystore.identityKey))
        let side = GuardianSide(client, secrets, RecoveryFiles(in: home))
        let duty = try #require(try side.duties().first)
        let owner = try await side.post.lookup(duty.owner).lookup.state
        let asked = try #require(try await side.find(.logged, duty, owner))
        let request = try RecoveryRequest(decoding: asked.request)
        let packet = try side.packet(of: duty, epoch: request.scope.epoch, owner)
        let forged = GuardianPacket(
            scope: packet.scope, share: SecretShare(index: packet.share.index, scalar: .random()),
            recoveryKeyHash: packet.recoveryKeyHash, owner: packet.owner, guardian: packet.guardian,
            meeting: packet.meeting, delay: packet.delay, parts: packet.parts,
            askKey: packet.askKey)
        let release = try #require(
            ShareRelease(forged, for: request) { try secrets.signAsIdentity($0) ?? [] })
        let body = RecoveryAnswer(
            to: request.hash, body: GuardianAnswer.release(release).encoded, from: secrets.handle,
            signing: packet.askKey.signature)
        #expect(try await side.post.verdict(.answer, body.encoded) == .taken)
    }
}

/// All output that people were shown.
actor Transcript {
    private(set) var text = ""
    func append(_ exit: Exit) { text += exit.output + exit.errors }
}
