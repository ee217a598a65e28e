// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding
import PinnedHTTP
import STOMP
import SignalClient
import SignetClient
import Testing

extension ConformanceSuite {
    @Suite struct Connections {
        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func connectedNamesVersionAndSession(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let wire = try await stage.connect(try await stage.device())
            #expect(wire.connection.greeting?.value(of: .version) == Array("1.2".utf8))
            #expect(wire.connection.greeting?.value(of: .session)?.isEmpty == false)
            await wire.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func theSTOMPFrameConnectsToo(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let answer = try await firstAnswer(stage) { endpoint, address in
                try StompFrame(
                    .stomp,
                    [StompHeader(.acceptVersion, Array("1.1,1.2".utf8))] + endpoint.engine.connectHeaders(host: address)
                ).encoded
            }
            #expect(answer?.command == .connected)
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aClientOfAnotherVersionIsToldTheSupportedVersions(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let answer = try await firstAnswer(stage) { endpoint, address in
                try StompFrame(
                    .connect,
                    [StompHeader(.acceptVersion, Array("9.9".utf8))] + endpoint.engine.connectHeaders(host: address)
                ).encoded
            }
            #expect(answer?.command == .error)
            let versions = answer?.value(of: .version) ?? []
            #expect(versions.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual("1.2".utf8) })
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aFrameBeforeConnectIsRefused(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let answer = try await firstAnswer(stage) { _, _ in
                try StompFrame(.begin, [StompHeader(.transaction, [65])]).encoded
            }
            #expect(answer == nil || answer?.command == .error)
        }

        /// The server's first answer to bytes on a new WebSocket; nil if it closes the WebSocket without one.
        private func firstAnswer(
            _ stage: Stage, to bytes: (RelayEndpoint, String) throws -> [UInt8]
        ) async throws -> StompFrame? {
            let endpoint = try stage.endpoint(try await stage.device())
            let link = try await endpoint.link()
            try await link.send(bytes(endpoint, "localhost"))
            return try await endingSoon(link) {
                var decoder = StompDecoder()
                while let more: [UInt8] = try await link.receive() {
                    decoder.append(more)
                    guard case .frame(let frame)? = try decoder.next() else { continue }
                    Task { await link.close() }
                    return frame
                }
                return nil
            }
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func disconnectEndsTheConnection(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let wire = try await stage.connect(try await stage.device())
            if engine.confirmsDisconnect {
                try await wire.confirmed(.disconnect, [])
            } else {
                try wire.send(.disconnect, [StompHeader(.receipt, [65])])
            }
            #expect(try await wire.connection.receive() == nil)
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aSecondConnectIsRefused(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let wire = try await stage.connect(try await stage.device())
            try wire.send(
                .connect, [StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.host, Array("h".utf8))])
            #expect(await wire.isRefused(by: engine))
        }

        @Test(
            .timeLimit(.minutes(1)), arguments: TestEngine.present,
            [
                "NONSENSE\n\n\0", "CONNECTED\nversion:1.2\n\n\0", "SUBSCRIBE\nid:s\n\n\0",
                "SUBSCRIBE\ndestination:/nowhere/x\nid:s\n\n\0",
                "SEND\n\nbody\0", "UNSUBSCRIBE\nid:s\n\n\0", "ACK\nid:nothing\n\n\0", "NACK\nid:nothing\n\n\0",
                "BEGIN\n\n\0",
                "ABORT\ntransaction:t\n\n\0", "SEND\ndestination:\\t\n\nbody\0", "SEND\nno colon\n\nbody\0",
            ])
        func aMalformedFrameIsRefused(_ engine: TestEngine, _ text: String) async throws {
            let stage = try await Stage.open(engine)
            let wire = try await stage.connect(try await stage.device())
            wire.connection.send(bytes: Array(text.utf8))
            #expect(await wire.isRefused(by: engine))
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aSubscriptionWithATakenNameIsRefused(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let device = try await stage.device()
            let call = try await stage.call(device)
            let wire = try await stage.connect(device)
            try await wire.subscribe(.topic(call))
            try wire.send(
                .subscribe,
                [StompHeader(.destination, RelayRoute.topic(call).destination), StompHeader(.id, Array("s".utf8))])
            #expect(await wire.isRefused(by: engine))
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func theServerSendsTheHeartBeatsThatItPromises(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let endpoint = try stage.endpoint(try await stage.device())
            let link = try await endpoint.link()
            let connect = [
                StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.heartBeat, Array("0,1000".utf8)),
            ]
            try await link.send(
                try StompFrame(.connect, connect + endpoint.engine.connectHeaders(host: "localhost")).encoded)
            var decoder = StompDecoder()
            var beats = 0
            var promised: HeartBeat?
            while beats < 2, let more: [UInt8] = try await link.receive() {
                decoder.append(more)
                while let element = try decoder.next() {
                    switch element {
                    case .frame(let frame):
                        promised = try frame.value(of: .heartBeat).map { try HeartBeat(decoding: $0) }
                    case .heartBeat: beats += 1
                    }
                }
            }
            #expect(beats == 2)
            #expect((promised?.canSend ?? 0) > 0)
            await link.close()
        }

        @Test(.timeLimit(.minutes(1)), arguments: TestEngine.present)
        func aClientThatPromisedHeartBeatsAndIsSilentIsDropped(_ engine: TestEngine) async throws {
            let stage = try await Stage.open(engine)
            let endpoint = try stage.endpoint(try await stage.device())
            let link = try await endpoint.link()
            let connect = [
                StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.heartBeat, Array("1000,0".utf8)),
            ]
            try await link.send(
                try StompFrame(.connect, connect + endpoint.engine.connectHeaders(host: "localhost")).encoded)
            await endingSoon(link) { while let more: [UInt8]? = try? await link.receive(), more != nil {} }
        }
    }
}
