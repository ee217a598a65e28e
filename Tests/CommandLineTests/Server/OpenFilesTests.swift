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

    @Test func aServerKeepsFilesForItself() async throws {
        try await Town.with { town in
            let path = town["s"].path()
            let run = [
                "run", "--data", "server", "--bind", "unix:" + path, "--plain-http", "--rate", "0", "--epoch", "0",
            ]
            let server = try await RunningServer.start(
                URL(filePath: "/bin/sh"),
                ["-c", "ulimit -n 300; exec \"$0\" \"$@\"", Program.signetd.file.path()] + run, in: town.folder)
            #expect(try server.errors.contains("fewer files may be open"))
            #expect(Self.held(path, atMost: 400).count == 150)
            while Self.held(path, atMost: 1).isEmpty { await Task.yield() }
            expect(0, try await server.stop())
        }
    }
}
