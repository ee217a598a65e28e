// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// One request over a socket of its own, with exactly the fields that the test names: no client corrects them.
struct RawExchange {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: String
    /// The body as it came.
    let content: [UInt8]

    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// - Parameter host: an address of loopback.
    static func send(
        _ method: String, _ path: String, to port: Int, host: String = "127.0.0.1", _ fields: [(String, String)],
        body: String = "", bytes: [UInt8]? = nil, mediaType: String = "application/x-www-form-urlencoded"
    ) async throws -> RawExchange {
        let content = bytes ?? Array(body.utf8)
        var text = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if method == "POST" {
            text += "Content-Type: \(mediaType)\r\nContent-Length: \(content.count)\r\n"
        }
        return try RawExchange(try await Self.exchange(Array((text + "\r\n").utf8) + content, with: host, port))
    }

    private static func exchange(_ request: [UInt8], with host: String, _ port: Int) async throws -> [UInt8] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            // A server that refuses a long form closes before all of it is sent.
            try? await outbound.write(ByteBuffer(bytes: request))
            var bytes: [UInt8] = []
            do { for try await part in inbound { bytes += part.readableBytesView } } catch  where !bytes.isEmpty {}
            return bytes
        }
    }

    private init(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { throw NoAnswer(text: text) }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else { throw NoAnswer(text: text) }
        self.status = status
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        body = String(text[end.upperBound...])
        content = bytes.firstRange(of: Array("\r\n\r\n".utf8)).map { Array(bytes[$0.upperBound...]) } ?? []
    }
}

struct NoAnswer: Error { let text: String }
