// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Three people in a call, each a process of their own, over a relay that loses one frame in twenty and delays and reorders
/// the rest.
struct CallProcessTests {
    /// The host makes new keys every two seconds and is killed; its successor does the same; then a member leaves.
    @Test(.timeLimit(.minutes(3))) func everyFrameIsDecryptedAcrossRotations_aKilledHost_andALeave() async throws {
        try await Town.with { town in
            try await town.lying(["calls", "--network", "0.05,20,80,7"]) {
                try await town.befriendCarol()
                let alice = try await CallProcess.start(town, "alice", with: ["bob", "carol"])
                let name = try #require(try await alice.first { $0["call"] as? String })
                let bob = try await CallProcess.join(name, town, "bob", with: ["alice", "carol"])
                // The member who joined first takes over first.
                try await alice.hears(["bob"], generations: 1)
                let carol = try await CallProcess.join(name, town, "carol", with: ["alice", "bob"])
                defer { for call in [alice, bob, carol] { call.kill() } }
                for call in [alice, bob, carol] { try await call.hears(["alice", "bob", "carol"], generations: 3) }
                alice.kill()
                let generations = try await bob.first { status in
                    status["isHost"] as? Bool == true ? status["generations"] as? Int : nil
                }
                for call in [bob, carol] {
                    try await call.hears(["bob", "carol"], generations: (generations ?? 0) + 2)
                }
                expect(0, try await town.signet("carol", "call", "leave"))
                let ends = [try await carol.end(), try await bob.leave()]
                for end in ends {
                    #expect(end["undecryptable"] as? Int == 0, "\(end)")
                    let frames = try #require(end["frames"] as? Int)
                    #expect(frames > 300, "\(end)")
                    // The network was bad: frames were lost that no key could have opened.
                    #expect(end.lost * 50 > frames, "\(end)")
                }
            }
        }
    }

    /// One of two or three loses all signals and frames for six seconds: a member, or the host. No member intervenes,
    /// and all are in one call again.
    @Test(.timeLimit(.minutes(3)), arguments: [["alice", "bob"], ["alice", "bob", "carol"]], [0, 1])
    func aCallSurvivesSixSecondsWithoutANetwork(_ names: [String], cut: Int) async throws {
        try await Town.with { town in
            try await town.serving(options: Self.goodNetwork) {
                if names.contains("carol") { try await town.befriendCarol() }
                let calls = try await CallProcess.startAll(names, town)
                defer { for call in calls { call.kill() } }
                for call in calls { try await call.hears(names, generations: 2) }
                calls[cut].loseTheNetwork()
                // The gap in the numbers of frames is seen when they come again: it is over then.
                try await calls[cut].misses(names, atLeast: 200)
                for call in calls { try await call.misses([names[cut]], atLeast: 200) }
                let generations = try await calls[0].first { $0["generations"] as? Int } ?? 0
                var hosts: [CallProcess] = []
                for call in calls where try await call.usesOneEpoch(generations: generations + 1) { hosts.append(call) }
                #expect(hosts.count == 1)
                // The member that was away may get the keys of its absence late. Once all are in one call again, no
                // frame lacks its key.
                var lost: [Int] = []
                for call in calls { try await lost.append(call.isHealed(generations: generations + 1)) }
                if cut == 1 {
                    #expect(hosts.first === calls[0])
                    if names.count == 3 { try await Self.removeAndReadmit(calls[2], by: calls[0], town) }
                }
                for call in calls[..<2] { try await call.rotates(times: 2) }
                for (call, lost) in zip(calls, lost).prefix(2).reversed() {
                    let end = try await call.leave()
                    #expect(end["undecryptable"] as? Int == lost, "\(end)")
                }
            }
        }
    }

    /// The host's signal does not reach the removed member. The relay refuses that device, which ends its call.
    @Test(.timeLimit(.minutes(3))) func aMemberRemovedWithoutANetworkLearnsOfItFromTheRelay() async throws {
        try await Town.with { town in
            try await town.serving(options: Self.goodNetwork) {
                let calls = try await CallProcess.startAll(["alice", "bob"], town)
                defer { for call in calls { call.kill() } }
                for call in calls { try await call.hears(["alice", "bob"], generations: 2) }
                calls[1].loseTheNetwork()
                try await calls[0].hearsNothingMore()
                calls[0].type("remove bob@example.org")
                _ = try await calls[1].end()
                _ = try await calls[0].leave()
            }
        }
    }

    /// A typed line removes the third member, who cannot join again until another line readmits them.
    private static func removeAndReadmit(_ carol: CallProcess, by alice: CallProcess, _ town: Town) async throws {
        _ = try await alice.first { $0["isHost"] as? Bool == true ? true : nil }
        alice.type("remove carol@example.org")
        _ = try await carol.end()
        let people = ["--with", "alice@example.org", "--with", "bob@example.org", "--home", "carol"]
        expect(1, try await town.signet(["call", "join", alice.name, "--for", "5"] + people))
        alice.type("readmit carol@example.org/1")
        let back = try await CallProcess.join(alice.name, town, "carol", with: ["alice", "bob"])
        defer { back.kill() }
        try await back.hears(["alice", "bob", "carol"], generations: 1)
        #expect(try await back.leave()["undecryptable"] as? Int == 0)
    }

    private static let goodNetwork = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0",
    ]

    @Test func leave_isRefusedWithoutACall() async throws {
        try await Town.with { town in expect(64, try await town.signet("alice", "call", "leave")) }
    }

    @Test func aPersonWhoWasNotAddedIsNotCalled() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("alice", "call", "start", "--with", "nobody@example.org", "--json")
            expect(4, exit)
        }
    }

    @Test func aPersonWhoIsNotInvitedIsNotAdmitted() async throws {
        try await Town.withServer { town, _ in
            let name = String(repeating: "0", count: 32)
            let exit = try await town.signet("bob", "call", "join", name, "--with", "alice@example.org", "--for", "5")
            expect(1, exit)
        }
    }
}
