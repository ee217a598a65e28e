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

    @Test func aServerKeepsFilesForItself() async throws {
        try await Town.with { town in
            let server = try await Self.start(town, "ulimit -n 300", [])
            #expect(try server.errors.contains("fewer files may be open"))
            #expect(Self.held(town["s"].path(), atMost: 400).count == 150)
            while Self.held(town["s"].path(), atMost: 1).isEmpty { await Task.yield() }
            expect(0, try await server.stop())
        }
    }

    @Test func aReloadLeavesFilesForTheServerToo() async throws {
        try await Town.with { town in
            try town.write("connections = 100\n".utf8, to: "conf")
            let server = try await Self.start(town, "ulimit -n 300", ["--config", "conf"])
            #expect(try !server.errors.contains("fewer files may be open"))
            try town.write("connections = 4000\n".utf8, to: "conf")
            kill(server.processIdentifier, SIGHUP)
            while try !server.errors.contains("fewer files may be open") { await Task.yield() }
            #expect(Self.held(town["s"].path(), atMost: 400).count == 150)
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
}
