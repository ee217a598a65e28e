// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `signetd config check` finds what `signetd run` would refuse, so that a restart after it is no surprise.
@Suite(.serialized) struct SettingsTogetherTests {
    private static let contradictions = [
        ("plain-http = true\nbind = 0.0.0.0:8080\n", "--plain-http: only on 127.0.0.1"),
        ("plain-http = true\nbind = 127.0.0.1:8080\n", "--plain-http: name the proxy's address with --behind"),
        ("bind = unix:/run/signet/server.socket\n", "--bind unix: goes with --plain-http only"),
        ("open-metrics = true\nadmin-listen = 127.0.0.1:9464\n", "--open-metrics and --admin-listen"),
    ]

    private func check(_ town: Town, _ text: String) async throws -> Exit {
        try town.write(Array("data = server\n".utf8) + text.utf8, to: "signetd.conf")
        return try await town.signetd("config", "check", "--config", "signetd.conf")
    }

    @Test func whatRunRefusesIsWrongInTheCheckToo() async throws {
        try await Town.with { town in
            for (text, sentence) in Self.contradictions {
                let checked = try await check(town, text)
                expect(78, checked)
                #expect(checked.lines.count == 1 && checked.output.contains("wrong: \(sentence)"), "\(checked.output)")
                let run = try await town.signetd("run", "--config", "signetd.conf")
                expect(64, run)
                #expect(run.complaint.contains(sentence), "\(run.errors)")
            }
        }
    }

    @Test func theSameAddressForClientsAndOperatorsIsWrong() async throws {
        try await Town.with { town in
            let checked = try await check(town, "bind = 127.0.0.1:8443\nadmin-listen = 127.0.0.1:8443\n")
            expect(78, checked)
            #expect(checked.output.contains("one address cannot be both"), "\(checked.output)")
            expect(0, try await check(town, "bind = 127.0.0.1:0\nadmin-listen = 127.0.0.1:0\n"))
            expect(0, try await check(town, "bind = unix:/run/signet/server.socket\nplain-http = true\n"))
        }
    }

    /// What no start refuses at once, or only after it has touched the data.
    @Test(arguments: [
        ("epoch = 10001\n", "--epoch 10001: a registration waits for the end of an epoch"),
        ("heartbeat = 86400\n", "--heartbeat 86400: clients refuse a log whose last epoch is 3600 seconds old"),
        ("heartbeat = 3540\n", "--heartbeat 3540: clients refuse"),
        ("heartbeat = 3000\nrepublish = 700\n", "--heartbeat 3000: clients refuse"),
        ("disregard-witness = w9\n", "--disregard-witness: the policy in directory.signet has no witness w9"),
        ("require-confirmation = true\n", "--require-confirmation: there is nobody to ask"),
        ("witness-roots = mailing\n", "--witness-roots: not PEM certificates"),
        ("witness-roots = server/tls/server.key\n", "--witness-roots: not PEM certificates"),
        ("roles = serve\n", "--roles, --signals and --relays are for a directory on shared engines"),
        ("relays = 8443\n", "--roles, --signals and --relays are for a directory on shared engines"),
        ("registration = mailing\n", "mailing: mail-program: there is no program at /nowhere/send-code"),
        ("registration = mailing-by-folder\n", "mail-program: there is no program at /tmp that this user may run"),
        ("explorer = server\n", "--explorer: server/"),
        ("signals = mailing\n", "--signals: the file that --signals names: its line register is wrong"),
        ("second-memory = mailing\n", "--second-memory: mailing is not a checkpoint"),
    ])
    func whatCannotWorkIsWrong(_ text: String, _ sentence: String) async throws {
        try await Town.with { town in
            try town.write("register * mail\nmail-program /nowhere/send-code\n".utf8, to: "mailing")
            try town.write("register * mail\nmail-program /tmp\n".utf8, to: "mailing-by-folder")
            let checked = try await check(town, text)
            expect(78, checked)
            #expect(checked.output.contains(sentence), "\(checked.output)")
        }
    }

    @Test(arguments: [
        (["--heartbeat", "86400"], "--heartbeat 86400: clients refuse"),
        (["--disregard-witness", "w9"], "--disregard-witness: the policy in directory.signet has no witness w9"),
        (["--require-confirmation"], "--require-confirmation: there is nobody to ask"),
        (["--republish", "0"], "--republish: at least 1 second"),
        (["--drain", "0"], "--drain: at least 1 second"),
    ])
    func whatCannotWorkStartsNoServer(_ options: [String], _ sentence: String) async throws {
        try await Town.with { town in
            let exit = try await Program.signetd.run(
                ["run", "--data", "server", "--bind", "127.0.0.1:0"] + options, in: town.folder)
            expect(64, exit)
            #expect(exit.complaint.contains(sentence), "\(exit.errors)")
        }
    }

    @Test func aLongHeartbeatThatClientsStillTakeIsRight() async throws {
        try await Town.with { town in expect(0, try await check(town, "heartbeat = 3500\n")) }
    }

    @Test func rolesWithoutSharedEnginesAreRefused() async throws {
        try await Town.with { town in
            let exit = try await town.signetd("run", "--data", "server", "--bind", "127.0.0.1:0", "--roles", "sequence")
            expect(64, exit)
            #expect(exit.complaint.contains("for a directory on shared engines"), "\(exit.errors)")
        }
    }

    /// There nothing reads them: who set them would count on a memory that nobody asks.
    @Test(arguments: ["second-memory = server/directory.signet\n", "require-confirmation = true\n"])
    func memoriesOfOneMachineAreWrongOnSharedEngines(_ text: String) async throws {
        try await Town.with { town in
            let engines = "database host=/nonexistent dbname=d\nobjects http://127.0.0.1:1\nbucket abc\n"
            try town.write(engines.utf8, to: "server/engines")
            let sentence = "--second-memory, --require-confirmation, --accept-restored"
            let checked = try await check(town, text)
            expect(78, checked)
            #expect(checked.lines.count == 1 && checked.output.contains("wrong: \(sentence)"), "\(checked.output)")
            let run = try await town.signetd("run", "--config", "signetd.conf")
            expect(64, run)
            #expect(run.complaint.contains(sentence), "\(run.errors)")
            expect(0, try await check(town, "roles = serve\n"))
        }
    }
}
