// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A file of a data directory is an older one, another directory's, or gone: what reads the directory agrees on it, and names the file.
@Suite(.serialized) struct FormerFilesTests {
    private func run(_ town: Town, _ data: String = "server") async throws -> Exit {
        try await town.signetd("run", "--data", data, "--bind", "127.0.0.1:0", "--epoch", "0")
    }

    /// Each of these refuses the directory for the same reason.
    private func expectRefused(_ town: Town, _ reason: String, _ data: String = "server") async throws {
        let checked = try await town.signetd("check", "--data", data)
        expect(65, checked)
        #expect(checked.output.contains(reason), "check: \(checked.output) \(checked.errors)")
        let backup = try await town.signetd("backup", "--data", data, "--to", "backup-\(UInt32.random(in: 0...(.max)))")
        expect(65, backup, "a backup of it would take the place of a good one")
        #expect(backup.complaint.contains(reason), "backup: \(backup.errors)")
        let started = try await run(town, data)
        expect(65, started)
        #expect(started.complaint.contains(reason), "run: \(started.errors)")
    }

    private func copy(_ town: Town, _ path: String, to target: String) throws {
        if town.exists(target) { try FileManager.default.removeItem(at: town[target]) }
        try FileManager.default.copyItem(at: town[path], to: town[target])
    }

    private func makeOther(_ town: Town) async throws {
        expect(
            0,
            try await town.signetd(
                "init", "--data", "other", "--origin", "example.org/other", "--url", "https://localhost:8443"))
    }

    // MARK: Of another directory

    @Test func theKeyOfTheLabelsOfAnotherDirectoryIsNamed() async throws {
        try await Town.with { town in
            try await makeOther(town)
            try copy(town, "other/keys/vrf.key", to: "server/keys/vrf.key")
            try await expectRefused(town, "keys/vrf.key is not the one that clients are told to trust")
        }
    }

    @Test func theSecretsOfLoginsOfAnotherDirectoryAreNamed() async throws {
        try await Town.with { town in
            try await makeOther(town)
            try await town.serving { _ in }
            try await town.serving(data: "other") { _ in }
            try copy(town, "other/notes/login.key", to: "server/notes/login.key")
            try await expectRefused(town, "notes/login.key is not the one under which people registered")
        }
    }

    /// The list of what the server had does not name them.
    @Test func theSecretsUnderWhichPeopleRegisteredAreDemanded() async throws {
        try await Town.with { town in
            try town.write("a password that nobody guesses\n".utf8, to: "password")
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "sync"))
                expect(0, try await town.signet("alice", "notes", "password", "--password-file", "password"))
            }
            let list = String(decoding: try town.bytes("server/records/parts"), as: UTF8.self)
            try town.write(list.replacing("notes/login.key\n", with: "").utf8, to: "server/records/parts")
            try FileManager.default.removeItem(at: town["server/notes/login.key"])
            try await expectRefused(town, "notes/login.key is missing")

            // There is no copy: the passwords are lost, and the people go on.
            expect(64, try await town.signetd("rotate", "login-key", "--data", "server"), "it asks first")
            expect(0, try await town.signetd("rotate", "login-key", "--yes", "--data", "server"))
            expect(0, try await town.signetd("check", "--data", "server"))
            try town.write("another password that nobody guesses\n".utf8, to: "next")
            try await town.serving { _ in
                expect(75, try await town.signetd("rotate", "login-key", "--yes", "--data", "server"), "it runs")
                expect(0, try await town.signet("alice", "notes", "sync"), "its devices have their keys")
                expect(0, try await town.signet("alice", "notes", "password", "--password-file", "next"))
                expect(0, try await town.signet("alice", "notes", "lock"))
                expect(65, try await town.signet("alice", "notes", "unlock", "--password-file", "password"))
                expect(0, try await town.signet("alice", "notes", "unlock", "--password-file", "next"))
            }
        }
    }

    @Test func anotherDatabaseInThePlaceOfTheNotesIsNamed() async throws {
        try await Town.with { town in
            try await town.serving { _ in }
            try copy(town, "server/recovery.sqlite", to: "server/notes/notes.sqlite")
            try await expectRefused(town, "the notes' database is ")
            #expect(try await run(town).complaint.contains("is another database"))
        }
    }

    @Test(.timeLimit(.minutes(2))) func thePinsOfAnotherDirectoryAreNotLogged() async throws {
        try await Town.with { town in
            try await makeOther(town)
            try await town.serving(data: "other") { _ in }
            try await town.serving { _ in expect(0, try await town.signet("alice", "pins", "update")) }
            let pins = try town.bytes("server/tls/pins")
            try copy(town, "other/tls/pins", to: "server/tls/pins")
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(
                checked.output.contains("tls/pins does not hold the pins that clients are told"), "\(checked.output)")
            let options = ["--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0"]
            try await town.serving(.signetd, options) { server in
                while try !server.errors.contains("the pins cannot be used") {
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            try town.write(pins, to: "server/tls/pins")
            try await town.serving { _ in expect(0, try await town.signet("alice", "pins", "update")) }
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }

    // MARK: Older

    /// The database was compared with more entries than the log has.
    @Test func anOlderLogBesideANewerDatabaseIsFound() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "before"))
            try await town.befriendCarolOnTheServer()
            // A start compares the two.
            try await town.serving { _ in }
            try copy(town, "before/records/log", to: "server/records/log")
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains("the log is an older copy than the database"), "\(checked.output)")
            expect(65, try await run(town))
        }
    }

    /// It says less than was signed, and the log itself has all of it: nothing is lost.
    @Test func anOlderRecordOfWhatWasSignedIsNoFault() async throws {
        try await Town.with { town in
            try copy(town, "server/records/log/checkpoint.lock", to: "lock")
            try await town.befriendCarolOnTheServer()
            try copy(town, "lock", to: "server/records/log/checkpoint.lock")
            expect(0, try await town.signetd("check", "--data", "server"))
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            try await town.serving { _ in expect(0, try await town.signet("alice", "log", "verify")) }
        }
    }

    @Test func aMissingRecordOfWhatWasSignedIsNamed() async throws {
        try await Town.with { town in
            try FileManager.default.removeItem(at: town["server/records/log/checkpoint.lock"])
            try await expectRefused(town, "records/log/checkpoint.lock is missing")
        }
    }

    @Test func anEmptiedDatabaseOfAccountsIsDamaged() async throws {
        try await Town.with { town in
            for name in ["", "-wal", "-shm"] where town.exists("server/records/directory.sqlite\(name)") {
                try FileManager.default.removeItem(at: town["server/records/directory.sqlite\(name)"])
            }
            try town.write([], to: "server/records/directory.sqlite")
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains("the database is damaged"), "\(checked.output)")
            expect(65, try await run(town))
        }
    }

    /// An operator puts back what he has: clients that followed the change would believe nothing that the former key signs.
    @Test(arguments: [["directory.signet"], ["directory.signet", "keys/log.key"]])
    func whatClientsWereToldBeforeAChangeOfKeysIsRefused(_ paths: [String]) async throws {
        try await Town.with { town in
            for path in paths { try copy(town, "server/\(path)", to: "before-\(path.replacing("/", with: "-"))") }
            expect(0, try await town.signetd("rotate", "log-key", "--data", "server"))
            try await town.serving { _ in expect(0, try await town.signet("alice", "directory", "update")) }
            let newest = try paths.map { try town.bytes("server/\($0)") }
            for path in paths { try copy(town, "before-\(path.replacing("/", with: "-"))", to: "server/\(path)") }
            try await expectRefused(
                town, "directory.signet is older than the last change of the log's key or witnesses")
            for (path, bytes) in zip(paths, newest) { try town.write(bytes, to: "server/\(path)") }
            try await town.serving { _ in expect(0, try await town.signet("alice", "lookup", Town.bob)) }
        }
    }

    /// The list was edited, and the change is in the log: the list of then is printed, and completes it.
    @Test func theListOfAnInterruptedChangeOfWitnessesIsPrinted() async throws {
        try await Town.with { town in
            func rotate(_ list: String) async throws -> Exit {
                try town.write(list.utf8, to: "list")
                return try await town.signetd("rotate", "witnesses", "--data", "server", "list")
            }
            let before = try town.bytes("server/directory.signet")
            let list = "group first any clock\nquorum first\n"
            expect(0, try await rotate(list))
            // As if the command had been killed before it replaced this file.
            try town.write(before, to: "server/directory.signet")
            for other in ["group second any clock\nquorum second\n", "quorum clock\n"] {
                let refused = try await rotate(other)
                expect(73, refused)
                #expect(refused.errors.hasSuffix("\n" + list), "\(refused.errors)")
            }
            let key = try await town.signetd("rotate", "log-key", "--data", "server")
            expect(73, key)
            #expect(key.errors.hasSuffix("\n" + list), "\(key.errors)")
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains("which is below") && checked.output.hasSuffix("\n" + list))
            let started = try await run(town)
            expect(65, started)
            #expect(started.errors.hasSuffix("\n" + list), "\(started.errors)")
            #expect(try town.bytes("server/directory.signet") == before)
            expect(0, try await rotate(list))
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }

    /// Nobody would follow a proof that is made anew.
    @Test func theFileOfChangesThatIsLostIsNamed() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("rotate", "log-key", "--data", "server"))
            try FileManager.default.removeItem(at: town["server/records/succession"])
            try town.write("quorum clock\n".utf8, to: "list")
            let refused = try await town.signetd("rotate", "witnesses", "--data", "server", "list")
            expect(65, refused)
            for words in ["records/succession", "history/succession", "backup", "copy it from another machine"] {
                #expect(refused.errors.contains(words), "\(refused.errors)")
            }
        }
    }

    // MARK: Under a running server

    @Test(.timeLimit(.minutes(2))) func aFileThatIsRemovedUnderTheServerIsSaid() async throws {
        try await Town.with { town in
            try await town.serving { server in
                try FileManager.default.removeItem(at: town["server/notes/notes.sqlite"])
                let said = try await ready(town, server)
                #expect(said.contains("removed or replaced under the running server: notes/notes.sqlite"), "\(said)")
                // Also to who reads only what the program prints.
                let line = "do not stop the server, see disasters.md\" files=notes/notes.sqlite"
                while try !server.errors.contains(line) { await Task.yield() }
            }
        }
    }

    /// Until SQLite moves it, what was acknowledged is in `-wal` alone: an orderly stop does, and a kill loses it.
    @Test func whatSQLiteKeepsBesideADatabaseIsLookedForToo_andAnOrderlyStopLosesNothing() async throws {
        let names = ["notes/notes.sqlite-wal", "records/directory.sqlite-wal", "records/directory.sqlite-shm"]
        try await Town.with { town in
            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            try await town.serving { server in
                let created = try await town.signet(
                    "carol", "account", "create", "carol@example.org", "--directory", "server/directory.signet")
                expect(0, created)
                for name in names { try FileManager.default.removeItem(at: town["server/\(name)"]) }
                let said = try await ready(town, server)
                let sentence = "removed or replaced under the running server: \(names.joined(separator: ", "));"
                #expect(said.contains(sentence), "\(said)")
            }
            expect(0, try await town.signetd("check", "--data", "server"))
            try await town.serving { _ in expect(0, try await town.signet("alice", "lookup", "carol@example.org")) }
        }
    }

    /// SQLite reads past the end of what a backup finds there: the disk of the backup is not at fault.
    @Test func aBackupBesideALostWALSaysNotToStopTheServer() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "new", "First", "bread"))
                try FileManager.default.removeItem(at: town["server/notes/notes.sqlite-wal"])
                let backup = try await town.signetd("backup", "--data", "server", "--to", "backup")
                expect(65, backup)
                #expect(backup.complaint.hasPrefix("do not stop the server that is running here"), "\(backup.errors)")
                #expect(!backup.complaint.contains("the new folder"), "\(backup.errors)")
            }
        }
    }

    /// Which file of the log is away, and how.
    enum LostLog: CaseIterable {
        case removed, allRemoved, replaced

        var names: [String] {
            let segment = "records/log/wal/00000000000000000000"
            return self == .allRemoved ? ["records/log/checkpoint.lock", segment] : [segment]
        }
    }

    /// Nobody else has what was acknowledged: it is in the files that the server has open. These are the steps of disasters.md.
    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "there is no /proc"),
        arguments: LostLog.allCases)
    func theLogThatIsLostUnderTheServerIsCopiedFromIt(_ lost: LostLog) async throws {
        try await Town.with { town in
            for name in ["carol", "dave"] { try town.prepareHome(name, "\(name)@example.org", withIdentity: true) }
            func create(_ name: String) async throws -> Exit {
                try await town.signet(
                    name, "account", "create", "\(name)@example.org", "--directory", "server/directory.signet")
            }
            for name in lost.names { try copy(town, "server/\(name)", to: "older-\(name.replacing("/", with: "-"))") }
            try await town.serving { server in
                expect(0, try await create("carol"))
                for name in lost.names {
                    if lost == .replaced {
                        let older = town["older-\(name.replacing("/", with: "-"))"].path()
                        try #require(rename(older, town["server/\(name)"].path()) == 0)
                    } else {
                        try FileManager.default.removeItem(at: town["server/\(name)"])
                    }
                }
                let said = try await ready(town, server)
                let sentence = "removed or replaced under the running server: \(lost.names.joined(separator: ", "));"
                #expect(said.contains(sentence), "\(said)")
                expect(3, try await create("dave"), "nothing is accepted that would be gone with the process")
                expect(0, try await town.signet("alice", "lookup", "carol@example.org"))
                let backup = try await town.signetd("backup", "--data", "server", "--to", "backup")
                expect(lost == .allRemoved ? 66 : 65, backup)
                let advice = "do not stop the server that is running here"
                #expect(backup.complaint.hasPrefix(advice), "\(backup.errors)")
                let checked = try await town.signetd("check", "--data", "server")
                expect(75, checked)
                #expect(checked.output.hasPrefix("wrong: " + advice), "\(checked.output)")

                for name in lost.names {
                    let place = try #require(try openFile(server, endingWith: "/\(name) (deleted)"))
                    let copied = try await Exit.of(
                        URL(filePath: "/bin/cp"), [place, "server/\(name).rescued"], in: town.folder)
                    expect(0, copied)
                }
            }
            for name in lost.names {
                #expect(rename(town["server/\(name).rescued"].path(), town["server/\(name)"].path()) == 0)
            }
            let checked = try await town.signetd("check", "--data", "server")
            expect(0, checked, "\(checked.output)")
            try await town.serving { server in
                #expect(try await ready(town, server) == "ready\n")
                expect(0, try await town.signet("alice", "lookup", "carol@example.org"))
                expect(0, try await create("dave"))
                expect(0, try await town.signet("alice", "log", "verify"))
            }
        }
    }

    /// What people write meanwhile would be gone with the process, and their devices would refuse a server without it: it waits there, and the
    /// copies are all there is. These are the steps of disasters.md.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "there is no /proc"))
    func theNotesThatAreLostUnderTheServerAreCopiedFromIt() async throws {
        try await Town.with { town in
            let names = ["server/notes/notes.sqlite", "server/notes/notes.sqlite-wal"]
            func write(_ title: String) async throws -> Bool? {
                let made = try await town.signet("alice", "notes", "new", title, "bread", "--json")
                expect(0, made)
                return try made.object()["sent"] as? Bool
            }
            try await town.serving { server in
                #expect(try await write("First") == true)
                for name in names + ["server/notes/notes.sqlite-shm"] {
                    try FileManager.default.removeItem(at: town[name])
                }
                let said = try await ready(town, server)
                #expect(said.contains("removed or replaced under the running server: notes/notes.sqlite"), "\(said)")
                #expect(try await write("Second") == false)
                for name in names {
                    let place = try #require(try openFile(server, endingWith: "/\(name) (deleted)"))
                    let copied = try await Exit.of(
                        URL(filePath: "/bin/cp"), [place, "\(name).rescued"], in: town.folder)
                    expect(0, copied)
                    #expect(try await write("After \(name)") == false)
                }
            }
            for name in names { #expect(rename(town["\(name).rescued"].path(), town[name].path()) == 0) }
            let checked = try await town.signetd("check", "--data", "server")
            expect(0, checked, "\(checked.output)")
            try await town.serving { server in
                #expect(try await ready(town, server) == "ready\n")
                expect(0, try await town.signet("alice", "notes", "sync"))
                for title in ["First", "Second"] { expect(0, try await town.signet("alice", "notes", "show", title)) }
                #expect(try await write("Third") == true)
            }
        }
    }

    /// With witnesses, whose cosignatures it keeps beside the log at each interval.
    @Test(.timeLimit(.minutes(5)), arguments: ["server/records/log", "server/records", "server"])
    func theServerGoesOnWhenAFolderThatWasMovedAwayIsBack(_ folder: String) async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            expect(0, try #require(try await federation.stop("server")))
            federation.options = ["--republish", "1"]
            try await federation.start("server")
            expect(0, try await federation.register("alice"))
            let server = try #require(federation.running["server"])
            try copy(town, "server/tls/ca.pem", to: "ca.pem")
            try #require(rename(town[folder].path(), town["away"].path()) == 0)
            let sentence = "The checkpoint could not be signed again"
            while try server.errors.split(separator: "\n").count(where: { $0.contains(sentence) }) < 3 {
                let said = try await ready(town, server, "ca.pem")
                try #require(said.contains("removed or replaced under the running server"), "\(said)")
                #expect(said.contains("records/log/checkpoint.lock"), "\(said)")
            }
            try #require(rename(town["away"].path(), town[folder].path()) == 0)
            expect(0, try await federation.register("bob"))
            expect(0, try await town.signet("alice", "lookup", "bob@example.org"))
            expect(0, try #require(try await federation.stop("server")))
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }

    private func ready(
        _ town: Town, _ server: RunningServer, _ authority: String = "server/tls/ca.pem"
    ) async throws -> String {
        let arguments = ["--silent", "--cacert", authority, "https://localhost:\(server.port)/ready"]
        return try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder).output
    }

    /// Where a file that the server has open can be read, whatever its name is now.
    private func openFile(_ server: RunningServer, endingWith name: String) throws -> String? {
        let folder = "/proc/\(server.processIdentifier)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }.first { path in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: path))?.hasSuffix(name) == true
        }
    }

    /// Without them the next start fails; a command that changes keys replaces them.
    @Test func aKeyThatIsRemovedUnderTheServerIsSaid_andOneThatIsReplacedIsNot() async throws {
        let names = [
            "directory.signet", "keys/log.key", "keys/clock.key", "keys/vrf.key", "notes/login.key", "records/parts",
        ]
        try await Town.with { town in
            try await town.serving { server in
                for name in names {
                    let (file, copy) = (town["server/\(name)"], town["server/\(name).copy"])
                    try FileManager.default.copyItem(at: file, to: copy)
                    try #require(rename(copy.path(), file.path()) == 0)
                }
                #expect(try await ready(town, server) == "ready\n")
                for name in names { try FileManager.default.removeItem(at: town["server/\(name)"]) }
                let said = try await ready(town, server)
                let sentence =
                    "removed under the running server: \(names.joined(separator: ", ")); the next start needs"
                #expect(said.contains(sentence), "\(said)")
            }
        }
    }
}

extension Town {
    /// One more person, so that the log goes on.
    fileprivate func befriendCarolOnTheServer() async throws {
        try prepareHome("carol", "carol@example.org", withIdentity: true)
        try await serving { _ in
            expect(
                0,
                try await signet(
                    "carol", "account", "create", "carol@example.org", "--directory", "server/directory.signet"))
        }
    }
}
