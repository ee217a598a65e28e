// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// SIGHUP makes a running `signetd` read its configuration file again.
@Suite(.serialized) struct ReloadTests {
    private static let start = "data = server\nbind = 127.0.0.1:0\nepoch = 0\nrate = 0\n"

    /// A server with a configuration file.
    private func serving(
        _ options: [String] = [], _ body: (Town, RunningServer) async throws -> Void
    ) async throws {
        try await Town.with { town in
            try town.write(Self.start.utf8, to: "signetd.conf")
            let server = try await RunningServer.start(
                .signetd, ["run", "--config", "signetd.conf"] + options, in: town.folder)
            try town.point(to: server.port)
            do { try await body(town, server) } catch {
                try await server.stop(SIGKILL)
                throw error
            }
            expect(0, try await server.stop())
        }
    }

    /// Writes the file, sends SIGHUP, and waits for what the server says.
    private func reload(
        _ server: RunningServer, _ text: String, in town: Town, until words: String
    ) async throws {
        try town.write(text.utf8, to: "signetd.conf")
        let count = try server.errors.components(separatedBy: words).count
        kill(server.processIdentifier, SIGHUP)
        let deadline = ContinuousClock.now + .seconds(60)
        while try server.errors.components(separatedBy: words).count == count, ContinuousClock.now < deadline {
            await Task.yield()
        }
        #expect(try server.errors.components(separatedBy: words).count > count)
    }

    private func register(_ handle: String, in town: Town) async throws -> Exit {
        try await town.signet([
            "account", "create", handle, "--directory", "server/directory.signet", "--home",
            "\(handle.prefix { $0 != "@" })-home",
        ])
    }

    @Test func aChangedRuleOfRegistrationCountsAtOnce_andCanBeTakenBack() async throws {
        try await serving { town, server in
            expect(0, try await register("carol@example.org", in: town))
            try await reload(server, Self.start + "by-invitation = true\n", in: town, until: "changed=by-invitation")
            let refused = try await register("dave@example.org", in: town)
            #expect(refused.errors.contains("registers people by invitation"), "\(refused.errors)")
            try await reload(server, Self.start, in: town, until: "changed=by-invitation")
            expect(0, try await register("erin@example.org", in: town))
        }
    }

    /// Forty requests over one connection, which take less than the ten seconds that they would be paid for by then.
    @Test func aChangedRateOfRequestsCountsAtOnce() async throws {
        try await serving { town, server in
            let requests = [
                "curl", "--silent", "--cacert", "server/tls/ca.pem", "--output", "/dev/null", "--write-out",
                "%{http_code}\\n",
                "https://localhost:\(server.port)/checkpoint?[1-40]",
            ]
            let before = try await Exit.of(URL(filePath: "/usr/bin/env"), requests, in: town.folder)
            expect(0, before)
            #expect(before.lines.count == 40 && !before.lines.contains("429"), "\(before.lines)")
            try await reload(
                server, Self.start.replacing("rate = 0", with: "rate = 1"), in: town, until: "changed=rate")
            let after = try await Exit.of(URL(filePath: "/usr/bin/env"), requests, in: town.folder)
            #expect(after.lines.count == 40 && after.lines.contains("429"), "\(after.lines)")
        }
    }

    @Test func aChangedLevelOfRemarksCountsAtOnce() async throws {
        try await serving(["--epoch=1"]) { town, server in
            try await reload(
                server, Self.start + "log-level = critical\n", in: town, until: "msg=\"configuration read again\"")
            let before = try server.errors
            expect(0, try await register("carol@example.org", in: town))
            #expect(try server.errors == before, "a registration is a remark of a lower level")
        }
    }

    @Test func aWrongFileChangesNothing() async throws {
        try await serving { town, server in
            try await reload(
                server, Self.start + "by-invitation = true\nrat = 5\n", in: town,
                until: "the former one stays in force")
            #expect(
                try server.errors.contains("signetd.conf, line 6: there is no setting"))
            expect(0, try await register("carol@example.org", in: town))
        }
    }

    /// Settings that are right one by one, and do not go together.
    @Test func settingsThatDoNotGoTogetherChangeNothing() async throws {
        try await serving { town, server in
            try await reload(
                server, Self.start + "by-invitation = true\nopen-metrics = true\nadmin-listen = 127.0.0.1:0\n",
                in: town,
                until: "the former one stays in force")
            #expect(try server.errors.contains("only one of them says where /metrics is"))
            expect(0, try await register("carol@example.org", in: town))
        }
    }

    @Test func whatCountsFromTheNextStartIsNamed_untilItIsTakenBack() async throws {
        try await serving { town, server in
            let later = Self.start + "heartbeat = 800\naccount-rate = 5\n"
            try await reload(server, later, in: town, until: "settings=heartbeat")
            #expect(try server.errors.contains("changed=account-rate"))
            try await reload(server, later, in: town, until: "settings=heartbeat")
            #expect(try server.errors.contains("changed=nothing"))
            try await reload(server, Self.start, in: town, until: "changed=account-rate")
            #expect(try server.errors.components(separatedBy: "settings=heartbeat").count == 3)
        }
    }

    @Test func whatTheCommandLineGivesStays() async throws {
        try await serving(["--by-invitation"]) { town, server in
            try await reload(server, Self.start + "by-invitation = false\n", in: town, until: "changed=nothing")
            let refused = try await register("carol@example.org", in: town)
            #expect(refused.errors.contains("registers people by invitation"), "\(refused.errors)")
        }
    }

    @Test func withoutAConfigurationFileItEndsTheServer() async throws {
        try await Town.with { town in
            let server = try await town.start()
            let exit = try await server.stop(SIGHUP)
            #expect(exit.status != 0)
        }
    }
}
