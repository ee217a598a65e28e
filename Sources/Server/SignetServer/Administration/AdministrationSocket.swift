// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import Platform
package import ServiceLifecycle

/// Serves ``Administration`` on a Unix socket, for as long as the server runs.
package struct AdministrationSocket: Service {
    private let administration: Administration
    private let path: String
    private let logger: Logger

    /// - Parameter path: of the socket. What is left of one that an earlier process did not remove is replaced; the lock on the log has
    ///   shown that there is no other process.
    package init(_ administration: Administration, at path: String, logger: Logger) {
        self.administration = administration
        self.path = path
        self.logger = HTTPSServer.quiet(logger)
    }

    /// Whether a path is short enough for the address of a Unix socket: 107 bytes on Linux, 103 on Apple systems.
    package static func isShortEnough(_ path: String) -> Bool { path.utf8.count <= maximumPathByteCount }

    package func run() async throws {
        let path = path
        if let status = FileStatus(ofEntry: path), !status.isSocket { throw ServerStop.cannotAdminister }
        let server = Server(
            childChannelSetup: HTTP1Channel(responder: respond),
            configuration: ServerConfiguration(address: .unixDomainSocket(path: path)),
            onServerRunning: { _ in chmod(path, 0o600) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        defer { unlink(path) }
        try await OperatorsListener(listener: server, failure: .cannotAdminister).run()
    }

    private func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        // No call has a body.
        let answer = await administration.answer(request.head, from: await channel.peerUser())
        try await writer.write(
            response: answer.response(at: HTTPDate(ServerClock.system).now, isLast: true),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        throw ConnectionEnd()
    }

    #if canImport(Darwin)
        private static let maximumPathByteCount = 103
    #else
        private static let maximumPathByteCount = 107
    #endif
}

extension DataDirectory {
    /// The socket on which the operator's commands reach the running server.
    public var administration: String { path + "/admin.socket" }
}
