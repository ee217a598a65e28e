// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetClient
import Testing

/// Making an account, also after interruptions.
@Suite(.serialized) struct AccountTests {
    /// No server answers, then the process is killed while it waits for an answer, then the server runs.
    @Test func anInterruptedRegistrationContinuesWithTheSameKeys() async throws {
        try await Town.with { town in
            let create = [
                "--home", "carol", "account", "create", "carol@example.org", "--directory", town.profile.path(),
            ]
            try town.point(to: 1)
            expect(3, try await town.signet(create), "no server answers")
            let keystore = try town.bytes("carol/keystore")
            #expect(try Keystore(decoding: keystore).cost == .standard)

            let silent = try SilentListener()
            try town.point(to: silent.port)
            let process = Process(Program.signet.file, create, in: town.folder, environment: [:])
            silent.onConnection { [process = UncheckedBox(process)] in process.value.kill() }
            #expect(try await process.end(within: Program.deadline) == 128 + SIGKILL)
            #expect(try town.bytes("carol/keystore") == keystore)

            try await town.serving { _ in
                let exit = try await town.signet(create + ["--json"])
                expect(0, exit, "the same command once more")
                #expect(try exit.keys() == ["handle", "home", "keystore", "outcome", "version"])
                #expect(try town.bytes("carol/keystore") == keystore)
                expect(0, try await town.signet("carol", "account", "show"))
                expect(64, try await town.signet(create), "there already")
            }
        }
    }

    @Test func aTakenHandleLeavesTheFolderFree() async throws {
        try await Town.withServer { town, _ in
            let create = ["--home", "mallory", "account", "create", Town.bob, "--directory", town.profile.path()]
            let exit = try await town.signet(create)
            expect(1, exit)
            #expect(exit.complaint.hasPrefix("The directory says that someone else has registered"))
            #expect(!town.exists("mallory/keystore") && !town.exists("mallory/directory"))
            #expect(town.exists("mallory/keystore.refused"), "a refusal proves nothing")
            expect(0, try await town.signet("alice", "lookup", Town.bob))
        }
    }

    @Test func anEmptyOrAWeakPassphraseMakesNoKeystore() async throws {
        try await Town.with { town in
            let weak = try await town.signet(
                "dora", "account", "create", "dora@example.org", "--directory", town.profile.path(),
                environment: ["SIGNET_PASSPHRASE": "qwertyuiop1234"])
            expect(64, weak)
            #expect(weak.complaint.hasPrefix("Most of that repeats itself or is a sequence"))
            try town.write([10], to: "empty")
            let exit = try await town.signet(
                "dora", "account", "create", "dora@example.org", "--directory", town.profile.path(),
                "--passphrase-file", "empty")
            expect(64, exit)
            #expect(exit.complaint == "The passphrase is empty.")
            #expect(!town.exists("dora/keystore"))
        }
    }

    @Test func aPassphraseFileTakesPrecedenceOverTheEnvironment() async throws {
        try await Town.withServer { town, _ in
            try town.write("\(Program.passphrase)\nsecond line\n".utf8, to: "right")
            let environment = ["SIGNET_PASSPHRASE": "wrong"]
            let list = ["people", "list", "--passphrase-file"]
            expect(0, try await town.signet("alice", list[0], list[1], list[2], "right", environment: environment))
            expect(65, try await town.signet("alice", list[0], list[1], list[2], "missing"))
        }
    }

    @Test func aWrongPassphraseChangesNothing() async throws {
        try await Town.withServer { town, _ in
            let before = try town.contents("bob").filter { $0.key != "presence" }
            for command in [["devices", "revoke", "2"], ["people", "list"], ["people", "accept", Town.alice]] {
                let exit = try await Program.signet.run(
                    command + ["--home", "bob"], in: town.folder, environment: ["SIGNET_PASSPHRASE": "wrong"])
                expect(65, exit, "\(command)")
                #expect(exit.complaint.hasPrefix("The passphrase is wrong, or the key"))
            }
            // The wrong answer is recorded, so that guessing slows down.
            #expect(try town.contents("bob").filter { $0.key != "presence" } == before)
            expect(0, try await town.signet("phone", "account", "show"), "the phone was not revoked")
        }
    }

    /// Starts a program without a terminal.
    private static let setsid = URL(filePath: "/usr/bin/setsid")

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: setsid.path()), "no setsid here"))
    func withoutATerminalThePassphraseIsNotAskedFor() async throws {
        try await Town.withServer { town, _ in
            let exit = try await Exit.of(
                Self.setsid, ["--wait", Program.signet.file.path(), "people", "list", "--home", "alice"],
                in: town.folder, environment: ["SIGNET_PASSPHRASE": ""])
            expect(64, exit)
            #expect(exit.errors.contains("Use --passphrase-file or set SIGNET_PASSPHRASE."))
            // That of the export is another one.
            let export = try await Exit.of(
                Self.setsid, ["--wait", Program.signet.file.path(), "notes", "export", "bundle", "--home", "alice"],
                in: town.folder)
            expect(64, export)
            #expect(export.errors.contains("Use --export-passphrase-file or set SIGNET_EXPORT_PASSPHRASE."))
        }
    }
}
