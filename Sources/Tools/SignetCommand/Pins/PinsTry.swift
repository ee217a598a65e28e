// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyPinning
import PinnedChains
import PinnedHTTP
import Signet

extension Pins {
    /// `signet pins try`
    struct Try: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "try",
            abstract: "Connect as a client with this policy would, send one request, and say why it worked or not.",
            discussion: """
                Exit status: 0 the server answered; 1 it was refused, and nothing was sent.

                Example: signet pins try example.policy api.example.org
                """)

        @Argument(help: ArgumentHelp("A policy file.", valueName: "policy")) var policy: String
        @Argument(help: ArgumentHelp("A server: host or host:port.", valueName: "host")) var host: String
        @Option(help: ArgumentHelp("What to ask for.", valueName: "path")) var path = "/"
        @Option(help: ArgumentHelp("Send it as 'Authorization: Bearer'.", valueName: "text")) var bearer: String?
        @Option(
            name: .customLong("websocket"),
            help: ArgumentHelp("Open a WebSocket instead, send this text and wait for an answer.", valueName: "text"))
        var message: String?
        @Option(help: ArgumentHelp("The WebSocket's sub-protocol, such as v12.stomp.", valueName: "name"))
        var subprotocol: String?

        @OptionGroup var anchors: AnchorOptions

        func run() async throws {
            let policy = try PinPolicyFile.read(policy)
            let server = try ServerPlace(host)
            let verifier = ChainVerifier(policy: policy, anchors: try anchors.anchors())
            do throws(TransportError) {
                let connector = try PinnedConnector(verifier, environment: policy.environment)
                if let message {
                    try await echo(message, server.address, connector)
                } else {
                    try await ask(server.address, connector)
                }
            } catch { throw CommandFailure(error.family.status, error.sentence(server.address.authority)) }
        }

        private var fields: [TransportRequest.Field] {
            bearer.map { [.init(name: "authorization", value: "Bearer " + $0)] } ?? []
        }

        private func ask(_ address: ServerAddress, _ connector: PinnedConnector) async throws(TransportError) {
            let request = TransportRequest(
                method: "GET", path: path, fields: fields,
                limit: ResponseLimit(maximumByteCount: 1_048_576, mediaType: nil))
            let response = try await NIOTransport(to: address, through: connector).send(request)
            Output.line("status \(response.status), \(response.body.count) bytes")
        }

        private func echo(
            _ message: String, _ address: ServerAddress, _ connector: PinnedConnector
        ) async throws(TransportError) {
            let socket = try await PinnedWebSocket.open(
                address, path: path, offering: subprotocol.map { [.init($0)] } ?? [], fields: fields,
                through: connector)
            try await socket.send(.text(Array(message.utf8)))
            let answer = try await socket.receive()
            await socket.close()
            switch answer {
            case .text(let bytes), .binary(let bytes): Output.line("answer of \(bytes.count) bytes")
            case nil: Output.line("closed without an answer")
            }
        }
    }
}
