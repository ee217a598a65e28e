// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// A database that does not let a process in which starts with it.
@Suite(.serialized) struct TurnedAwayTests {
    /// The service manager starts again what has ended with 75, and never what has ended with 78.
    @Test(
        arguments: [
            ("28P01", 78, "Look at `user`"), ("3D000", 78, "Look at `dbname`"), ("57P03", 75, "57P03"),
        ] as [(String, Int32, String)])
    func aStartNamesThePartOfEnginesThatIsWrong(state: String, status: Int32, words: String) async throws {
        try await Town.with { town in
            let host = try ShutHost(refusing: state)
            let store = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { [script = StoreScript()] child in
                    child.eventLoop.makeCompletedFuture {
                        try child.pipeline.syncOperations.addHandler(ScriptedStore(script))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let database = "host=127.0.0.1 port=\(host.port) user=u dbname=d sslmode=disable gssencmode=disable"
            let objects = "http://127.0.0.1:\(store.localAddress?.port ?? 0)"
            let engines = "database \(database)\nobjects \(objects)\nbucket abc\n"
            try town.write(engines.utf8, to: "server/engines")
            try town.write("aws_access_key_id = a\naws_secret_access_key = b\n".utf8, to: "server/keys/objects")
            expect(0, try await town.signetd("rotate", "shared-secret", "--announce", "--data", "server"))
            // Who only sequences waits for a database that is away.
            for roles in status == 78 ? ["serve", "sequence"] : ["serve"] {
                let command = ["run", "--bind", "127.0.0.1:0", "--roles", roles, "--data", "server"]
                let exit = try await Program.signetd.run(command, in: town.folder)
                expect(status, exit, roles)
                #expect(exit.errors.contains(words), "\(roles): \(exit.errors)")
            }
            try await store.close()
        }
    }
}

/// What a store answers that keeps conditions, in the order in which a start asks, again and again.
private final class StoreScript: Sendable {
    private let count = Mutex(0)
    private static let answers = [
        answer("200 OK", tag: "1"), answer("412 Precondition Failed"), answer("200 OK", tag: "1", "one"),
        answer("200 OK", tag: "2"), answer("412 Precondition Failed"), answer("412 Precondition Failed"),
        answer("200 OK", tag: "2", "two"), "HTTP/1.1 204 No Content\r\n\r\n",
    ]

    private static func answer(_ status: String, tag: String? = nil, _ body: String = "") -> String {
        let tag = tag.map { "etag: \"\($0)\"\r\n" } ?? ""
        return "HTTP/1.1 \(status)\r\n\(tag)content-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The next answer.
    func next() -> String {
        count.withLock { count in
            defer { count += 1 }
            return Self.answers[count % Self.answers.count]
        }
    }
}

/// One connection of a store.
private final class ScriptedStore: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: StoreScript
    private var received = ""

    init(_ script: StoreScript) { self.script = script }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        // The bodies of these requests have no line breaks.
        let heads = received.components(separatedBy: "\r\n\r\n")
        received = heads.last ?? ""
        for _ in heads.dropFirst() {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: script.next())), promise: nil)
        }
    }
}
