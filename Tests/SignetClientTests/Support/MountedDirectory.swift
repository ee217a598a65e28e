// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SignetAPI
import SignetClient
import Testing
import TransparencyLog

@testable import SignetServer

/// Directory, notes and recovery, mounted in an app's own server.
enum MountedDirectory {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// An app's own server, with the directory beside its own page.
    static func run(
        limits: ServerLimits = ServerLimits(),
        _ body: @Sendable @escaping (_ profile: DirectoryProfile, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = DataDirectory(path: folder + "/data")
            let setup = DirectorySetup(
                origin: try KeyName("example.org/app".utf8), url: "https://localhost",
                tls: .own(hosts: [try #require(ServerHost("localhost"))]), logger: quiet)
            _ = try await setup.make(data, at: Surroundings.system.now())
            var configuration = HTTPSServer.Configuration()
            configuration.limits = limits
            let service = try await SignetService.open(data, configuration: configuration, logger: quiet)
            let (ports, port) = AsyncStream.makeStream(of: Int.self)
            let server = Server(
                childChannelSetup: SecureChannel(
                    tls: try ServerTLS(service.identity), limits: ServerLimits(),
                    ledger: ConnectionLedger(total: 100, perAddress: 100), metrics: ServerMetrics()
                ) { request, writer, source in
                    let answer = try await service.respond(
                        to: request.head, body: request.body, from: source.channel.remoteAddress)
                    if let answer {
                        try await writer.write(
                            response: HTTPResponse(status: answer.status, headerFields: answer.headers),
                            body: answer.body)
                    } else {
                        try await writer.write(
                            response: HTTPResponse(status: .init(code: 418), headerFields: [.contentLength: "0"]),
                            body: ResponseBody())
                    }
                },
                configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
            let services: [any Service] = [service, server]
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(services: services.map { .init(service: $0) }, logger: quiet))
            let running = Task { try await group.run() }
            for await number in ports {
                let profile = service.profile
                try await body(
                    DirectoryProfile(
                        url: "https://localhost:\(number)", tlsRoot: profile.tlsRoot, pins: profile.pins,
                        trust: profile.trust), folder)
                break
            }
            await group.triggerGracefulShutdown()
            try await running.value
        }
    }
}
