// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What a person meets who types commands as they come to mind.
@Suite struct UsageTests {
    @Test(arguments: [Program.signet, .signetd, .lyingServer, .site, .vectors])
    func everyProgramNamesItsVersion(program: Program) async throws {
        let exit = try await program.run(["--version"], in: FileManager.default.temporaryDirectory)
        expect(0, exit)
        #expect(exit.output.firstMatch(of: /^[0-9]+\.[0-9]+\.[0-9]+/) != nil, "\(exit.output)")
    }

    @Test func theNewestEntriesAreCountedAsByTail() async throws {
        try await Town.withServer { town, _ in
            for option in ["-n", "-c", "--count"] {
                let exit = try await town.signet("alice", "log", "tail", option, "3")
                expect(0, exit, option)
                #expect(exit.lines.count == 3, "\(exit.output)")
            }
        }
    }

    /// The first page promises `--home` for all commands; one that has no use for it does without.
    @Test func aHomeBeforeACommandThatNeedsNoneIsPassedOver() async throws {
        try await Town.with { town in
            let text = try String(contentsOf: town.profile, encoding: .utf8)
            let root = try #require(text.firstMatch(of: /tls-root (\S+)/)).1
            try town.write("-----BEGIN CERTIFICATE-----\n\(root)\n-----END CERTIFICATE-----\n".utf8, to: "root.pem")
            for options in [["--home", "alice"], ["--home=alice", "--passphrase-file", "absent"]] {
                let exit = try await town.signet(options + ["pins", "show", "root.pem"])
                expect(0, exit, "\(options)")
                #expect(exit.output.contains("sha256/"))
            }
            let behind = try await town.signet(["pins", "show", "root.pem", "--home", "alice"])
            expect(64, behind)
            #expect(behind.complaint == "'signet pins show' has no option '--home'.")
        }
    }

    @Test func theAddressOfTheDirectoryFindsItsLog() async throws {
        try await Town.withServer { town, server in
            for place in ["https://localhost:\(server.port)", "https://localhost:\(server.port)/"] {
                let exit = try await town.signet([
                    "audit", place, "--directory", town.profile.path(), "--state", "state", "--json",
                ])
                expect(0, exit, place)
                #expect(try exit.object()["sound"] as? Bool == true)
            }
        }
    }

    @Test func thePolicyOfADirectoryFileIsShown() async throws {
        try await Town.with { town in
            let exit = try await town.signet(["policy", "show", town.profile.path()])
            expect(0, exit)
            #expect(exit.output.contains("A checkpoint counts when"))
            try town.edit("server/directory.signet") { $0.replacing(/\nurl .*\n/, with: "\n") }
            let damaged = try await town.signet(["policy", "show", town.profile.path()])
            expect(65, damaged)
            #expect(damaged.complaint.contains("the line 'url' is missing or wrong"), "\(damaged.errors)")
        }
    }

    /// The attack: another user of the machine reads the passphrase from the file that is given to every command.
    @Test func aPassphraseFileThatOthersCanReadIsRefused() async throws {
        try await Town.withServer { town, _ in
            try town.write("\(Program.passphrase)\n".utf8, to: "passphrase")
            let list = ["--home", "alice", "people", "list", "--passphrase-file", "passphrase"]
            for mode in [0o644, 0o640, 0o604] as [UInt16] {
                try town.chmod("passphrase", mode)
                let exit = try await town.signet(list)
                expect(65, exit, "\(mode)")
                #expect(exit.complaint == "Other users of this machine may read passphrase.")
                #expect(exit.errors.contains("chmod") && exit.errors.contains("600 for files"))
            }
            try town.chmod("passphrase", 0o600)
            expect(0, try await town.signet(list))
        }
    }

    @Test func aPassphraseMayComeThroughAPipe() async throws {
        try await Town.withServer { town, _ in
            let command =
                "echo '\(Program.passphrase)' | \(Program.signet.file.path()) --home alice people list --passphrase-file /dev/stdin"
            let exit = try await Exit.of(
                URL(filePath: "/bin/sh"), ["-c", command], in: town.folder, environment: ["SIGNET_PASSPHRASE": ""])
            expect(0, exit)
            #expect(exit.output.contains(Town.bob))
        }
    }

    @Test(arguments: [
        (["lookup"], false), (["log", "tail"], false), (["people", "list"], true), (["notes", "new"], true),
    ])
    func thePassphraseFileIsListedWhereOneIsAskedFor(command: [String], isListed: Bool) async throws {
        let exit = try await Program.signet.run(command + ["--help"], in: FileManager.default.temporaryDirectory)
        expect(0, exit)
        #expect(exit.output.contains("--passphrase-file") == isListed)
        #expect(exit.output.contains("--home"))
    }

    @Test func aScriptMayGiveEveryCommandThePassphrase() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "lookup", Town.bob, "--passphrase-file", "absent"))
        }
    }
}
