// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Testing

/// A store of objects that finds that the times of requests are wrong, as one does at a machine whose clock is wrong by an hour.
@Suite(.serialized) struct SkewedStoreTests {
    /// The service manager starts again what has ended with 75, and never what has ended with 78.
    @Test(arguments: [["run", "--bind", "127.0.0.1:0"], ["rotate", "tls", "--now"]])
    func aClockThatTheStoreRefusesPasses_andIsNamed(_ command: [String]) async throws {
        try await Town.with { town in
            for (code, status) in [("RequestTimeTooSkewed", Int32(75)), ("AccessDenied", 78)] {
                let store = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .childChannelInitializer { child in
                        child.eventLoop.makeCompletedFuture {
                            try child.pipeline.syncOperations.addHandler(RefusingStore(code))
                        }
                    }
                    .bind(host: "127.0.0.1", port: 0).get()
                let port = store.localAddress?.port ?? 0
                let engines = "database host=/nowhere dbname=x user=x\nobjects http://127.0.0.1:\(port)\nbucket abc\n"
                try town.write(engines.utf8, to: "server/engines")
                try town.write("aws_access_key_id = a\naws_secret_access_key = b\n".utf8, to: "server/keys/objects")
                let exit = try await Program.signetd.run(command + ["--data", "server"], in: town.folder)
                try await store.close()
                expect(status, exit, code)
                #expect(exit.complaint.contains(code), "\(exit.errors)")
                #expect(exit.complaint.contains("set it by NTP") == (status == 75), "\(exit.errors)")
            }
        }
    }
}

/// Answers every request with 403 and a code.
private final class RefusingStore: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private var received = ""

    init(_ code: String) {
        let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>\(code)</Code></Error>"
        answer =
            "HTTP/1.1 403 Forbidden\r\ncontent-type: application/xml\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        // The bodies of these requests have no line breaks.
        let heads = received.components(separatedBy: "\r\n\r\n")
        received = heads.last ?? ""
        for _ in heads.dropFirst() {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }
}
