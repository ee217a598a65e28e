// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetServer
import SignetTesting
import TransparencyLog

/// Two real servers of one directory, with one secret history up to alice: the second has what came later at the first only if a test
/// brings it there.
struct TwoFrontEnds: Sendable {
    let ahead: TestDirectory
    let behind: TestDirectory

    /// Runs a test with both.
    ///
    /// - Parameter frontEnd: how the second is one of several; nil: it believes that it is the only one.
    static func run(
        _ frontEnd: FrontEnd?, _ body: @Sendable @escaping (TwoFrontEnds) async throws -> Void
    ) async throws {
        let clock = Surroundings.system.now
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let root = folder + "/" + (try FileManager.default.contentsOfDirectory(atPath: folder)[0])
            let keys = try DirectoryKeys.read(from: root + "/keys", origin: KeyName("example.org/log".utf8))
            @Sendable func open(_ name: String, _ frontEnd: FrontEnd?) async throws -> Directory {
                try await Directory.open(
                    at: "\(root)/\(name)", keys: keys, clock: clock, logger: TestDirectory.quiet, frontEnd: frontEnd)
            }
            func served(_ directory: Directory, _ body: (TestDirectory) async throws -> Void) async throws {
                try await TestDirectory.serve(DirectoryAdapter(directory), authority, clock) { port in
                    let profile = authority.profile(port: port)
                    try await body(
                        TestDirectory(profile: profile, lyingProfile: profile, keys: keys, directory: directory))
                }
            }
            let first = try await open("records", nil)
            try await served(first) { _ = try await $0.person("alice@example.org") }
            await first.close()
            try FileManager.default.copyItem(atPath: root + "/records", toPath: root + "/copy")
            let (one, other) = (try await open("records", FrontEnd()), try await open("copy", frontEnd))
            try await served(one) { ahead in
                try await served(other) { behind in try await body(TwoFrontEnds(ahead: ahead, behind: behind)) }
            }
            await one.close()
            await other.close()
        }
    }
}

/// A balancer that sends what registers to one front end, and what asks to another.
struct SplitTransport: HTTPTransport {
    let registering: any HTTPTransport
    let asking: any HTTPTransport

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let paths = [Route.register.path, Route.possession.path, Route.updateState.path]
        return try await (paths.contains(request.path) ? registering : asking).send(request)
    }
}
