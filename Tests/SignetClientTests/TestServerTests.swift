// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinnedHTTP
import SecretMemory
import SignetAPI
import SignetClient
import SignetTesting
import Testing

@testable import Signet

/// The server for an app's own tests: it is honest until it is told to lie.
@Suite struct TestServerTests {
    private static let context = "com.example.chat"
    private static let surroundings = Surroundings(
        now: Surroundings.system.now, wait: { _ in try? await Task.sleep(for: .seconds(86_400)) },
        randomBytes: Surroundings.system.randomBytes)

    private static func account(
        _ name: String, _ server: TestServer, in folder: String
    ) async throws -> Account {
        try await Account.create(
            Handle(name), at: server.profile, in: HomeFolder(path: folder + "/" + name),
            passphrase: SecretBytes(copying: "heron, kettle, ninety, lamp".utf8), surroundings: surroundings)
    }

    @Test func theServerIsHonestUntilItIsToldToLie() async throws {
        try await TestServer.run(attack: .swappedKey) { server in
            try await withTemporaryFolder { folder in
                let alice = try await Self.account("alice@example.org", server, in: folder)
                let bob = try await Self.account("bob@example.org", server, in: folder)
                _ = try await alice.add(bob.handle)
                _ = try await bob.accept(alice.handle)
                let message = try await alice.seal("hello".utf8, to: [bob.handle], for: Self.context)
                #expect(try await bob.open(message.encoded, for: Self.context).content.body == Array("hello".utf8))

                server.startLying()
                let home = HomeFolder(path: folder + "/alice@example.org")
                await alice.close()
                let deceived = try await Account.open(
                    in: home, passphrase: SecretBytes(copying: "heron, kettle, ninety, lamp".utf8),
                    surroundings: Self.surroundings)
                var refusal: ClientError?
                do throws(SignetError) {
                    _ = try await deceived.seal("hello".utf8, to: [bob.handle], for: Self.context)
                } catch {
                    if case .client(let error) = error { refusal = error }
                }
                #expect(refusal?.family == .peer)
                await deceived.close()
                await bob.close()
            }
        }
    }

    @Test func withoutAnAttackTheServerStaysHonest() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let alice = try await Self.account("alice@example.org", server, in: folder)
                server.startLying()
                let bob = try await Self.account("bob@example.org", server, in: folder)
                _ = try await alice.add(bob.handle)
                await alice.close()
                await bob.close()
            }
        }
    }
}
