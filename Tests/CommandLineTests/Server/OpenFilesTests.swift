// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// A server that may have few files open. Whoever takes the last of them from a process of this system ends it.
@Suite(.timeLimit(.minutes(3))) struct OpenFilesTests {
    /// A connection that stays open.
    private final class Held {
        private let socket: LocalSocket

        init(_ socket: consuming LocalSocket) { self.socket = socket }
    }

    /// As many as the server lets in, each with a request that was answered.
    private static func held(_ path: String, atMost most: Int) -> [Held] {
        var held: [Held] = []
        while held.count < most, let socket = LocalSocket.calling(path) {
            socket.limit(toSeconds: 10)
            let request = Array("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n".utf8)
            var answer = [UInt8](repeating: 0, count: "HTTP/1.1 200".utf8.count)
            guard request.withUnsafeBytes({ socket.send($0) }), answer.withUnsafeMutableBytes({ socket.fill($0) })
            else {
                break
            }
            held.append(Held(socket))
        }
        return held
    }

    /// A server that may have so many files open, and listens at a socket.
    private static func start(_ town: Town, _ limit: String, _ options: [String]) async throws -> RunningServer {
        let run = [
            "run", "--data", "server", "--bind", "unix:" + town["s"].path(), "--plain-http", "--relay-port", "0",
            "--rate", "0", "--epoch",
            "0",
        ]
        return try await RunningServer.start(
            URL(filePath: "/bin/sh"),
            ["-c", "\(limit); exec \"$0\" \"$@\"", Program.signetd.file.path()] + run + options, in: town.folder)
    }

    /// So many that a server starts with them on this machine, and half of them are for connections.
    private static let few = max(300, 2 * (96 + 3 * ProcessInfo.processInfo.processorCount))

    @Test func aServerKeepsFilesForItself() async throws {
        try await Town.with { town in
            let server = try await Self.start(town, "ulimit -n \(Self.few)", [])
            #expect(try server.errors.contains("fewer files may be open"))
            #expect(Self.held(town["s"].path(), atMost: Self.few).count == Self.few / 2)
            while Self.held(town["s"].path(), atMost: 1).isEmpty { await Task.yield() }
            expect(0, try await server.stop())
        }
    }

    /// A file that was not opened because too many are is not damaged: systemd is to start the server again.
    @Test func tooManyOpenFilesAreNoDamage() async throws {
        try await Town.with { town in
            var (refused, unopened) = (0, 0)
            for limit in 5...40 {
                let exit = try await Exit.of(
                    URL(filePath: "/bin/sh"),
                    ["-c", "ulimit -n \(limit); exec \"$0\" check --data server", Program.signetd.file.path()],
                    in: town.folder)
                for line in exit.output.split(separator: "\n") where line.contains("SQLite's code 14") {
                    unopened += 1
                    #expect(line.contains("too many files are open: raise LimitNOFILE"), "\(line)")
                }
                guard exit.errors.contains("signetd: server/"), exit.errors.contains("Too many open files") else {
                    continue
                }
                refused += 1
                expect(75, exit, "\(exit.errors)")
            }
            #expect(refused > 0 && unopened > 0)
        }
    }

    @Test func aReloadLeavesFilesForTheServerToo() async throws {
        try await Town.with { town in
            try town.write("connections = 100\n".utf8, to: "conf")
            let server = try await Self.start(town, "ulimit -n \(Self.few)", ["--config", "conf"])
            #expect(try !server.errors.contains("fewer files may be open"))
            try town.write("connections = 4000\n".utf8, to: "conf")
            kill(server.processIdentifier, SIGHUP)
            while try !server.errors.contains("fewer files may be open") { await Task.yield() }
            #expect(Self.held(town["s"].path(), atMost: Self.few).count == Self.few / 2)
            expect(0, try await server.stop())
        }
    }

    /// A shell grants fewer at first than a process may ask for.
    @Test func aServerAsksForTheFilesThatItNeeds() async throws {
        try await Town.with { town in
            let server = try await Self.start(town, "ulimit -S -n 300; ulimit -H -n 1024", ["--connections", "400"])
            #expect(try !server.errors.contains("fewer files may be open"))
            #expect(Self.held(town["s"].path(), atMost: 200).count == 200)
            expect(0, try await server.stop())
        }
    }

    private static func exit(_ town: Town, openFiles: Int) async throws -> Exit {
        try await Exit.of(
            URL(filePath: "/bin/sh"),
            [
                "-c", "ulimit -n \(openFiles); exec \"$0\" \"$@\"", Program.signetd.file.path(), "run", "--data",
                "server",
                "--bind", "127.0.0.1:0",
            ], in: town.folder)
    }

    /// It would stop in the middle of its work. The number that it names suffices, also while clients hold all that they get.
    @Test func aServerThatCannotOpenItsOwnFilesDoesNotStart() async throws {
        try await Town.with { town in
            let before = try town.contents("server")
            let refused = try await Self.exit(town, openFiles: 96)
            expect(78, refused)
            #expect(refused.complaint.contains("raise LimitNOFILE"), "\(refused.errors)")
            #expect(try town.contents("server") == before)
            let found = try #require(refused.complaint.firstMatch(of: /needs ([0-9]+) for/))
            let least = try #require(Int(found.1))
            expect(78, try await Self.exit(town, openFiles: least - 1))
            let server = try await Self.start(town, "ulimit -n \(least)", [])
            let held = Self.held(town["s"].path(), atMost: least)
            #expect(held.count == least / 2)
            expect(0, try await town.signetd("accounts", "list", "--data", "server"))
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            expect(0, try await server.stop())
            withExtendedLifetime(held) {}
        }
    }

    /// Somebody lowers the limit of the running process, or the system has none left: no disk has failed, and no file is wrong.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prlimit"), "There is no prlimit here."))
    func aServerWithoutFilesDoesNotBlameTheDisk() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            try await federation.stop("server")
            let server = try await RunningServer.start(
                .signetd, ["run", "--data", "server", "--bind", federation.address, "--republish", "1"],
                in: federation.town.folder)
            let ask = ["--silent", "--cacert", "server/tls/ca.pem", "\(federation.url)/ready"]
            while try await Exit.of(URL(filePath: "/usr/bin/curl"), ask, in: federation.town.folder).output != "ready\n"
            {
                try Task.checkCancellation()
            }
            let lowered = try await Exit.of(
                URL(filePath: "/usr/bin/prlimit"), ["--pid", "\(server.processIdentifier)", "--nofile=10:10"],
                in: federation.town.folder)
            try #require(lowered.status == 0, "\(lowered.errors)")
            // It ends by itself.
            let ended = try await server.stop(0)
            expect(75, ended)
            #expect(ended.complaint.contains("too many files are open"), "\(ended.errors)")
            #expect(!ended.errors.contains("disk failed under") && !ended.errors.contains("restore them"))
        }
    }
}
