// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import KeyTransparency
import RecoveryStore
import SecretSharing
import SignetAPI
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient

/// The guarded entries are kept up to date without asking any guardian.
@Suite(.everyEngine) struct GuardedTests {
    let family: Family
    let key = SecretScalar.random()

    init() async throws { family = try await Family() }

    private var ming: Villager { family.ming }

    private func entry(_ host: String) throws -> JournalEntry {
        .siteRecovery(try VerifiedHost(Array(host.utf8), evidence: .tlsConnection), key)
    }

    private func commitment() throws -> [UInt8] { try #require(try ming.owner.current()).commitment.hash }

    private func file() async throws -> [UInt8] {
        try #require(try await family.village.mailbox.file(under: commitment(), of: ming.handle))
    }

    private func records() async throws -> Int { try await RecoveryContents(decoding: file()).journal.count }

    private func put(_ bytes: [UInt8]) async throws {
        let file = RecoveryFile(commitment: try commitment(), bytes: bytes)
        try await family.village.mailbox.keep(file, of: ming.handle, sparing: [], at: family.village.clock.now)
    }

    /// The hosts that a recovery on a new device restores.
    private func recovered() async throws -> [String] {
        let device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        let things = try await device.newDevice.finish()
        #expect(things.devicesBefore.contains(ming.secrets.keys.signing))
        return things.entries.compactMap { entry in
            if case .siteRecovery(let host, _) = entry { String(decoding: host.text, as: UTF8.self) } else { nil }
        }
    }

    /// A second device of ming.
    private func secondDevice() async throws -> Villager {
        let second = try Villager("ming", in: family.village, device: "-second")
        let card = try await second.client.deviceCard(second.secrets)
        _ = try await ming.client.addDevice(card, by: ming.secrets)
        return second
    }

    @Test func newEntriesAreRecovered_andRepeatedEntriesAreNotAdded() async throws {
        try await family.setUp()
        let before = try await records()
        #expect(try await ming.owner.guardNews([try entry("shop.example")])?.people == 5)
        #expect(try await records() == before + 1)
        let bytes = try await file()
        #expect(try await ming.owner.guardNews([try entry("shop.example")])?.people == 5)
        #expect(try await file() == bytes)
        _ = try await ming.owner.guardNews([try entry("shop.example"), try entry("bank.example")])
        #expect(try await records() == before + 2)
        #expect(try await recovered() == ["shop.example", "bank.example"])
    }

    @Test func anEntryThatAServerRolledBackIsAddedAgain() async throws {
        try await family.setUp()
        let old = try await file()
        _ = try await ming.owner.guardNews([try entry("shop.example")])
        try await put(old)
        _ = try await ming.owner.guardNews([try entry("shop.example")])
        #expect(try await recovered() == ["shop.example"])
    }

    @Test func aDamagedFileIsRestoredByItsDeviceAndReportedOnAnother() async throws {
        try await family.setUp()
        var bytes = try await file()
        let second = try await secondDevice()
        bytes[200] ^= 1
        try await put(bytes)
        await #expect(throws: RecoveryClientError.guardedThingsLost) { _ = try await second.owner.guardNews([]) }
        _ = try await ming.owner.guardNews([try entry("shop.example")])
        #expect(try await second.owner.guardNews([])?.people == 0)
        #expect(try await recovered() == ["shop.example"])
    }

    @Test func anyDeviceOfTheAccountAddsEntries() async throws {
        try await family.setUp()
        let second = try await secondDevice()
        #expect(try !second.files.isGuarded)
        _ = try await second.owner.guardNews([try entry("bank.example")])
        #expect(try second.files.isGuarded)
        _ = try await ming.owner.guardNews([try entry("shop.example")])
        #expect(try await recovered() == ["bank.example", "shop.example"])
    }

    /// Section 13: entries of a device that was removed count once a remaining device vouches for them.
    @Test func entriesThatADeviceAddedBeforeItsRemovalAreRecovered() async throws {
        try await family.setUp()
        let second = try await secondDevice()
        _ = try await second.owner.guardNews([try entry("bank.example")])
        _ = try await ming.owner.guardNews([])
        let before = try await records()
        _ = try await ming.client.revokeDevice(2, by: ming.secrets)
        _ = try await ming.owner.guardNews([])
        #expect(try await records() == before + 1, "a record that vouches for those before it")
        #expect(try await recovered() == ["bank.example"])
    }

    /// Entries that no device saw before the removal may have been made after it, whatever version they name.
    @Test func entriesThatARemovedDeviceMayHaveAddedLaterAreDroppedAndReported() async throws {
        try await family.setUp()
        let second = try await secondDevice()
        _ = try await second.owner.guardNews([try entry("bank.example")])
        _ = try await ming.client.revokeDevice(2, by: ming.secrets)
        await #expect(throws: RecoveryClientError.guardedByRemovedDevices) {
            _ = try await ming.owner.guardNews([try entry("shop.example")])
        }
        #expect(try await recovered() == [])
    }

    /// The server lost the file, and the owner has no new entries.
    @Test(arguments: [["shop.example"], []]) func aFileThatTheServerLostIsStoredAgain(news: [String]) async throws {
        try await family.setUp()
        _ = try await ming.owner.guardNews(try news.map(entry))
        try await family.village.mailbox.erase(ming.handle)
        _ = try await ming.owner.guardNews(try news.map(entry))
        #expect(try await recovered() == news)
    }

    /// Gap 10: the day of a meeting is kept with the person, and a recovery restores it.
    @Test func theDayOfAMeetingIsRecovered_andNoneIsInvented() async throws {
        let ana = family.guardians[0]
        let identity = try #require(ana.secrets.identityKey)
        let met = Comparison(
            handle: ana.handle, identityKey: identity, kind: .number, time: 1_700_000_000, metOn: 19_000)
        try await ming.client.remember([], [met])
        try await family.setUp()
        let device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        _ = try await device.newDevice.finish()
        #expect(try await device.client.comparisons() == [met])
    }

    @Test func anotherDeviceLeavesLettersForTheFirst() async throws {
        try await family.ask()
        for guardian in family.guardians { _ = try await guardian.guardian.advance() }
        let second = try await secondDevice()
        try await second.owner.advance()
        try await ming.owner.advance()
        #expect(try ming.owner.current()?.keptCount == 5)
    }

    @Test func withoutGuardiansNoEntryIsStored() async throws {
        #expect(try await ming.owner.guardNews([try entry("shop.example")]) == nil)
        #expect(try !ming.files.isGuarded)
    }
}
