// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import ProtocolTesting
import SecretMemory
import Signet
import SignetClient
import SignetTesting
import Testing
import TransparencyLog

/// Three `signetd witness` processes, an auditor, an owner's monitor and clients beside `signetd`, over real sockets.
@Suite(.serialized) struct FederationTests {
    /// The size of the published checkpoint, checked under the whole policy, and who cosigned it.
    private func published(_ federation: Federation, _ home: String) async throws -> UInt64 {
        let exit = try await federation.town.signet(home, "log", "verify", "--json")
        expect(0, exit)
        return try #require(exit.object()["size"] as? UInt64)
    }

    @Test func theLogGrowsWithOneWitnessDown_andStopsBelowTheQuorum() async throws {
        try await Federation.with { federation in
            expect(0, try await federation.register("alice"))
            let first = try await published(federation, "alice")

            try await federation.stop("w1", SIGKILL)
            expect(0, try await federation.register("bob"), "one of three is down")
            let second = try await published(federation, "alice")
            #expect(second > first)

            try await federation.stop("w2", SIGKILL)
            let refused = try await federation.registerOnce("carol")
            expect(3, refused, "two of three are down")
            #expect(refused.complaint.contains("too few witnesses"))
            #expect(try await published(federation, "alice") == second, "nothing is published below the quorum")

            try await federation.start("w1")
            expect(0, try await federation.register("carol"), "the same command succeeds once there is a quorum")
            #expect(try await published(federation, "alice") > second)
            let nobody = try await federation.town.signet("alice", "lookup", "nobody@example.org")
            expect(4, nobody, "proved absent, under the whole policy")
            expect(0, try await federation.town.signet("alice", "monitor"), "all that is logged under her name is hers")
            // No account is lost.
            for name in ["bob", "carol"] {
                expect(0, try await federation.town.signet("alice", "people", "add", "\(name)@example.org"))
            }
        }
    }

    @Test func theMetricsShowEachWitnesssLastCosignature() async throws {
        try await Federation.with { federation in
            func cosigned(_ name: String, _ what: String) async throws -> Double {
                let page = try await Exit.of(
                    URL(filePath: "/usr/bin/curl"),
                    ["--silent", "--cacert", "server/tls/ca.pem", federation.url + "/metrics"],
                    in: federation.town.folder)
                let start = "signet_witness_cosigned_\(what){witness=\"\(name)\"} "
                let line = try #require(page.lines.first { $0.hasPrefix(start) })
                return try #require(Double(line.dropFirst(start.count)))
            }
            expect(0, try await federation.register("alice"))
            let before = try await cosigned("auditor", "entries")
            #expect(before > 0, "without the auditor there is no quorum")
            #expect(try await cosigned("auditor", "timestamp_seconds") > 1_700_000_000)
            try await federation.stop("w2", SIGKILL)
            let silent = try await cosigned("w2", "entries")
            expect(0, try await federation.register("bob"))
            #expect(try await cosigned("auditor", "entries") > before)
            #expect(try await cosigned("w2", "entries") == silent)
            #expect(try await cosigned("w0", "entries") > silent, "the two that are left have to cosign")
        }
    }

    @Test func withoutTheAuditorNoCheckpointIsPublished() async throws {
        try await Federation.with { federation in
            expect(0, try await federation.register("alice"))
            try await federation.stop("auditor", SIGKILL)
            let refused = try await federation.registerOnce("bob")
            #expect(refused.complaint.contains("too few witnesses"))
            try await federation.start("auditor")
            expect(0, try await federation.register("bob"), "the auditor continues where it was killed")
        }
    }

    /// Every process is killed again and again while people register; what was acknowledged stays, and every checkpoint
    /// that a client ever saw is of one history: `log verify` compares each with the last.
    @Test func killsAtAnyMomentLoseNoAccountAndForkNoLog() async throws {
        try await Federation.with { federation in
            expect(0, try await federation.register("alice"))
            var registered = ["alice"]
            for (round, victim) in ["server", "w0", "auditor", "server", "w1", "w2", "server", "auditor"].enumerated() {
                let home = "person\(round)"
                try federation.town.prepareHome(home, "\(home)@example.org", withIdentity: true)
                let box = UncheckedBox(federation)
                async let exit = box.value.registerOnce(home)
                // During the command, or after it: both happen.
                if round.isMultiple(of: 3) { _ = try await exit }
                try await federation.stop(victim, SIGKILL)
                try await federation.start(victim)
                if try await exit.status == 0 { registered.append(home) }
                _ = try await published(federation, "alice")
            }
            for name in registered {
                let exit = try await federation.town.signet("alice", "lookup", "\(name)@example.org", "--json")
                #expect(
                    [0, 2].contains(exit.status), "\(name) was acknowledged and is gone: \(exit.errors.prefix(200))")
            }
            #expect(registered.count > 2)
        }
    }

    /// The log ends, and its successor has all accounts.
    private func handOver(_ federation: Federation) async throws {
        try await federation.stop("server")
        let succeeded = try await federation.town.signetd(
            "succeed", "--from", "server", "--data", "successor", "--origin", "example.org/next", "--bind",
            federation.address)
        expect(0, succeeded)
        federation.data = "successor"
        try await federation.addLog(try federation.logKey())
        for name in Federation.witnesses {
            try await federation.stop(name)
            try await federation.start(name)
        }
        try await federation.start("server")
        expect(0, try await federation.register("afterwards"))
    }

    /// The client is offline while the log changes its key twice and then hands over to another log.
    ///
    /// An auditor's key is for one log, so that a handover under it needs the user's consent: with an auditor, only the
    /// keys change.
    @Test(arguments: [true, false]) func aClientThatWasOfflineForEveryChangeCatchesUp(hasAuditor: Bool) async throws {
        try await Federation.with(hasAuditor: hasAuditor) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            expect(0, try await federation.register("sleeper"))
            expect(0, try await town.signet("sleeper", "people", "add", "alice@example.org"))
            let before = try town.bytes("sleeper/directory")

            for round in 1...2 {
                try await rotateLogKey(federation, hasAuditor: hasAuditor)
                expect(0, try await federation.register("after\(round)"))
            }
            if !hasAuditor { try await handOver(federation) }

            #expect(try town.bytes("sleeper/directory") == before)
            let found = try await town.signet("sleeper", "lookup", "alice@example.org", "--json")
            expect(0, found, "after two rotations and a handover")
            #expect(found.errors.contains("new keys"))
            #expect(try town.bytes("sleeper/directory") != before)
            #expect(try found.object()["outcome"] as? String == "matched", "still pinned")
            expect(0, try await town.signet("sleeper", "log", "verify"))
            let again = try await town.signet("sleeper", "directory", "update", "--json")
            #expect(try again.object()["changes"] as? UInt64 == 0)
        }
    }

    private func rotateLogKey(_ federation: Federation, hasAuditor: Bool = false) async throws {
        let town = federation.town
        try await federation.stop("server")
        let key = try await town.signetd("rotate", "log-key", "--data", "server", "--announce")
        expect(0, key)
        try await federation.addLog(try #require(key.lines.first))
        for name in Federation.witnesses {
            try await federation.stop(name)
            try await federation.start(name)
        }
        let untried = hasAuditor ? ["--untried"] : []
        let rotate = ["rotate", "log-key", "--data", "server", "--bind", federation.address] + untried
        expect(0, try await Program.signetd.run(rotate, in: town.folder))
        // The auditor reads the directory file: it follows the log's new key from there.
        if hasAuditor {
            try await federation.stop("auditor")
            try await federation.start("auditor")
        }
        try await federation.start("server")
    }

    /// No quorum is weakened: the evidence alone requires the user's consent.
    @Test func aClientWithEvidenceFollowsOnlyWithTheUsersConsent() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            for name in ["alice", "sleeper"] { expect(0, try await federation.register(name)) }
            expect(0, try await town.signet("sleeper", "people", "add", "alice@example.org"))
            let log = try ForgedLog(origin: "example.org/signet")
            let first = try log.checkpoint()
            try log.grow(epochs: 1, people: 1)
            let store = try SQLiteStore.open(at: town["sleeper/store.sqlite"].path())
            try await store.keep(ForkEvidence(first: first, second: log.checkpoint()), at: 1)
            try store.close()
            try await handOver(federation)

            let refused = try await town.signet("sleeper", "lookup", "alice@example.org")
            expect(2, refused)
            #expect(refused.complaint.contains("you hold evidence against it"))
            expect(2, try await town.signet("sleeper", "directory", "update"))
            expect(0, try await town.signet("sleeper", "directory", "update", "--accept"))
            expect(0, try await town.signet("sleeper", "lookup", "alice@example.org"))
            expect(
                0, try await town.signet("alice", "lookup", "sleeper@example.org"), "without evidence, without consent")
        }
    }

    /// The daily check is the first to find the new keys. It raises no alarm, and later calls succeed.
    @Test func anOpenAccountFollowsTheDirectorysKeysByItself() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            for name in ["alice", "bob"] { expect(0, try await federation.register(name)) }
            try await rotateLogKey(federation)

            let (surroundings, waits) = Surroundings.announcingWaits()
            let alice = try await Account.open(
                in: HomeFolder(path: town["alice"].path()), passphrase: SecretBytes(copying: Program.passphrase.utf8),
                surroundings: surroundings)
            for await _ in waits { break }
            let bob = try await alice.add(Handle("bob@example.org"))
            #expect(bob.deviceCount == 1)
            await alice.close()
            var events: [AccountEvent] = []
            for await event in alice.events { events.append(event) }
            #expect(events == [.directoryKeysChanged])
        }
    }

    /// Stops the server, and lets one of its witnesses suffice.
    private static func requireFewer(_ federation: Federation) async throws {
        let town = federation.town
        let lines = String(decoding: try town.bytes("witnesses"), as: UTF8.self)
            .replacing("group seen 2 w0", with: "group seen any w0")
        try town.write(lines.utf8, to: "fewer")
        try await federation.stop("server")
        expect(
            0, try await town.signetd("rotate", "witnesses", "--data", "server", "fewer", "--bind", federation.address))
    }

    /// From now on fewer witnesses suffice, which needs the user's consent.
    @Test func aWeakerQuorumNeedsTheUsersConsent() async throws {
        try await Federation.with { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            try await Self.requireFewer(federation)
            try await federation.stop("w0")
            try await federation.stop("w1")
            try await federation.start("server")
            expect(0, try await federation.register("bob"), "new clients need one witness only")
            let refused = try await town.signet("alice", "lookup", "bob@example.org")
            expect(2, refused)
            let shown = try await town.signet("alice", "directory", "update", "--json")
            expect(2, shown)
            expect(0, try await town.signet("alice", "directory", "update", "--accept"))
            expect(0, try await town.signet("alice", "lookup", "bob@example.org"))
        }
    }

    /// Alice has missed two changes of the server's TLS key, and one of its witnesses.
    @Test func pinsThatOnlyFewerWitnessesHaveSeenNeedTheUsersConsent() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            try await Self.requireFewer(federation)
            try await federation.start("server")
            expect(0, try await federation.register("dave"))
            try await federation.stop("server")
            for (version, options) in [(2, []), (3, ["--leave-behind"])] as [(UInt64, [String])] {
                let rotate = ["rotate", "tls", "--data", "server", "--now"] + options
                expect(0, try await Program.signetd.run(rotate, in: town.folder))
                try await federation.start("server")
                expect(0, try await federation.register(options.isEmpty ? "bob" : "carol"))
                // The next change needs the version before in the log.
                try await TLSRotationTests.learn(version, town, "dave")
                try await federation.stop("server")
            }
            for name in ["w0", "w1"] { try await federation.stop(name) }
            try await federation.start("server")
            let before = try town.bytes("alice/directory")
            let refused = try await town.signet("alice", "pins", "accept", "server/directory.signet")
            expect(2, refused)
            #expect(refused.errors.contains("other or fewer witnesses would suffice"), "\(refused.errors)")
            #expect(try town.bytes("alice/directory") == before)
            expect(
                0,
                try await town.signet("alice", "pins", "accept", "server/directory.signet", "--accept-witnesses"))
            expect(2, try await town.signet("alice", "lookup", "bob@example.org"), "the change is still to be accepted")
            expect(0, try await town.signet("alice", "directory", "update", "--accept"))
            expect(0, try await town.signet("alice", "lookup", "bob@example.org"))
        }
    }
}
