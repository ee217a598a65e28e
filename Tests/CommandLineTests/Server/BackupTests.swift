// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Backing up, checking and restoring, and the checks that keep a restored server from signing a second history.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BackupTests {
    private static let answers = ["--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0"]

    private func copy(_ town: Town, _ source: String, to target: String) async throws {
        let exit = try await Exit.of(URL(filePath: "/bin/cp"), ["-a", source, target], in: town.folder)
        try #require(exit.status == 0, "\(exit.errors)")
    }

    /// Starts a server that must refuse, and checks that it wrote nothing.
    private func refused(_ town: Town, _ data: String, _ options: [String] = []) async throws -> Exit {
        let before = try town.contents(data)
        let exit = try await Program.signetd.run(["run", "--data", data] + Self.answers + options, in: town.folder)
        #expect(try town.contents(data) == before, "a server that refuses to run writes nothing")
        #expect(exit.output.isEmpty)
        return exit
    }

    /// The new key signs nothing before the server starts.
    @Test func afterAChangeOfTheLogsKeyNothingIsWrong_andABackupIsMade() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("rotate", "log-key", "--data", "server"))
            expect(0, try await town.signetd("check", "--data", "server"))
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            expect(0, try await town.signetd("check", "--data", "backup"))
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "directory", "update"))
                expect(0, try await town.signet("bob", "log", "verify"), "it follows the change by itself")
            }
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }

    @Test func aStartThatNothingOutsideCanWarnSaysSo() async throws {
        try await Town.with { town in
            let remark = "an older copy would not be noticed"
            let bare = try await town.start(data: "server")
            try await bare.stop()
            #expect(try bare.errors.contains(remark))
            try town.write([], to: "memory")
            let remembering = try await town.start(.signetd, Self.answers + ["--second-memory", "memory"])
            try await remembering.stop()
            #expect(try !remembering.errors.contains(remark))
        }
    }

    // MARK: backup

    @Test func aBackupOfARunningServerIsCompleteAndPrivate() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                let made = try await town.signetd("backup", "--data", "server", "--to", "backup")
                expect(0, made)
                #expect(made.output.contains("accounts: 3"))
                expect(73, try await town.signetd("backup", "--data", "server", "--to", "backup"), "never over another")
                expect(75, try await town.signetd("check", "--data", "server"), "it is running")
                expect(0, try await town.signet("alice", "lookup", Town.bob), "the server goes on")
            }
            let checked = try await town.signetd("check", "--data", "backup")
            expect(0, checked)
            #expect(checked.output.contains("nothing is wrong"))
            for path in ["backup", "backup/keys", "backup/records", "backup/notes"] {
                #expect(try mode(town, path) == 0o700, "\(path)")
            }
            for path in try town.contents("backup").keys {
                #expect(try mode(town, "backup/\(path)") & 0o077 == 0, "\(path)")
            }
            #expect(!town.exists("backup/tls/backup.key") && !town.exists("backup/tls/ca.key"))
            #expect(try !town.hasFile(startingWith: "backup.part"))
        }
    }

    @Test func aCompleteBackupIsKnownToTheServer_andIsMadeThoughThatCannotBeWritten() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "first"))
            let noted = try Data(contentsOf: town["server/backup.time"])
            let time = try #require(UInt64(String(decoding: noted.dropLast(), as: UTF8.self)))
            #expect(time > 1_700_000_000)
            expect(73, try await town.signetd("backup", "--data", "server", "--to", "first"))
            #expect(try Data(contentsOf: town["server/backup.time"]) == noted, "one that failed is none")
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "next"))
            #expect(!town.exists("next/backup.time"), "what is restored has had no backup")

            try FileManager.default.removeItem(at: town["server/backup.time"])
            try FileManager.default.createDirectory(at: town["server/backup.time/x"], withIntermediateDirectories: true)
            let made = try await town.signetd("backup", "--data", "server", "--to", "second")
            expect(0, made)
            #expect(made.errors.contains("could not be written"), "\(made.errors)")
            expect(0, try await town.signetd("check", "--data", "second"))
        }
    }

    private func mode(_ town: Town, _ path: String) throws -> UInt16 {
        let attributes = try FileManager.default.attributesOfItem(atPath: town[path].path())
        return try #require(attributes[.posixPermissions] as? NSNumber).uint16Value
    }

    @Test func backupsMadeDuringRegistrationsAreConsistent() async throws {
        try await Town.with { town in
            for number in 0..<6 { try town.prepareHome("p\(number)", "p\(number)@example.org", withIdentity: true) }
            try await town.serving { _ in
                async let registered: Void = register(6, in: town)
                for number in 0..<4 {
                    expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup\(number)"))
                }
                try await registered
                expect(0, try await town.signetd("backup", "--data", "server", "--to", "last"))
            }
            for number in 0..<4 { expect(0, try await town.signetd("check", "--data", "backup\(number)")) }
            expect(0, try await town.signetd("restore", "--from", "last", "--data", "restored"))
            try await town.serving(options: ["--accept-restored"], data: "restored") {
                expect(0, try await town.signet("alice", "log", "verify"))
                for number in 0..<6 {
                    let found = try await town.signet("alice", "lookup", "p\(number)@example.org", "--json")
                    #expect([0, 2].contains(found.status), "p\(number) was acknowledged: \(found.errors.prefix(200))")
                }
            }
        }
    }

    private func register(_ count: Int, in town: Town) async throws {
        for number in 0..<count { try await register("p\(number)", in: town) }
    }

    @Test func aBackupIsNotMadeInsideTheDataDirectory() async throws {
        try await Town.with { town in
            for (target, secrets) in [("server/backup", "secrets"), ("backup", "server/tls/secrets")] {
                let made = try await town.signetd("backup", "--data", "server", "--to", target, "--secrets", secrets)
                expect(73, made)
                #expect(made.complaint.contains("is inside the data directory"), "\(made.errors)")
                #expect(!town.exists(target) && !town.exists(secrets))
            }
        }
    }

    @Test func secretsCanBeBackedUpSeparately() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                let made = try await town.signetd(
                    "backup", "--data", "server", "--to", "backup", "--secrets", "secrets")
                expect(0, made)
            }
            #expect(!town.exists("backup/keys/log.key") && !town.exists("backup/notes/login.key"))
            #expect(
                Set(try town.contents("secrets").keys) == [
                    "backup.sha256", "keys/clock.key", "keys/log.key", "keys/vrf.key", "notes/login.key",
                    "tls/server.key",
                ])
            let checked = try await town.signetd("check", "--data", "backup")
            expect(0, checked)
            #expect(checked.output.contains("without keys"))
            let without = try await town.signetd("restore", "--from", "backup", "--data", "restored")
            expect(73, without)
            #expect(without.complaint.contains("name their folder with --secrets"))
            #expect(try !town.hasFile(startingWith: "restored"))
            let with = try await town.signetd(
                "restore", "--from", "backup", "--secrets", "secrets", "--data", "restored")
            expect(0, with)
            expect(0, try await town.signetd("check", "--data", "restored"))
        }
    }

    @Test func aBackupOfDamagedDataIsNotMade() async throws {
        try await Town.with { town in
            var wal = try town.bytes("server/records/log/wal/00000000000000000000")
            wal[400] ^= 1
            try town.write(wal, to: "server/records/log/wal/00000000000000000000")
            expect(65, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            #expect(try !town.hasFile(startingWith: "backup"))
            expect(66, try await town.signetd("backup", "--data", "nowhere", "--to", "backup"))
        }
    }

    /// A fault that only the check of the copy finds.
    /// No backup of now heals it, and one of before would end the log: the other accounts are worth a backup.
    @Test func aBackupIsMadeAlthoughAnAccountIsDamaged_andNamesIt() async throws {
        try await Town.with { town in
            let damage = """
                import sqlite3
                database = sqlite3.connect("server/records/directory.sqlite")
                database.execute("UPDATE states SET opening = zeroblob(32) WHERE account = "
                                 "(SELECT id FROM accounts WHERE handle = ?)", (b"\(Town.bob)",))
                database.commit()
                """
            try #require(
                try await Exit.of(URL(filePath: "/usr/bin/python3"), ["-c", damage], in: town.folder).status == 0)
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains("of \(Town.bob); the other accounts are sound"), "\(checked.output)")
            let made = try await town.signetd("backup", "--data", "server", "--to", "backup")
            expect(0, made)
            #expect(made.errors.contains("in the backup too: ") && made.errors.contains(Town.bob), "\(made.errors)")
            let restored = try await town.signetd("restore", "--from", "backup", "--data", "restored")
            expect(0, restored)
            #expect(restored.errors.contains("as in the backup: "), "\(restored.errors)")
        }
    }

    @Test func anInconsistentBackupIsNotKept() async throws {
        try await Town.with { town in
            try await copy(town, "server", to: "old")
            try await town.serving { _ in expect(0, try await town.signet("bob", "devices", "revoke", "2")) }
            try FileManager.default.removeItem(at: town["server/records/directory.sqlite"])
            try await copy(town, "old/records/directory.sqlite", to: "server/records/directory.sqlite")
            let exit = try await town.signetd("backup", "--data", "server", "--to", "backup")
            expect(65, exit)
            #expect(exit.complaint.contains("that the database does not know"))
            #expect(try !town.hasFile(startingWith: "backup"))
        }
    }

    // MARK: check

    @Test func check_namesEachDamagedPart() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("check", "--data", "server"))
            let before = try town.contents("server")
            for (name, words, damage) in Self.damages {
                try await copy(town, "server", to: name)
                try damage(town, name)
                let exit = try await town.signetd("check", "--data", name)
                expect(65, exit, name)
                #expect(exit.output.contains(words), "\(name): \(exit.output)")
            }
            #expect(try town.contents("server") == before, "reading changes nothing")
            expect(66, try await town.signetd("check", "--data", "nowhere"))
        }
    }

    private typealias Damage = (String, String, @Sendable (Town, String) throws -> Void)

    private static let damages: [Damage] = [
        (
            "entry", "does not match what was signed",
            { town, data in
                try flip(400, of: "\(data)/records/log/wal/00000000000000000000", in: town)
            }
        ),
        (
            "open", "can be used by others",
            { town, data in try town.chmod("\(data)/records/directory.sqlite", 0o644) }
        ),
        (
            "key", "keys/vrf.key is missing",
            { town, data in try FileManager.default.removeItem(at: town["\(data)/keys/vrf.key"]) }
        ),
        (
            "root", "clients refuse the certificate in tls/server.pem",
            { town, data in
                let path = "\(data)/directory.signet"
                var text = try town.bytes(path)
                let start = try #require(text.firstRange(of: Array("tls-root ".utf8))).upperBound
                text[start + 270] = text[start + 270] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                try town.write(text, to: path)
            }
        ),
        (
            "header", "notes/notes.sqlite is damaged",
            { town, data in try flip(0, of: "\(data)/notes/notes.sqlite", in: town) }
        ),
        (
            "segments", "does not match what was signed",
            { town, data in try FileManager.default.removeItem(at: town["\(data)/records/log/wal"]) }
        ),
        (
            "pages", "notes.sqlite",
            { town, data in
                for offset in stride(from: 4200, to: 40_000, by: 512) {
                    try flip(offset, of: "\(data)/notes/notes.sqlite", in: town)
                }
            }
        ),
    ]

    private static func flip(_ offset: Int, of path: String, in town: Town) throws {
        var bytes = try town.bytes(path)
        bytes[min(offset, bytes.count - 1)] ^= 0x55
        try town.write(bytes, to: path)
    }

    @Test func check_reportsAnOlderDatabaseOrLog() async throws {
        try await Town.with { town in
            try await copy(town, "server", to: "old")
            try await town.serving { _ in expect(0, try await town.signet("bob", "devices", "revoke", "2")) }
            for (name, part, words) in [
                ("database", "records/directory.sqlite", "that the database does not know"),
                ("log", "records/log", "states of accounts"),
            ] {
                try await copy(town, "server", to: name)
                try FileManager.default.removeItem(at: town["\(name)/\(part)"])
                try await copy(town, "old/\(part)", to: "\(name)/\(part)")
                let exit = try await town.signetd("check", "--data", name)
                if name == "log" {
                    // A crash may leave states that only the database has: the next start would log them.
                    expect(0, exit)
                    #expect(exit.output.contains("to be logged by the next start: 1"))
                } else {
                    expect(65, exit)
                    #expect(exit.output.contains(words))
                }
            }
        }
    }

    @Test func check_refusesABackupWithChangedFiles() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            for (name, words, damage) in Self.changes {
                try await copy(town, "backup", to: name)
                try damage(town, name)
                let checked = try await town.signetd("check", "--data", name)
                expect(65, checked, name)
                #expect(checked.output.contains(words), "\(name)")
                let restored = try await town.signetd("restore", "--from", name, "--data", "restored")
                expect(65, restored, name)
                #expect(restored.complaint.contains(words), "\(name)")
                #expect(try !town.hasFile(startingWith: "restored"), "no file is left")
            }
        }
    }

    private static let changes: [Damage] = [
        (
            "changed", "directory.signet is not what was backed up",
            { town, data in try town.edit("\(data)/directory.signet") { $0 + "\n" } }
        ),
        (
            "lost", "recovery.sqlite was backed up and is gone",
            { town, data in try FileManager.default.removeItem(at: town["\(data)/recovery.sqlite"]) }
        ),
        ("added", "tls/more was not in the backup", { town, data in try town.write([1], to: "\(data)/tls/more") }),
    ]

    // MARK: restore

    @Test func restore_neverOverwritesADataDirectory() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            let before = try town.contents("server")
            let over = try await town.signetd("restore", "--from", "backup", "--data", "server")
            expect(73, over)
            #expect(over.complaint.contains("nothing was changed"))
            #expect(try town.contents("server") == before)
            expect(66, try await town.signetd("restore", "--from", "server", "--data", "new"), "that is no backup")
            #expect(!town.exists("new"))
        }
    }

    /// The attack: an operator silently restores a backup that is older than the log that people have seen.
    @Test func withoutWitnessesARestoredCopyNeedsAcceptRestored() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            expect(0, try await town.signetd("restore", "--from", "backup", "--data", "restored"))
            let exit = try await refused(town, "restored")
            expect(75, exit)
            #expect(exit.complaint.contains("--accept-restored"))
            try await town.serving(options: ["--accept-restored"], data: "restored") {
                expect(0, try await town.signet("alice", "lookup", Town.bob))
            }
            try await town.serving(data: "restored") { expect(0, try await town.signet("alice", "lookup", Town.bob)) }
        }
    }

    // MARK: The second memory

    @Test func aServerOlderThanItsSecondMemoryDoesNotStart() async throws {
        try await Town.with { town in
            let memory = ["--second-memory", "elsewhere/newest"]
            try FileManager.default.createDirectory(at: town["elsewhere"], withIntermediateDirectories: true)
            let missing = try await refused(town, "server", memory)
            expect(65, missing, "an unmounted disk is not a new memory")
            #expect(missing.complaint.contains("make an empty file there"))

            try town.write([], to: "elsewhere/newest")
            try await copy(town, "server", to: "old")
            try await town.serving(options: memory) {
                expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            }
            let older = try await refused(town, "old", memory)
            expect(65, older, "the attack: an older copy of the data directory is put back")
            #expect(older.complaint.contains("the second memory knows a checkpoint of"))
            #expect(older.complaint.contains("go on with the data of that one"))
            #expect(older.complaint.contains("restore a newer one"))

            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            expect(0, try await town.signetd("restore", "--from", "backup", "--data", "restored"))
            try await town.serving(options: memory + ["--require-confirmation"], data: "restored") {
                expect(0, try await town.signet("alice", "log", "verify"))
            }
            #expect(!town.exists("restored/restored"), "the second memory has confirmed it")
        }
    }

    /// What writes the log while no server runs heeds the second memory as the server does.
    @Test(arguments: [["rotate", "log-key"], ["erase", Town.bob, "--yes"]])
    func theSecondMemoryIsHeededWithoutAServerToo(_ command: [String]) async throws {
        try await Town.with { town in
            let memory = ["--second-memory", "newest"]
            try town.write([], to: "newest")
            try await copy(town, "server", to: "old")
            try await town.serving(options: memory) {
                expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            }
            let remembered = try town.bytes("newest")
            let older = try await Program.signetd.run(command + ["--data", "old"] + memory, in: town.folder)
            expect(65, older)
            #expect(older.complaint.contains("the second memory knows a checkpoint of"), "\(older.errors)")
            #expect(try town.bytes("newest") == remembered)
            expect(0, try await Program.signetd.run(command + ["--data", "server"] + memory, in: town.folder))
            #expect(try town.bytes("newest") != remembered)
        }
    }

    /// The attack: an older copy runs without its memory until it is as long or longer, and then with it again.
    @Test func theSecondMemoryNeverRecordsAnotherHistory() async throws {
        try await Town.with { town in
            let memory = ["--second-memory", "newest"]
            try town.write([], to: "newest")
            for home in ["x", "y", "z"] { try town.prepareHome(home, "\(home)@example.org", withIdentity: true) }
            try await copy(town, "server", to: "other")
            try await town.serving(options: memory) { try await register("x", in: town) }
            let remembered = try town.bytes("newest")

            try await town.serving(data: "other") { try await register("y", in: town) }
            let same = try await refused(town, "other", memory)
            expect(65, same)
            #expect(same.complaint.contains("the second memory knows another tree of"))

            try await town.serving(data: "other") { try await register("z", in: town) }
            let server = try await RunningServer.start(
                .signetd, ["run", "--data", "other"] + Self.answers + memory, in: town.folder)
            let deadline = ContinuousClock.now + .seconds(60)
            while try !server.errors.contains("the log does not extend it"), ContinuousClock.now < deadline {
                await Task.yield()
            }
            let end = try await server.stop()
            #expect(end.errors.contains("the log does not extend it"))
            #expect(try town.bytes("newest") == remembered)
        }
    }

    private func register(_ home: String, in town: Town) async throws {
        let exit = try await town.signet(
            home, "account", "create", "\(home)@example.org", "--directory", town.profile.path())
        expect(0, exit)
    }

    // MARK: Witnesses

    @Test func aServerOlderThanItsWitnessesDoesNotStart() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "older"))
            expect(0, try await federation.register("bob"))
            try await federation.stop("server")
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "newest"))
            try await copy(town, "server", to: "dead")
            try FileManager.default.removeItem(at: town["server"])

            expect(0, try await town.signetd("restore", "--from", "older", "--data", "server"))
            let older = try await refused(town, "server")
            expect(65, older, "the attack: a backup is restored that is older than the seen log")
            #expect(older.complaint.contains("has cosigned"))
            #expect(older.complaint.contains("restore a newer one"))
            expect(65, try await refused(town, "server", ["--accept-restored"]), "--accept-restored is not enough")
            try FileManager.default.removeItem(at: town["server/restored"])
            expect(65, try await refused(town, "server"), "the same for a copy made by hand")
            try FileManager.default.removeItem(at: town["server"])

            expect(0, try await town.signetd("restore", "--from", "newest", "--data", "server"))
            for name in ["w1", "w2"] { try await federation.stop(name) }
            expect(75, try await refused(town, "server"), "one of three cannot confirm it: the other two are a quorum")
            for name in ["w1", "w2"] { try await federation.start(name) }
            try await federation.start("server")
            #expect(!town.exists("server/restored"), "the witnesses have confirmed it")
            expect(0, try await federation.register("carol"))
            expect(0, try await town.signet("alice", "log", "verify"))
            for name in ["bob", "carol"] {
                let found = try await town.signet("alice", "lookup", "\(name)@example.org", "--json")
                #expect([0, 2].contains(found.status), "\(name) was acknowledged: \(found.errors.prefix(200))")
            }
        }
    }

    /// The witnesses answer, and not what they have cosigned: waiting for them, or vouching for the copy, would begin a second log.
    @Test func aCopyOfBeforeAChangeOfTheLogsKeyIsCalledOld() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "before"))
            for name in ["server"] + Federation.witnesses { try await federation.stop(name) }
            expect(
                0,
                try await town.signetd(
                    "init", "--data", "changed", "--origin", "example.org/signet", "--url", "https://localhost:1"))
            let former = try federation.logKey()
            federation.data = "changed"
            let key = try federation.logKey()
            federation.data = "server"
            for name in Federation.witnesses {
                let logs = String(decoding: try town.bytes("\(name)/logs"), as: UTF8.self)
                try #require(logs.contains(former))
                try town.write(logs.replacing(former, with: key).utf8, to: "\(name)/logs")
                try await federation.start(name)
            }
            try FileManager.default.removeItem(at: town["server"])
            expect(0, try await town.signetd("restore", "--from", "before", "--data", "server"))
            let started = try await refused(town, "server")
            expect(65, started)
            #expect(started.complaint.contains("knows another key of this log"), "\(started.errors)")
            let words = "if there was none, tell the witnesses of this log (`signetd witness add-log`)"
            #expect(started.complaint.contains(words), "\(started.errors)")
        }
    }

    @Test func aWitnessThatIsDownIsLoggedOrRequired() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            try await federation.stop("server")
            for name in ["w0", "w1"] { try await federation.stop(name) }
            expect(75, try await refused(town, "server", ["--require-confirmation"]))
            try await federation.start("server")
            expect(0, try await town.signet("alice", "log", "verify"), "the published log is still served")
            let end = try await federation.stop("server")
            #expect(end?.errors.contains("a witness did not say what it cosigned last") == true)
        }
    }

    /// The whole room had no power: the server starts, from an older copy, before its witnesses do.
    @Test func anOlderCopyThatStartedBeforeItsWitnessesEndsWhenTheyAnswer() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            try await federation.stop("server")
            try await copy(town, "server", to: "old")
            try await federation.start("server")
            expect(0, try await federation.register("bob"))
            for name in ["server"] + Federation.witnesses { try await federation.stop(name) }

            federation.data = "old"
            try await federation.start("server")
            for name in Federation.witnesses { try await federation.start(name) }
            let end = try await federation.ended("server")
            expect(65, try #require(end))
            #expect(end?.errors.contains("could not be asked when the server was started") == true)

            federation.data = "server"
            try await federation.start("server")
            expect(0, try await town.signet("alice", "lookup", "bob@example.org"), "the newest copy goes on")
        }
    }

    /// The attack: an older copy runs until it is as long as the log that people have seen. One witness is enough to
    /// detect it.
    @Test func anotherTreeOfTheSameSizeIsRefused() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            try await federation.stop("server")
            try await copy(town, "server", to: "old")
            try await federation.start("server")
            expect(0, try await federation.register("bob"))
            try await federation.stop("server")

            let disregarding = Federation.witnesses.flatMap { ["--disregard-witness", $0] }
            let server = try await RunningServer.start(
                .signetd, ["run", "--data", "old", "--bind", federation.address, "--epoch", "0"] + disregarding,
                in: town.folder)
            expect(3, try await federation.registerOnce("carol"), "no witness cosigns it")
            try await server.stop()
            let other = try await refused(town, "old", Array(disregarding.prefix(2)))
            expect(65, other)
            #expect(other.complaint.contains("has cosigned another tree of"))
        }
    }
}

extension Town {
    /// Runs an honest server with further options.
    fileprivate func serving(
        options: [String] = [], data: String = "server", _ body: () async throws -> Void
    ) async throws {
        let answers = ["--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0"]
        try await serving(.signetd, answers + options, data: data) { _ in try await body() }
    }
}
