import Crypto
import KeyTransparency
import SecretSharing

/// Seals a dealing into packets and a bundle. It and the dealing are gone when the setup is there.
struct SetupSealing {
    let plan: RecoverySetup.Plan
    let dealing: Dealing
    let journal: RecoveryJournal

    func setup(
        using generator: inout some RandomNumberGenerator, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoverySetupError) -> RecoverySetup {
        var keyBytes = random(32, using: &generator)
        defer { keyBytes.wipeSecret() }
        let directoryKey = SecretOctets(copying: keyBytes.span)
        let askKey = AskKey(using: &generator)
        var guardians: [RecoverySetup.Guardian] = []
        for (choice, share) in zip(plan.guardians, dealing.shares) {
            let packet = packet(for: choice.key, choice.meeting, share, directoryKey, askKey)
            guard let sealed = packet.sealed(to: choice.key, signing: sign) else {
                throw .invalidGuardianKey(choice.key.handle)
            }
            guardians.append(
                RecoverySetup.Guardian(
                    key: choice.key, meeting: choice.meeting, index: share.index, packet: sealed,
                    challenge: random(HoldingProof.challengeByteCount, using: &generator)))
        }
        let slots = padded(guardians.map(\.packet), using: &generator)
        let bundle = try bundle(slots, directoryKey, signing: sign)
        guard let kept = askKey.seed.withBytes({ seal($0) }) else { throw .invalidOwnKey }
        return RecoverySetup(
            bundle: bundle, commitment: try commitment(to: bundle, askKey), sealedAskKey: kept, guardians: guardians)
    }

    /// The owner's device keeps the ask key sealed to itself, for the owner's paper.
    private func seal(_ seed: Span<UInt8>) -> [UInt8]? {
        var bytes = seed.indices.map { seed[$0] }
        defer { bytes.wipeSecret() }
        return PublicSealing.seal(
            bytes, to: plan.ownKey, purpose: RecoverySetup.askPurpose, context: plan.scope.encoded)
    }

    private func packet(
        for guardian: GuardianKey, _ meeting: MeetingEvidence, _ share: SecretShare, _ directoryKey: SecretOctets,
        _ askKey: AskKey
    ) -> GuardianPacket {
        GuardianPacket(
            scope: plan.scope, share: share,
            recoveryKeyHash: Array(SHA256.hash(data: dealing.commitments.publicKey.encoded)), owner: plan.owner,
            guardian: guardian.handle, meeting: meeting, delay: plan.delay, directoryKey: directoryKey, askKey: askKey)
    }

    private func bundle(
        _ slots: [[UInt8]], _ directoryKey: SecretOctets, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoverySetupError) -> RecoveryBundle {
        let handles = plan.guardians.map(\.key.handle)
        guard let directory = GuardianDirectory(handles, under: directoryKey, scope: plan.scope) else {
            throw .dealingFailed
        }
        return try RecoveryBundle(
            scope: plan.scope, created: plan.created, delay: plan.delay, commitments: dealing.commitments,
            slots: slots, directory: directory, journalHead: journal.head, journalCount: UInt32(journal.count),
            signing: sign)
    }

    private func commitment(
        to bundle: RecoveryBundle, _ askKey: AskKey
    ) throws(RecoverySetupError) -> RecoveryCommitment {
        do throws(RecoveryCommitmentError) {
            return try RecoveryCommitment(
                epoch: plan.scope.epoch, delay: plan.delay, recoveryKey: dealing.commitments.publicKey.encoded,
                bundle: bundle.encoded, askKey: askKey.publicKey)
        } catch { throw .dealingFailed }
    }

    /// Eight or sixteen slots in random order; those without a packet are sealed to keys that nobody has.
    private func padded(_ packets: [[UInt8]], using generator: inout some RandomNumberGenerator) -> [[UInt8]] {
        var slots = packets
        let count = packets.count <= 8 ? 8 : 16
        while slots.count < count {
            let nobody = Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation)
            let nothing = [UInt8](repeating: 0, count: GuardianPacket.plaintextByteCount)
            slots.append(
                PublicSealing.seal(nothing, to: nobody, purpose: "signet-packet/v2", context: plan.scope.encoded)
                    ?? random(GuardianPacket.sealedByteCount, using: &generator))
        }
        return slots.shuffled(using: &generator)
    }

    private func random(_ count: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in generator.next() }
    }
}
