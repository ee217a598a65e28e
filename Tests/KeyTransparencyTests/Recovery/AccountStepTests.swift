// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import KeyTransparency
import ProtocolTesting
import Testing

/// Whether a state follows another: for each check, a step in which only it fails.
@Suite struct AccountStepTests {
    let account: RecoverableAccount
    let another = P256.Signing.PrivateKey()

    init() throws { account = try RecoverableAccount() }

    private func refuses(_ error: AccountStepError, _ next: AccountState, after state: AccountState) {
        #expect(throws: error) { try AccountStepVerifier.verify(next, after: state) }
        #expect(!state.isFollowed(by: next))
    }

    @Test func aRecoveryGoesFromCommitmentToStartToAnotherIdentity() throws {
        let steps = [account.first, account.committed, account.asked, account.recovered]
        for (before, after) in zip(steps, steps.dropFirst()) {
            #expect(throws: Never.self) { try AccountStepVerifier.verify(after, after: before) }
        }
        #expect(account.asked.pendingRecovery == (try account.start().hash))
        #expect(account.asked.authored == account.committed && account.asked.devices == account.committed.devices)
        #expect(account.recovered.recoveryCommitment == nil && account.recovered.pendingRecovery == nil)
    }

    @Test func anObjectionEndsARecoveryAndAnotherMayBegin() throws {
        let stopped = try account.stopped(after: account.asked)
        #expect(account.asked.isFollowed(by: stopped) && stopped.pendingRecovery == nil)
        let again = try AccountState(
            starting: account.start(), superseding: nil, after: stopped, with: account.newIdentity.raw)
        #expect(stopped.isFollowed(by: again))
        refuses(.anotherPredecessor, account.recovered, after: try account.ordinary(after: account.committed))
    }

    @Test func anOrdinaryStepKeepsARecoveryOrEndsIt() throws {
        let kept = try account.ordinary(after: account.asked, pending: account.asked.pendingRecovery)
        #expect(account.asked.isFollowed(by: kept))
        let recovered = try RecoverableAccount.recovered(
            after: kept, account.start(), account.newIdentity, account.recoveryKey)
        #expect(kept.isFollowed(by: recovered))
        #expect(account.asked.isFollowed(by: try account.ordinary(after: account.asked)))
    }

    @Test func anotherVersionIsRefused() throws {
        refuses(
            .anotherVersion, try account.ordinary(after: account.committed, version: 4), after: account.committed)
    }

    @Test func anotherPredecessorIsRefused() throws {
        refuses(
            .anotherPredecessor, try account.ordinary(after: account.committed, previous: account.first.hash),
            after: account.committed)
    }

    @Test func anotherAccountIsRefused() throws {
        let bob = try Handle(typed: Array("bob@example.org".utf8))
        refuses(
            .anotherAccount, try account.ordinary(after: account.committed, handle: bob), after: account.committed)
    }

    @Test func anotherIdentityWithoutARecoveryIsRefused() throws {
        refuses(
            .anotherIdentity, try account.ordinary(after: account.committed, identity: another),
            after: account.committed)
    }

    @Test func ordinaryStep_refusesAPendingRecovery() throws {
        let pending = [UInt8](repeating: 1, count: 32)
        refuses(
            .anotherRecovery, try account.ordinary(after: account.committed, pending: pending),
            after: account.committed)
    }

    @Test func aNoteAboutAnEarlierStateIsRefused() throws {
        // The server may not bring back devices that were revoked since.
        let again = try account.ordinary(after: account.committed)
        let note = try AccountState(
            decoding: account.note(after: again, about: account.committed, account.start()))
        refuses(.anotherBase, note, after: again)
    }

    /// With a key of small order everybody endorses: the points are RFC 8032's neutral element and the one of order 2.
    @Test(arguments: [
        [1] + [UInt8](repeating: 0, count: 31), [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F], [7],
    ])
    func commitment_refusesAnAskKeyOfSmallOrder(key: [UInt8]) throws {
        let good = account.commitment
        #expect(throws: RecoveryCommitmentError.invalidKey) {
            try RecoveryCommitment(
                epoch: 1, delay: 10, recoveryKey: account.recoveryKey.publicBytes, bundle: [1], askKey: key)
        }
        guard key.count == 32 else { return }
        #expect(throws: RecoveryCommitmentError.invalidKey) {
            try RecoveryCommitment(decoding: good.encoded.dropLast(32) + key)
        }
        #expect(try RecoveryCommitment(decoding: good.encoded) == good)
    }

    @Test func aStartByAnotherCommitmentIsRefused() throws {
        let quick = try RecoveryCommitment(
            epoch: 1, delay: 0, recoveryKey: account.recoveryKey.publicBytes, bundle: [1, 2, 3],
            askKey: account.askKey.publicBytes)
        let asked = try AccountState(
            starting: account.start(commitment: quick), superseding: nil, after: account.committed,
            with: account.newIdentity.raw)
        refuses(.notCommitted, asked, after: account.committed)
        let bare = try AccountState(
            starting: account.start(), superseding: nil, after: account.first, with: account.newIdentity.raw)
        refuses(.notCommitted, bare, after: account.first)
    }

    @Test func aSecondRequestWaitsUntilTheFirstExpired() throws {
        let first = try account.start()
        for (started, isFree) in [(first.expires - 1, false), (first.expires, true)] {
            let next = try AccountState(
                starting: account.start(started: started), superseding: first, after: account.asked,
                with: account.newIdentity.raw)
            #expect(account.asked.isFollowed(by: next) == isFree)
            if !isFree { refuses(.anotherRecovery, next, after: account.asked) }
        }
        let unnamed = try AccountState(
            starting: account.start(started: first.expires), superseding: nil, after: account.asked,
            with: account.newIdentity.raw)
        refuses(.anotherRecovery, unnamed, after: account.asked)
    }

    @Test func anObjectionToNothingIsRefused() throws {
        refuses(.nothingUnderWay, try account.stopped(after: account.committed), after: account.committed)
    }

    @Test func aSuccessionWithoutItsStartIsRefused() throws {
        let recovered = try RecoverableAccount.recovered(
            after: account.committed, account.start(), account.newIdentity, account.recoveryKey)
        refuses(.nothingUnderWay, recovered, after: account.committed)
        let other = try RecoverableAccount.recovered(
            after: account.asked, account.start(started: RecoverableAccount.started + 1), account.newIdentity,
            account.recoveryKey)
        refuses(.nothingUnderWay, other, after: account.asked)
    }

    @Test func aSuccessionThatChangesTheNotesHeadIsRefused() throws {
        let recovered = try RecoverableAccount.recovered(
            after: account.asked, account.start(), account.newIdentity, account.recoveryKey,
            head: [UInt8](repeating: 1, count: 32))
        refuses(.anotherHead, recovered, after: account.asked)
    }

    @Test func devicesFromBeforeAreGoneAndNoNumberIsGivenTwice() throws {
        let old = account.first.devices[0]
        let renumbered = DeviceRecord(number: 9, addedAt: 1, listed: old.keys)
        for device in [renumbered, try PaperPerson.device(2, seed: 50)] {
            let recovered = try RecoverableAccount.recovered(
                after: account.asked, account.start(), account.newIdentity, account.recoveryKey, device: device)
            refuses(.oldDevicesRemain, recovered, after: account.asked)
        }
    }
}

/// A change of guardians: those before may still help until their delay has passed. For each check, a step in which only it
/// fails.
@Suite struct FormerRecoveryTests {
    let account: RecoverableAccount
    let other: RecoveryCommitment
    let third: RecoveryCommitment
    static let changed = RecoverableAccount.started + 500

    init() throws {
        account = try RecoverableAccount()
        let (ask, key) = (account.askKey.publicBytes, account.recoveryKey.publicBytes)
        other = try RecoveryCommitment(epoch: 2, delay: 10, recoveryKey: key, bundle: [4], askKey: ask)
        third = try RecoveryCommitment(epoch: 3, delay: 10, recoveryKey: key, bundle: [5], askKey: ask)
    }

    private func change(
        _ state: AccountState, to commitment: RecoveryCommitment?, leaving former: FormerRecovery?
    ) throws -> AccountState {
        try AccountState(
            signing: state.next(committingTo: commitment?.hash, leaving: former), with: account.alice.identity.raw)
    }

    private func changed() throws -> AccountState {
        try change(account.committed, to: other, leaving: FormerRecovery(account.commitment, since: Self.changed))
    }

    private func asked(at time: UInt64, after state: AccountState) throws -> AccountState {
        try AccountState(
            starting: account.start(started: time), superseding: nil, after: state, with: account.newIdentity.raw)
    }

    private func refuses(_ error: AccountStepError, _ next: AccountState, after state: AccountState) {
        #expect(throws: error) { try AccountStepVerifier.verify(next, after: state) }
    }

    @Test func aChangeLeavesTheCommitmentBeforeBehindAndReadsBack() throws {
        let next = try changed()
        #expect(account.committed.isFollowed(by: next))
        #expect(try AccountState(decoding: next.encoded) == next)
        #expect(next.formerRecovery?.commitment == account.commitment && next.recoveryCommitment == other.hash)
        let gone = try change(
            account.committed, to: nil, leaving: FormerRecovery(account.commitment, since: Self.changed))
        #expect(account.committed.isFollowed(by: gone))
        #expect(try AccountState(decoding: gone.encoded) == gone)
    }

    /// The attack: whoever holds the first device names guardians of their own, and those before can do nothing any more.
    @Test func aRecoveryBeginsUnderTheFormerCommitmentUntilItsDelayHasPassed() throws {
        let next = try changed()
        let end = Self.changed + UInt64(RecoverableAccount.delay)
        #expect(next.isFollowed(by: try asked(at: end - 1, after: next)))
        refuses(.notCommitted, try asked(at: end, after: next), after: next)
        let asked = try asked(at: Self.changed, after: next)
        let recovered = try RecoverableAccount.recovered(
            after: asked, account.start(started: Self.changed), account.newIdentity,
            account.recoveryKey, at: Self.changed + UInt64(RecoverableAccount.delay))
        #expect(asked.isFollowed(by: recovered))
        #expect(recovered.formerRecovery == nil)
    }

    /// The attack: whoever holds the first device names guardians of their own with a short delay, who recover it at once.
    @Test func thoseWhoWereNamedLastWaitUntilTheFormerDelayHasPassed() throws {
        let (next, end) = (try changed(), Self.changed + UInt64(RecoverableAccount.delay))
        #expect(!next.isCommitted(to: other, at: end - 1))
        #expect(next.isCommitted(to: other, at: end))
        #expect(next.isCommitted(to: account.commitment, at: end - 1))
        #expect(!next.isCommitted(to: third, at: end))
        #expect(account.committed.isCommitted(to: account.commitment, at: 0), "the first set need not wait")
    }

    @Test func aChangeThatLeavesNothingOrSomethingElseBehindIsRefused() throws {
        for former in [nil, FormerRecovery(third, since: Self.changed)] {
            refuses(
                .anotherFormer, try change(account.committed, to: other, leaving: former), after: account.committed)
        }
        refuses(.anotherFormer, try change(account.committed, to: nil, leaving: nil), after: account.committed)
        let invented = FormerRecovery(third, since: Self.changed)
        refuses(
            .anotherFormer, try change(account.committed, to: account.commitment, leaving: invented),
            after: account.committed)
        refuses(
            .anotherFormer, try change(account.first, to: account.commitment, leaving: invented), after: account.first)
    }

    @Test func aSecondChangeWaitsUntilTheFormerDelayHasPassed() throws {
        let (next, end) = (try changed(), Self.changed + UInt64(RecoverableAccount.delay))
        #expect(next.isFollowed(by: try change(next, to: third, leaving: FormerRecovery(other, since: end))))
        refuses(
            .changedTooSoon, try change(next, to: third, leaving: FormerRecovery(other, since: end - 1)), after: next)
    }

    @Test func anythingElseKeepsTheFormerCommitment() throws {
        let next = try changed()
        let kept = try AccountState(signing: next.next(devices: next.devices), with: account.alice.identity.raw)
        #expect(next.isFollowed(by: kept) && kept.formerRecovery == next.formerRecovery)
        let asked = try asked(at: Self.changed, after: next)
        #expect(asked.formerRecovery == next.formerRecovery)
        let without = try account.ordinary(after: next)
        refuses(.anotherFormer, without, after: next)
    }

    /// A state as the programs before wrote it: presence byte 1 and the hash of a commitment of 72 bytes.
    @Test func aCommitmentOfTheOlderFormIsReadKeptAndReplaced() throws {
        let hash = [UInt8](repeating: 7, count: 32)
        let first = account.first
        let identity = account.alice.identity
        let older = try AccountState(
            signing: AccountStateBody(
                handle: first.handle, version: 2, previous: first.hash, identityKey: first.identityKey,
                recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil, devices: first.devices,
                olderCommitment: hash), with: identity.raw)
        #expect(try AccountState(decoding: older.encoded) == older)
        #expect(older.recoveryCommitment == nil && older.olderCommitment == hash)
        #expect(first.isFollowed(by: older), "as logs from before have it")
        let kept = try AccountState(signing: older.next(devices: older.devices), with: identity.raw)
        #expect(kept.olderCommitment == hash && older.isFollowed(by: kept))
        let replaced = try change(older, to: account.commitment, leaving: nil)
        #expect(older.isFollowed(by: replaced) && replaced.olderCommitment == nil)
    }

    /// What the programs of the commit before this format logged: a first state, guardians, a recovery that began.
    @Test func theStatesOfAnOldLogAreReadAndNothingBeginsWithThem() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Vectors/old")
        let lines = try String(contentsOf: folder.appending(path: "account-states-1.txt"), encoding: .utf8).split(
            separator: "\n")
        let states = try lines.map { try AccountState(decoding: Hex.decode(Array($0.utf8))) }
        #expect(states.map(\.version) == [1, 2, 3])
        #expect(states[1].olderCommitment != nil && states[1].recoveryCommitment == nil)
        #expect(states[0].isFollowed(by: states[1]))
        refuses(.notEndorsed, states[2], after: states[1])
        #expect(states[2].authored == states[1] && states[2].pendingRecovery != nil)
    }

    @Test func anUnknownKindOfCommitmentIsRefused() throws {
        var bytes = account.committed.encoded
        let place = "signet-account/v2\n".utf8.count + 1 + account.alice.handle.bytes.count + 8 + 32 + 33
        #expect(bytes[place] == 2)
        bytes[place] = 5
        #expect(throws: AccountStateError.invalidPresenceByte(5)) { try AccountState(decoding: bytes) }
    }
}

/// What a step of a recovery proves by itself: for each check, bytes in which only it fails.
@Suite struct RecoveryStateFormatTests {
    let account: RecoverableAccount
    let another = P256.Signing.PrivateKey()

    init() throws { account = try RecoverableAccount() }

    private func refuses(_ fault: RecoveryStepFault, _ make: () throws -> AccountState) {
        #expect(throws: AccountStateError.invalidRecovery(fault)) { try make() }
    }

    private func recovered(
        identity: P256.Signing.PrivateKey? = nil, key: P256.Signing.PrivateKey? = nil,
        signer: P256.Signing.PrivateKey? = nil, at time: UInt64 = RecoverableAccount.ended, commitment: [UInt8]? = nil
    ) throws -> AccountState {
        try RecoverableAccount.recovered(
            after: account.asked, account.start(), identity ?? account.newIdentity, key ?? account.recoveryKey,
            signer: signer, at: time, commitment: commitment)
    }

    @Test func everyFormRoundTrips() throws {
        for state in [account.asked, try account.stopped(after: account.asked), account.recovered] {
            #expect(try AccountState(decoding: state.encoded) == state)
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        for state in [account.asked, try account.stopped(after: account.asked), account.recovered] {
            for bit in stride(from: 0, to: state.encoded.count * 8, by: 41) {
                var changed = state.encoded
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(throws: AccountStateError.self) { try AccountState(decoding: changed) }
            }
        }
    }

    @Test func everyTruncationAndTrailingByteIsRefused() throws {
        for state in [account.asked, try account.stopped(after: account.asked), account.recovered] {
            for count in stride(from: 0, to: state.encoded.count, by: 37) {
                #expect(throws: AccountStateError.self) {
                    try AccountState(decoding: Array(state.encoded.prefix(count)))
                }
            }
            #expect(throws: AccountStateError.self) { try AccountState(decoding: state.encoded + [0]) }
        }
    }

    @Test func start_refusesASignatureByAnotherKey() throws {
        #expect(throws: AccountStateError.invalidSignature) {
            try AccountState(
                starting: account.start(), superseding: nil, after: account.committed, with: another.raw)
        }
    }

    @Test func objection_refusesASignatureByAnUnlistedDevice() throws {
        refuses(.noSuchDevice(7)) { try account.stopped(after: account.asked, device: 7) }
        #expect(throws: AccountStateError.invalidSignature) {
            try account.stopped(after: account.asked, device: 1, seed: 12)
        }
    }

    @Test func aNoteIsAboutAnEarlierStateThatIsNoNote() throws {
        refuses(.invalidBase) {
            try AccountState(decoding: account.note(after: account.first, about: account.asked, account.start()))
        }
        refuses(.invalidBase) {
            try AccountState(decoding: account.note(after: account.first, about: account.committed, account.start()))
        }
    }

    @Test func succession_refusesAnIdentityThatDidNotAsk() {
        refuses(.notTheKeyThatAsked) { try recovered(identity: another) }
    }

    @Test func aSuccessionComesAfterTheDelayAndBeforeTheRequestExpires() throws {
        let start = try account.start()
        refuses(.outsideItsTime) { try recovered(at: start.notBefore - 1) }
        refuses(.outsideItsTime) { try recovered(at: start.expires) }
        #expect(throws: Never.self) { try recovered(at: start.notBefore) }
        #expect(throws: Never.self) { try recovered(at: start.expires - 1) }
    }

    @Test func succession_refusesAnUncommittedRecoveryKey() {
        refuses(.notTheCommittedKey) { try recovered(key: another) }
    }

    @Test func succession_refusesASignatureByAnotherRecoveryKey() {
        refuses(.invalidAuthority) { try recovered(signer: another) }
    }

    @Test func succession_refusesTheOldCommitment() {
        refuses(.stillRecoverable) { try recovered(commitment: account.commitment.hash) }
    }

    @Test func succession_refusesASignatureByAnotherIdentityKey() {
        #expect(throws: AccountStateError.invalidSignature) {
            try RecoverableAccount.recovered(
                after: account.asked, account.start(), account.newIdentity, account.recoveryKey, accepting: another)
        }
    }

    @Test func aRequestLivesAWeekAfterItsDelayAtMost() throws {
        let latest = RecoverableAccount.started + 1000 + 7 * 86_400
        func start(_ expires: UInt64, started: UInt64 = RecoverableAccount.started) throws -> RecoveryStart {
            try RecoverableAccount.start(
                account.newIdentity, account.commitment, account.askKey, started: started, expires: expires)
        }
        #expect(throws: Never.self) { try start(latest) }
        for expires in [latest + 1, RecoverableAccount.started + 1000, 0] {
            #expect(throws: RecoveryStepFault.invalidTimes) { try start(expires) }
        }
        #expect(throws: RecoveryStepFault.invalidTimes) { try start(.max, started: .max - 1) }
    }

    /// The attack: a stranger, who holds no ask key, begins a recovery to be in the way of the owner's.
    @Test func start_refusesAMissingEndorsement() throws {
        let stranger = Curve25519.Signing.PrivateKey()
        #expect(throws: RecoveryStepFault.notEndorsed) {
            try RecoverableAccount.start(account.newIdentity, account.commitment, stranger)
        }
        let asked = account.asked.encoded
        let place = "signet-recovery-note/v2\n".utf8.count + 8 + 32 + 1 + RecoveryStart.byteCount - 64
        var changed = Array(asked.dropLast(64))
        changed.replaceSubrange(place..<place + 64, with: [UInt8](repeating: 0, count: 64))
        changed += try account.newIdentity.raw(changed)
        refuses(.notEndorsed) { try AccountState(decoding: changed) }
    }

    @Test func anEndorsementIsForOneRequestIdentityCommitmentAndEnd() throws {
        let start = try account.start()
        let given = try #require(start.endorsement)
        func with(
            request: [UInt8]? = nil, identity: P256.Signing.PrivateKey? = nil, commitment: RecoveryCommitment? = nil,
            expires: UInt64? = nil, time: UInt64? = nil
        ) throws -> RecoveryStart {
            let time = (0..<8).reversed().map { UInt8(truncatingIfNeeded: (time ?? given.time) >> (8 * UInt64($0))) }
            return try RecoveryStart(
                request: request ?? start.request, identityKey: identity?.publicBytes ?? start.identityKey,
                commitment: commitment ?? start.commitment, started: start.started, expires: expires ?? start.expires,
                endorsement: RecoveryEndorsement(decoding: time + given.signature))
        }
        let other = try RecoveryCommitment(
            epoch: 2, delay: RecoverableAccount.delay, recoveryKey: account.recoveryKey.publicBytes, bundle: [1, 2, 3],
            askKey: account.askKey.publicBytes)
        #expect(try with() == start)
        #expect(throws: RecoveryStepFault.notEndorsed) { try with(request: [UInt8](repeating: 8, count: 32)) }
        #expect(throws: RecoveryStepFault.notEndorsed) { try with(identity: another) }
        #expect(throws: RecoveryStepFault.notEndorsed) { try with(commitment: other) }
        #expect(throws: RecoveryStepFault.notEndorsed) { try with(expires: start.expires - 1) }
        #expect(throws: RecoveryStepFault.notEndorsed) { try with(time: given.time - 1) }
    }

    /// So one from before an objection begins nothing once the day after that is over.
    @Test func anEndorsementIsGoodForADay() throws {
        let started = RecoverableAccount.started
        for (endorsed, isGood) in [
            (started - 86_401, false), (started - 86_400, true), (started + 3600, true), (started + 3601, false),
        ] {
            let start = try? RecoverableAccount.start(
                account.newIdentity, account.commitment, account.askKey, endorsed: endorsed)
            #expect((start != nil) == isGood)
        }
    }

    /// Bytes as the programs before wrote them: logs that hold them are read, and nothing begins with them.
    @Test func aStartOfTheOlderFormIsReadAndBeginsNothing() throws {
        let start = try account.start()
        var older = start.request + start.identityKey + Array(start.commitment.encoded.prefix(72))
        for time in [start.started, start.expires] {
            older += (0..<8).reversed().map { UInt8(truncatingIfNeeded: time >> (8 * UInt64($0))) }
        }
        let base = account.committed
        var note = Array("signet-recovery-note/v1\n".utf8) + [0, 0, 0, 0, 0, 0, 0, UInt8(base.version + 1)]
        note += base.hash + [1] + older + [0]
        note += [UInt8(base.encoded.count >> 8), UInt8(base.encoded.count & 255)] + base.encoded
        note += try account.newIdentity.raw(note)
        let asked = try AccountState(decoding: note)
        #expect(asked.encoded == note)
        guard case .started(let read, superseded: nil, _) = asked.step else {
            Issue.record("no start")
            return
        }
        #expect(read.endorsement == nil && read.encoded == older && read.hash == asked.pendingRecovery)
        #expect(throws: AccountStepError.notEndorsed) { try AccountStepVerifier.verify(asked, after: base) }
        // It may be stopped, and one that has an endorsement follows when it has expired.
        #expect(asked.isFollowed(by: try account.stopped(after: asked)))
        let next = try AccountState(
            starting: account.start(started: read.expires), superseding: read, after: asked,
            with: account.newIdentity.raw)
        #expect(asked.isFollowed(by: next))
        #expect(try AccountState(decoding: next.encoded) == next)
    }

    @Test func aStartReadsBackAndNothingElseDoes() throws {
        let start = try account.start()
        #expect(try RecoveryStart(decoding: start.encoded) == start)
        #expect(start.encoded.count == RecoveryStart.byteCount)
        #expect(throws: RecoveryStepFault.self) { try RecoveryStart(decoding: start.encoded + [0]) }
        #expect(throws: RecoveryStepFault.self) { try RecoveryStart(decoding: start.encoded.dropLast()) }
    }
}
