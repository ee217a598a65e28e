// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import RecoveryStore
import SecretSharing
import SignetAPI
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// An attacker with a device of the owner stores unreadable bytes in place of the file that guardians' parts open.
@Suite struct UnreadableFileTests {
    let family: Family
    let thief: Villager

    init() async throws {
        family = try await Family()
        try await family.setUp()
        thief = try Villager("ming", in: family.village, device: "-thief")
        let card = try await thief.client.deviceCard(thief.secrets)
        _ = try await family.ming.client.addDevice(card, by: family.ming.secrets)
    }

    private var ming: Villager { family.ming }
    /// The offset of the number of records in a journal: after the first line and the scope.
    private static let countOffset = 18 + 36

    private func entry(_ host: String) throws -> JournalEntry {
        .siteRecovery(try VerifiedHost(Array(host.utf8), evidence: .tlsConnection), .random())
    }

    private func contents() async throws -> RecoveryContents {
        let hash = try #require(try ming.owner.current()).commitment.hash
        return try RecoveryContents(
            decoding: #require(try await family.village.mailbox.file(under: hash, of: ming.handle)))
    }

    /// A file like another, with a journal of these bytes.
    private func file(_ contents: RecoveryContents, journal: [UInt8]) -> RecoveryFile {
        var writer = ByteWriter()
        writer.write("signet-recovery-file/v2\n")
        writer.write(contents.commitment.encoded)
        for part in [contents.bundle, journal] {
            writer.write(UInt32(part.count))
            writer.write(part)
        }
        let padding =
            (RecoveryFile.paddingStep - writer.bytes.count % RecoveryFile.paddingStep) % RecoveryFile.paddingStep
        return RecoveryFile(
            commitment: contents.commitment.hash, bytes: writer.bytes + [UInt8](repeating: 0, count: padding))
    }

    /// A journal with one more record, which the thief's device signs.
    private func journal(
        _ contents: RecoveryContents, adding sealed: [UInt8], at version: UInt64, isSigned: Bool = true
    ) throws -> [UInt8] {
        var journal = contents.journal.encoded
        let scope = Array(journal[18..<Self.countOffset])
        var record = ByteWriter()
        record.write(UInt16(2))
        record.write(version)
        let statement = Array("signet-journal/v2\n".utf8) + scope + contents.journal.head + record.bytes + sealed
        journal += record.bytes
        journal += [0, 0, UInt8(sealed.count >> 8), UInt8(sealed.count & 255)] + sealed
        journal += isSigned ? try thief.secrets.sign(statement) : [UInt8](repeating: 7, count: 64)
        journal[Self.countOffset + 3] += 1
        return journal
    }

    private static let junk = [UInt8](repeating: 9, count: 512 + 1136)

    private func store(_ file: RecoveryFile) async throws -> ErrorCode? {
        do {
            _ = try await RecoveryPost(try thief.client, thief.secrets).call(.storeFile, file.encoded)
            return nil
        } catch RecoveryClientError.client(.refused(let code, _)) { return code }
    }

    /// The hosts that a recovery on a new device restores.
    private func recovered() async throws -> [String] {
        let device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        let things = try await device.newDevice.finish()
        return things.entries.compactMap { entry in
            if case .siteRecovery(let host, _) = entry { String(decoding: host.text, as: UTF8.self) } else { nil }
        }
    }

    /// The attack: the file keeps all of its records, but no program can read it.
    @Test func aFileWithAnUnreadableJournalIsNotStored() async throws {
        let good = try await contents()
        let version = try await ming.client.lookup(ming.handle).verdict.lookup.state.version
        var many = good.journal.encoded
        for place in 0..<4 { many[Self.countOffset + place] = 0xFF }
        let journals = [
            many, good.journal.encoded + [1, 2, 3],
            try journal(good, adding: Self.junk, at: version, isSigned: false),
            try journal(good, adding: Self.junk, at: version - 1),
            try journal(good, adding: Self.junk, at: version + 1),
            try journal(good, adding: Self.junk + [1], at: version),
        ]
        for (place, journal) in journals.enumerated() {
            #expect(try await store(file(good, journal: journal)) == .badRequest, "\(place)")
        }
        #expect(try await contents() == good)
        #expect(try await store(file(good, journal: journal(good, adding: Self.junk, at: version))) == nil)
    }

    /// The attack: a record that the device may add, and that no seed opens.
    @Test func aRecordThatCannotBeOpenedDoesNotHideOthers() async throws {
        let good = try await contents()
        let version = try await ming.client.lookup(ming.handle).verdict.lookup.state.version
        _ = try await store(file(good, journal: journal(good, adding: Self.junk, at: version)))
        _ = try await ming.owner.guardNews([entry("shop.example")])
        #expect(try await recovered() == ["shop.example"])
    }

    /// A file from before the server checked files, or from a faulty disk: the owner's next check reports and repairs
    /// it.
    @Test func anUnreadableFileIsRepairedByAnyDeviceOfTheOwner() async throws {
        _ = try await ming.owner.guardNews([entry("shop.example")])
        let good = try await contents()
        var many = good.journal.encoded
        many[Self.countOffset] = 0xFF
        let damaged = file(good, journal: many + [1, 2, 3])
        try await family.village.mailbox.keep(damaged, of: ming.handle, sparing: [], at: family.village.clock.now)
        let second = thief
        #expect(try await second.owner.guardNews([entry("bank.example")])?.isMended == true)
        #expect(try await second.owner.guardNews([])?.isMended == false)
        #expect(try await recovered() == ["shop.example", "bank.example"])
    }

    /// An unsigned record, which is well-formed and which earlier servers accepted.
    @Test func anUnsignedRecordIsReplaced() async throws {
        let good = try await contents()
        let forged = try file(good, journal: journal(good, adding: Self.junk, at: 2, isSigned: false))
        try await family.village.mailbox.keep(forged, of: ming.handle, sparing: [], at: family.village.clock.now)
        #expect(try await thief.owner.guardNews([entry("shop.example")])?.isMended == true)
        #expect(try await ming.owner.guardNews([])?.isMended == false)
        #expect(try await contents().journal.count == good.journal.count + 1)
    }

    @Test func aRecoveryWithAnUnreadableFileIsNotStarted() async throws {
        let good = try await contents()
        let device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.match(family.guardians[0], on: device)
        let damaged = file(good, journal: good.journal.encoded + [1, 2, 3])
        try await family.village.mailbox.keep(damaged, of: ming.handle, sparing: [], at: family.village.clock.now)
        await #expect(throws: RecoveryClientError.self) { _ = try await device.newDevice.status() }
        #expect(try await ming.client.lookup(ming.handle).verdict.lookup.state.pendingRecovery == nil)
        try await family.village.mailbox.keep(
            file(good, journal: good.journal.encoded), of: ming.handle, sparing: [], at: family.village.clock.now)
        #expect(try await device.newDevice.status().start != nil)
    }
}
