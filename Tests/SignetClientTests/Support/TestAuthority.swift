// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import SignetAPI
import SignetServer
import Testing
import TransparencyLog

/// A server identity with a root of its own, made by the setup that `signetd init` uses.
struct TestAuthority {
    let profile: DirectoryProfile
    let certificate: String
    let key: String

    /// - Parameter now: when the certificates were made; they begin an hour before.
    init(in folder: String, hosts: [String] = ["localhost"], now: Date = Date()) async throws {
        let data = DataDirectory(path: folder + "/authority-" + UUID().uuidString)
        let setup = DirectorySetup(
            origin: try KeyName("example.org/log".utf8), url: "https://localhost",
            tls: .own(hosts: try hosts.map { try #require(ServerHost($0)) }), logger: Logger(label: "test"))
        profile = try await setup.make(data, at: UInt64(now.timeIntervalSince1970))
        certificate = data.certificate
        key = data.certificateKey
    }

    /// The profile of a server that listens at this port.
    func profile(host: String = "localhost", port: Int) -> DirectoryProfile {
        DirectoryProfile(
            url: "https://\(host):\(port)", tlsRoot: profile.tlsRoot, pins: profile.pins, trust: profile.trust)
    }
}
