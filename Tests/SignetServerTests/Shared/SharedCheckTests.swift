// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import LogEngine
import ObjectTesting
import PostgresStores
import SQLStores
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// What `signetd check` says of why the tables of a store were not read.
struct UnreadTablesTests {
    /// What whoever reads these codes is to do: restore the database, give its user rights, or wait.
    enum Cause { case damaged, forbidden, away }

    private static let causes: [(state: String?, cause: Cause)] = [
        ("42P01", .damaged), ("42703", .damaged), ("58030", .damaged), ("58P01", .damaged), ("XX001", .damaged),
        ("XX000", .damaged), ("42501", .forbidden), ("57014", .away), ("57P01", .away), ("53300", .away),
        ("08006", .away), (nil, .away),
    ]

    @Test(arguments: causes)
    func onlyATableThatIsMissingOrDamagedIsSaidToBeThat(state: String?, cause: Cause) {
        for error in [SQLFault.unavailable(.postgres(state: state)), .storageFailed(.postgres(state: state))] {
            let isSo =
                switch DataFault(ofTables: "notes", error) {
                case .tables(schema: "notes"): cause == .damaged
                case .tablesForbidden(schema: "notes"): cause == .forbidden
                case .tablesUnread(schema: "notes", code: state ?? "no answer"): cause == .away
                default: false
                }
            #expect(isSo, "\(state ?? "none")")
        }
    }

    @Test func aRowThatNoProgramHasWrittenIsDamaged() {
        guard case .tables(schema: "notes") = DataFault(ofTables: "notes", SharedLogFault.rowDamaged) else {
            Issue.record("it is not said to be damaged")
            return
        }
    }

    /// Otherwise a table that is gone would not be missed.
    @Test func theTablesOfEachStoreAreKnown() throws {
        let stores = DataDirectory(path: "/nonexistent").movingStores.map(\.schema)
        for schema in stores + [SQLLimits.schema] {
            let place = try LabPlace(on: .sqlite)
            let database = try place.open(schema)
            defer { database.close() }
            let names = try database.readNow { database in
                try database.rows(
                    """
                    SELECT name FROM sqlite_master
                    WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'grdb_migrations'
                    """
                ).map { try $0.text(0) }
            }
            #expect(schema.tables == Set(names), "\(schema.name)")
        }
    }
}

/// What a start of a machine of a cluster refuses is named by `signetd check`, and nothing else is.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("checks of a cluster"),
        "There is no PostgreSQL 15 here.")
)
struct SharedCheckTests {
    /// With two people and notes, led once, so that the front ends' secrets are known and this machine has shown something.
    private func withCluster(_ body: (MovingDirectory) async throws -> Void) async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await directory.lead()
            try await body(directory)
        }
    }

    private func report(
        _ directory: MovingDirectory, at data: DataDirectory? = nil, _ engines: SharedEngines? = nil
    ) async throws -> DirectoryCheck.Report {
        await DirectoryCheck(of: data ?? directory.data).run(in: try engines ?? directory.engines())
    }

    private func expectSound(
        _ directory: MovingDirectory, at data: DataDirectory? = nil, _ comment: Comment
    ) async throws {
        let report = try await report(directory, at: data)
        #expect(report.faults.map { "\($0)" } == [], comment)
    }

    /// - Parameter words: of the one fault that is expected.
    private func expect(
        _ words: String, alone report: DirectoryCheck.Report, _ comment: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) {
        let faults = report.faults.map { "\($0)" }
        #expect(
            faults.count == 1 && faults.first?.contains(words) == true, "\(comment): \(faults)",
            sourceLocation: location)
    }

    /// What is in a file while `body` runs.
    private func replacing(
        _ path: String, with bytes: Data, _ body: () async throws -> Void
    ) async throws {
        let url = URL(filePath: path)
        let before = try Data(contentsOf: url)
        try bytes.write(to: url)
        try await body()
        try before.write(to: url)
    }

    private func copy(_ directory: MovingDirectory) throws -> DataDirectory {
        let copy = try directory.copyOfMachine("old")
        for folder in [copy.path, copy.keys, copy.notes] {
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        }
        return copy
    }

    // MARK: What is to hold

    @Test func aSoundClusterHasNoFault_andAMachineThatOnlyServesHasNone() async throws {
        try await withCluster { directory in
            try await expectSound(directory, "one that sequences")
            #expect(try await !report(directory).isWithoutLogKey)
            #expect(try await report(directory).isWithSharedLogKey)
            for name in ["log.key", "clock.key"] {
                try FileManager.default.removeItem(atPath: "\(directory.data.keys)/\(name)")
            }
            try await expectSound(directory, "one that only serves")
            #expect(try await report(directory).isWithoutLogKey)
            #expect(try await !report(directory).isWithSharedLogKey)
            try FileManager.default.removeItem(atPath: directory.data.state)
            try await expectSound(directory, "one that has lost what it has shown")
            #expect(!FileManager.default.fileExists(atPath: directory.data.state), "a check has made a folder")
        }
    }

    // MARK: Keys

    @Test func eachKeyFileOfAnotherDirectoryIsNamed() async throws {
        try await withCluster { directory in
            let data = directory.data
            try await withDataDirectory { other in
                for (name, words) in [
                    ("vrf.key", "vrfKeyDiffers"), ("log.key", "rotationInterrupted"), ("clock.key", "clockKeyDiffers"),
                ] {
                    let bytes = try Data(contentsOf: URL(filePath: "\(other.keys)/\(name)"))
                    try await replacing("\(data.keys)/\(name)", with: bytes) {
                        expect(words, alone: try await report(directory), name)
                    }
                }
                let name = try FrontEndSecret.announce(in: other.keys).name
                let shared = try Data(contentsOf: URL(filePath: "\(other.keys)/\(name)"))
                try await replacing("\(data.keys)/\(name)", with: shared) {
                    expect("sharedSecretDiffers", alone: try await report(directory))
                }
                // A machine that only serves has no other of these keys.
                for name in ["log.key", "clock.key"] {
                    try FileManager.default.removeItem(atPath: "\(data.keys)/\(name)")
                }
                let bytes = try Data(contentsOf: URL(filePath: other.keys + "/vrf.key"))
                try await replacing(data.keys + "/vrf.key", with: bytes) {
                    expect("vrfKeyDiffers", alone: try await report(directory), "of a front end")
                }
            }
            var login = try Data(contentsOf: URL(filePath: data.loginKey))
            login[login.startIndex] ^= 1
            try await replacing(data.loginKey, with: login) {
                expect("loginKeyDiffers", alone: try await report(directory))
            }
            try FileManager.default.removeItem(atPath: data.loginKey)
            expect("loginKeyMissing", alone: try await report(directory))
        }
    }

    /// As after a move back and another move: no front end has said yet which key is the right one, and the notes know it.
    @Test func anotherLoginKeyThanTheNotesKnowIsNamed_asAStartRefusesIt() async throws {
        try await withCluster { directory in
            let data = directory.data
            try directory.sql("DELETE FROM limits.secrets WHERE name = 'login'")
            try await expectSound(directory, "with the key under which people register")
            var login = try Data(contentsOf: URL(filePath: data.loginKey))
            login[login.startIndex] ^= 1
            try await replacing(data.loginKey, with: login) {
                expect("loginKeyDiffers", alone: try await report(directory))
                let secret = try #require(try StoredDirectory.readSharedSecret(data, isNeeded: true))
                await #expect(throws: StoredNotesError.loginKeyDiffers) {
                    try await StoredNotes.open(data, sharing: secret, in: directory.engines(), logger: silent)
                }
            }
            #expect(try directory.sql("SELECT count(*) FROM limits.secrets WHERE name = 'login'") == "0")
        }
    }

    /// After each step, of the machine where the change was begun and of one with the files of before. When it is complete, only the latter
    /// has a fault.
    @Test(arguments: SharedRotationTests.Change.allCases)
    func anInterruptedChangeAndFilesOfBeforeAreNamed(change: SharedRotationTests.Change) async throws {
        try await withCluster { directory in
            for (number, step) in SharedRotation.Step.allCases.enumerated() {
                let old = try copy(directory)
                defer { try? FileManager.default.removeItem(atPath: old.path) }
                let interrupted = directory.rotation { (reached) throws(KeyRotationError) in
                    if reached == step { throw .interrupted }
                }
                await #expect(throws: KeyRotationError.self) { _ = try await change.run(interrupted, number) }
                let words = step == .logged ? "keysChanged" : "rotationInterrupted"
                expect(words, alone: try await report(directory), "\(step), here")
                expect("keysChanged", alone: try await report(directory, at: old), "\(step), elsewhere")
                _ = try await change.run(directory.rotation(), number)
                try await expectSound(directory, "\(step)")
                expect("keysChanged", alone: try await report(directory, at: old), "\(step), later")
            }
        }
    }

    /// `directory.signet` and `keys/log.key` were copied, and the proof of the change was not.
    @Test func theProofOfAChangeThatIsMissingIsNamed() async throws {
        try await withCluster { directory in
            _ = try await SharedRotationTests.Change.key.run(directory.rotation())
            let path = directory.data.history + "/succession"
            let proof = try Data(contentsOf: URL(filePath: path))
            try FileManager.default.removeItem(atPath: path)
            expect("keysChanged", alone: try await report(directory))
            try proof.write(to: URL(filePath: path))
            try await expectSound(directory, "with the proof")
        }
    }

    // MARK: What was shown

    /// Database and bucket were put back together: nothing but this folder knows better.
    @Test func whatThisMachineHasShownBeyondDatabaseAndBucketIsNamed() async throws {
        try await withCluster { directory in
            let keys = try StoredDirectory.readTrustedKeys(
                directory.data, try StoredDirectory.readProfile(directory.data))
            let configuration = LogConfiguration(signer: keys.log, cosigners: [], clock: { 1_800_000_000 })
            let path = directory.data.state + "/checkpoint.published"
            for (size, words) in [(UInt64(1000), "shrinks"), (1, "rootDiffers")] {
                let note = try configuration.sign(TreeHead(size: size, root: .emptyTree))
                try await replacing(path, with: Data(note.bytes)) {
                    expect(words, alone: try await report(directory))
                }
            }
            // Whoever can write there says nothing.
            try await replacing(path, with: Data("no note".utf8)) { try await expectSound(directory, "not signed") }
        }
    }

    // MARK: Tables

    @Test func aTableThatIsMissingIsNamed() async throws {
        try await withCluster { directory in
            try directory.sql("DROP TABLE limits.attempts")
            expect("tables(schema: \"limits\")", alone: try await report(directory))
        }
    }

    /// SQL reads these names as they are in quotation marks only.
    @Test func aTableThatAnOperatorAddedIsRead() async throws {
        try await withCluster { directory in
            for name in ["Backup_2024", "of 2024", "order", "so \"\"called\"\"?"] {
                try directory.sql("CREATE TABLE limits.\"\(name)\" AS SELECT * FROM limits.attempts")
            }
            try await expectSound(directory, "with copies of a table")
        }
    }

    @Test func aRightThatIsMissingIsNotTakenForDamage() async throws {
        try await withCluster { directory in
            let role = "reader_\(directory.lab.name)"
            try directory.sql("CREATE ROLE \(role) LOGIN")
            // The stores that nobody has used yet get their tables here.
            try await expectSound(directory, "as their owner")
            for schema in ["log", "directory", "notes", "recovery", "cards", "limits"] {
                try directory.sql("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
                try directory.sql("GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
            }
            let file = try directory.engines().file
            let address = try PostgresAddress(
                directory.lab.address.description.replacing("user=signet", with: "user=\(role)"))
            let engines = SharedEngines(
                file: file, address: address, objects: directory.objects, replicatesBelowSQL: true)
            #expect(try await report(directory, engines).faults.map { "\($0)" } == [])
            try directory.sql("REVOKE SELECT ON notes.feed FROM \(role)")
            expect("tablesForbidden(schema: \"notes\")", alone: try await report(directory, engines))
        }
    }

    /// As a copy of it, which a start refuses.
    @Test func anotherDatabaseOfTheInstallationIsNamed() async throws {
        try await withCluster { directory in
            let text = try directory.engines().file.text.replacing(#/oid \d+/#, with: "oid 1")
            let engines = directory.engines(try EnginesFile(decoding: text))
            expect("otherDatabase", alone: try await report(directory, engines))
        }
    }

    @Test func aDatabaseThatDoesNotAnswerIsSaidOnce() async throws {
        try await withCluster { directory in
            let engines = SharedEngines(
                file: try directory.engines().file, address: try directory.lab.address.host("/nonexistent"),
                objects: directory.objects, replicatesBelowSQL: true)
            expect("unreachable", alone: try await report(directory, engines))
        }
    }
}
