// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A directory with three witnesses and an auditor, each a process with its own data. Every checkpoint needs two of
/// the witnesses and the auditor.
final class Federation {
    static let witnesses = ["w0", "w1", "w2"]

    let town: Town
    /// The data directory that `server` runs, and the auditor follows.
    var data = "server"
    /// What the server's processes have in their environment.
    var environment: [String: String] = [:]
    /// Whether the other processes, and the clients that register, have it too.
    var sharesEnvironment = false
    /// What the server is started with besides.
    var options: [String] = []
    private(set) var running: [String: RunningServer] = [:]
    private var ports: [String: Int] = [:]

    /// The auditor, if there is one, and the server that it reads.
    private let others: [String]

    private init(_ town: Town, hasAuditor: Bool) {
        self.town = town
        others = (hasAuditor ? ["auditor"] : []) + ["server"]
    }

    /// Runs `body` beside a running federation.
    ///
    /// - Parameter hasAuditor: whether every checkpoint needs an auditor besides two of the witnesses.
    static func with(hasAuditor: Bool = true, _ body: (Federation) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "federation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let federation = Federation(Town(folder: folder), hasAuditor: hasAuditor)
        try await federation.setUp()
        do {
            for name in witnesses + federation.others { try await federation.start(name) }
            try await body(federation)
        } catch {
            await federation.stopAll()
            throw error
        }
        await federation.stopAll()
    }

    /// `https://localhost:port`
    var url: String { "https://localhost:\(ports["server"] ?? 0)" }
    /// `127.0.0.1:port`, as `--bind` takes it.
    var address: String { "127.0.0.1:\(ports["server"] ?? 0)" }

    func start(_ name: String) async throws {
        let bind = "127.0.0.1:\(ports[name] ?? 0)"
        let (program, arguments): (Program, [String]) =
            switch name {
            case "server":
                (
                    .signetd,
                    ["run", "--data", data, "--bind", bind, "--epoch", "0", "--rate", "0", "--account-rate", "0"]
                        + options
                )
            case "auditor":
                (
                    .signet,
                    [
                        "audit", "--directory", "\(data)/directory.signet", "--state", "audit-\(data)", "--follow",
                        "--every",
                        "1",
                        "--cosign", "auditor.key", "--listen", bind, "--home", "auditor-home",
                    ]
                )
            default: (.signetd, ["witness", "run", "--data", name, "--plain-http", "--bind", bind, "--rate", "0"])
            }
        running[name] = try await RunningServer.start(
            program, arguments, in: town.folder, environment: name == "server" || sharesEnvironment ? environment : [:])
    }

    @discardableResult
    func stop(_ name: String, _ signal: Int32 = SIGTERM) async throws -> Exit? {
        try await running.removeValue(forKey: name)?.stop(signal)
    }

    /// The end of one that ends by itself.
    func ended(_ name: String) async throws -> Exit? { try await running.removeValue(forKey: name)?.stop(0) }

    private func stopAll() async {
        for name in ["server", "auditor"] + Self.witnesses { _ = try? await stop(name, SIGKILL) }
    }

    /// The line by which a policy names a witness.
    private func line(of name: String) async throws -> String {
        let exit = try await town.signetd("witness", "show", "--data", name)
        try #require(exit.status == 0, "\(exit.errors)")
        let words = try #require(exit.lines.first).split(separator: " ")
        return "witness \(name) \(words[2]) http://127.0.0.1:\(ports[name] ?? 0)\n"
    }

    /// Sets up all parts, without starting them.
    private func setUp() async throws {
        for name in Self.witnesses + ["auditor", "server"] { ports[name] = try SilentListener.freePort() }
        var lines = ""
        for name in Self.witnesses {
            let exit = try await town.signetd(
                "witness", "init", "--data", name, "--name", "witness.example/\(name)", "--plain-http")
            try #require(exit.status == 0, "\(exit.errors)")
            lines += try await line(of: name)
        }
        lines += "group seen 2 w0 w1 w2\n"
        if others.contains("auditor") {
            let key = try await town.signet(["audit", "key", "auditor.example/map", "--out", "auditor.key", "--json"])
            try #require(key.status == 0, "\(key.errors)")
            let vkey = try #require(try key.object()["key"] as? String)
            lines += "witness auditor \(vkey) http://127.0.0.1:\(ports["auditor"] ?? 0)\n"
            lines += "group all all seen auditor\nquorum all\n"
        } else {
            lines += "quorum seen\n"
        }
        try town.write(lines.utf8, to: "witnesses")
        let made = try await town.signetd(
            "init", "--data", "server", "--origin", "example.org/signet", "--url", url, "--witnesses", "witnesses")
        try #require(made.status == 0, "\(made.errors)")
        try await addLog(try logKey())
    }

    /// The log's key as the profile names it.
    func logKey() throws -> String {
        let text = String(decoding: try town.bytes("\(data)/directory.signet"), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("log ") })
        return String(line.split(separator: " ")[1])
    }

    /// Tells every witness of a log's key.
    func addLog(_ key: String) async throws {
        for name in Self.witnesses {
            let exit = try await town.signetd("witness", "add-log", "--data", name, key)
            try #require(exit.status == 0, "\(exit.errors)")
        }
    }

    /// Registers an account in a new home; repeats the command, for up to a minute, while too few witnesses have
    /// cosigned in time, as the sentence asks for. On a busy machine that happens with all of them running.
    func register(_ home: String) async throws -> Exit {
        let end = ContinuousClock.now + .seconds(60)
        var exit = try await registerOnce(home)
        while exit.status == 3, exit.errors.contains("too few witnesses"), ContinuousClock.now < end {
            exit = try await registerOnce(home)
        }
        return exit
    }

    /// Tries once to register an account in a new home.
    func registerOnce(_ home: String) async throws -> Exit {
        if !FileManager.default.fileExists(atPath: town[home].path()) {
            try town.prepareHome(home, "\(home)@example.org", withIdentity: true)
            try town.write(town.bytes("\(data)/directory.signet"), to: "\(home)/directory")
        }
        return try await town.signet(
            home, "account", "create", "\(home)@example.org", "--directory", "\(data)/directory.signet",
            environment: sharesEnvironment ? environment : [:])
    }
}

extension SilentListener {
    /// A port without a listener, below those that the system assigns by itself.
    static func freePort() throws -> Int {
        for _ in 0..<100 {
            if let listener = try? SilentListener(port: .random(in: 15_000..<30_000)) { return listener.port }
        }
        return try SilentListener().port
    }
}
