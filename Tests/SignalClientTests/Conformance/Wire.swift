// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import STOMP
import SignalClient
import Synchronization
import Testing

/// A connection with the operations that the rules need.
final class Wire: Sendable {
    let connection: StompConnection
    let engine: RelayEngine
    private let link: any StompLink
    /// Messages that arrived while a test waited for another frame.
    private let early = Mutex<[StompFrame]>([])

    init(_ connection: StompConnection, _ link: any StompLink, _ engine: RelayEngine) {
        self.connection = connection
        self.link = link
        self.engine = engine
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String
        init(_ frame: StompFrame?) {
            description = frame.map { String(decoding: $0.encoded.prefix(300), as: UTF8.self) } ?? "the end"
        }
    }

    func send(_ command: StompCommand, _ headers: [StompHeader], body: [UInt8] = []) throws {
        connection.send(try StompFrame(command, headers, body: body))
    }

    /// Sends a frame and waits for its RECEIPT.
    func confirmed(_ command: StompCommand, _ headers: [StompHeader], body: [UInt8] = []) async throws {
        let receipt = Array(UUID().uuidString.utf8)
        try send(command, headers + [StompHeader(.receipt, receipt)], body: body)
        while let frame = try await connection.receive() {
            if frame.command == .message {
                early.withLock { $0.append(frame) }
                continue
            }
            guard frame.command == .receipt, frame.value(of: .receiptID) == receipt else { throw Unexpected(frame) }
            return
        }
        throw Unexpected(nil)
    }

    /// The next message.
    func message() async throws -> StompFrame {
        if let frame = early.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return frame }
        let frame = try await connection.receive()
        guard let frame, frame.command == .message else { throw Unexpected(frame) }
        return frame
    }

    /// Whether the server says ERROR and closes the connection, or does as much of it as the engine does.
    func isRefused(by engine: TestEngine) async -> Bool {
        await endingSoon(link) {
            var saidError = false
            while let frame = try? await connection.receive() {
                saidError = saidError || frame.command == .error
                if saidError && !engine.closesAfterError { return true }
            }
            return saidError || !engine.closesAfterError
        }
    }

    func subscribe(_ route: RelayRoute, as name: String = "s", _ mode: AcknowledgmentMode = .auto) async throws {
        try await confirmed(
            .subscribe,
            [
                StompHeader(.destination, route.destination), StompHeader(.id, Array(name.utf8)),
                StompHeader(.ack, mode.bytes),
            ])
    }

    /// Sends a signal to its topic or inbox, and waits for its RECEIPT; in a transaction it does not, since RabbitMQ
    /// sends that one after the COMMIT.
    func send(
        _ signal: Signal, _ headers: [StompHeader] = [], lifetime: UInt64? = nil, in transaction: String? = nil
    ) async throws {
        let route = signal.content.recipient.map { RelayRoute.inbox($0) } ?? .topic(signal.content.callID)
        var all = [StompHeader(.destination, route.destination)] + headers
        all += engine.sendHeaders(to: route, lifetime: lifetime)
        guard let transaction else { return try await confirmed(.send, all, body: signal.encoded) }
        try send(.send, all + [StompHeader(.transaction, Array(transaction.utf8))], body: signal.encoded)
    }

    func answer(_ command: StompCommand, _ message: StompFrame, in transaction: String? = nil) async throws {
        var headers = [StompHeader(.id, try #require(message.value(of: .ack)))]
        if let transaction { headers.append(StompHeader(.transaction, Array(transaction.utf8))) }
        try await confirmed(command, headers)
    }

    func transact(_ command: StompCommand, _ name: String) async throws {
        try await confirmed(command, [StompHeader(.transaction, Array(name.utf8))])
    }

    func close() async { await connection.close() }
}

extension StompFrame {
    var isRedelivered: Bool { value(of: "redelivered") == Array("true".utf8) }
}
