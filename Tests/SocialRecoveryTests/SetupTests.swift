// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import SecretSharing
import SeededRandomness
import Testing

@testable import SocialRecovery

@Suite struct SetupTests {
    let world: World

    init() throws { world = try World() }

    @Test func eachGuardianOpensTheirOwnPacketAndNoOther() throws {
        for (position, guardian) in world.guardians.enumerated() {
            let packet = try world.packet(of: position)
            #expect(packet.guardian == guardian.handle && packet.owner == world.owner)
            #expect(throws: Never.self) { try world.setup.commitments.verify(packet.share) }
            for other in world.setup.guardians where other.key.handle != guardian.handle {
                #expect(throws: GuardianPacketError.notSealedToThisDevice) {
                    try GuardianPacket(
                        opening: other.packet, with: guardian.sealing, scope: world.scope, as: guardian.handle,
                        from: world.owner, identityKey: world.identity.publicBytes)
                }
            }
        }
    }

    /// No length, count, place or threshold: the reviewer's script, and more, for whoever has one guardian's home and the
    /// recovery file.
    @Test func packetsAndBundleDoNotRevealTheNumberOfGuardians() throws {
        let worlds = try [(2, 3), (3, 5), (5, 9), (2, 16), (15, 16)].map { try World(threshold: $0, count: $1) }
        #expect(Set(worlds.map(\.setup.bundle.encoded.count)) == [RecoveryBundle.byteCount])
        #expect(Set(worlds.map(\.setup.commitment.encoded.count)) == [RecoveryCommitment.byteCount])
        #expect(Set(worlds.flatMap { $0.setup.guardians.map(\.packet.count) }) == [GuardianPacket.sealedByteCount])
        let files = worlds.map { world in
            RecoveryContents(
                commitment: world.setup.commitment, bundle: world.setup.bundle.encoded, journal: world.journal
            ).encoded.count
        }
        #expect(Set(files).count == 1)
    }

    /// Both places of each guardian are drawn from all there are: neither counts the guardians.
    @Test func aPlaceRevealsNothingAboutOtherPlaces() throws {
        var (scalars, parts): (Set<UInt16>, Set<UInt8>) = ([], [])
        for seed in 1...12 {
            let world = try World(threshold: 2, count: 3, seed: UInt64(seed))
            for position in 0..<3 {
                let packet = try world.packet(of: position)
                scalars.insert(packet.share.index.value)
                parts.insert(packet.place)
            }
        }
        #expect(scalars.filter { $0 > 255 }.count > 30 && parts.filter { $0 > 16 }.count > 25)
        #expect(scalars.count > 30 && parts.count > 25)
    }

    @Test func nothingSecretIsInWhatIsStored() throws {
        let secret = try SecretScalar(
            combining: (0..<3).map { position in
                try world.setup.commitments.verify(world.packet(of: position).share)
            })
        var secrets = [secret.exposed, world.accountKey, world.siteKey.exposed]
        for position in 0..<5 { secrets.append(try world.packet(of: position).share.scalar.exposed) }
        let stored = world.setup.encoded + world.journal.encoded
        for secret in secrets { #expect(!contains(stored, secret)) }
    }

    static let wrongNumbers: [(Int, Int, RecoverySetupError)] = [
        (3, 3, .tooFewGuardians(needed: 4)), (3, 2, .tooFewGuardians(needed: 4)), (1, 5, .thresholdTooLow(1)),
        (0, 5, .thresholdTooLow(0)), (3, 17, .tooManyGuardians(17)),
    ]

    @Test(arguments: wrongNumbers)
    func numbersThatCouldNotRecoverAreRefused(_ threshold: Int, _ count: Int, _ error: RecoverySetupError) {
        #expect(throws: error) { try World(threshold: threshold, count: count) }
    }

    @Test func aDelayBeyondAMonthIsRefused() {
        #expect(throws: RecoverySetupError.delayTooLong(2_592_001)) { try World(delay: 2_592_001) }
    }

    private func begin(_ guardians: [GuardianKey]) throws {
        _ = try World.setUp(
            plan: RecoverySetup.Plan(
                scope: world.scope, owner: world.owner, ownKey: guardians[0].sealingKey,
                guardians: guardians.map { ($0, MeetingEvidence(kind: .none, date: 0)) }, threshold: 2,
                created: World.now), world.identity, world.device, entries: [], seed: 1)
    }

    @Test func setup_refusesARepeatedPersonOrDevice() throws {
        let keys = world.guardians.map(\.key)
        #expect(throws: RecoverySetupError.repeatedGuardian) { try begin([keys[0], keys[1], keys[0]]) }
        let sameDevice = GuardianKey(
            unchecked: keys[2].handle, sealingKey: keys[0].sealingKey, identityKey: keys[2].identityKey)
        #expect(throws: RecoverySetupError.repeatedGuardian) { try begin([keys[0], keys[1], sameDevice]) }
    }

    @Test func setup_refusesTheOwnerAsGuardian() throws {
        let keys = world.guardians.map(\.key)
        let own = GuardianKey(
            unchecked: world.owner, sealingKey: keys[2].sealingKey, identityKey: keys[2].identityKey)
        #expect(throws: RecoverySetupError.ownGuardian) { try begin([keys[0], keys[1], own]) }
    }

    @Test func aGuardiansBrokenKeyIsNamed() throws {
        let keys = world.guardians.map(\.key)
        let broken = GuardianKey(
            unchecked: keys[2].handle, sealingKey: [UInt8](repeating: 0xFF, count: 1216), identityKey: [])
        #expect(throws: RecoverySetupError.invalidGuardianKey(keys[2].handle)) {
            try begin([keys[0], keys[1], broken])
        }
    }

    private func proof(_ position: Int, of setup: RecoverySetup) throws -> HoldingProof {
        try world.packet(of: position).proveHolding(of: setup.guardians[position].challenge)
    }

    @Test func fourOfFiveHaveToKeepTheirPacketBeforeItCounts() throws {
        var setup = world.setup
        #expect(setup.neededCount == 4)
        for position in 0..<3 { try setup.kept(by: world.guardians[position].handle, proof(position, of: setup)) }
        #expect(throws: RecoverySetupError.notEnoughKept(missing: 1)) { try setup.publish() }
        #expect(throws: RecoverySetupError.notEnoughKept(missing: 1)) { try setup.activate(by: world.state) }
        try setup.kept(by: world.guardians[3].handle, proof(3, of: setup))
        try setup.publish()
        #expect(setup.stage == .publishing)
    }

    @Test func anAnswerThatProvesNothingDoesNotCount() throws {
        var setup = world.setup
        let anas = try proof(0, of: setup)
        #expect(throws: RecoverySetupError.notKept(world.guardians[1].handle)) {
            try setup.kept(by: world.guardians[1].handle, anas)
        }
        #expect(throws: RecoverySetupError.noSuchGuardian) { try setup.kept(by: world.owner, anas) }
        #expect(setup.keptCount == 0)
    }

    @Test func aStateThatCommitsToAnotherSetDoesNotActivate() throws {
        var setup = world.setup
        for position in 0..<5 { try setup.kept(by: world.guardians[position].handle, proof(position, of: setup)) }
        try setup.publish()
        #expect(throws: RecoverySetupError.notCommitted) { try setup.activate(by: world.before) }
        try setup.activate(by: world.state)
        #expect(setup.stage == .active)
    }

    /// The power fails after every step, and once more after the step was repeated.
    @Test func aSetupGoesOnAfterAPowerFailureBetweenAnyTwoSteps() throws {
        func restart(_ setup: RecoverySetup) throws -> RecoverySetup {
            let again = try RecoverySetup(decoding: setup.encoded)
            #expect(again == setup)
            return again
        }
        var setup = try restart(world.setup)
        for position in 0..<5 {
            for _ in 0..<2 {
                try setup.kept(by: world.guardians[position].handle, proof(position, of: setup))
                setup = try restart(setup)
            }
        }
        for _ in 0..<2 {
            try setup.publish()
            setup = try restart(setup)
        }
        for _ in 0..<2 {
            try setup.activate(by: world.state)
            setup = try restart(setup)
        }
        #expect(setup.stage == .active && setup.keptCount == 5)
    }

    @Test func aTruncatedOrExtendedSetupIsRefused() throws {
        let encoded = world.setup.encoded
        for cut in stride(from: 0, to: encoded.count, by: 97) {
            #expect(throws: RecoveryFormatError.self) { try RecoverySetup(decoding: Array(encoded.prefix(cut))) }
        }
        #expect(throws: RecoveryFormatError.malformed(.trailingBytes(1))) {
            try RecoverySetup(decoding: encoded + [0])
        }
    }

    @Test func aCheckNamesWhoKeepsAndRehearses() throws {
        var generator = SeededGenerator(seed: 5)
        var check = GuardianCheck(of: world.setup, using: &generator)
        func answer(_ position: Int) throws -> HoldingProof {
            let challenge = try #require(check.challenges[world.guardians[position].handle])
            return try world.packet(of: position).proveHolding(of: challenge)
        }
        #expect(check.standing.spare == -3 && !check.standing.isRecoverable)
        for position in [0, 2, 3] { try check.answered(world.guardians[position].handle, answer(position)) }
        #expect(check.standing.kept == [0, 2, 3].map { world.guardians[$0].handle })
        #expect(check.standing.silent == [1, 4].map { world.guardians[$0].handle })
        #expect(check.standing.spare == 0 && check.standing.isRecoverable)
        let stale = try answer(2)
        #expect(throws: RecoverySetupError.notKept(world.guardians[1].handle)) {
            try check.answered(world.guardians[1].handle, stale)
        }
        for position in [1, 4] { try check.answered(world.guardians[position].handle, answer(position)) }
        #expect(check.standing.spare == 2 && check.standing.silent.isEmpty)
    }
}

@Suite struct PacketTests {
    let world: World

    init() throws { world = try World() }

    private func open(
        _ sealed: [UInt8], scope: RecoveryScope? = nil, as guardian: Handle? = nil, from owner: Handle? = nil,
        identityKey: [UInt8]? = nil
    ) throws -> GuardianPacket {
        try GuardianPacket(
            opening: sealed, with: world.guardians[0].sealing, scope: scope ?? world.scope,
            as: guardian ?? world.guardians[0].handle, from: owner ?? world.owner,
            identityKey: identityKey ?? world.identity.publicBytes)
    }

    private var sealed: [UInt8] { world.setup.guardians[0].packet }

    @Test func aPacketForAnotherGuardianIsRefused() {
        #expect(throws: GuardianPacketError.anotherGuardian) { try open(sealed, as: world.guardians[1].handle) }
    }

    @Test func aPacketOfAnotherAccountIsRefused() throws {
        #expect(throws: GuardianPacketError.anotherAccount) { try open(sealed, from: world.guardians[1].handle) }
        let other = try #require(RecoveryScope(label: world.label, epoch: 2))
        #expect(throws: GuardianPacketError.notSealedToThisDevice) { try open(sealed, scope: other) }
    }

    @Test func aPacketThatTheOwnerDidNotSignIsRefused() {
        #expect(throws: GuardianPacketError.malformed(.invalidField)) {
            try open(sealed, identityKey: world.guardians[1].identity.publicBytes)
        }
    }

    @Test(arguments: [0, 1105, 2159, 2161, 1 << 20]) func aPacketOfAnotherLengthIsRefused(_ count: Int) {
        #expect(throws: GuardianPacketError.invalidLength(count)) { try open([UInt8](repeating: 0, count: count)) }
    }

    @Test func everyFlippedBitIsRefused() {
        for bit in stride(from: 0, to: sealed.count * 8, by: 13) {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: GuardianPacketError.notSealedToThisDevice) { try open(changed) }
        }
    }

    /// Seals a plaintext of the packet's form, changed, and signed by the owner again.
    private func resealed(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
        let key = world.guardians[0].sealing
        var plaintext = try #require(
            PublicSealing.open(sealed, with: key, purpose: "signet-packet/v2", context: world.scope.encoded))
        let owners = world.owner.bytes.count + world.guardians[0].handle.bytes.count
        let end = 17 + 36 + 2 + 32 + 33 + 32 + 2 + owners + 9 + 4 + 65 + 32
        change(&plaintext)
        let signature = try world.identity.rawSignature(Array(plaintext.prefix(end)))
        plaintext.replaceSubrange(end..<end + 64, with: signature)
        return try #require(
            PublicSealing.seal(
                plaintext, to: key.publicBytes, purpose: "signet-packet/v2", context: world.scope.encoded))
    }

    @Test func aShareThatDoesNotMatchItsPublicHalfIsRefused() throws {
        #expect(throws: Never.self) { try open(resealed { _ in }) }
        let wrong = try resealed { $0[17 + 36 + 2 + 31] ^= 1 }
        #expect(throws: GuardianPacketError.wrongShare) { try open(wrong) }
    }

    @Test func aShareThatIsNoScalarIsRefused() throws {
        for value: UInt8 in [0, 0xFF] {
            let wrong = try resealed { plaintext in for offset in 55..<87 { plaintext[offset] = value } }
            #expect(throws: GuardianPacketError.malformed(.invalidField)) { try open(wrong) }
        }
    }

    @Test func aPlaceOfZeroIsRefused() throws {
        let wrong = try resealed { ($0[53], $0[54]) = (0, 0) }
        #expect(throws: GuardianPacketError.malformed(.invalidField)) { try open(wrong) }
    }

    @Test func bytesAfterThePacketAreRefused() throws {
        let wrong = try resealed { $0[1023] = 1 }
        #expect(throws: GuardianPacketError.malformed(.invalidField)) { try open(wrong) }
    }

    /// The attack: whoever holds a device of the owner's sends two packets, and the one that the log names is gone.
    @Test func packetsOfALoggedSetAreNeverEvicted() throws {
        var duty = GuardianDuty(keeping: try world.packet(of: 0), sealed: sealed)
        for epoch: UInt32 in [7, 3, 9, 2] {
            let next = try World(epoch: epoch)
            try duty.keep(next.packet(of: 0), sealed: next.setup.guardians[0].packet, beside: [1])
            #expect(duty.epochs == [epoch, 1])
        }
        let third = try World(epoch: 3)
        try duty.keep(third.packet(of: 0), sealed: third.setup.guardians[0].packet, beside: [1, 2])
        #expect(duty.epochs == [3, 2, 1])
        #expect(try GuardianDuty(decoding: duty.encoded) == duty)
    }

    @Test func aDutyKeepsTheOldPacketUntilTheNewOneIsInForce() throws {
        let next = try World(epoch: 2)
        var duty = GuardianDuty(keeping: try world.packet(of: 0), sealed: sealed)
        #expect(throws: GuardianDutyError.notKept(epoch: 2)) { try duty.retire(before: 2) }
        let newer = try next.packet(of: 0)
        try duty.keep(newer, sealed: next.setup.guardians[0].packet, beside: [1])
        #expect(duty.epochs == [2, 1])
        try duty.keep(newer, sealed: next.setup.guardians[0].packet, beside: [1])
        #expect(duty.epochs == [2, 1])
        duty = try GuardianDuty(decoding: duty.encoded)
        #expect(throws: Never.self) {
            try duty.packet(
                epoch: 1, with: world.guardians[0].sealing, as: world.guardians[0].handle,
                identityKey: world.identity.publicBytes)
        }
        try duty.retire(before: 2)
        #expect(duty.epochs == [2])
        #expect(throws: GuardianDutyError.notNewer(held: 2)) {
            try duty.keep(world.packet(of: 0), sealed: sealed, beside: [2])
        }
        #expect(throws: GuardianDutyError.notKept(epoch: 1)) {
            try duty.packet(
                epoch: 1, with: world.guardians[0].sealing, as: world.guardians[0].handle,
                identityKey: world.identity.publicBytes)
        }
    }
}

@Suite struct BundleTests {
    let world: World

    init() throws { world = try World() }

    @Test func theCommittedBundleRoundTrips() throws {
        let bundle = try RecoveryBundle(
            decoding: world.setup.bundle.encoded, commitment: world.setup.commitment)
        #expect(bundle == world.setup.bundle)
        #expect(throws: Never.self) { try bundle.verify(signedBy: world.identity.publicBytes) }
        #expect(throws: RecoveryBundleError.invalidSignature) {
            try bundle.verify(signedBy: world.guardians[0].identity.publicBytes)
        }
    }

    @Test func anOlderBundleIsRefused() throws {
        let newer = try World(epoch: 2)
        #expect(throws: RecoveryBundleError.notCommitted) {
            try RecoveryBundle(decoding: world.setup.bundle.encoded, commitment: newer.setup.commitment)
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        let encoded = world.setup.bundle.encoded
        for bit in stride(from: 0, to: encoded.count * 8, by: 131) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: RecoveryBundleError.notCommitted) {
                try RecoveryBundle(decoding: changed, commitment: world.setup.commitment)
            }
        }
        #expect(throws: RecoveryBundleError.notCommitted) {
            try RecoveryBundle(decoding: encoded + [0], commitment: world.setup.commitment)
        }
        let endless = [UInt8](repeating: 0, count: 1 << 20)
        #expect(throws: RecoveryBundleError.tooLong(1 << 20)) {
            try RecoveryBundle(decoding: endless, commitment: world.setup.commitment)
        }
    }

    @Test func everyGuardianAndTheOwnersDeviceHaveTheAskKey() throws {
        let committed = try #require(world.setup.commitment.askKey)
        for position in world.guardians.indices {
            #expect(try world.packet(of: position).askKey.publicKey == committed)
        }
        #expect(world.setup.askKey(with: world.ownKey)?.publicKey == committed)
        #expect(try world.setup.askKey(with: SealingKey.generate()) == nil)
        #expect(try RecoverySetup(decoding: world.setup.encoded) == world.setup)
        let another = try World(seed: 2)
        #expect(another.setup.commitment.askKey != committed, "drawn anew each time")
    }

    /// What a malformed bundle is, even when the account committed to it.
    private func committed(_ change: (inout [UInt8]) -> Void) throws -> RecoveryBundleError? {
        var bytes = world.setup.bundle.encoded
        change(&bytes)
        let commitment = try RecoveryCommitment(
            epoch: 1, delay: World.delay, recoveryKey: world.setup.commitments.publicKey.encoded,
            bundle: bytes, askKey: world.setup.commitment.askKey ?? [])
        do throws(RecoveryBundleError) {
            _ = try RecoveryBundle(decoding: bytes, commitment: commitment)
            return nil
        } catch { return error }
    }

    @Test func aMalformedBundleIsRefusedEvenWhenItIsCommittedTo() throws {
        #expect(try committed { _ in } == nil)
        #expect(try committed { $0.append(0) } == .malformed(.malformed(.trailingBytes(1))))
        #expect(try committed { $0[0] ^= 1 } == .malformed(.unknownFormat))
        #expect(try committed { $0[15] = UInt8(ascii: "1") } == .malformed(.anotherVersion))
        #expect(try committed { $0.removeLast() } != nil)
        #expect(try committed { $0[17 + 35] = 2 } == .notCommitted)
        #expect(try committed { $0[17 + 36 + 8 + 3] ^= 1 } == .notCommitted)
        #expect(try committed { $0[17 + 36 + 8] = 0xFF } == .malformed(.invalidField))
    }

    private func parts(_ position: Int) throws -> GuardianParts { try world.packet(of: position).parts }

    /// Turned around: until version 2 any one guardian's packet had the key.
    @Test func theListOfGuardiansOpensWithTwoGuardiansPartsAndNotWithOne() throws {
        let bundle = world.setup.bundle
        for first in 0..<5 {
            for second in 0..<5 where second != first {
                let contents = try #require(
                    try bundle.directory.open(with: parts(first), parts(second), scope: bundle.scope))
                #expect(contents.guardians.map(\.handle) == world.guardians.map(\.handle))
                #expect(contents.commitments == world.setup.commitments)
            }
            // All that one guardian has, and the whole file that the server has.
            let own = try parts(first)
            #expect(bundle.directory.open(with: own, own, scope: bundle.scope) == nil)
            for key in [own.directory.value, own.journal.value] {
                #expect(bundle.directory.open(with: key, scope: bundle.scope) == nil)
            }
            for handle in world.guardians.map(\.handle) { #expect(!contains(bundle.encoded, handle.bytes)) }
        }
        let another = try World(seed: 2).packet(of: 1).parts
        #expect(try bundle.directory.open(with: parts(0), another, scope: bundle.scope) == nil)
        let later = try #require(RecoveryScope(label: world.label, epoch: 2))
        #expect(try bundle.directory.open(with: parts(0), parts(1), scope: later) == nil)
    }

    /// What says how many are needed, and by which key, is inside the list.
    @Test func theBundleHoldsNeitherTheRecoveryKeyNorItsCommitments() throws {
        for point in world.setup.commitments.points { #expect(!contains(world.setup.bundle.encoded, point.encoded)) }
    }

    @Test func aMalformedListOfGuardiansIsRefused() throws {
        let contents = try #require(
            try world.setup.bundle.directory.open(with: parts(0), parts(1), scope: world.scope))
        #expect(try GuardianDirectory.Contents(decoding: contents.encoded) == contents)
        for (offset, byte) in [(0, UInt8(1)), (0, 17), (1, 9), (1 + 99, 255), (6143, 1)] {
            var changed = contents.encoded
            changed[offset] = byte
            #expect(throws: RecoveryFormatError.self) { try GuardianDirectory.Contents(decoding: changed) }
        }
    }
}
