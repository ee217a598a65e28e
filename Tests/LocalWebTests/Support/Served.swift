// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyTransparency
import Logging
import SecretMemory
import Signet
import SignetServer
import SignetTesting
import Synchronization
import Testing
import TransparencyLog

@testable import LocalWeb
@testable import SignetClient
@testable import SignetCommand

/// A running app of one home.
struct Served: Sendable {
    static let passphrase = "a passphrase that no one guesses: heron, kettle, ninety"

    let service: WebService
    let port: Int

    func browser() async throws -> Browser { try await Browser(service.makeLink(port: port), port: port) }

    /// The account behind the pages.
    func account() async throws -> WebAccount {
        guard case .account(let account) = try await service.home.look() else { throw NoAnswer(text: "no account") }
        return account
    }

    /// Surroundings in which nothing is waited for until the test has ended, but for short turns.
    static func surroundings(_ now: @escaping @Sendable () -> UInt64 = Surroundings.system.now) -> Surroundings {
        Surroundings(
            now: now, wait: { try? await Task.sleep(for: $0 < .seconds(10) ? $0 : .seconds(86_400)) },
            randomBytes: Surroundings.system.randomBytes)
    }

    /// Runs a test with the app of a home.
    static func run(
        _ folder: HomeFolder, with equipment: WebEquipment = WebEquipment(),
        in surroundings: Surroundings = surroundings(), _ body: @Sendable @escaping (Served) async throws -> Void
    ) async throws {
        let home = try OpenHome(folder, in: surroundings)
        let wording = CommandWording(options: try HomeOptions.parse([]))
        try await run(WebService(home, saying: wording, with: equipment, in: surroundings), body)
    }

    /// Runs a test with the app of a home folder that may have no account.
    static func run(
        at folder: HomeFolder, in surroundings: Surroundings = surroundings(),
        _ body: @Sendable @escaping (Served) async throws -> Void
    ) async throws {
        try await run(
            WebService(at: folder, saying: CommandWording(options: try HomeOptions.parse([])), in: surroundings), body)
    }

    private static func run(
        _ service: WebService, _ body: @Sendable @escaping (Served) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await service.run(stoppingOnSignals: false) { port.yield($0) }
            }
            for await number in ports.prefix(1) { try await body(Served(service: service, port: number)) }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Runs a test with the app of a home whose directory is not served: what is asked of it is not answered.
    static func alone(
        now: @escaping @Sendable () -> UInt64 = Surroundings.system.now,
        _ body: @Sendable @escaping (Served) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let home = HomeFolder(path: folder + "/home")
            let setup = DirectorySetup(
                origin: try KeyName("example.org/log".utf8), url: "https://localhost:1",
                tls: .own(hosts: [try #require(ServerHost("localhost"))]), logger: Logger(label: "test"))
            let profile = try await setup.make(
                DataDirectory(path: folder + "/server"), at: UInt64(Date().timeIntervalSince1970))
            try prepare(home, "alice@example.org", at: profile)
            try await run(home, in: surroundings(now), body)
        }
    }

    /// Makes keys whose keystore is quick to open; an account that is created in the folder goes on with them.
    static func prepare(_ home: HomeFolder, _ handle: String, at profile: DirectoryProfile) throws {
        try home.prepare()
        let secrets = try DeviceSecrets.generate(for: Handle(handle), withIdentity: true)
        let sealed = try Keystore(sealing: secrets, under: SecretBytes(copying: passphrase.utf8), cost: .minimum)
        try home.keystore.create(sealed.encoded)
        try home.directory.replace(with: profile.encoded)
    }
}

/// A clock that stands still until a test moves it.
final class MovedClock: Sendable {
    private let time = Mutex<UInt64>(Surroundings.system.now())

    var now: @Sendable () -> UInt64 { { self.time.withLock { $0 } } }

    func move(by seconds: UInt64) { time.withLock { $0 += seconds } }
}

/// Runs a test in a folder of its own, which is gone afterwards.
func withFolder(_ body: @Sendable (String) async throws -> Void) async throws {
    let path = NSTemporaryDirectory() + "signet-web-" + UUID().uuidString
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await body(path)
}
