// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import EngineLab
import Foundation
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import SignetTesting
import Testing
import TransparencyLog

@testable import KeyDirectory

/// What a directory does with the files that a former process left behind.
@Suite struct CrashTests {
    let place: Place

    init() throws { place = try Place() }

    @Test(.everyEngine) func open_findsTheAccountsAndDevicesOfTheFormerProcess() async throws {
        let directory = try await place.create()
        var alice = try Person("alice@example.org", deviceCount: 2)
        try await alice.register(at: directory)
        let view = try await place.verifiedLookup(alice.handle, at: directory).view
        await directory.close()
        let again = try await place.open()
        _ = try await place.verifiedLookup(alice.handle, at: again, knowing: view)
        #expect(try await alice.caller(at: again).handle == alice.handle)
        await again.close()
    }

    @Test(.everyEngine) func open_completesARegistrationThatDidNotReachTheLog() async throws {
        let directory = try await place.create()
        let alice = try Person("alice@example.org", deviceCount: 2)
        try await directory.writeOnly(
            alice.submission(devices: alice.devices, at: directory), by: alice.devices[0])
        #expect(directory.log.published.head.size == 1)
        await directory.close()
        let again = try await place.open()
        #expect(try await place.verifiedLookup(alice.handle, at: again).state.version == 1)
        #expect(again.log.published.head.size == 5)
        await again.close()
    }

    @Test(.everyEngine) func open_completesAnUpdateThatDidNotReachTheLogWithItsNewLeavesOnly() async throws {
        let directory = try await place.create()
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let device = try alice.newDevice()
        try await directory.writeOnly(
            alice.submission(devices: alice.devices + [device], at: directory), by: alice.devices[0])
        await directory.close()
        let again = try await place.open()
        #expect(try await place.verifiedLookup(alice.handle, at: again).state.devices.count == 2)
        #expect(again.log.published.head.size == 7)
        await again.close()
    }

    @Test(.everyEngine) func open_doesNotAppendACompletedStateAgain() async throws {
        let directory = try await place.create()
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        try await directory.writeOnly(submission, by: alice.devices[0])
        await directory.close()
        for _ in 0..<3 {
            let again = try await place.open()
            #expect(again.log.published.head.size == 4)
            let receipt = try await alice.send(submission, to: again)
            #expect(receipt == StateReceipt(index: 2, size: 4))
            await again.close()
        }
    }

    /// The process is killed at each call that the log makes to its disk, one after the other.
    @Test(arguments: [Fault.Effect.nothing, .everything])
    func aKillAtAnyFileCallOfTheLogLosesNoAcknowledgedRegistration(
        effect: Fault.Effect
    ) async throws {
        var ordinal = 0
        while try await survives(Fault(Set(LogFileKind.allCases), ordinal: ordinal, effect: effect)) { ordinal += 1 }
        #expect(ordinal > 10)
    }

    /// Returns whether the fault happened at all.
    private func survives(_ fault: Fault) async throws -> Bool {
        var fault = fault
        fault.isFinal = true
        let place = try Place(on: .sqlite)
        await (try place.create()).close()
        let files = FaultyFileSystem(place.logFiles, fault: fault)
        let alice = try Person("alice@example.org")
        let acknowledged = await acknowledgement(of: alice, over: files, at: place)
        let again = try await place.open()
        if acknowledged != nil || again.log.published.head.size > 1 {
            #expect(try await place.verifiedLookup(alice.handle, at: again).state.version == 1)
            #expect(again.log.published.head.size == 4)
        }
        if !files.hasFailed { #expect(acknowledged == StateReceipt(index: 2, size: 4)) }
        await again.close()
        return files.hasFailed
    }

    private func acknowledgement(
        of person: Person, over files: FaultyFileSystem, at place: Place
    ) async -> StateReceipt? {
        guard let directory = try? await place.open(over: files) else { return nil }
        guard let submission = try? await person.submission(devices: person.devices, at: directory) else { return nil }
        let receipt = try? await person.send(submission, to: directory)
        await directory.close()
        return receipt
    }

    @Test(.everyEngine, arguments: [LogFileKind.segment, .lockRecord])
    func aFailureOfTheLogStopsTheDirectory_andTheNextProcessCompletesTheRegistration(
        kind: LogFileKind
    ) async throws {
        await (try place.create()).close()
        let counting = FaultyFileSystem(place.logFiles)
        await (try place.open(over: counting)).close()
        let ordinal = counting.calls.count { $0.file == kind }
        let files = FaultyFileSystem(place.logFiles, fault: Fault([kind], ordinal: ordinal, effect: .nothing))
        let directory = try await place.open(over: files)
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        for _ in 0..<2 {
            await #expect(throws: DirectoryError.stopped) { try await alice.send(submission, to: directory) }
        }
        await directory.close()
        let again = try await place.open()
        #expect(try await alice.send(submission, to: again) == StateReceipt(index: 2, size: 4))
        await again.close()
    }

    @Test(.everyEngine) func aServerThatRunsComparesSoThatTheNextStartNeedNot() async throws {
        let directory = try await place.create()
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let pending = try Person("bob@example.org")
        try await directory.writeOnly(
            pending.submission(devices: pending.devices, at: directory), by: pending.devices[0])
        func mark() async throws -> [Int64] {
            try await directory.database.read { database in
                let row = try database.row("SELECT checked_size, checked_state FROM meta", [])
                return [try row?.integer(0) ?? -1, try row?.integer(1) ?? -1]
            }
        }
        let states = try await directory.database.read { database in
            try database.rows("SELECT id FROM states ORDER BY id", []).map { try $0.integer(0) }
        }
        #expect(try await mark() == [1, 0])
        try await directory.republish()
        #expect(try await mark() == [4, states[0]], "a state that is not logged is left to the next start")
        await directory.close()
        let again = try await place.open()
        #expect(try await place.verifiedLookup(pending.handle, at: again).state.version == 1)
        await again.close()
    }

    // MARK: Files that do not belong together

    @Test func open_refusesAnOldCopyOfTheDatabase() async throws {
        let directory = try await place.create()
        await directory.close()
        let copy = try Data(contentsOf: URL(filePath: DirectoryPaths(root: place.path).database))
        let later = try await place.open()
        var alice = try Person("alice@example.org")
        try await alice.register(at: later)
        await later.close()
        try copy.write(to: URL(filePath: DirectoryPaths(root: place.path).database))
        #expect(await place.openingRefusal() == .databaseBehindLog(index: 2))
    }

    @Test(.everyEngine) func open_refusesAnOldCopyOfTheLog() async throws {
        let directory = try await place.create()
        await directory.close()
        let paths = DirectoryPaths(root: place.path)
        try FileManager.default.copyItem(atPath: paths.log, toPath: paths.log + "-copy")
        let later = try await place.open()
        var alice = try Person("alice@example.org")
        try await alice.register(at: later)
        await later.close()
        await (try place.open()).close()
        try FileManager.default.removeItem(atPath: paths.log)
        try FileManager.default.moveItem(atPath: paths.log + "-copy", toPath: paths.log)
        #expect(await place.openingRefusal() == .logBehindDatabase(checked: 4, size: 1))
    }

    @Test(.everyEngine) func open_refusesAnotherVRFKey() async throws {
        await (try place.create()).close()
        #expect(await place.openingRefusal(try Place.keys(seed: 1, vrf: 8)) == .databaseOfOtherVRFKey)
    }

    @Test func open_refusesTheDatabaseOfAnotherLog() async throws {
        let other = try Place(on: .sqlite)
        await (try other.create()).close()
        let origin = "other.example/log"
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
        try FileManager.default.removeItem(atPath: place.path)
        try await Directory.create(
            at: place.path, keys: Place.keys(seed: 1, origin: origin), clock: place.time, logger: Place.silent)
        try FileManager.default.removeItem(atPath: DirectoryPaths(root: place.path).database)
        try FileManager.default.copyItem(
            atPath: DirectoryPaths(root: other.path).database, toPath: DirectoryPaths(root: place.path).database)
        #expect(
            await place.openingRefusal(try Place.keys(seed: 1, origin: origin))
                == .databaseOfOtherLog(origin: Array(Place.origin.utf8)))
    }

    @Test func open_refusesAMissingDatabase() async throws {
        await (try place.create()).close()
        try FileManager.default.removeItem(atPath: DirectoryPaths(root: place.path).database)
        #expect(await place.openingRefusal() == .database(.missing))
    }

    @Test func create_doesNotReplaceAnExistingDirectory() async throws {
        await (try place.create()).close()
        await #expect(throws: DirectoryOpenError.database(.exists)) {
            try await Directory.create(at: place.path, keys: place.keys, clock: place.time, logger: Place.silent)
        }
    }

    @Test(.everyEngine) func open_refusesADirectoryThatIsOpen() async throws {
        let directory = try await place.create()
        #expect(await place.openingRefusal() == .log(.inUse))
        await directory.close()
    }

    @Test func open_succeedsWhileAChildProcessHoldsTheClosedLogsDescriptor() async throws {
        let directory = try await place.create()
        let copies = try DescriptorCopies(of: DirectoryPaths(root: place.path).log)
        #expect(copies.numbers.count == 1)
        await directory.close()
        await (try place.open()).close()
        withExtendedLifetime(copies) {}
    }

    @Test func open_refusesADatabaseOfANewerVersion() async throws {
        let directory = try await place.create()
        _ = try await directory.database.write {
            try $0.run("INSERT INTO grdb_migrations VALUES ('99: from the future')")
        }
        await directory.close()
        #expect(await place.openingRefusal() == .database(.fromNewerVersion))
    }

    @Test func open_refusesADamagedDatabase() async throws {
        await (try place.create()).close()
        try Data(repeating: 0xAA, count: 8192).write(to: URL(filePath: DirectoryPaths(root: place.path).database))
        guard case .database = await place.openingRefusal() else {
            Issue.record("opened")
            return
        }
    }
}
