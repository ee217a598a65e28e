// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import KeyTransparency
import SecretMemory
import SecretSharing
import Testing

@testable import SocialRecovery

@Suite struct RecoveryTests {
    let world: World
    let device: NewDevice
    let request: RecoveryRequest

    init() throws {
        world = try World()
        device = try NewDevice()
        request = try device.request(world.scope)
    }

    private func take(_ release: ShareRelease, _ position: Int, _ attempt: inout RecoveryAttempt) throws {
        try attempt.take(release, from: world.guardians[position].key)
    }

    private func attempt(right: [Int], lies: [Int] = []) throws -> RecoveryAttempt {
        var attempt = try world.attempt(request)
        for position in lies { try take(world.lie(position, request), position, &attempt) }
        for position in right { try take(world.release(position, request, device), position, &attempt) }
        return attempt
    }

    private func succeed(_ attempt: inout RecoveryAttempt, at time: UInt64 = World.afterDelay) throws -> AccountState {
        try attempt.succeed(
            with: device.sealing, after: world.asked(request, by: device), device: world.record(of: device),
            at: time, accepting: device.identity.rawSignature)
    }

    private func names(_ positions: [Int]) -> [Handle] { positions.map { world.guardians[$0].handle } }

    private func judged(right: [Int], wrong: [Int], missing: Int) -> RecoveryStanding {
        RecoveryStanding(
            right: names(right), wrong: names(wrong), unjudged: [], missing: missing, isMissingExact: true)
    }

    /// A person, five guardians, a device destroyed; one guardian is dead and one lies.
    @Test func threeHonestGuardiansRecoverAgainstOneDeadAndOneLiar() throws {
        var attempt = try attempt(right: [1, 2, 4], lies: [0])
        let standing = attempt.standing(with: device.sealing)
        #expect(standing == judged(right: [1, 2, 4], wrong: [0], missing: 0))
        let after = try succeed(&attempt)
        #expect(after.identityKey == device.identity.publicBytes && after.recoveryCommitment == nil)
        let entries = try attempt.withJournalKey(device.sealing) { try world.journal.open(with: $0, first: 1).entries }
        #expect(entries.count == 2)
        try attempt.succeeded(before: world.state, after: after)
        try attempt.rearmed(by: rearmedSetup())
        #expect(attempt.stage == .done)
    }

    /// A second set, kept by all and in force.
    private func rearmedSetup(epoch: UInt32 = 2) throws -> RecoverySetup {
        let next = try World(epoch: epoch)
        var setup = next.setup
        for (position, guardian) in next.guardians.enumerated() {
            let proof = try next.packet(of: position).proveHolding(of: setup.guardians[position].challenge)
            try setup.kept(by: guardian.handle, proof)
        }
        try setup.publish()
        try setup.activate(by: next.state)
        return setup
    }

    @Test func everyThreeOfFiveRecover() throws {
        for first in 0..<5 {
            for second in 0..<first {
                for third in 0..<second {
                    let attempt = try attempt(right: [first, second, third])
                    #expect(try attempt.withRecoveryKey(device.sealing) { _ in true })
                }
            }
        }
    }

    @Test func tooFewSharesSayHowManyAreMissing() throws {
        var attempt = try attempt(right: [0, 1])
        #expect(attempt.standing(with: device.sealing).missing == 1)
        #expect(throws: RecoveryAttemptError.notEnough(missing: 1)) {
            _ = try succeed(&attempt)
        }
        #expect(attempt.stage == .collecting && attempt.succession == nil)
    }

    @Test func allLiarsAreNamedAndNothingIsRecovered() throws {
        let attempt = try attempt(right: [], lies: [0, 1, 2, 3, 4])
        let standing = attempt.standing(with: device.sealing)
        #expect(standing == judged(right: [], wrong: [0, 1, 2, 3, 4], missing: 3))
        #expect(throws: RecoveryAttemptError.notEnough(missing: 3)) {
            try attempt.withRecoveryKey(device.sealing) { _ in }
        }
    }

    @Test func recovery_leavesOutABadShareAmongMoreThanNeeded() throws {
        let attempt = try attempt(right: [0, 1, 3, 4], lies: [2])
        #expect(attempt.standing(with: device.sealing).wrong == names([2]))
        #expect(try attempt.withRecoveryKey(device.sealing) { _ in true })
    }

    @Test func aGuardianMayCorrectAWrongShare() throws {
        var attempt = try attempt(right: [0, 1], lies: [2])
        try take(world.release(2, request, device), 2, &attempt)
        #expect(attempt.standing(with: device.sealing) == judged(right: [0, 1, 2], wrong: [], missing: 0))
    }

    @Test func aShareSentByTwoGuardiansCountsOnce() throws {
        // Two guardians collude: the second sends the first one's share as their own.
        var attempt = try attempt(right: [0, 1])
        let anas = try world.packet(of: 0)
        let copy = GuardianPacket(
            scope: anas.scope, share: anas.share, recoveryKeyHash: anas.recoveryKeyHash, owner: world.owner,
            guardian: world.guardians[2].handle, meeting: anas.meeting, delay: anas.delay,
            parts: anas.parts, askKey: anas.askKey)
        let release = try #require(
            ShareRelease(copy, for: request, signing: world.guardians[2].identity.rawSignature))
        try take(release, 2, &attempt)
        #expect(attempt.standing(with: device.sealing) == judged(right: [0, 1], wrong: [2], missing: 1))
    }

    @Test func aReleaseOpensOnTheRequestsDeviceOnly() throws {
        let release = try world.release(0, request, device)
        #expect(release.open(with: device.sealing) != nil)
        #expect(release.open(with: try NewDevice().sealing) == nil)
        #expect(release.open(with: world.guardians[1].sealing) == nil)
    }

    @Test func aReleaseForAnotherRequestIsRefused() throws {
        // The same device asks again: what answered the first request does not answer the second.
        let again = try device.request(world.scope, created: World.now + 1)
        let release = try world.release(0, again, device)
        var attempt = try world.attempt(request)
        #expect(throws: RecoveryAttemptError.anotherRequest) { try take(release, 0, &attempt) }
    }

    @Test func aReleaseUnderAnothersNameIsRefused() throws {
        var attempt = try world.attempt(request)
        let release = try world.release(0, request, device)
        #expect(throws: RecoveryAttemptError.notFromGuardian(world.guardians[1].handle)) {
            try take(release, 1, &attempt)
        }
        let forger = GuardianKey(
            unchecked: world.guardians[0].handle, sealingKey: world.guardians[1].sealing.publicBytes,
            identityKey: world.guardians[1].identity.publicBytes)
        #expect(throws: RecoveryAttemptError.notFromGuardian(world.guardians[0].handle)) {
            try attempt.take(release, from: forger)
        }
    }

    @Test func everyFlippedBitOfAReleaseIsRefused() throws {
        let encoded = try world.release(0, request, device).encoded
        #expect(try ShareRelease(decoding: encoded).encoded == encoded)
        for bit in stride(from: 0, to: encoded.count * 8, by: 5) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            var attempt = try world.attempt(request)
            #expect(throws: (any Error).self) { try take(ShareRelease(decoding: changed), 0, &attempt) }
        }
        #expect(throws: RecoveryFormatError.self) { try ShareRelease(decoding: encoded + [0]) }
    }

    @Test func theSameReleaseTwiceCountsOnce() throws {
        var attempt = try attempt(right: [0])
        try take(world.release(0, request, device), 0, &attempt)
        #expect(attempt.standing(with: device.sealing).unjudged == names([0]))
    }

    @Test func twoGuardiansAreEnoughToFindTheOthersAndOneIsNot() throws {
        #expect(try attempt(right: []).guardians(with: device.sealing) == nil)
        for position in 0..<5 { #expect(try attempt(right: [position]).guardians(with: device.sealing) == nil) }
        #expect(try attempt(right: [3, 1]).guardians(with: device.sealing) == names([0, 1, 2, 3, 4]))
    }

    @Test func sharesAreUnjudgedBeforeTwoGuardiansHaveHelped() throws {
        let standing = try attempt(right: [3]).standing(with: device.sealing)
        #expect(
            standing
                == RecoveryStanding(right: [], wrong: [], unjudged: names([3]), missing: 1, isMissingExact: false))
        #expect(throws: RecoveryAttemptError.notEnough(missing: 1)) {
            try attempt(right: [3]).withRecoveryKey(device.sealing) { _ in }
        }
        #expect(try attempt(right: []).standing(with: device.sealing).missing == 2)
    }

    /// A guardian whose share is right and whose part of the list's key is not keeps the list shut for nobody.
    @Test(arguments: [0, 2, 4]) func aFalsePartOfTheListsKeyIsNamed(_ liar: Int) throws {
        let packet = try world.packet(of: liar)
        let zeros = [UInt8](repeating: 0, count: 32)
        let part = try #require(ByteShare(place: packet.place, value: SecretBytes(copying: zeros.span)))
        let forged = GuardianPacket(
            scope: packet.scope, share: packet.share, recoveryKeyHash: packet.recoveryKeyHash, owner: world.owner,
            guardian: packet.guardian, meeting: packet.meeting, delay: packet.delay,
            parts: GuardianParts(directory: part, journal: packet.parts.journal), askKey: packet.askKey)
        let release = try #require(
            ShareRelease(forged, for: request, signing: world.guardians[liar].identity.rawSignature))
        var attempt = try world.attempt(request)
        try take(release, liar, &attempt)
        for position in [1, 3] { try take(world.release(position, request, device), position, &attempt) }
        #expect(attempt.standing(with: device.sealing) == judged(right: [1, 3], wrong: [liar], missing: 1))
    }

    @Test func anAttemptNeedsWhatTheAccountCommittedTo() throws {
        #expect(throws: RecoveryAttemptError.notCommitted) {
            try RecoveryAttempt(
                request, start: world.start(request), bundle: world.setup.bundle.encoded, state: world.before)
        }
        let older = try World()
        #expect(throws: RecoveryAttemptError.bundle(.notCommitted)) {
            try RecoveryAttempt(
                request, start: world.start(request), bundle: older.setup.bundle.encoded, state: world.state)
        }
        let other = try device.request(try #require(RecoveryScope(label: world.label, epoch: 2)))
        #expect(throws: RecoveryAttemptError.anotherAccount) { try world.attempt(other) }
        let others = try world.start(try NewDevice().request(world.scope))
        #expect(throws: RecoveryAttemptError.anotherRequest) {
            try RecoveryAttempt(request, start: others, bundle: world.setup.bundle.encoded, state: world.state)
        }
    }

    @Test func sharesOfTwoEpochsAreNotMixed() throws {
        let next = try World(epoch: 2)
        let later = try device.request(next.scope)
        var attempt = try attempt(right: [0, 1])
        let release = try next.release(2, later, device)
        #expect(throws: RecoveryAttemptError.anotherRequest) {
            try attempt.take(release, from: next.guardians[2].key)
        }
    }

    @Test func aSuccessionBeforeTheDelayIsRefusedByAllOthers() throws {
        // Enough guardians with changed programs may release early; what they sign does not count before its time.
        var attempt = try attempt(right: [0, 1, 2])
        #expect(throws: RecoveryAttemptError.recoveryKeyUnused) {
            _ = try succeed(&attempt, at: World.afterDelay - 1)
        }
        #expect(attempt.stage == .collecting)
    }

    /// The second run of the story: the owner's old phone is not destroyed, and objects.
    @Test func anObjectionRulesOutTheSuccession() throws {
        let asked = try world.asked(request, by: device)
        let stopped = try AccountState(stopping: RecoveryStop(device: 1, time: World.now + 3600), after: asked) {
            Array(try world.device.signature(for: $0))
        }
        #expect(asked.isFollowed(by: stopped))
        var attempt = try attempt(right: [0, 1, 2])
        let succession = try attempt.succeed(
            with: device.sealing, after: stopped, device: world.record(of: device), at: World.afterDelay,
            accepting: device.identity.rawSignature)
        #expect(throws: AccountStepError.nothingUnderWay) {
            try AccountStepVerifier.verify(succession, after: stopped)
        }
        #expect(!asked.isFollowed(by: succession))
    }

    @Test func aRecoveryIsNotDoneBeforeOldDevicesAreGoneAndGuardiansAreSet() throws {
        var attempt = try attempt(right: [0, 1, 2])
        #expect(throws: RecoveryAttemptError.outOfOrder(.collecting)) {
            try attempt.succeeded(before: world.state, after: world.state)
        }
        _ = try succeed(&attempt)
        #expect(throws: RecoveryAttemptError.notSucceeded) {
            try attempt.succeeded(before: world.state, after: world.state)
        }
        let withOldDevice = try World.state(
            world.owner, device.identity, world.device, version: 3, commitment: nil, previous: world.state)
        #expect(throws: RecoveryAttemptError.oldDevicesRemain) {
            try attempt.succeeded(before: world.state, after: withOldDevice)
        }
        let both = AccountStateBody(
            handle: world.owner, version: 3, previous: world.state.hash, identityKey: device.identity.publicBytes,
            recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil,
            devices: world.state.devices + [try world.record(of: device)])
        let withBoth = try AccountState(signing: both, with: device.identity.rawSignature)
        #expect(throws: RecoveryAttemptError.oldDevicesRemain) {
            try attempt.succeeded(before: world.state, after: withBoth)
        }
        let after = try World.state(
            world.owner, device.identity, device.signing, version: 3, commitment: nil, previous: world.state)
        #expect(throws: RecoveryAttemptError.outOfOrder(.succeeding)) { try attempt.rearmed(by: world.setup) }
        try attempt.succeeded(before: world.state, after: after)
        #expect(throws: RecoveryAttemptError.notRearmed) { try attempt.rearmed(by: world.setup) }
        #expect(throws: RecoveryAttemptError.notRearmed) { try attempt.rearmed(by: rearmedSetup(epoch: 1)) }
        #expect(throws: RecoveryAttemptError.outOfOrder(.rearming)) {
            try take(world.release(3, request, device), 3, &attempt)
        }
        try attempt.rearmed(by: rearmedSetup())
    }

    /// The power fails after every step, and each step is then repeated.
    @Test func aRecoveryGoesOnAfterAPowerFailureBetweenAnyTwoSteps() throws {
        func restart(_ attempt: RecoveryAttempt) throws -> RecoveryAttempt {
            let again = try RecoveryAttempt(decoding: attempt.encoded)
            #expect(again == attempt)
            return again
        }
        var attempt = try restart(world.attempt(request))
        for position in [4, 2, 0] {
            let release = try world.release(position, request, device)
            for _ in 0..<2 {
                try take(release, position, &attempt)
                attempt = try restart(attempt)
            }
        }
        var successions: Set<AccountState> = []
        for _ in 0..<2 {
            successions.insert(
                try succeed(&attempt))
            attempt = try restart(attempt)
        }
        #expect(successions.allSatisfy { (try? world.asked(request, by: device))?.version == $0.version - 1 })
        let after = try World.state(
            world.owner, device.identity, device.signing, version: 3, commitment: nil, previous: world.state)
        for _ in 0..<2 {
            try attempt.succeeded(before: world.state, after: after)
            attempt = try restart(attempt)
        }
        let setup = try rearmedSetup()
        for _ in 0..<2 {
            try attempt.rearmed(by: setup)
            attempt = try restart(attempt)
        }
        #expect(attempt.stage == .done)
    }

    @Test func nothingSecretIsInAStoredAttempt() throws {
        let attempt = try attempt(right: [0, 1, 2])
        let secret = try attempt.withRecoveryKey(device.sealing) { $0.exposed }
        #expect(!contains(attempt.encoded, secret))
        for position in 0..<3 {
            #expect(!contains(attempt.encoded, try world.packet(of: position).share.scalar.exposed))
        }
    }

    @Test func aTruncatedOrExtendedAttemptIsRefused() throws {
        let encoded = try attempt(right: [0, 1]).encoded
        for cut in stride(from: 0, to: encoded.count, by: 101) {
            #expect(throws: RecoveryFormatError.self) { try RecoveryAttempt(decoding: Array(encoded.prefix(cut))) }
        }
        #expect(throws: RecoveryFormatError.self) { try RecoveryAttempt(decoding: encoded + [0]) }
        var claimed = encoded
        claimed[27] = 4
        #expect(throws: RecoveryFormatError.invalidField) { try RecoveryAttempt(decoding: claimed) }
    }

    /// After a recovery each site gets new keys, from the recovery key that this site alone knew.
    @Test func sitesTakeNewKeysFromTheJournal() throws {
        let attempt = try attempt(right: [0, 1, 2])
        let entries = try attempt.withJournalKey(device.sealing) { try world.journal.open(with: $0, first: 1).entries }
        guard case .siteRecovery(let host, let key) = entries[1] else {
            Issue.record("no site")
            return
        }
        let (new, nextRecovery) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let challenge = [UInt8](repeating: 6, count: 32)
        let onFile = try key.publicPoint().encoded
        let statement = try SiteRecovery(
            at: host, challenge: challenge, oldRecoveryKey: onFile, publicKey: new.publicBytes,
            recoveryKey: nextRecovery.publicBytes,
            recovering: { try key.signingKey().rawSignature($0) }, signing: new.rawSignature)
        #expect(throws: Never.self) {
            try SiteRecovery(decoding: statement.encoded, at: host, challenge: challenge, oldRecoveryKey: onFile)
        }
    }
}
