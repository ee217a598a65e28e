// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// The server's program: setting up, starting, stopping, erasing.
@Suite(.serialized) struct DaemonTests {
    private static let answers = ["--bind", "127.0.0.1:0"]

    private static func initialize(_ town: Town, _ data: String, _ more: String...) async throws -> Exit {
        try await Program.signetd.run(
            ["init", "--data", data, "--origin", "example.org/signet", "--url", "https://localhost"] + more,
            in: town.folder)
    }

    // MARK: repair

    /// Whoever is told of a witness that lies can say so there as at every other command that asks witnesses.
    @Test func repair_takesWitnessesThatDoNotCount_andSaysThatItIsForEngines() async throws {
        try await Town.with { town in
            for more in [[], ["--objects"]] {
                let repair = ["repair", "--data", "server", "--disregard-witness", "clock"] + more
                let exit = try await Program.signetd.run(repair, in: town.folder)
                expect(78, exit)
                #expect(exit.complaint.contains("this one is of one machine"), "\(exit.complaint)")
                expect(64, try await Program.signetd.run(repair + ["--disregard-witness", "w 1"], in: town.folder))
            }
            expect(66, try await town.signetd("repair", "--data", "nowhere"))
        }
    }

    // MARK: --disregard-witness

    /// A name that is mistyped would leave out nobody, and the witness that lies would go on counting.
    @Test(arguments: [
        ["repair", "--data", "server"],
        ["repair", "--data", "server", "--objects"],
        ["move", "--data", "server", "--to", "files"],
        [
            "move", "--data", "server", "--database", "host=/nonexistent", "--objects", "https://localhost:1",
            "--bucket", "b",
        ],
        ["rotate", "log-key", "--data", "server"],
        ["rotate", "witnesses", "--data", "server", "lines"],
        ["erase", "--data", "server", "--yes", "bob@example.org"],
        ["succeed", "--from", "server", "--data", "next", "--origin", "example.org/next"],
    ])
    func aNameThatNoWitnessHasIsRefused_andThoseThereAreAreNamed(_ command: [String]) async throws {
        try await Town.with { town in
            try town.write("quorum none\n".utf8, to: "lines")
            let exit = try await Program.signetd.run(command + ["--disregard-witness", "w9"], in: town.folder)
            expect(64, exit)
            #expect(exit.complaint.contains("has no witness w9; there are clock"), "\(exit.errors)")
        }
    }

    /// Whoever completes a change of witnesses repeats what was typed, and the one that lies may be out of the policy by then.
    @Test func aWitnessOfBeforeAnInterruptedChangeCanBeNamed() async throws {
        try await Town.with { town in
            let profile = String(decoding: try town.bytes("server/directory.signet"), as: UTF8.self)
            try town.write(profile.replacing(" clock", with: " w1").utf8, to: "server/directory.signet.before")
            let exit = try await town.signetd("repair", "--data", "server", "--disregard-witness", "w1")
            expect(78, exit)
            #expect(exit.complaint.contains("this one is of one machine"), "\(exit.complaint)")
        }
    }

    // MARK: init

    @Test func init_neverOverwritesADataDirectory() async throws {
        try await Town.with { town in
            let before = try town.contents("server")
            let exit = try await Self.initialize(town, "server")
            expect(73, exit)
            #expect(exit.complaint.contains("nothing was changed"))
            #expect(try town.contents("server") == before)
            try town.write([1], to: "file")
            expect(73, try await Self.initialize(town, "file"))
            #expect(try town.bytes("file") == [1])
        }
    }

    @Test func init_writesTheMaximumAgeIntoTheDirectoryFile() async throws {
        try await Town.with { town in
            for (place, age) in [
                (["--maximum-age", "6h"], "21600"), (["--maximum-age", "15m"], "900"), ([], "86400"),
            ]
            .enumerated() {
                let data = "data-\(place)"
                let exit = try await Program.signetd.run(
                    ["init", "--data", data, "--origin", "example.org/signet", "--url", "https://localhost"] + age.0,
                    in: town.folder)
                expect(0, exit)
                let profile = String(decoding: try town.bytes("\(data)/directory.signet"), as: UTF8.self)
                #expect(profile.contains("\nmaximum-age \(age.1)\n"))
            }
            for age in ["25h", "899s", "6", "h", "-1h", "99999999999999999999d"] {
                let exit = try await Self.initialize(town, "data", "--maximum-age=\(age)")
                expect(64, exit, age)
                #expect(!town.exists("data"))
            }
        }
    }

    @Test func aFailedSetupLeavesNoFile() async throws {
        try await Town.with { town in
            try town.write([1], to: "file")
            let before = try FileManager.default.subpathsOfDirectory(atPath: town.folder.path()).sorted()
            for data in ["nowhere/data", "file/data", "/dev/null/data"] {
                expect(73, try await Self.initialize(town, data), data)
            }
            let certificate = ["--tls-cert", "server/tls/server.pem", "--tls-key", "server/tls/ca.key", "--tls-root"]
            let mixed = try await Self.initialize(
                town, "data", certificate[0], certificate[1], certificate[2], certificate[3], certificate[4],
                "server/tls/ca.pem")
            expect(65, mixed, "a key that is not the certificate's")
            let elsewhere = try await town.signetd(
                "init", "--data", "data", "--origin", "example.org/other", "--url", "https://elsewhere.example",
                "--tls-cert",
                "server/tls/server.pem", "--tls-key", "server/tls/server.key", "--tls-root", "server/tls/ca.pem")
            expect(64, elsewhere, "a certificate for another host")
            #expect(elsewhere.errors.contains("clients would refuse this certificate"), "\(elsewhere.errors)")
            let after = try FileManager.default.subpathsOfDirectory(atPath: town.folder.path()).sorted()
            #expect(after == before)
        }
    }

    @Test func aKilledSetupCanBeRepeated() async throws {
        try await Town.with { town in
            let process = Process(
                Program.signetd.file,
                ["init", "--data", "data", "--origin", "example.org/signet", "--url", "https://localhost"],
                in: town.folder, environment: [:])
            process.standardOutput = FileHandle.nullDevice
            let box = UncheckedBox(process)
            async let status = box.value.end(within: Program.deadline)
            let latest = ContinuousClock.now + .seconds(Program.deadline)
            while try !town.hasFile(startingWith: "data"), ContinuousClock.now < latest { await Task.yield() }
            box.value.kill()
            _ = try await status
            if town.exists("data") {
                expect(73, try await Self.initialize(town, "data"), "the setup had just been completed")
            } else {
                expect(0, try await Self.initialize(town, "data"))
            }
            expect(0, try await town.signetd("profile", "--data", "data"))
            let server = try await RunningServer.start(
                .signetd, ["run", "--data", "data"] + Self.answers, in: town.folder)
            #expect(try await server.stop().status == 0)
        }
    }

    @Test func wrongArgumentsAreNamed() async throws {
        try await Town.with { town in
            let cases = [
                (["init", "--data", "d", "--origin", "a b", "--url", "https://h"], "--origin"),
                (["init", "--data", "d", "--origin", "a", "--url", "http://h"], "--url"),
                (["init", "--data", "d", "--origin", "a", "--url", "https://h/path"], "--url"),
                (["init", "--data", "d", "--origin", "a", "--url", "https://h", "--host", "B_"], "--host"),
                (["init", "--data", "d", "--origin", "a", "--url", "https://h", "--tls-cert", "x"], "--tls-cert"),
                (["run", "--data", "server", "--bind", "localhost:x"], "--bind"),
                (["run", "--data", "server", "--log-level", "loud"], "--log-level"),
                (["run", "--data", "server", "--tls-key", "x"], "--tls-cert"),
                (["erase", "alice", "--data", "server"], "handle"),
                (["run"], "--data"), (["start"], "start"),
            ]
            for (arguments, words) in cases {
                let exit = try await Program.signetd.run(arguments, in: town.folder)
                expect(64, exit, "\(arguments)")
                #expect(exit.errors.contains(words))
            }
            #expect(!town.exists("d"))
        }
    }

    @Test func secretsAreReadableForTheirOwnerOnly() async throws {
        try await Town.with { town in
            for (path, mode) in [
                ("server", 0o700), ("server/keys", 0o700), ("server/keys/log.key", 0o600),
                ("server/keys/vrf.key", 0o600),
                ("server/keys/clock.key", 0o600), ("server/tls/server.key", 0o600), ("server/tls/ca.key", 0o600),
                ("server/tls/backup.key", 0o600),
                ("server/records", 0o700), ("server/records/directory.sqlite", 0o600),
            ] {
                let attributes = try FileManager.default.attributesOfItem(atPath: town[path].path())
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
            }
        }
    }

    // MARK: profile

    @Test func profile_printsTheDirectoryFile() async throws {
        try await Town.with { town in
            let exit = try await town.signetd("profile", "--data", "server")
            expect(0, exit)
            #expect(Array(exit.output.utf8) == (try town.bytes("server/directory.signet")))
            expect(66, try await town.signetd("profile", "--data", "nowhere"))
            try town.write("signet-directory/v1\n".utf8, to: "server/directory.signet")
            let damaged = try await town.signetd("profile", "--data", "server")
            expect(65, damaged)
            #expect(damaged.complaint == "directory.signet is damaged; restore it from a copy")
        }
    }

    // MARK: run

    @Test func run_isRefusedWithoutADataDirectory() async throws {
        try await Town.with { town in
            let exit = try await town.signetd("run", "--data", "nowhere", "--bind", "127.0.0.1:0")
            expect(66, exit)
            #expect(
                exit.complaint.hasPrefix(
                    "there is no data directory. If there was one, see whether its disk is mounted"))
            #expect(!town.exists("nowhere"))
        }
    }

    @Test func aSecondServerOfADataDirectoryIsRefused() async throws {
        try await Town.withServer { town, _ in
            for command in [["run", "--bind", "127.0.0.1:0"], ["erase", Town.alice, "--yes"]] {
                let exit = try await Program.signetd.run(command + ["--data", "server"], in: town.folder)
                expect(75, exit, "\(command)")
                #expect(exit.complaint == "another process uses this data directory; stop it first")
            }
            expect(0, try await town.signet("alice", "lookup", Town.bob), "the first server goes on")
        }
    }

    @Test func aPortInUseIsReported() async throws {
        try await Town.with { town in
            let listener = try SilentListener()
            let exit = try await town.signetd("run", "--data", "server", "--bind", "127.0.0.1:\(listener.port)")
            expect(69, exit)
            #expect(exit.complaint.hasPrefix("the address is in use or not one of this machine"))
            try await town.serving { _ in expect(0, try await town.signet("alice", "lookup", Town.bob)) }
        }
    }

    @Test(arguments: ["keys/log.key", "keys/clock.key", "keys/vrf.key", "tls/server.key"])
    func aKeyThatOthersMayReadIsNotUsed(file: String) async throws {
        try await Town.with { town in
            try town.chmod("server/\(file)", 0o644)
            let exit = try await town.signetd("run", "--data", "server", "--bind", "127.0.0.1:0")
            expect(65, exit)
            #expect(exit.complaint.contains("\(file) can be used by others; chmod 600 it"))
        }
    }

    @Test func missingAndExchangedPartsAreNamed() async throws {
        try await Town.with { town in
            expect(0, try await Self.initialize(town, "other"))
            for (path, replacement, words) in [
                ("server/keys/log.key", nil, "keys/log.key is missing"),
                ("server/keys/log.key", "not a key", "not a key of this kind"),
                ("server/keys/vrf.key", "other/keys/vrf.key", "keys/vrf.key is not the one that clients"),
                ("server/records/directory.sqlite", nil, "the database is not"),
                ("server/directory.signet", nil, "server/directory.signet is missing"),
                ("server/directory.signet", "signet-directory/v1\n", "directory.signet is damaged"),
                ("server/tls/server.key", "other/tls/server.key", "the TLS key does not match the certificate"),
            ] {
                let before = try town.bytes(path)
                try FileManager.default.removeItem(at: town[path])
                if let replacement {
                    try town.write(
                        town.exists(replacement) ? town.bytes(replacement) : Array(replacement.utf8), to: path)
                }
                let exit = try await town.signetd("run", "--data", "server", "--bind", "127.0.0.1:0")
                expect(65, exit, path)
                #expect(exit.complaint.contains(words), "\(path)")
                try town.write(before, to: path)
            }
            try await town.serving { _ in expect(0, try await town.signet("alice", "lookup", Town.bob)) }
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func theServerStopsCleanlyOnASignal(signal: Int32) async throws {
        try await Town.with { town in
            let server = try await town.start()
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            let exit = try await server.stop(signal)
            #expect(exit.status == 0)
            #expect(exit.errors.contains("msg=stopped"))
            #expect(!exit.errors.contains("example.org"), "log lines name no person")
            try await town.serving { _ in expect(0, try await town.signet("alice", "log", "verify")) }
        }
    }

    @Test func anAcknowledgedChangeSurvivesAKill() async throws {
        try await Town.with { town in
            let server = try await town.start()
            expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            #expect(try await server.stop(SIGKILL).status == 128 + SIGKILL)
            try await town.serving { _ in
                expect(2, try await town.signet("phone", "account", "show"), "the phone is still revoked")
                expect(0, try await town.signet("bob", "log", "verify"))
            }
        }
    }

    // MARK: erase

    /// It is done, and cannot be repeated: the person is not in the database any more.
    @Test func anErasureThatTooFewWitnessesCosignIsDone() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("bob"))
            for name in ["server"] + Federation.witnesses { try await federation.stop(name) }
            let exit = try await town.signetd("erase", Town.bob, "--yes", "--data", "server")
            expect(75, exit)
            #expect(exit.complaint.contains("done, but too few witnesses cosign"))
            expect(66, try await town.signetd("erase", Town.bob, "--yes", "--data", "server"))
        }
    }

    @Test func anErasedPersonIsInNoFile_andTheLogStillVerifies() async throws {
        try await Town.with { town in
            let unknown = try await town.signetd("erase", "nobody@example.org", "--yes", "--data", "server")
            expect(66, unknown)
            #expect(unknown.complaint == "there is no such person in the database")
            #expect(try Self.filesNaming(Town.bob, in: town) != [])

            try await town.serving { _ in
                let beside = try await town.signetd("erase", Town.bob, "--yes", "--data", "server")
                expect(75, beside)
                let remedy = "`signetd accounts erase \(Town.bob)` does the same"
                #expect(beside.errors.contains(remedy), "\(beside.errors)")
            }
            expect(64, try await town.signetd("erase", Town.bob, "--data", "server"), "it asks first")
            let exit = try await town.signetd("erase", Town.bob, "--yes", "--data", "server")
            expect(0, exit)
            #expect(exit.lines == ["erased"])
            #expect(try Self.filesNaming(Town.bob, in: town) == [])
            #expect(try Self.filesNaming(Town.alice, in: town) != [])
            expect(
                66, try await town.signetd("erase", Town.bob, "--yes", "--data", "server"),
                "the account is already erased")

            try await town.serving { _ in
                let profile = town.profile.path()
                let stranger = try await town.signet("visitor", "lookup", Town.bob, "--directory", profile)
                expect(4, stranger)
                #expect(stranger.complaint.contains("was closed: proved"))
                let friend = try await town.signet("alice", "lookup", Town.bob)
                expect(4, friend)
                #expect(friend.complaint.contains("was closed: proved"))
                expect(0, try await town.signet("alice", "log", "verify"))
                expect(0, try await town.signet("alice", "account", "show"))
            }
            #expect(try Self.filesNaming(Town.bob, in: town) == [], "nor after another run")
        }
    }

    private static func filesNaming(_ handle: String, in town: Town) throws -> [String] {
        try town.contents("server").filter { Data($0.value).range(of: Data(handle.utf8)) != nil }.keys.sorted()
    }
}
