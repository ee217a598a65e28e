// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A member of a call and the relay send frames in another member's name, each in its own process.
struct CallForgeryTests {
    @Test(.timeLimit(.minutes(3))) func theForgerOfFramesIsNamedToTheListener() async throws {
        try await Town.with { town in
            try await town.serving { _ in try await town.befriendCarol() }
            try await town.lying(["calls"]) { try await Self.forge(town) }
        }
    }

    private static func forge(_ town: Town) async throws {
        let alice = try await CallProcess.start(town, "alice", with: ["bob", "carol"])
        let name = try #require(try await alice.first { $0["call"] as? String })
        let bob = try await CallProcess.join(name, town, "bob", with: ["alice", "carol"])
        let carol = try await CallProcess.join(
            name, town, "carol", with: ["alice", "bob"], "--forge-for-tests", "alice@example.org")
        defer { for call in [alice, bob, carol] { call.kill() } }
        let holders = try await bob.first { line -> [String]? in
            line["deniedBy"] as? String == "alice@example.org/1" ? line["keyHolders"] as? [String] : nil
        }
        #expect(holders == ["carol@example.org/1"])
        let end = try await bob.leave()
        let denied = end.participants.filter { $0["denied"] as? Int ?? 0 > 0 }
        #expect(denied.compactMap { $0["participant"] as? String } == ["alice@example.org/1"])
        #expect(end["undecryptable"] as? Int == 0, "\(end)")
    }
}
