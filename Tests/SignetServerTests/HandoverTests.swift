// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyPinning
import KeyTransparency
import NoteStore
import NotesAPI
import ProtocolTesting
import RecoveryStore
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// `signetd succeed`: no data is lost, an interrupted handover can be completed, and one that cannot be completed does
/// not begin.
@Suite struct HandoverTests {
    private static let file = RecoveryFile(
        commitment: [UInt8](repeating: 7, count: 32), bytes: [UInt8](repeating: 9, count: RecoveryFile.paddingStep))

    // MARK: No data is lost

    @Test func handOver_movesNotesLettersInboxesAndKeys() async throws {
        try await withFilledDirectory { old in
            try await Self.handOver(old)
            try await Self.expectEverything(in: Self.successor(of: old))
            for path in [old.notes, old.recovery, old.signals] { #expect(!exists(path), "\(path)") }
        }
    }

    @Test func handOver_copiesToAnotherDiskWithPrivateModes() async throws {
        var disks = HandoverDisks.system
        disks.rename = { _, _ in EXDEV }
        disks.areOne = { _, _ in false }
        try await withFilledDirectory { old in
            let successor = Self.successor(of: old)
            // What an interrupted copy left.
            let killed = try await Self.interrupt(at: .handedOver, old, disks)
            try FileManager.default.createDirectory(atPath: killed.notes + ".part", withIntermediateDirectories: false)
            try Data([1]).write(to: URL(filePath: killed.recovery + ".part"))
            try await Self.handOver(old, disks)
            try await Self.expectEverything(in: successor)
            #expect(
                FileManager.default.contents(atPath: old.loginKey)
                    == FileManager.default.contents(atPath: successor.loginKey))
            let names = try FileManager.default.contentsOfDirectory(atPath: successor.path)
            #expect(!names.contains { $0.hasSuffix(".part") })
            for path in [successor.loginKey, successor.notesDatabase, successor.recovery, successor.signals] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                #expect(mode == 0o600, "\(path)")
            }
        }
    }

    @Test func handOver_keepsTheRuleOnProxies() async throws {
        try await withDataDirectory(proxies: .refuse) { old in
            #expect(try StoredDirectory.readProfile(old).server.proxies == .refuse)
            let next = try await Self.handOver(old)
            #expect(next.server.proxies == .refuse)
            #expect(try StoredPins.read(Self.successor(of: old).pins).server == next.server)
        }
    }

    /// New clients of the successor would believe older answers than those who follow.
    @Test func handOver_keepsHowOldAnswersMayBe() async throws {
        try await withDataDirectory { old in
            let profile = try StoredDirectory.readProfile(old)
            let strict = DirectoryTrust(
                policy: profile.trust.policy, vrfKey: profile.trust.vrfKey, freshness: FreshnessRule(maximumAge: 900))
            try PrivateFile.replace(old.profile, with: profile.trusting(strict).encoded, mode: 0o644)
            #expect(try await Self.handOver(old).trust.freshness == strict.freshness)
            #expect(try StoredDirectory.readProfile(Self.successor(of: old)).trust.freshness == strict.freshness)
        }
    }

    // MARK: An interrupted handover can be completed

    @Test(arguments: HandoverStep.allCases) func handOver_completesAnInterruptedHandover(
        after step: HandoverStep
    ) async throws {
        try await withFilledDirectory { old in
            _ = try await Self.interrupt(at: step, old)
            try await Self.startOldServer(old, after: step)
            if step == .named {
                await #expect { try await Self.handOver(old) } throws: { error in
                    if case KeyRotationError.setup(.exists) = error { true } else { false }
                }
            } else {
                try await Self.handOver(old)
            }
            try await Self.expectEverything(in: Self.successor(of: old))
        }
    }

    /// The first try ended for want of witnesses, and the old server went on. Its log cannot go on once it has named a successor that does not
    /// start, or that clients refuse.
    @Test(arguments: ["the reserve key", "the reserve key, interrupted", "all keys", "the certificate"])
    func handOver_takesTheTLSIdentityOfNow(after change: String) async throws {
        try await withFilledDirectory { old in
            let before = try PrivateFile.read(old.profile)
            _ = try await Self.interrupt(at: .pinned, old)
            let time = TestPerson.now + 3600
            let rotation = TLSRotation(old, after: try await PinsInLog.read(old, logger: silent))
            switch change {
            case "all keys": _ = try rotation.replaceAll(for: [.name("localhost")], at: time)
            case "the certificate": try await rotation.renew(at: time)
            default: _ = try await rotation.rotate(isUrgent: true, at: time)
            }
            let now = try StoredDirectory.readProfile(old).server
            if change.hasSuffix("interrupted") {
                try FileManager.default.createDirectory(
                    atPath: old.path + "/tls.next", withIntermediateDirectories: false)
                try FileManager.default.moveItem(atPath: old.profile, toPath: old.path + "/tls.next/directory.signet")
                try PrivateFile.write(before, to: old.profile, mode: 0o644)
            }
            try await Self.handOver(old)
            let successor = Self.successor(of: old)
            #expect(try StoredDirectory.readProfile(successor).server == now)
            let pins = try StoredPins.read(successor.pins)
            #expect(pins.server == now)
            #expect(change == "the certificate" || pins.time == time)
            for place in [\DataDirectory.certificate, \.certificateKey, \.root, \.backupKey] {
                #expect(try PrivateFile.read(successor[keyPath: place]) == PrivateFile.read(old[keyPath: place]))
            }
            try await Self.expectEverything(in: successor)
        }
    }

    /// The attack is on clients of the old log: its key is changed, and it ends before it logs the new reserve. That is the first version for the
    /// successor, and they know neither key of the next.
    @Test func theReserveKeyThatASuccessorBeginsWithIsNotUsedBeforeItsLogHasIt() async throws {
        try await withDataDirectory { old in
            let rotation = TLSRotation(old, after: try await PinsInLog.read(old, logger: silent))
            _ = try await rotation.rotate(isUrgent: true, at: TestPerson.now + 3600)
            try await Self.handOver(old)
            let successor = Self.successor(of: old)
            let unlogged = try await PinsInLog.read(successor, logger: silent)
            await #expect {
                _ = try await TLSRotation(successor, after: unlogged).rotate(
                    isUrgent: true, leavesBehind: true, at: TestPerson.now + 3600)
            } throws: { error in
                if case TLSRotationError.reserveUnlogged(version: 1) = error { true } else { false }
            }
            let stored = try await StoredDirectory.open(successor, logger: silent)
            try await stored.directory.log(StoredPins.read(successor.pins).text, under: .pins, version: 1)
            await stored.directory.close()
            let logged = try await PinsInLog.read(successor, logger: silent)
            let time = max(try StoredPins.read(successor.pins).time, try #require(logged.published).time)
            await #expect {
                _ = try await TLSRotation(successor, after: logged).rotate(isUrgent: true, at: time)
            } throws: { error in
                if case TLSRotationError.unannounced(until: time + TLSRotation.notice) = error { true } else { false }
            }
        }
    }

    /// The successor would not start.
    @Test func handOver_doesNotEndALogBesideAnotherKeyThanTheCertificates() async throws {
        try await withFilledDirectory { old in
            _ = try await Self.interrupt(at: .pinned, old)
            try PrivateFile.replace(old.certificateKey, with: PrivateFile.read(old.backupKey))
            await #expect { try await Self.handOver(old) } throws: { error in
                if case KeyRotationError.setup(.tls(.keyDoesNotMatch)) = error { true } else { false }
            }
            try await Self.expectGoingOn(old)
        }
    }

    /// The keys of another draft are not those that the log names, and neither are those of one that would be made now.
    @Test func handOver_isCompletedByTheSuccessorThatTheLogNamesAlone() async throws {
        try await withFilledDirectory { old in
            let (other, third) = (DataDirectory(path: old.path + "-other"), DataDirectory(path: old.path + "-third"))
            await #expect(throws: KeyRotationError.self) {
                try await Self.handOver(old, to: other, killedAt: .drafted)
            }
            let named = try StoredDirectory.readProfile(try await Self.interrupt(at: .ended, old)).trust.policy.logs
            try FileManager.default.removeItem(atPath: old.records + "/succession")
            await #expect {
                await (try await StoredDirectory.open(old, logger: silent)).directory.close()
            } throws: { error in
                if case StoredDirectoryError.directory(.keysChanged) = error { true } else { false }
            }
            for place in [other, third] {
                await #expect { try await Self.handOver(old, to: place) } throws: { error in
                    if case KeyRotationError.otherChange(.successor(named)) = error { true } else { false }
                }
            }
            #expect(!FileManager.default.fileExists(atPath: third.path + ".draft"))
            try await Self.handOver(old)
            try await Self.expectEverything(in: Self.successor(of: old))
        }
    }

    /// An earlier version of `signetd run` served on, and made empty notes in place of those that had been moved.
    @Test(arguments: [HandoverStep.notes, .recovery, .signals])
    func handOver_completesAfterAnOldServerMadeEmptyFiles(after step: HandoverStep) async throws {
        try await withFilledDirectory { old in
            _ = try await Self.interrupt(at: step, old)
            let key = FileManager.default.contents(atPath: Self.draft(of: old).loginKey)
            try await Self.serveParts(of: old)
            try await Self.handOver(old)
            #expect(FileManager.default.contents(atPath: Self.successor(of: old).loginKey) == key)
            try await Self.expectEverything(in: Self.successor(of: old))
        }
    }

    // MARK: An ended directory does not serve

    @Test func anEndedDirectoryNamesTheSuccessorsKey() async throws {
        try await withFilledDirectory { old in
            let profile = try await Self.handOver(old)
            let stored = try await StoredDirectory.open(old, logger: silent)
            #expect { try stored.requireGoingOn() } throws: { error in
                if case StoredDirectoryError.ended(let keys) = error {
                    keys == profile.trust.policy.logs
                } else {
                    false
                }
            }
            await stored.directory.close()
        }
    }

    @Test func anEndedDirectoryRefusesChangesOfKeys() async throws {
        try await withFilledDirectory { old in
            let profile = try await Self.handOver(old)
            await #expect { _ = try await DirectoryKeyRotation(old, logger: silent).rotateLogKey() } throws: { error in
                if case KeyRotationError.stored(.ended(let keys)) = error {
                    keys == profile.trust.policy.logs
                } else {
                    false
                }
            }
        }
    }

    // MARK: A handover that cannot be completed does not begin

    @Test func handOver_refusesADiskWithTooLittleRoom() async throws {
        var disks = HandoverDisks.system
        disks.freeByteCount = { _ in HandoverGround.reserve }
        try await expectNothingEnded(disks) { if case .tooLittleSpace = $0 { true } else { false } }
    }

    @Test func handOver_refusesADiskOfUnknownRoom() async throws {
        var disks = HandoverDisks.system
        disks.freeByteCount = { _ in nil }
        try await expectNothingEnded(disks) { if case .notWritable = $0 { true } else { false } }
    }

    @Test func handOver_needsRoomForTheNotesOnAnotherDisk() async throws {
        try await withFilledDirectory { old in
            let needed = Mutex<[UInt64]>([])
            for areOne in [true, false] {
                var disks = HandoverDisks.system
                disks.areOne = { _, _ in areOne }
                disks.freeByteCount = { _ in 0 }
                do { try await Self.handOver(old, disks) } catch KeyRotationError.handover(
                    .tooLittleSpace(let bytes, _))
                {
                    needed.withLock { $0.append(bytes) }
                }
            }
            let bytes = needed.withLock { $0 }
            try #require(bytes.count == 2)
            #expect(bytes[1] >= bytes[0] + HandoverGround.byteCount(of: old.notesDatabase))
        }
    }

    @Test func handOver_refusesAMissingFolder() async throws {
        try await withFilledDirectory { old in
            let nowhere = DataDirectory(path: old.path + "/missing/successor")
            await #expect { try await Self.handOver(old, to: nowhere) } throws: { error in
                if case KeyRotationError.handover(.notWritable(let failure)) = error {
                    failure.code == ENOENT
                } else {
                    false
                }
            }
            try await Self.expectGoingOn(old)
        }
    }

    /// As on a disk that is not there: they would stay behind.
    @Test func handOver_refusesNotesThatCannotBeRead() async throws {
        try await withFilledDirectory { old in
            try FileManager.default.moveItem(atPath: old.notes, toPath: old.path + "/elsewhere")
            try FileManager.default.createSymbolicLink(
                atPath: old.notes, withDestinationPath: old.path + "/nowhere")
            await #expect { try await Self.handOver(old) } throws: { error in
                if case KeyRotationError.handover(.unreadable(let failure)) = error {
                    failure == FileFailure(old.notes, code: ENOENT)
                } else {
                    false
                }
            }
            try FileManager.default.removeItem(atPath: old.notes)
            try FileManager.default.moveItem(atPath: old.path + "/elsewhere", toPath: old.notes)
            try await Self.expectGoingOn(old)
        }
    }

    @Test func handOver_refusesDamagedRecoveryLetters() async throws {
        try await withFilledDirectory { old in
            try Data("no database, but long enough to be looked at".utf8).write(to: URL(filePath: old.recovery))
            await #expect { try await Self.handOver(old) } throws: { error in
                if case KeyRotationError.handover(.recovery) = error { true } else { false }
            }
            try await Self.expectGoingOn(old)
        }
    }

    @Test func handOver_refusesDamagedInboxes() async throws {
        try await withFilledDirectory { old in
            try Data("no database, but long enough to be looked at".utf8).write(to: URL(filePath: old.signals))
            await #expect { try await Self.handOver(old) } throws: { error in
                if case KeyRotationError.handover(.signals) = error { true } else { false }
            }
            try await Self.expectGoingOn(old)
        }
    }

    private func expectNothingEnded(
        _ disks: HandoverDisks, _ isExpected: @escaping @Sendable (HandoverError) -> Bool
    )
        async throws
    {
        try await withFilledDirectory { old in
            await #expect { try await Self.handOver(old, disks) } throws: { error in
                if case KeyRotationError.handover(let error) = error { isExpected(error) } else { false }
            }
            #expect(!exists(Self.draft(of: old).path) && !exists(Self.successor(of: old).path))
            try await Self.expectGoingOn(old)
        }
    }
}

// MARK: Steps of the tests

extension HandoverTests {
    private static func successor(of old: DataDirectory) -> DataDirectory {
        DataDirectory(path: old.path + "-successor")
    }
    private static func draft(of old: DataDirectory) -> DataDirectory {
        DataDirectory(path: old.path + "-successor.draft")
    }

    @discardableResult
    private static func handOver(
        _ old: DataDirectory, _ disks: HandoverDisks = .system, to successor: DataDirectory? = nil,
        killedAt step: HandoverStep? = nil
    ) async throws -> DirectoryProfile {
        let rotation = DirectoryKeyRotation(old, logger: silent, disks: disks) { done throws(KeyRotationError) in
            if done == step { throw .otherSuccessor }
        }
        return try await rotation.handOver(
            to: successor ?? Self.successor(of: old), origin: try KeyName(Array("example.org/next".utf8)),
            witnesses: nil,
            at: TestPerson.now)
    }

    /// Stops a handover after a step. Returns where the successor is being made.
    private static func interrupt(
        at step: HandoverStep, _ old: DataDirectory, _ disks: HandoverDisks = .system
    ) async throws -> DataDirectory {
        await #expect { try await handOver(old, disks, killedAt: step) } throws: { error in
            if case KeyRotationError.otherSuccessor = error { true } else { false }
        }
        return draft(of: old)
    }

    /// Starts the old server as an init system does; it serves as long as its log has not ended.
    private static func startOldServer(_ old: DataDirectory, after step: HandoverStep) async throws {
        let stored = try await StoredDirectory.open(old, logger: silent)
        do { try stored.requireGoingOn() } catch {
            #expect(step != .drafted && step != .pinned)
            return await stored.directory.close()
        }
        #expect(step == .drafted || step == .pinned)
        await stored.directory.close()
        try await serveParts(of: old)
    }

    private static func serveParts(of data: DataDirectory) async throws {
        await (try StoredNotes.open(data, logger: silent)).close()
        try MailboxStore(at: data.recovery).close()
        _ = try StoredSignals.open(data)
    }

    private static func expectGoingOn(_ old: DataDirectory) async throws {
        let stored = try await StoredDirectory.open(old, logger: silent)
        #expect(throws: Never.self) { try stored.requireGoingOn() }
        await stored.directory.close()
    }

    private static func expectEverything(in successor: DataDirectory) async throws {
        let store = try MailboxStore(at: successor.recovery)
        let bytes = try await store.file(under: file.commitment, of: NoteWriter("alice").handle)
        store.close()
        #expect(bytes == file.bytes)
        let notes = try NoteArchive(at: successor.notesDatabase, clock: { 1 }, logger: silent)
        let hasRegistrations = try await notes.hasRegistrations()
        notes.close()
        #expect(hasRegistrations)
        #expect(exists(successor.loginKey) && exists(successor.signals))
        let stored = try await StoredDirectory.open(successor, logger: silent)
        #expect(throws: Never.self) { try stored.requireGoingOn() }
        await stored.directory.close()
    }

    private func withFilledDirectory(_ body: (DataDirectory) async throws -> Void) async throws {
        try await withDataDirectory { data in
            try await Self.serveParts(of: data)
            let notes = try NoteArchive(at: data.notesDatabase, clock: { 1 }, logger: silent)
            _ = try await notes.register(
                RegistrationEnd(version: 0, record: NoteDraft.bytes(192), wrap: [1]), of: NoteWriter("alice").handle)
            notes.close()
            let store = try MailboxStore(at: data.recovery)
            try await store.keep(Self.file, of: NoteWriter("alice").handle, sparing: [], at: TestPerson.now)
            store.close()
            let stored = try await StoredDirectory.open(data, logger: silent)
            try stored.recordParts(of: data)
            await stored.directory.close()
            try await body(data)
        }
    }
}

private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
