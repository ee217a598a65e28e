// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import HummingbirdTLS
import Logging
import NIOSSL
public import SignetServer

/// What the web framework gives when it has nothing to do: one route, one small JSON object.
public struct Baseline {
    private struct Greeting: ResponseEncodable {
        let message: String
    }

    private let tls: TLSConfiguration

    /// - Parameter data: whose certificate it has.
    public init(identity data: DataDirectory) throws {
        let chain = try NIOSSLCertificate.fromPEMFile(data.certificate)
        let key = try NIOSSLPrivateKey(file: data.certificateKey, format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.applicationProtocols = ["http/1.1"]
        self.tls = tls
    }

    /// Serves until the process ends.
    public func serve(port: Int) async throws {
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

/// Tells the script that waits that connections are accepted; unbuffered.
public func announce(_ port: Int) { FileHandle.standardOutput.write(Data("listening on \(port)\n".utf8)) }
