// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import IssuerServer
import Logging

extension IssuerTool {
    /// `signet-issuer run`
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Serve wallets and sites.",
            discussion: """
                Prints one line, `listening HOST:PORT`, once it takes connections; SIGTERM and SIGINT stop it. The other \
                commands may be used meanwhile.
                """)

        @OptionGroup var options: DatabaseOptions
        @Option(help: ArgumentHelp("The address to listen on.", valueName: "address")) var bind = "127.0.0.1"
        @Option(help: ArgumentHelp("The TCP port to listen on.", valueName: "port")) var port: UInt16
        @Option(help: ArgumentHelp("Certificates, the issuer's own first, PEM.", valueName: "file")) var certificate:
            String
        @Option(help: ArgumentHelp("Their private key, PEM.", valueName: "file")) var key: String

        func run() async throws {
            let (database, chain, privateKey) = (try options.open(), try Self.read(certificate), try Self.read(key))
            let issuer: HTTPSIssuer
            do throws(IssuerServerError) {
                issuer = try HTTPSIssuer(database, certificateChain: chain, privateKey: privateKey)
            } catch {
                throw ValidationError(
                    "--certificate and --key do not belong together, or the key is not of the curve P-256")
            }
            var logger = Logger(label: "signet-issuer") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .warning
            do {
                let address = bind
                try await issuer.run(host: address, port: Int(port), logger: logger) { port in
                    print("listening \(address):\(port)")
                    fflush(nil)
                }
            } catch IssuerServerError.cannotListen {
                throw ValidationError("--bind \(bind), --port \(port): cannot listen")
            }
        }

        private static func read(_ path: String) throws -> [UInt8] {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ValidationError("\(path) cannot be read")
            }
            return Array(data)
        }
    }
}
