// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetClient
import SignetServer
import SignetTesting

/// Clients that register one new account after the other over the network, until they are killed.
struct Registrations {
    private static let clientCount = 40
    private let profile: DirectoryProfile

    /// Clients of the server that has this data and listens at `port`.
    init(of data: DataDirectory, port: Int) throws {
        let profile = try StoredDirectory.readProfile(data)
        self.profile = DirectoryProfile(
            url: "https://localhost:\(port)", tlsRoot: profile.tlsRoot, pins: profile.pins, trust: profile.trust)
    }

    /// Writes a line for each account: how many milliseconds it took until its keys stood in a published log.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<Self.clientCount {
                group.addTask {
                    for number in 0... { try await register("client\(client)-\(number)@example.org") }
                }
            }
            try await group.waitForAll()
        }
    }

    private func register(_ name: String) async throws {
        let secrets = try DeviceSecrets.generate(for: Handle(typed: Array(name.utf8)), withIdentity: true)
        let transport = try NIOTransport(to: profile)
        let client = try Client(
            of: profile, over: transport, remembering: InMemoryStore(),
            owner: .init(handle: secrets.handle, deviceKey: secrets.keys.signing, identityKey: secrets.identityKey))
        let start = ContinuousClock.now
        _ = try await client.createAccount(secrets)
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        FileHandle.standardOutput.write(Data("registered \(Int(time))\n".utf8))
    }
}
