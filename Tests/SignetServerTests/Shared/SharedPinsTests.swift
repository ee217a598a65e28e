// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import KeyTransparency
import ObjectStores
import ObjectTesting
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// When the log tells of a change of TLS keys.
struct SharedPinsTests {
    private static let time: UInt64 = 1_800_000_000

    /// A client that has been told refuses every front end that has the key of before.
    @Test func severalMachinesHaveTimeToGetTheFilesOfAChange() {
        func mayTell(after seconds: UInt64) -> Bool {
            PinsAnswering.mayTell(of: Self.time, at: Self.time + seconds)
        }
        #expect(!mayTell(after: 0) && !mayTell(after: 599))
        #expect(mayTell(after: 600))
    }
}

/// Two operators give the server its reserve key on two machines at once, before either has copied the files.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("pins of two machines"),
        "There is no PostgreSQL 15 here.")
)
struct PinsOfTwoMachinesTests {
    private func rotate(
        _ data: DataDirectory, _ directory: MovingDirectory, at now: UInt64, acceptsClock: Bool = false
    ) async throws -> TLSRotationError? {
        let log = try await PinsInLog.shared(data, directory.engines(), logger: silent)
        do throws(TLSRotationError) {
            _ = try await TLSRotation(data, after: log, acceptsClock: acceptsClock).rotate(
                isUrgent: true, leavesBehind: true, at: now)
        } catch { return error }
        return nil
    }

    /// Leads until the log has a version of the pins.
    private func lead(_ directory: MovingDirectory, until version: UInt64) async throws {
        try await directory.lead {
            let found = try await PinsInLog.shared(directory.data, directory.engines(), logger: silent)
            return found.newest?.version == version
        }
    }

    /// Leads until a version of the pins is put down for those that cannot sign.
    private func lead(_ directory: MovingDirectory, untilPutDown version: UInt64) async throws {
        try await directory.lead { try await directory.objects.get(SharedEngines.pinsPath(version)) != nil }
    }

    @Test(.timeLimit(.minutes(3))) func whichOfTwoChangesTheLogHasIsToldAtTheOther() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await lead(directory, until: 1)
            let other = try directory.copyOfMachine("other")
            defer { try? FileManager.default.removeItem(atPath: other.path) }
            // Long enough ago that the log tells of it.
            let time = TestPerson.now - 2 * PinsAnswering.copyingTime
            for machine in [data, other] { #expect(try await rotate(machine, directory, at: time) == nil) }
            let own = try StoredPins.read(data.pins)
            #expect(try StoredPins.read(other.pins).version == own.version)
            try await lead(directory, until: 2)
            let found = try await PinsInLog.shared(other, directory.engines(), logger: silent)
            #expect(found.newest?.isOf(own.text) == true)
            let published = try #require(found.published)
            #expect(published.version == 2 && published.time > time, "not when the files were made")

            guard case .otherLogged(version: 2) = try await rotate(other, directory, at: TestPerson.now) else {
                Issue.record("a third version follows on pins that no client has")
                return
            }
            let report = await DirectoryCheck(of: other).run(in: try directory.engines())
            #expect(report.faults.contains { if case .pinsOther = $0 { true } else { false } })
            let sound = await DirectoryCheck(of: data).run(in: try directory.engines())
            #expect(!sound.faults.contains { if case .pinsOther = $0 { true } else { false } })

            let (stored, _) = try await StoredDirectory.serve(other, try directory.engines(), logger: silent) {}
            let tls = try ServerTLS(stored.identity)
            let pins = try PinsAnswering(
                other, beside: stored, switching: tls, clock: { TestPerson.now }, logger: silent)
            await pins.keepUp()
            #expect(!tls.isKnown)
            await stored.directory.close()
        }
    }

    /// Unlike a change of the log's key or witnesses there.
    @Test(.timeLimit(.minutes(3))) func aClockFarAfterTheSharedLogChangesNoKey_untilItIsAccepted() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await lead(directory, until: 1)
            let log = try await PinsInLog.shared(data, directory.engines(), logger: silent)
            let late = try #require(log.signed) + LogClock.longestPause + 1
            guard case .clockAhead = try await rotate(data, directory, at: late) else {
                Issue.record("a certificate of the future was made")
                return
            }
            #expect(try await rotate(data, directory, at: late, acceptsClock: true) == nil)
        }
    }

    /// The first change is put down, and the log does not have it yet.
    @Test(.timeLimit(.minutes(3))) func theSecondOfTwoChangesIsRefused() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await lead(directory, until: 1)
            let other = try directory.copyOfMachine("other")
            defer { try? FileManager.default.removeItem(atPath: other.path) }
            #expect(try await rotate(data, directory, at: TestPerson.now) == nil)
            try await lead(directory, untilPutDown: 2)
            guard case .announced(version: 2) = try await rotate(other, directory, at: TestPerson.now) else {
                Issue.record("another version 2 was made")
                return
            }
            #expect(try StoredPins.read(other.pins).version == 1)
        }
    }

    /// Somebody who can write to the bucket, and has no key of ours, would block every change of the TLS keys.
    @Test(.timeLimit(.minutes(3))) func whatTheLogsKeyHasNotSignedHindersNoChange() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await lead(directory, until: 1)
            let first = try StoredPins.read(data.pins)
            let thief = try NoteSigner(
                name: first.origin, algorithm: .ed25519, seed: [UInt8](repeating: 9, count: 32))
            let forged = DirectoryPins(
                origin: first.origin, version: 2, time: first.time, server: first.server)
            let replayed = try #require(try await directory.objects.get(SharedEngines.pinsPath(1))?.bytes)
            let time = TestPerson.now - 2 * PinsAnswering.copyingTime
            for (place, bytes) in [try forged.note(by: thief), Array("no note".utf8), replayed].enumerated() {
                let version = UInt64(place + 2)
                let path = SharedEngines.pinsPath(version)
                _ = try await directory.objects.put(bytes, at: path, .ifAbsent)
                #expect(try await rotate(data, directory, at: time) == nil, "version \(version)")
                try await lead(directory, until: version)
                let logs = try StoredDirectory.readProfile(data).trust.policy.logs
                let there = try #require(try await directory.objects.get(path)?.bytes)
                #expect(
                    try SharedEngines.pins(there, version, signedByOneOf: logs) == StoredPins.read(data.pins))
            }
        }
    }

    /// A front end would show them, and its clients would refuse them.
    @Test(.timeLimit(.minutes(3))) func aFrontEndShowsNoPinsThatTheLogsKeyHasNotSigned() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await lead(directory, until: 1)
            let path = SharedEngines.pinsPath(1)
            let object = try await directory.objects.get(path)
            let (signed, own) = (try #require(object), try StoredPins.read(data.pins))
            let thief = try NoteSigner(name: own.origin, algorithm: .ed25519, seed: [UInt8](repeating: 9, count: 32))
            let forged = try await directory.objects.put(own.note(by: thief), at: path, .ifVersion(signed.tag))
            guard case .written(let tag) = forged else {
                Issue.record("\(forged)")
                return
            }
            let (stored, _) = try await StoredDirectory.serve(data, try directory.engines(), logger: silent) {}
            let pins = try PinsAnswering(data, beside: stored, clock: { TestPerson.now }, logger: silent)
            await pins.keepUp()
            #expect(await pins.note(version: 1) == nil)
            _ = try await directory.objects.put(signed.bytes, at: path, .ifVersion(tag))
            await pins.keepUp()
            #expect(await pins.note(version: 1) == signed.bytes)
            await stored.directory.close()
        }
    }
}
