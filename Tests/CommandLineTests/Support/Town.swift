// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Platform
import SecretMemory
import SignetClient
import Testing

/// A server's data and the homes of two friends: alice with one device, bob with two.
///
/// It is made once; every test gets a copy. Keystores have the lowest cost.
struct Town: Sendable {
    static let alice = "alice@example.org"
    static let bob = "bob@example.org"

    /// Holds the data directory `server` and the homes `alice`, `bob` and `phone`; the programs run in it.
    let folder: URL

    var profile: URL { self["server/directory.signet"] }

    subscript(path: String) -> URL { folder.appending(path: path) }

    /// The original that every test copies. Removed when the process ends.
    private static let original = Task {
        let folder = try temporaryFolder()
        removedAtExit.append(folder)
        return try await make(in: folder)
    }

    /// Runs `body` with a copy of the town, which is removed afterwards.
    static func with(_ body: (Town) async throws -> Void) async throws {
        let original = try await original.value
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = try await Exit.of(
            URL(filePath: "/bin/cp"), ["-a", original.folder.path() + "/.", "."], in: folder)
        try #require(copy.status == 0, "\(copy.errors)")
        try await body(Town(folder: folder))
    }

    /// Runs `body` with a town whose honest server is running.
    static func withServer(_ body: (Town, RunningServer) async throws -> Void) async throws {
        try await with { town in
            try await town.serving { server in try await body(town, server) }
        }
    }

    // MARK: Running programs

    /// `signet --home HOME …`
    func signet(_ home: String, _ arguments: String..., environment: [String: String] = [:]) async throws -> Exit {
        try await Program.signet.run(arguments + ["--home", home], in: folder, environment: environment)
    }

    /// `signet …`
    func signet(_ arguments: [String]) async throws -> Exit { try await Program.signet.run(arguments, in: folder) }

    /// `signetd …`
    func signetd(_ arguments: String...) async throws -> Exit { try await Program.signetd.run(arguments, in: folder) }

    /// Runs a server over the data directory on a port of the system's choice, and points every home to it.
    func serving(
        _ program: Program = .signetd, _ options: [String]? = nil, data: String = "server",
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        let server = try await start(program, options, data: data)
        do { try await body(server) } catch {
            try await server.stop(SIGKILL)
            throw error
        }
        try await server.stop()
    }

    /// As ``serving(_:_:data:_:)``, for tests that end the server themselves.
    func start(
        _ program: Program = .signetd, _ options: [String]? = nil, data: String = "server"
    ) async throws
        -> RunningServer
    {
        let options = options ?? ["--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0"]
        let server = try await RunningServer.start(program, ["run", "--data", data] + options, in: folder)
        try point(to: server.port)
        return server
    }

    /// Writes the port into every directory file.
    func point(to port: Int) throws {
        let homes = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        for path in homes.map({ "\($0)/directory" }) + ["server/directory.signet"] {
            guard FileManager.default.fileExists(atPath: self[path].path()) else { continue }
            try edit(path) { $0.replacing(/\nurl .*\n/, with: "\nurl https://localhost:\(port)\n") }
        }
    }

    // MARK: Files

    func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: self[path])) }

    func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        let mode = try? FileManager.default.attributesOfItem(atPath: self[path].path())[.posixPermissions]
        try Data(bytes).write(to: self[path])
        try chmod(path, (mode as? NSNumber)?.uint16Value ?? 0o600)
    }

    func edit(_ path: String, _ change: (String) -> String) throws {
        try write(change(String(decoding: try bytes(path), as: UTF8.self)).utf8, to: path)
    }

    func chmod(_ path: String, _ mode: UInt16) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self[path].path())
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: self[path].path()) }

    func hasFile(startingWith prefix: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).contains { $0.hasPrefix(prefix) }
    }

    /// Every regular file below a folder, with its bytes; a running server has a socket there, too, which holds none.
    func contents(_ path: String) throws -> [String: [UInt8]] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: self[path].path())
        return try names.reduce(into: [:]) { contents, name in
            let file = self["\(path)/\(name)"]
            let isRegular = try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            if isRegular { contents[name] = Array(try Data(contentsOf: file)) }
        }
    }

    /// Makes keys whose keystore is quick to open; `account create` and `account join` use them.
    func prepareHome(_ home: String, _ handle: String, withIdentity: Bool) throws {
        let secrets = try DeviceSecrets.generate(
            for: Handle(typed: Array(handle.utf8)), withIdentity: withIdentity)
        let passphrase = SecretBytes(copying: Program.passphrase.utf8)
        let folder = HomeFolder(path: self[home].path())
        try folder.prepare()
        try folder.keystore.create(Keystore(sealing: secrets, under: passphrase, cost: .minimum).encoded)
        try folder.directory.replace(with: bytes("server/directory.signet"))
    }

    /// Makes another device of bob and adds it.
    func addDeviceOfBob(_ home: String) async throws {
        try await link(home, code: makeCard(home, Self.bob))
    }

    /// Adds the device whose card is beside its home to an account, and confirms the account on the device.
    func link(_ home: String, to owner: String = "bob", code: String) async throws {
        let added = try await signet(owner, "devices", "add", "\(home).card", "--code", code, "--json")
        try #require(added.status == 0, "\(added.errors)")
        let digits = try #require(try added.object()["confirmation"] as? String)
        let confirmed = try await signet(home, "devices", "confirm", "--code", digits)
        try #require(confirmed.status == 0, "\(confirmed.errors)")
    }

    /// Makes a device's keys, and its card beside its home.
    ///
    /// - Returns: the digits that it shows.
    func makeCard(_ home: String, _ handle: String) async throws -> String {
        try prepareHome(home, handle, withIdentity: false)
        let join = ["account", "join", handle, "--directory", profile.path(), "--card", "\(home).card", "--json"]
        let exit = try await signet(join + ["--home", home])
        try #require(exit.status == 0, "\(exit.errors)")
        return try #require(try exit.object()["code"] as? String)
    }

    // MARK: Making

    private static func make(in folder: URL) async throws -> Town {
        let town = Town(folder: folder)
        let made = try await town.signetd(
            "init", "--data", "server", "--origin", "example.org/signet", "--url", "https://localhost:1")
        try #require(made.status == 0, "\(made.errors)")
        let server = try await town.start()
        do { try await town.settle() } catch {
            try await server.stop(SIGKILL)
            throw error
        }
        try await server.stop()
        return town
    }

    /// Another account precedes bob's, and alice's follows it: so there are logs that differ before him, and
    /// shorter ones that hold him.
    private func settle() async throws {
        for (home, handle) in [("first", "first@example.org"), ("bob", Self.bob), ("alice", Self.alice)] {
            try prepareHome(home, handle, withIdentity: true)
            let exit = try await signet(home, "account", "create", handle, "--directory", profile.path())
            try #require(exit.status == 0, "\(exit.errors)")
            if home == "bob" { try await addDeviceOfBob("phone") }
        }
        try FileManager.default.removeItem(at: self["first"])
        for (home, arguments) in [
            ("alice", ["people", "add", Self.bob]), ("bob", ["people", "accept", Self.alice]),
        ] {
            let exit = try await signet(arguments + ["--home", home])
            try #require(exit.status == 0, "\(exit.errors)")
        }
    }
}

/// A folder that others may not enter.
func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
}

/// The folders to remove when the last test has ended.
enum removedAtExit {
    nonisolated(unsafe) private static var folders: [URL] = []
    private static let lock = NSLock()

    static func append(_ folder: URL) {
        lock.withLock {
            if folders.isEmpty { atexit { removedAtExit.removeAll() } }
            folders.append(folder)
        }
    }

    private static func removeAll() {
        lock.withLock { for folder in folders { try? FileManager.default.removeItem(at: folder) } }
    }
}
