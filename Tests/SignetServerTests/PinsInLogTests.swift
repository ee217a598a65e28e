// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import ObjectStores
import ObjectTesting
import Platform
import PostgresStores
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// Pins of one version and two contents: an older copy of the files was put back, or two machines made the next version at once.
struct PinsInLogTests {
    private final class Desk: Sendable {
        private let lines = Mutex<[String]>([])
        private let time = Mutex<UInt64>(TestPerson.now)

        var logger: Logger {
            Logger(label: "test") { [self] _ in
                LogfmtOutput(level: .error, now: { 784_111_777 }) { line in
                    self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
                }
            }
        }

        var now: UInt64 { time.withLock { $0 } }

        func pass(_ seconds: UInt64) { time.withLock { $0 += seconds } }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    /// The only one that has to cosign.
    private final class Witness: CheckpointWitnessing {
        private let isAway = Mutex(false)

        func goAway(_ isAway: Bool = true) { self.isAway.withLock { $0 = isAway } }

        func cosignatures(
            on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
        ) async throws(WitnessShortfall) -> [NoteSignature] {
            guard !isAway.withLock(\.self) else { throw WitnessShortfall(missing: []) }
            return []
        }
    }

    /// A directory, the log of which has version 1 of its pins.
    private struct Scene {
        let data: DataDirectory
        let desk = Desk()

        /// Opens the directory, as a server does.
        ///
        /// - Parameters:
        ///   - objects: where the process that leads puts pins down, if several machines share the directory.
        ///   - witness: without whom nothing is published.
        func serving(
            over objects: MemoryObjects? = nil, before witness: Witness? = nil,
            _ body: (PinsAnswering, ServerTLS, StoredDirectory) async throws -> Void
        ) async throws {
            let stored = if let witness { try await opened(before: witness) } else { try await opened(objects) }
            let tls = try ServerTLS(stored.identity)
            let pins = try PinsAnswering(
                data, beside: stored, switching: tls, clock: { [desk] in desk.now }, logger: desk.logger)
            do { try await body(pins, tls, stored) } catch {
                await stored.directory.close()
                throw error
            }
            await stored.directory.close()
        }

        private func opened(_ objects: MemoryObjects?) async throws -> StoredDirectory {
            let stored = try await StoredDirectory.open(data, logger: silent)
            guard let objects else { return stored }
            let file = try EnginesFile(
                database: "host=/nonexistent", objects: "https://localhost", bucket: "none", prefix: nil, region: nil,
                authority: nil)
            let engines = SharedEngines(file: file, address: try PostgresAddress("host=/nonexistent"), objects: objects)
            return StoredDirectory(
                profile: stored.profile, directory: stored.directory, identity: stored.identity, witnesses: nil,
                shared: stored.shared, engines: engines, watch: nil)
        }

        private func opened(before witness: Witness) async throws -> StoredDirectory {
            let profile = try StoredDirectory.readProfile(data)
            let directory = try await Directory.open(
                at: data.records, keys: StoredDirectory.readKeys(data, profile), clock: { TestPerson.now },
                logger: silent, witnessing: witness)
            return StoredDirectory(
                profile: profile, directory: directory,
                identity: try StoredDirectory.readIdentity(data, pinnedBy: profile.pins), witnesses: nil, shared: nil,
                engines: nil, watch: nil)
        }

        /// Others of this version than those in the file.
        func other(_ version: UInt64) throws -> DirectoryPins {
            let pins = try StoredPins.read(data.pins)
            return DirectoryPins(
                origin: pins.origin, version: version, time: pins.time + version, server: pins.server)
        }

        func put(_ pins: DirectoryPins, at path: String) throws {
            try PrivateFile.replace(path, with: pins.text, mode: 0o644)
        }

        func rotation(acceptsClock: Bool = false) async throws -> TLSRotation {
            TLSRotation(data, after: try await PinsInLog.read(data, logger: silent), acceptsClock: acceptsClock)
        }

        /// Why the next version was not made; nil if it was. Then nothing may have changed.
        func refusal(
            of rotation: TLSRotation, to chain: [UInt8]? = nil, at now: UInt64 = TestPerson.now
        ) async throws -> TLSRotationError? {
            let before = try contents()
            do throws(TLSRotationError) {
                _ = try await rotation.rotate(to: chain, isUrgent: true, leavesBehind: true, at: now)
            } catch {
                #expect(try contents() == before)
                return error
            }
            return nil
        }

        /// A certificate of the key in reserve, or of another one: of the directory's own authority unless another one is named, for the names of
        /// the server's own certificate, or of another one, PEM.
        func certificate(
            for path: String? = nil, by other: DevelopmentAuthority? = nil, like server: String.UTF8View? = nil,
            at now: UInt64 = TestPerson.now
        ) throws -> [UInt8] {
            let key = try P256.Signing.PrivateKey(
                pemRepresentation: String(decoding: PrivateFile.read(path ?? data.backupKey), as: UTF8.self))
            return try DevelopmentAuthority.certificate(
                for: key, like: server.map { Array($0) } ?? PrivateFile.read(data.certificate),
                by: other.map { Array($0.rootPEM.utf8) } ?? PrivateFile.read(data.root),
                other?.rootKeyPEM ?? String(decoding: PrivateFile.read(data.rootKey), as: UTF8.self), at: now)
        }

        func contents() throws -> [String: Data] {
            try FileManager.default.subpathsOfDirectory(atPath: data.path).reduce(into: [:]) { contents, path in
                contents[path] = FileManager.default.contents(atPath: "\(data.path)/\(path)")
            }
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withDataDirectory { data in
            let scene = Scene(data: data)
            try await scene.serving { pins, tls, stored in
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 1 && tls.isKnown)
            }
            try await body(scene)
        }
    }

    @Test func otherPinsOfTheLogsVersionAreNamed_andNotAtEveryInterval() async throws {
        try await withScene { scene in
            let own = try StoredPins.read(scene.data.pins)
            try scene.put(scene.other(1), at: scene.data.pins)
            try await scene.serving { pins, tls, stored in
                for _ in 0..<3 { await pins.keepUp() }
                #expect(!tls.isKnown)
                #expect(await pins.note(version: 1) == nil, "no client would take them")
                let lines = scene.desk.take()
                #expect(lines.count == 1, "\(lines)")
                #expect(lines.first?.contains("other pins of the same version") == true, "\(lines)")
                scene.desk.pass(600)
                await pins.keepUp()
                #expect(scene.desk.take().count == 1)
                try scene.put(own, at: scene.data.pins)
                await pins.keepUp()
                #expect(tls.isKnown)
                #expect(scene.desk.take() == [])
                #expect(await pins.note(version: 1) != nil)
            }
        }
    }

    /// What follows on pins that no client has would lock everybody out.
    @Test func pinsThatFollowOnOthersAreNotLogged() async throws {
        try await withScene { scene in
            let (first, second) = (try scene.other(1), try scene.other(2))
            try scene.put(first, at: scene.data.formerPins)
            try scene.put(second, at: scene.data.pins)
            try await scene.serving { pins, tls, stored in
                await pins.keepUp()
                #expect(!tls.isKnown)
                #expect(stored.directory.version(of: .pins) == 1)
            }
        }
    }

    @Test func missingPinsAreNotMadeAgain() async throws {
        try await withScene { scene in
            try FileManager.default.removeItem(atPath: scene.data.pins)
            try await scene.serving { pins, tls, stored in
                await pins.keepUp()
                #expect(!tls.isKnown)
                #expect(!FileManager.default.fileExists(atPath: scene.data.pins))
                #expect(scene.desk.take().first?.contains("the pins are missing") == true)
            }
            let report = await DirectoryCheck(of: scene.data).run()
            #expect(report.faults.contains { if case .pinsMissing(scene.data.pins) = $0 { true } else { false } })
        }
    }

    @Test func aCheckComparesWhatThePinsSay() async throws {
        try await withScene { scene in
            let sound = await DirectoryCheck(of: scene.data).run()
            #expect(!sound.faults.contains { if case .pinsOther = $0 { true } else { false } })
            try scene.put(scene.other(1), at: scene.data.pins)
            let report = await DirectoryCheck(of: scene.data).run()
            #expect(report.faults.contains { if case .pinsOther(scene.data.pins) = $0 { true } else { false } })
        }
    }

    // MARK: For front ends

    /// By whoever can write to the bucket: front ends that start later would show none.
    @Test(arguments: [nil, "something else"]) func pinsThatWereTakenAwayArePutDownAgain(other: String?) async throws {
        try await withScene { scene in
            let (objects, path) = (MemoryObjects(), SharedEngines.pinsPath(1))
            try await scene.serving(over: objects) { pins, _, _ in
                await pins.keepUp()
                let signed = await pins.note(version: 1)
                #expect(try await objects.get(path)?.bytes == signed)
                for _ in 0..<2 {
                    try await objects.remove(path)
                    let bytes = other.map { Array($0.utf8) }
                    if let bytes { _ = try await objects.put(bytes, at: path, .ifAbsent) }
                    scene.desk.pass(599)
                    await pins.keepUp()
                    #expect(try await objects.get(path)?.bytes == bytes, "the bucket is not asked at every interval")
                    scene.desk.pass(1)
                    await pins.keepUp()
                    #expect(try await objects.get(path)?.bytes == signed)
                }
                #expect(scene.desk.take() == [])
            }
        }
    }

    @Test func whileTheBucketIsAwayTheServerGoesOn_andPutsPinsDownLater() async throws {
        try await withScene { scene in
            let (desk, path) = (scene.desk, SharedEngines.pinsPath(1))
            let absence = desk.now + 600
            let objects = MemoryObjects { operation in
                operation == .get(path) && desk.now == absence ? .before(.unavailable(.connection)) : nil
            }
            try await scene.serving(over: objects) { pins, tls, _ in
                await pins.keepUp()
                let signed = await pins.note(version: 1)
                try await objects.remove(path)
                desk.pass(600)
                for _ in 0..<2 { await pins.keepUp() }
                #expect(tls.isKnown)
                #expect(await pins.note(version: 1) == signed)
                let lines = desk.take()
                #expect(lines.count == 1 && lines[0].contains("not put down again"), "\(lines)")
                desk.pass(1)
                await pins.keepUp()
                #expect(try await objects.get(path)?.bytes == signed)
            }
        }
    }

    // MARK: The next version

    @Test func noVersionIsMadeThatTheLogHasWithOtherContent() async throws {
        try await withScene { scene in
            let own = try StoredPins.read(scene.data.pins)
            try scene.put(scene.other(1), at: scene.data.pins)
            let refusal = try await scene.refusal(of: scene.rotation())
            guard case .otherLogged(version: 1) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            try scene.put(own, at: scene.data.pins)
            #expect(try await scene.rotation().rotate(isUrgent: true, at: TestPerson.now).version == 2)
        }
    }

    @Test func noVersionIsMadeByAnOlderCopyOfTheFiles() async throws {
        try await withScene { scene in
            let tls = scene.data.path + "/tls"
            try FileManager.default.copyItem(atPath: tls, toPath: tls + ".old")
            _ = try await scene.rotation().replaceReserve(at: TestPerson.now)
            try await scene.serving { pins, _, stored in
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 2)
            }
            try FileManager.default.removeItem(atPath: tls)
            try FileManager.default.moveItem(atPath: tls + ".old", toPath: tls)
            let refusal = try await scene.refusal(of: scene.rotation())
            guard case .outdated(logged: 2, here: 1) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
        }
    }

    /// The log would wait for a version that is in no file any more.
    @Test func noVersionIsMadeThatTheLogWouldNeverGet() async throws {
        try await withScene { scene in
            for version in [2, 3] as [UInt64] {
                #expect(try await scene.rotation().replaceReserve(at: TestPerson.now).version == version)
            }
            let refusal = try await scene.refusal(of: scene.rotation())
            guard case .unlogged(version: 2) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            try await scene.serving { pins, _, stored in
                for _ in 0..<2 { await pins.keepUp() }
                #expect(stored.directory.version(of: .pins) == 3)
            }
        }
    }

    /// Everybody would be locked out: only the log tells of the next key. Time alone does not help, if the server was stopped.
    @Test func theReserveKeyIsNotUsedBeforeTheLogHasIt() async throws {
        try await withScene { scene in
            #expect(try await scene.rotation().rotate(isUrgent: true, at: TestPerson.now).version == 2)
            for time in [TestPerson.now, TestPerson.now + TLSRotation.patience] {
                let refusal = try await scene.refusal(of: scene.rotation(acceptsClock: true), at: time)
                guard case .reserveUnlogged(version: 2) = refusal else {
                    Issue.record("\(String(describing: refusal))")
                    return
                }
            }
            try await scene.serving { pins, _, stored in
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 2)
            }
            #expect(try await scene.refusal(of: scene.rotation()) == nil)
        }
    }

    /// As after a break-in, when the witnesses do not know the log's new key yet: what is durable is known to nobody.
    @Test func theReserveKeyIsNotUsedBeforeTheWitnessesLetClientsSeeIt() async throws {
        try await withScene { scene in
            let witness = Witness()
            #expect(try await scene.rotation().rotate(isUrgent: true, at: TestPerson.now).version == 2)
            try await scene.serving(before: witness) { pins, _, stored in
                witness.goAway()
                let text = try StoredPins.read(scene.data.pins).text
                // As a server whose witness goes away when it has just logged them.
                await #expect(throws: DirectoryError.refused(.unwitnessed)) {
                    try await stored.directory.log(text, under: .pins, version: 2)
                }
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 2)
            }
            #expect(try await PinsInLog.read(scene.data, logger: silent).newest?.version == 2)
            let refusal = try await scene.refusal(of: scene.rotation())
            guard case .reserveUnlogged(version: 2) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            witness.goAway(false)
            try await scene.serving(before: witness) { _, _, stored in try await stored.directory.republish() }
            #expect(try await scene.refusal(of: scene.rotation()) == nil)
        }
    }

    /// The time until the reserve key may be used would pass while nobody can learn of it.
    @Test func pinsAreNotLoggedWhileTooFewWitnessesCosign() async throws {
        try await withScene { scene in
            let witness = Witness()
            #expect(try await scene.rotation().rotate(isUrgent: true, at: TestPerson.now).version == 2)
            try await scene.serving(before: witness) { pins, _, stored in
                witness.goAway()
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 1)
                #expect(scene.desk.take() == [])
                witness.goAway(false)
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 2)
            }
        }
    }

    /// The server was stopped, or its witnesses were away, until now.
    @Test func aReserveKeyIsKnownFromWhenTheLogHasIt_andNotFromWhenItWasMade() async throws {
        try await withScene { scene in
            let made = TestPerson.now - TLSRotation.patience
            #expect(try await scene.rotation().replaceReserve(at: made).version == 2)
            try await scene.serving { pins, _, _ in await pins.keepUp() }
            let rotation = try await scene.rotation()
            for isUrgent in [false, true] {
                await #expect { try await rotation.rotate(isUrgent: isUrgent, at: TestPerson.now) } throws: { error in
                    switch error {
                    case TLSRotationError.tooEarly(let time): !isUrgent && time > made + TLSRotation.patience
                    case TLSRotationError.unannounced(let time): isUrgent && time > made + TLSRotation.notice
                    default: false
                    }
                }
            }
            #expect(try await rotation.rotate(isUrgent: true, leavesBehind: true, at: TestPerson.now).version == 3)
        }
    }

    /// A certificate of the future locks people out until it begins.
    @Test func aClockThatIsFarAfterWhatTheLogSignedMakesNoCertificate() async throws {
        try await withScene { scene in
            let late = try #require(try await PinsInLog.read(scene.data, logger: silent).signed) + LogClock.longestPause
            let refusal = try await scene.refusal(of: scene.rotation(), at: late + 1)
            guard case .clockAhead(let error) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            #expect(error.seconds == LogClock.longestPause + 1)
            #expect(try await scene.refusal(of: scene.rotation(acceptsClock: true), at: late + 1) == nil)
        }
    }

    /// Private keys in a folder that nobody looks at would be in every copy of the directory.
    @Test func aChangeThatCannotBeMadeLeavesNoKeys() async throws {
        try await withScene { scene in
            let rotation = try await scene.rotation()
            // A folder does not take the place of a link.
            try FileManager.default.createSymbolicLink(
                atPath: scene.data.path + "/tls.next", withDestinationPath: "nowhere")
            guard case .file(let failure) = try await scene.refusal(of: rotation) else {
                Issue.record("it was made")
                return
            }
            #expect(failure.path == scene.data.path + "/tls.next")
            #expect(!FileManager.default.fileExists(atPath: scene.data.path + "/tls.next.new"))
        }
    }

    /// The server could not read what another user writes, and would not start again.
    @Test(.enabled(if: geteuid() == 0)) func anotherUsersDirectoryIsLeftAlone() async throws {
        try await withScene { scene in
            let rotation = try await scene.rotation()
            try FileManager.default.setAttributes(
                [.ownerAccountID: NSNumber(value: 65_534)], ofItemAtPath: scene.data.path)
            let refusal = try await scene.refusal(of: rotation)
            guard case .otherOwner = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
        }
    }

    @Test func aVersionThatAnotherMachineHasMadeIsNotMadeAgain() async throws {
        try await withScene { scene in
            var log = try await PinsInLog.read(scene.data, logger: silent)
            log.announced = try scene.other(2).text
            let refusal = try await scene.refusal(of: TLSRotation(scene.data, after: log))
            guard case .announced(version: 2) = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
        }
    }

    /// Nobody would reach the server again, and the log would not tell of the next key.
    @Test(arguments: ["the key of another authority", "another authority", "another name", "expired"])
    func aCertificateThatClientsRefuseIsNotPublished(_ mistake: String) async throws {
        try await withScene { scene in
            let other = try DevelopmentAuthority(hosts: [.name("elsewhere.example")], at: TestPerson.now)
            let good = try scene.certificate()
            var chain: [UInt8]?
            switch mistake {
            case "the key of another authority":
                try PrivateFile.replace(scene.data.rootKey, with: other.rootKeyPEM.utf8)
            case "another authority": chain = try scene.certificate(by: other)
            case "another name": chain = try scene.certificate(like: other.serverPEM.utf8)
            default: chain = try scene.certificate(at: TestPerson.now - 398 * 86_400)
            }
            guard case .refusedByClients = try await scene.refusal(of: scene.rotation(), to: chain) else {
                Issue.record("a certificate was published that clients refuse")
                return
            }
            #expect(try await scene.refusal(of: scene.rotation(), to: good) == nil)
        }
    }

    // MARK: Ways out

    /// As an earlier version has left it: the log does not get the next version of the pins, and no change can follow on it.
    @Test func theKeyInUseIsSignedAgain() async throws {
        try await withScene { scene in
            #expect(try await scene.rotation().rotate(isUrgent: true, at: TestPerson.now).version == 2)
            let (pins, own) = (try StoredPins.read(scene.data.pins), try PrivateFile.read(scene.data.rootKey))
            let other = try DevelopmentAuthority(hosts: [.name("localhost")], at: TestPerson.now)
            let refused = try scene.certificate(for: scene.data.certificateKey, by: other)
            try PrivateFile.replace(scene.data.certificate, with: refused, mode: 0o644)
            try await scene.serving { pins, _, stored in
                await pins.keepUp()
                #expect(stored.directory.version(of: .pins) == 1)
            }
            try PrivateFile.replace(scene.data.rootKey, with: other.rootKeyPEM.utf8)
            let rotation = try await scene.rotation()
            await #expect { try await rotation.renew(at: TestPerson.now) } throws: { error in
                if case TLSRotationError.refusedByClients = error { true } else { false }
            }
            #expect(try PrivateFile.read(scene.data.certificate) == refused)
            try PrivateFile.replace(scene.data.rootKey, with: own)
            try await rotation.renew(at: TestPerson.now)
            #expect(try StoredPins.read(scene.data.pins) == pins)
            try await scene.serving { pins, tls, stored in
                await pins.keepUp()
                #expect(tls.isKnown && tls.isUsableAfterStart)
                #expect(stored.directory.version(of: .pins) == 2)
            }
        }
    }

    @Test func theFileForClientsTakesThePlaceOfLostPins() async throws {
        try await withScene { scene in
            try FileManager.default.removeItem(atPath: scene.data.pins)
            #expect(try await scene.rotation().replaceReserve(at: TestPerson.now).version == 2)
            try await scene.serving { pins, tls, stored in
                await pins.keepUp()
                #expect(tls.isKnown)
                #expect(stored.directory.version(of: .pins) == 2)
            }
        }
    }

    @Test func anOlderFileForClientsDoesNot() async throws {
        try await withScene { scene in
            let before = try StoredDirectory.readProfile(scene.data)
            _ = try await scene.rotation().replaceReserve(at: TestPerson.now)
            try await scene.serving { pins, _, _ in await pins.keepUp() }
            try PrivateFile.replace(scene.data.profile, with: before.encoded, mode: 0o644)
            try FileManager.default.removeItem(atPath: scene.data.pins)
            let refusal = try await scene.refusal(of: scene.rotation())
            guard case .pins(let error) = refusal, error.isMissing else {
                Issue.record("\(String(describing: refusal))")
                return
            }
        }
    }

    @Test func whoLosesAllKeysFollowsOnTheLog() async throws {
        try await withScene { scene in
            try scene.put(scene.other(1), at: scene.data.pins)
            #expect(
                try await scene.rotation().replaceAll(for: [.name("localhost")], at: TestPerson.now).version == 2)
            try await scene.serving { pins, tls, stored in
                await pins.keepUp()
                #expect(tls.isKnown)
                #expect(stored.directory.version(of: .pins) == 2)
            }
        }
    }
}
