// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdTLS
import Logging
import NIOSSL
import SignetServer

/// What the web framework gives when it has nothing to do: one route, one small JSON object.
struct Baseline {
    private struct Greeting: ResponseEncodable {
        let message: String
    }

    private let tls: TLSConfiguration

    init(identity data: DataDirectory) throws {
        let chain = try NIOSSLCertificate.fromPEMFile(data.certificate)
        let key = try NIOSSLPrivateKey(file: data.certificateKey, format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.applicationProtocols = ["http/1.1"]
        self.tls = tls
    }

    func serve(port: Int) async throws {
        let router = Router()
        router.post("v1/lookup") { _, _ in Greeting(message: "hello") }
        var logger = Logger(label: "baseline")
        logger.logLevel = .warning
        let application = Application(
            router: router, server: try .tls(.http1(), tlsConfiguration: tls),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { _ in announce(port) }, logger: logger)
        try await application.runService()
    }
}
