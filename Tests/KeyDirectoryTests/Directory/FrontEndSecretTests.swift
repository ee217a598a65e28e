// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

/// What front ends share: a challenge of one is accepted at another, through each step of a rotation.
@Suite final class FrontEndSecretTests {
    private let folder: String
    private let start = StandingClock.start

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func secret() throws -> FrontEndSecret { try #require(try FrontEndSecret.read(from: folder)) }

    /// Whether what one seals now is opened by the other at a time.
    private func opens(_ one: FrontEndSecret, _ other: FrontEndSecret, at now: UInt64) throws -> Bool {
        let box = try ChaChaPoly.seal([1, 2, 3] as [UInt8], using: one.keys(for: .possession).current)
        return other.keys(for: .possession).accepted(at: now).contains { (try? ChaChaPoly.open(box, using: $0)) != nil }
    }

    private func setTime(_ time: UInt64, of file: KeyFile) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(time))], ofItemAtPath: "\(folder)/\(file.name)")
    }

    /// Versions before this one left an empty file when the disk was full.
    @Test func anEmptyFileIsNoSecretThatWasMade() throws {
        func leave(_ file: KeyFile) {
            FileManager.default.createFile(
                atPath: "\(folder)/\(file.name)", contents: Data(), attributes: [.posixPermissions: 0o600])
        }
        leave(.shared)
        // The other front ends may have it: a start says so, and seals nothing under another one.
        #expect(throws: KeyFileError.malformed(.shared)) { try FrontEndSecret.read(from: folder) }
        #expect(try FrontEndSecret.announce(in: folder) == .shared)
        leave(.nextShared)
        let before = try secret()
        #expect(throws: KeyFileError.missing(.nextShared)) { try FrontEndSecret.rotate(in: folder) }
        #expect(try FrontEndSecret.announce(in: folder) == .nextShared)
        try FrontEndSecret.rotate(in: folder)
        #expect(try secret().digests.former == [before.digests.current])
    }

    @Test func theFirstSecretIsMadeOnce() throws {
        try FrontEndSecret.makeFirst(in: folder)
        let first = try secret().digests.current
        try FrontEndSecret.makeFirst(in: folder)
        #expect(try secret().digests.current == first)
        #expect(try secret().digests.next == nil)
        #expect(try FrontEndSecret.announce(in: folder) == .nextShared)
        let next = try secret().digests.next
        // A rotation that is interrupted between its two renames.
        try FileManager.default.removeItem(atPath: "\(folder)/\(KeyFile.shared.name)")
        try FrontEndSecret.makeFirst(in: folder)
        #expect(try secret().digests.current == next)
    }

    /// The mishap, and its mend: a device is challenged at one front end, and brings the proof to another.
    @Test(arguments: [false, true]) func aChallengeOfOneFrontEndIsAcceptedAtAnother(isShared: Bool) async throws {
        let place = try Place()
        let first = try await place.create()
        let secrets =
            isShared ? [FrontEndSecret](repeating: FrontEndSecret(), count: 2) : [FrontEndSecret(), FrontEndSecret()]
        let fronts = secrets.map { secret in
            Directory(
                log: first.log, epochs: first.epochs, snapshots: first.snapshots,
                origin: place.keys.log.verifierKey.name, vrf: place.keys.vrf,
                database: first.database, paths: first.paths, clock: place.time, logger: Place.silent, secret: secret)
        }
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: fronts[0])
        let refused = try await refusal { try await alice.send(submission, to: fronts[1]) }
        #expect(refused == (isShared ? nil : .possessionNotProven))
        await first.close()
    }

    @Test func withoutAFileThereIsNoSharedSecret() throws {
        #expect(try FrontEndSecret.read(from: folder) == nil)
    }

    @Test func everyPurposeHasAKeyOfItsOwn() {
        let secret = FrontEndSecret()
        let keys = FrontEndSecret.Purpose.allCases.map { purpose in
            secret.keys(for: purpose).current.withUnsafeBytes { Array($0) }
        }
        #expect(Set(keys).count == keys.count)
    }

    /// RFC 5869 without a salt: extract is an HMAC under 32 zero bytes, and one block of expand ends in 1.
    @Test func aKeyIsHKDFOfTheSecretUnderItsPurpose() {
        let input = SymmetricKey(data: [UInt8](repeating: 0x0B, count: 32))
        let extracted = HMAC<SHA256>.authenticationCode(
            for: [UInt8](repeating: 0x0B, count: 32), using: SymmetricKey(data: [UInt8](repeating: 0, count: 32)))
        let expected = HMAC<SHA256>.authenticationCode(
            for: Array("signet-shared/v1 login".utf8) + [1], using: SymmetricKey(data: Array(extracted)))
        let key = FrontEndSecret(input).keys(for: .login).current.withUnsafeBytes { Array($0) }
        #expect(key == Array(expected))
    }

    @Test func everyStepOfARotationIsUnderstoodByTheStepsBesideIt() throws {
        #expect(try FrontEndSecret.announce(in: folder) == .shared)
        let first = try secret()
        #expect(try FrontEndSecret.announce(in: folder) == .nextShared)
        let announced = try secret()
        try FrontEndSecret.rotate(in: folder)
        try setTime(start, of: .shared)
        let rotated = try secret()
        for (one, other) in [(first, announced), (announced, first), (announced, rotated), (rotated, announced)] {
            #expect(try opens(one, other, at: start))
        }
        // Two steps at once are too many in one direction.
        #expect(try opens(first, rotated, at: start))
        #expect(try !opens(rotated, first, at: start))
    }

    @Test func theSecretOfBeforeIsAcceptedForTheLifetimeOfWhatItSealed() throws {
        _ = try FrontEndSecret.announce(in: folder)
        let first = try secret()
        _ = try FrontEndSecret.announce(in: folder)
        try FrontEndSecret.rotate(in: folder)
        try setTime(start, of: .shared)
        #expect(try opens(first, secret(), at: start + FrontEndSecret.lifetime - 1))
        #expect(try !opens(first, secret(), at: start + FrontEndSecret.lifetime))
        #expect(FrontEndSecret.lifetime > PossessionChallenge.lifetime)
    }

    @Test func aRotationNeedsASecretThatWasAnnounced() throws {
        _ = try FrontEndSecret.announce(in: folder)
        #expect(throws: KeyFileError.missing(.nextShared)) { try FrontEndSecret.rotate(in: folder) }
    }

    @Test func announcingTwiceMakesOneSecret() throws {
        _ = try FrontEndSecret.announce(in: folder)
        _ = try FrontEndSecret.announce(in: folder)
        let path = "\(folder)/\(KeyFile.nextShared.name)"
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(try FrontEndSecret.announce(in: folder) == .nextShared)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    /// A process that ends between the two renames.
    @Test func anInterruptedRotationIsCompletedByRepeatingIt() throws {
        _ = try FrontEndSecret.announce(in: folder)
        let first = try secret()
        _ = try FrontEndSecret.announce(in: folder)
        let announced = try secret()
        try KeyFolder(path: folder).rename(.shared, to: .formerShared)
        #expect(try opens(secret(), announced, at: start))
        try FrontEndSecret.rotate(in: folder)
        try setTime(start, of: .shared)
        #expect(try opens(first, secret(), at: start))
        #expect(try opens(secret(), announced, at: start))
    }

    @Test func aStolenSecretIsAcceptedNoMore() throws {
        _ = try FrontEndSecret.announce(in: folder)
        let first = try secret()
        _ = try FrontEndSecret.announce(in: folder)
        let announced = try secret()
        try FrontEndSecret.rotate(in: folder)
        try FrontEndSecret.replaceStolen(in: folder)
        let now = UInt64(Date().timeIntervalSince1970)
        #expect(try !opens(first, secret(), at: now))
        #expect(try !opens(announced, secret(), at: now))
    }

    /// By these a database knows a front end whose secret is none of the others'.
    @Test func eachStepOfARotationKnowsTheSecretOfBefore() throws {
        _ = try FrontEndSecret.announce(in: folder)
        let first = try secret().digests
        #expect(first.former.isEmpty && first.next == nil && first.current.count == 32)
        _ = try FrontEndSecret.announce(in: folder)
        let announced = try secret().digests
        #expect(announced.current == first.current && announced.next != nil)
        // A process that ends between the two renames.
        try KeyFolder(path: folder).rename(.shared, to: .formerShared)
        let between = try secret().digests
        #expect(between.current == announced.next && between.former == [first.current])
        try FrontEndSecret.rotate(in: folder)
        let rotated = try secret().digests
        #expect(rotated.current == announced.next && rotated.former == [first.current] && rotated.next == nil)
        try FrontEndSecret.replaceStolen(in: folder)
        let replaced = try secret().digests
        #expect(replaced.current != rotated.current && replaced.former == [rotated.current])
    }

    @Test(arguments: [KeyFile.shared, .nextShared, .formerShared])
    func aFileThatOthersCanReadIsRefused(file: KeyFile) throws {
        _ = try FrontEndSecret.announce(in: folder)
        _ = try FrontEndSecret.announce(in: folder)
        try FrontEndSecret.rotate(in: folder)
        _ = try FrontEndSecret.announce(in: folder)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: "\(folder)/\(file.name)")
        #expect(throws: KeyFileError.wrongMode(file, mode: 0o640)) { try FrontEndSecret.read(from: folder) }
    }
}
