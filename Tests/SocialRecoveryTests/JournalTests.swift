// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import SecretMemory
import SecretSharing
import Testing

@testable import SocialRecovery

/// What a recovery brings back.
@Suite struct JournalTests {
    let world: World

    init() throws { world = try World() }

    private func key(_ world: World? = nil) throws -> SealingKey {
        let parts = try (0..<3).map { try (world ?? self.world).packet(of: $0).parts.journal }
        return try #require(SecretBytes.combined(from: parts).flatMap(JournalSeed.init)).privateKey
    }

    private func append(
        _ entries: [JournalEntry], to journal: inout RecoveryJournal, device: UInt16 = 1, at version: UInt64 = 2,
        by signer: Curve25519.Signing.PrivateKey? = nil
    ) throws {
        try journal.append(entries, to: world.setup.bundle.journalKey, device: device, at: version) {
            Array(try (signer ?? world.device).signature(for: $0))
        }
    }

    private var comparison: Comparison {
        Comparison(
            handle: world.guardians[0].handle, identityKey: world.guardians[0].identity.publicBytes, kind: .number,
            time: 1_700_000_000, metOn: 19_000)
    }

    private var friend: JournalEntry {
        .contact(comparison.handle, identityKey: comparison.identityKey, comparison)
    }

    @Test func entriesComeBackWithTheGuardiansParts() throws {
        var journal = world.journal
        try append([friend], to: &journal)
        try append([], to: &journal)
        let read = try RecoveryJournal(decoding: journal.encoded)
        #expect(read == journal)
        #expect(try read.verify(against: world.setup.bundle, states: [world.before, world.state]) == 3)
        let entries = try read.open(with: key(), first: 3).entries
        guard entries.count == 3, case .accountKey(1, let key) = entries[0],
            case .siteRecovery(let host, let scalar) = entries[1],
            case .contact(let handle, let identityKey, let compared) = entries[2]
        else {
            Issue.record("other entries")
            return
        }
        #expect(key.withSpan { bytes in bytes.indices.map { bytes[$0] } } == world.accountKey)
        #expect(host == world.site && scalar.exposed == world.siteKey.exposed)
        #expect(handle == world.guardians[0].handle && identityKey == world.guardians[0].identity.publicBytes)
        #expect(compared == comparison, "the day of the meeting is the day of the meeting")
    }

    @Test func anUncomparedContactIsRestoredAsUncompared() throws {
        let entry = JournalEntry.contact(comparison.handle, identityKey: comparison.identityKey, nil)
        guard case .contact(_, _, let read) = try JournalEntry(plaintext: entry.plaintext) else {
            Issue.record("another entry")
            return
        }
        #expect(read == nil)
        // A comparison of another key than the person's says nothing of them.
        var journal = world.journal
        let other = JournalEntry.contact(
            comparison.handle, identityKey: world.guardians[1].identity.publicBytes, comparison)
        #expect(throws: RecoveryJournalError.invalidEntry) { try append([other], to: &journal) }
    }

    /// Two of three parts, and each guardian's share of the P-256 key besides.
    @Test func fewerPartsThanSharesOpenNothing() throws {
        let parts = try (0..<2).map { try world.packet(of: $0).parts.journal }
        let seed = SecretBytes.combined(from: parts).flatMap(JournalSeed.init)
        #expect(seed?.publicKey != world.setup.bundle.journalKey)
    }

    /// Kind 3 was the identity key itself: guardians never have it.
    @Test func anEntryOfAnUnknownKindIsRefused() throws {
        for kind: UInt8 in [0, 3, 5, 255] {
            let block = [kind] + [UInt8](repeating: 1, count: 32) + [UInt8](repeating: 0, count: 479)
            #expect(throws: RecoveryFormatError.invalidField) { try JournalEntry(plaintext: block) }
        }
    }

    @Test func aRecordHoldsAtMost64Entries() throws {
        var journal = world.journal
        try append([JournalEntry](repeating: friend, count: 130), to: &journal)
        #expect(journal.count == 1 + 3)
        #expect(try journal.open(with: key(), first: 4).entries.count == 2 + 130)
    }

    /// A new phone, number 2, joins in version 3; the old one is removed in version 4.
    private func states() throws -> (states: [AccountState], phone: Curve25519.Signing.PrivateKey) {
        let phone = Curve25519.Signing.PrivateKey()
        let added = try World.state(
            world.owner, world.identity, phone, version: 3, commitment: nil, previous: world.state, number: 2)
        let both = AccountStateBody(
            handle: world.owner, version: 3, previous: world.state.hash, identityKey: world.identity.publicBytes,
            recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil,
            devices: world.state.devices + added.devices)
        let joined = try AccountState(signing: both, with: world.identity.rawSignature)
        let alone = try World.state(
            world.owner, world.identity, phone, version: 4, commitment: nil, previous: joined, number: 2)
        return ([world.before, world.state, joined, alone], phone)
    }

    @Test func aRecordNamesAVersionThatListsItsDevice() throws {
        let (states, phone) = try states()
        for (device, signer, version) in [(UInt16(1), world.device, UInt64(4)), (2, phone, 2), (2, phone, 9)] {
            var journal = world.journal
            try append([friend], to: &journal, device: device, at: version, by: signer)
            try append([friend], to: &journal, device: 2, at: 4, by: phone)
            #expect(try journal.verify(against: world.setup.bundle, states: states) == 1)
        }
    }

    @Test func versionsDoNotRunBack() throws {
        let (states, phone) = try states()
        var journal = world.journal
        try append([friend], to: &journal, device: 2, at: 4, by: phone)
        try append([friend], to: &journal, at: 3)
        try append([friend], to: &journal, device: 2, at: 4, by: phone)
        #expect(try journal.verify(against: world.setup.bundle, states: states) == 2)
    }

    /// A thief has the removed device's key and the server: what they add, dated before, does not count unless a device
    /// that is left has added to it.
    @Test func recordsThatARemovedDeviceAddsLastDoNotCount() throws {
        let (states, phone) = try states()
        var journal = world.journal
        try append([friend], to: &journal, at: 3)
        try append([friend], to: &journal, at: 3)
        #expect(try journal.verify(against: world.setup.bundle, states: states) == 1)
        #expect(try journal.verify(against: world.setup.bundle, states: Array(states.dropLast())) == 3)
        try append([], to: &journal, device: 2, at: 4, by: phone)
        #expect(try journal.verify(against: world.setup.bundle, states: states) == 4)
    }

    /// After a handover the log shows the account from its last state before on.
    @Test func recordsFromBeforeTheLogBeganCount() throws {
        let (states, phone) = try states()
        let later = Array(states.suffix(2))
        #expect(try world.journal.verify(against: world.setup.bundle, states: later) == 1, "the bundle holds it")
        var journal = world.journal
        try append([friend], to: &journal, at: 2)
        let first = try journal.verify(against: world.setup.bundle, states: [states[2]])
        #expect(first == 2, "by a device of the beginning")
        #expect(try journal.verify(against: world.setup.bundle, states: later) == 1, "which was removed since")
        try append([friend], to: &journal, device: 2, at: 4, by: phone)
        #expect(try journal.verify(against: world.setup.bundle, states: later) == 3, "another device holds it")
    }

    /// A thief has a device that was removed before the handover, or none, and the server.
    @Test func recordsFromBeforeTheLogBeganByOthersDoNotCount() throws {
        let states = try states().states
        for signer in [world.device, Curve25519.Signing.PrivateKey()] {
            var journal = world.journal
            try append([friend], to: &journal, at: 3, by: signer)
            #expect(try journal.verify(against: world.setup.bundle, states: [states[3]]) == 1)
        }
        var forged = world.journal
        try append([friend], to: &forged, at: 2, by: Curve25519.Signing.PrivateKey())
        try append([friend], to: &forged, at: 3)
        #expect(try forged.verify(against: world.setup.bundle, states: [states[2]]) == 1)
    }

    @Test func anEntrysLengthDoesNotRevealItsKind() throws {
        var journal = world.journal
        try append([friend], to: &journal)
        try append([.siteRecovery(world.site, world.siteKey)], to: &journal)
        try append([], to: &journal)
        #expect(Set(journal.records.dropFirst().map(\.sealed.count)).count == 1)
    }

    @Test func aJournalCutBelowTheBundleIsNoticed() throws {
        let empty = RecoveryJournal(scope: world.scope)
        #expect(throws: RecoveryJournalError.recordsMissing) {
            try empty.verify(against: world.setup.bundle, states: [world.before, world.state])
        }
    }

    /// The attack: a device that is removed later stores one record of junk, and nothing that was guarded comes back.
    @Test func recordsByOtherDevicesDoNotCountAndAffectNoOthers() throws {
        var journal = world.journal
        let stranger = Curve25519.Signing.PrivateKey()
        try append([friend], to: &journal, by: stranger)
        let count = try journal.verify(against: world.setup.bundle, states: [world.before, world.state])
        #expect(count == 1)
        let before = try world.journal.open(with: key(), first: 1).entries
        #expect(try journal.open(with: key(), first: count).entries.count == before.count)
    }

    /// The attack: a device of the owner's signs what nobody can open.
    @Test func unreadableRecordsAreCountedAndAffectNoOthers() throws {
        var journal = world.journal
        let (other, entry) = (try World(seed: 3).setup.bundle.journalKey, friend)
        try journal.append([entry], to: other, device: 1, at: 2) { Array(try world.device.signature(for: $0)) }
        try append([friend], to: &journal)
        let opened = try journal.open(with: key(), first: 3)
        #expect(opened.unreadable == 1 && opened.entries.count == 3)
    }

    @Test func reorderedRecordsAreNoticed() throws {
        var journal = RecoveryJournal(scope: world.scope)
        for _ in 0..<2 { try append([friend], to: &journal) }
        let encoded = journal.encoded
        let start = 18 + 36 + 4
        let length = (encoded.count - start) / 2
        let swapped = encoded.prefix(start) + encoded.suffix(length) + encoded[start..<start + length]
        let read = try RecoveryJournal(decoding: Array(swapped))
        #expect(throws: RecoveryJournalError.notByADevice(position: 0)) {
            try read.verify(against: world.setup.bundle, states: [world.before, world.state])
        }
    }

    @Test func anotherEpochsKeyOpensNothing() throws {
        #expect(throws: RecoveryJournalError.notSealedToThisKey(position: 0)) {
            try world.journal.open(with: key(World(seed: 2)), first: 1)
        }
        #expect(throws: RecoveryJournalError.anotherAccount) {
            try world.journal.verify(against: World(epoch: 2).setup.bundle, states: [world.before, world.state])
        }
    }

    @Test func aKeyOfAnotherLengthIsNotKept() throws {
        var journal = world.journal
        let short = [UInt8](repeating: 1, count: 31)
        #expect(throws: RecoveryJournalError.invalidEntry) {
            try append([.accountKey(epoch: 1, SecretBytes(copying: short.span))], to: &journal)
        }
    }

    @Test func aTruncatedOrExtendedJournalIsRefused() throws {
        let encoded = world.journal.encoded
        for cut in stride(from: 0, to: encoded.count, by: 31) {
            #expect(throws: RecoveryFormatError.self) { try RecoveryJournal(decoding: Array(encoded.prefix(cut))) }
        }
        #expect(throws: RecoveryFormatError.self) { try RecoveryJournal(decoding: encoded + [0]) }
        var endless = encoded
        for offset in 54..<58 { endless[offset] = 0xFF }
        #expect(throws: RecoveryFormatError.invalidField) { try RecoveryJournal(decoding: endless) }
    }
}
