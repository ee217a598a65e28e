// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// Where `signetd run` listens: at a Unix socket for a proxy, and on the port that `signetd init` was given.
@Suite(.serialized) struct ListeningTests {
    private static let options = ["--plain-http", "--epoch", "0", "--republish", "300"]

    /// Starts a server at a socket in the town's folder.
    private func start(_ town: Town, _ path: String, _ more: String...) async throws -> RunningServer {
        try await RunningServer.start(
            .signetd, ["run", "--data", "server", "--bind", "unix:" + path] + Self.options + more, in: town.folder)
    }

    /// Why no server starts at a socket.
    private func refusal(_ town: Town, _ bind: String, _ options: [String] = options) async throws -> Exit {
        try await Program.signetd.run(["run", "--data", "server", "--bind", bind] + options, in: town.folder)
    }

    private struct NothingListens: Error {}

    /// The status of what a proxy asks for somebody.
    private func status(at path: String, of page: String = "/health", for client: String?) throws -> String {
        guard let socket = LocalSocket.calling(path) else { throw NothingListens() }
        socket.limit(toSeconds: 10)
        let forwarded = client.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
        let request = Array("GET \(page) HTTP/1.1\r\nHost: localhost\r\n\(forwarded)\r\n".utf8)
        #expect(request.withUnsafeBytes { socket.send($0) })
        var answer = [UInt8](repeating: 0, count: "HTTP/1.1 200".utf8.count)
        #expect(answer.withUnsafeMutableBytes { socket.fill($0) })
        return String(String(decoding: answer, as: UTF8.self).suffix(3))
    }

    @Test func aProxyAtTheSocketIsBelievedAboutItsClients_andTheSocketGoesAtTheEnd() async throws {
        try await Town.with { town in
            let path = town["s"].path()
            let server = try await start(town, path, "--rate", "1")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.uint16Value == 0o660)
            for page in ["/log/checkpoint", "/metrics", "/ready"] {
                let answer = try status(at: path, of: page, for: nil)
                #expect(answer == "400", "the proxy does not say whose request it is")
            }
            #expect(try status(at: path, for: nil) == "200", "a balancer looks whether the server is up")
            #expect(try status(at: path, for: "198.51.100.1") == "200")
            var seen: Set<String> = []
            for _ in 0..<20 { seen.insert(try status(at: path, for: "203.0.113.9, 198.51.100.1")) }
            #expect(seen.contains("429"), "the last address counts, whatever the client writes before it")
            #expect(try status(at: path, for: "198.51.100.2") == "200", "another client does not wait")
            expect(0, try await server.stop())
            #expect(!town.exists("s"))
        }
    }

    @Test func whatIsLeftOfASocketIsReplaced_andAnythingElseIsNotTouched() async throws {
        try await Town.with { town in
            let path = town["s"].path()
            let killed = try await start(town, path)
            let second = try await refusal(town, "unix:" + path)
            #expect(second.status != 0, "a server is running")
            try await killed.stop(SIGKILL)
            #expect(town.exists("s"), "nobody removed it")
            let server = try await start(town, path)
            #expect(try status(at: path, for: "198.51.100.1") == "200")
            expect(0, try await server.stop())

            try town.write(Array("mine".utf8), to: "s")
            let file = try await refusal(town, "unix:" + path)
            expect(69, file)
            #expect(file.complaint.contains("something is at the path of the socket already"), "\(file.errors)")
            #expect(try town.bytes("s") == Array("mine".utf8))
            try FileManager.default.removeItem(at: town["s"])

            guard let other = LocalSocket.listening(at: path) else { throw NothingListens() }
            let taken = try await refusal(town, "unix:" + path)
            expect(69, taken)
            #expect(taken.complaint.contains("another server that listens there"), "\(taken.errors)")
            #expect(town.exists("s"))
            _ = other.peerUser  // it listens until here
        }
    }

    @Test func aSocketWantsAWholeShortPath_andPlainHTTP() async throws {
        try await Town.with { town in
            let long = "/" + String(repeating: "x", count: LocalSocket.maximumPathByteCount)
            for (bind, words) in [
                ("unix:s", "the whole path of a socket"), ("unix:", "the whole path of a socket"),
                ("unix:/run/", "the whole path of a socket"), ("unix:" + long, "and this one \(long.utf8.count)"),
            ] {
                let exit = try await refusal(town, bind)
                expect(64, exit, bind)
                #expect(exit.errors.contains(words), "\(exit.errors)")
            }
            let path = "unix:" + town["s"].path()
            let secured = try await refusal(town, path, ["--epoch", "0"])
            expect(64, secured)
            #expect(secured.errors.contains("--plain-http only"), "\(secured.errors)")
            let nowhere = try await refusal(town, "unix:" + town["nowhere/s"].path())
            expect(69, nowhere)
            #expect(nowhere.complaint.contains("the folder of the socket"), "\(nowhere.errors)")
        }
    }

    /// The address of operators is not that of clients.
    @Test func anAddressForOperatorsThatIsInUseIsNamed() async throws {
        try await Town.with { town in
            let copied = try await Exit.of(URL(filePath: "/bin/cp"), ["-a", "server", "second"], in: town.folder)
            try #require(copied.status == 0, "\(copied.errors)")
            try await town.serving { other in
                let taken = try await town.signetd(
                    "run", "--data", "second", "--bind", "127.0.0.1:0", "--admin-listen", "127.0.0.1:\(other.port)")
                expect(69, taken)
                #expect(taken.complaint.contains("the address of --admin-listen is in use"), "\(taken.errors)")
                #expect(!taken.output.contains("listening"), "it serves nobody: \(taken.output)")
                // Two dots in a row are in no name, so nobody has to be asked for it.
                let unknown = try await town.signetd(
                    "run", "--data", "second", "--bind", "127.0.0.1:0", "--admin-listen", "a..b:9464")
                expect(69, unknown)
                #expect(unknown.complaint.contains("the address of --admin-listen is in use"), "\(unknown.errors)")
                #expect(!unknown.output.contains("listening"), "it serves nobody: \(unknown.output)")
            }
        }
    }

    @Test func withoutBindTheServerListensOnThePortOfItsURL() async throws {
        try await Town.with { town in
            // A port that is free, and which nobody else is given meanwhile: it was the server's own.
            let first = try await town.start()
            let port = first.port
            try await first.stop()
            let again = try await RunningServer.start(.signetd, ["run", "--data", "server"], in: town.folder)
            #expect(again.port == port)
            expect(0, try await again.stop())
            let other = try await RunningServer.start(
                .signetd, ["run", "--data", "server", "--bind", "127.0.0.1:0"], in: town.folder)
            #expect(other.port != port, "what --bind says counts")
            expect(0, try await other.stop())
        }
    }
}
