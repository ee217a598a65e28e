// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PinScenarios
import PinnedHTTP
import SignetAPI
import SignetClient
import Testing

@Suite struct PinnedWebSocketTests {
    private func open(
        _ scenario: String = "01", offering offered: [PinnedWebSocket.Subprotocol],
        _ body: (PinnedWebSocket) async throws -> Void
    ) async throws {
        let scenario = try #require(PinMatrixTests.scenarios.first { $0.row == scenario })
        try await PinMatrixTests.with(scenario) { line in
            let socket = try await PinnedWebSocket.open(
                line.address, path: "/", offering: offered, through: line.connector,
                deadlines: PinMatrixTests.Line.patient)
            try await body(socket)
        }
    }

    @Test(arguments: [PinnedWebSocket.Subprotocol.stomp, .janus])
    func theSubprotocolIsAgreedOn(_ subprotocol: PinnedWebSocket.Subprotocol) async throws {
        try await open(offering: [subprotocol]) { socket in
            #expect(socket.subprotocol == subprotocol)
            await socket.close()
        }
    }

    @Test(
        arguments: [
            ([.stomp, .janus], "janus-protocol", nil), ([.stomp], nil, TransportError.wrongSubprotocol),
            ([.stomp], "janus-protocol", .wrongSubprotocol), ([.stomp], "v10.stomp", .wrongSubprotocol),
            ([], "v12.stomp", .wrongSubprotocol), ([.stomp], "V12.stomp", .wrongSubprotocol),
        ] as [([PinnedWebSocket.Subprotocol], String?, TransportError?)])
    func theServerMustChooseAnOfferedSubprotocol(
        offered: [PinnedWebSocket.Subprotocol], chosen: String?, expected: TransportError?
    ) async throws {
        let scenario = try #require(PinMatrixTests.scenarios.first { $0.row == "01" })
        try await PinMatrixTests.with(scenario, subprotocol: .always(chosen)) { line in
            do throws(TransportError) {
                let socket = try await PinnedWebSocket.open(
                    line.address, path: "/", offering: offered, through: line.connector,
                    deadlines: PinMatrixTests.Line.patient)
                #expect(socket.subprotocol?.name == chosen)
                #expect(expected == nil)
                await socket.close()
            } catch { #expect(error == expected) }
        }
    }

    @Test func messagesKeepTheirKindOrderAndBytes() async throws {
        try await open(offering: []) { socket in
            #expect(socket.subprotocol == nil)
            let messages: [PinnedWebSocket.Message] =
                (0..<40).map { .binary([UInt8](repeating: UInt8($0), count: $0 * 100)) } + [.text(Array("ü".utf8))]
            for message in messages { try await socket.send(message) }
            for message in messages { #expect(try await socket.receive() == message) }
            await socket.close()
        }
    }

    @Test func aMessageThatIsTooLongIsNotSent() async throws {
        try await open(offering: []) { socket in
            let long = [UInt8](repeating: 0, count: PinnedWebSocket.maximumByteCount + 1)
            await #expect(throws: TransportError.tooLong(limit: PinnedWebSocket.maximumByteCount)) {
                try await socket.send(.binary(long))
            }
            try await socket.send(.binary([1]))
            #expect(try await socket.receive() == .binary([1]))
            await socket.close()
        }
    }

    /// RawServer answers with exactly these bytes, which are no upgrade.
    @Test(arguments: [
        ("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", TransportError.notUpgraded(status: 401)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .notUpgraded(status: 200)),
        (
            "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n",
            .notUpgraded(status: 101)
        ),
        ("nonsense\r\n\r\n", .malformedResponse),
    ]) func anAnswerThatIsNoUpgradeIsRefused(bytes: String, expected: TransportError) async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(authority, answering: bytes)
            let profile = authority.profile(port: server.port)
            await #expect(throws: expected) {
                _ = try await PinnedWebSocket.open(
                    ServerAddress(profile.url), path: "/", through: profile.connector(),
                    deadlines: PinMatrixTests.Line.patient)
            }
            await server.stop()
        }
    }

    /// What a refusal says is read to its end, and dropped if it is longer than any refusal.
    @Test(arguments: [
        ("{\"error\":\"suspended\"}", RawServer.Ending.silence, "{\"error\":\"suspended\"}"),
        (String(repeating: "x", count: 4096), .silence, String(repeating: "x", count: 4096)),
        (String(repeating: "x", count: 4097), .silence, ""),
        (String(repeating: "x", count: 100_000), .silence, ""), ("", .silence, ""), ("", .close, ""),
    ]) func theBodyOfARefusalIsThere(body: String, ending: RawServer.Ending, expected: String) async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let head = "HTTP/1.1 403 No\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            let server = try await RawServer(authority, answering: head + body, then: ending)
            let profile = authority.profile(port: server.port)
            let opening = try await PinnedWebSocket.request(
                ServerAddress(profile.url), path: "/", through: profile.connector(),
                deadlines: PinMatrixTests.Line.patient)
            guard case .refused(let response) = opening else {
                Issue.record("it was opened")
                return
            }
            #expect(
                response
                    == TransportResponse(status: 403, mediaType: "application/json", body: Array(expected.utf8)))
            await server.stop()
        }
    }

    @Test func anAnswerWithoutItsEndIsARefusalAllTheSame() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(
                authority, answering: "HTTP/1.1 503 No\r\nContent-Length: 50\r\n\r\nhalf", then: .close)
            let profile = authority.profile(port: server.port)
            await #expect(throws: TransportError.notUpgraded(status: 503)) {
                _ = try await PinnedWebSocket.open(
                    ServerAddress(profile.url), path: "/", through: profile.connector(),
                    deadlines: PinMatrixTests.Line.patient)
            }
            #expect(TransportError.notUpgraded(status: 503).family == .environment)
            #expect(TransportError.notUpgraded(status: 403).family == .peer)
            await server.stop()
        }
    }
}
