// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SecretMemory
import SecretSharing

/// Seals a dealing into packets and a bundle. It, the dealing and the seed are gone when the setup is there.
struct SetupSealing {
    let plan: RecoverySetup.Plan
    let dealing: Dealing
    let seed: JournalSeed
    let journal: RecoveryJournal

    func setup(
        using generator: inout some RandomNumberGenerator, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoverySetupError) -> RecoverySetup {
        var keyBytes = random(32, using: &generator)
        defer { keyBytes.wipe() }
        let directoryKey = SecretBytes(copying: keyBytes.span)
        let parts = try parts(directoryKey, using: &generator)
        let askKey = AskKey(using: &generator)
        var guardians: [RecoverySetup.Guardian] = []
        for ((choice, share), parts) in zip(zip(plan.guardians, dealing.shares), parts) {
            let packet = packet(for: choice.key, choice.meeting, share, parts, askKey)
            guard let sealed = packet.sealed(to: choice.key, signing: sign) else {
                throw .invalidGuardianKey(choice.key.handle)
            }
            guardians.append(
                RecoverySetup.Guardian(
                    key: choice.key, meeting: choice.meeting, index: share.index, packet: sealed,
                    challenge: random(HoldingProof.challengeByteCount, using: &generator)))
        }
        let bundle = try bundle(directory(parts, under: directoryKey), signing: sign)
        guard let kept = askKey.seed.withSpan({ seal($0) }) else { throw .invalidOwnKey }
        return RecoverySetup(
            bundle: bundle, commitment: try commitment(to: bundle, askKey), commitments: dealing.commitments,
            sealedAskKey: kept, guardians: guardians)
    }

    /// The owner's device keeps the ask key sealed to itself, for the owner's paper.
    private func seal(_ seed: Span<UInt8>) -> [UInt8]? {
        var bytes = seed.indices.map { seed[$0] }
        defer { bytes.wipe() }
        return PublicSealing.seal(
            bytes, to: plan.ownKey, purpose: RecoverySetup.askPurpose, context: plan.scope.encoded)
    }

    private func parts(
        _ directoryKey: SecretBytes, using generator: inout some RandomNumberGenerator
    ) throws(RecoverySetupError) -> [GuardianParts] {
        do throws(ByteSharingError) {
            return try GuardianParts.cut(
                directoryKey: directoryKey, journalSeed: seed.octets, threshold: plan.threshold,
                count: plan.guardians.count, using: &generator)
        } catch { throw .dealingFailed }
    }

    private func packet(
        for guardian: GuardianKey, _ meeting: MeetingEvidence, _ share: SecretShare, _ parts: GuardianParts,
        _ askKey: AskKey
    ) -> GuardianPacket {
        GuardianPacket(
            scope: plan.scope, share: share,
            recoveryKeyHash: Array(SHA256.hash(data: dealing.commitments.publicKey.encoded)), owner: plan.owner,
            guardian: guardian.handle, meeting: meeting, delay: plan.delay, parts: parts, askKey: askKey)
    }

    private func directory(
        _ parts: [GuardianParts], under key: SecretBytes
    ) throws(RecoverySetupError) -> GuardianDirectory {
        let guardians = zip(zip(plan.guardians, dealing.shares), parts).map { chosen, parts in
            let handle = chosen.0.key.handle
            return (handle: handle, part: parts.hash(with: chosen.1, of: handle))
        }
        let contents = GuardianDirectory.Contents(commitments: dealing.commitments, guardians: guardians)
        guard let directory = GuardianDirectory(contents, under: key, scope: plan.scope) else { throw .dealingFailed }
        return directory
    }

    private func bundle(
        _ directory: GuardianDirectory, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoverySetupError) -> RecoveryBundle {
        try RecoveryBundle(
            scope: plan.scope, created: plan.created, delay: plan.delay, journalKey: seed.publicKey,
            directory: directory, journalHead: journal.head, journalCount: UInt32(journal.count), signing: sign)
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

    private func random(_ count: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in generator.next() }
    }
}

/// The seed of the key to which the journal is sealed: X-Wing, so that a journal that was copied today stays shut to a
/// quantum computer, which the recovery key on P-256 does not promise.
struct JournalSeed: Sendable {
    let octets: SecretBytes
    let privateKey: SealingKey

    /// The public half, 1216 bytes.
    var publicKey: [UInt8] { Array(privateKey.publicKey.rawRepresentation) }

    /// The key of a seed of 32 bytes; nil when it is none.
    init?(_ octets: SecretBytes) {
        let key = octets.withSpan { span in
            span.withUnsafeBytes { try? SealingKey(seedRepresentation: $0, publicKey: nil) }
        }
        guard let key else { return nil }
        self.octets = octets
        privateKey = key
    }

    /// A new one.
    static func random(using generator: inout some RandomNumberGenerator) -> JournalSeed? {
        var bytes = (0..<32).map { _ in generator.next() as UInt8 }
        defer { bytes.wipe() }
        return JournalSeed(SecretBytes(copying: bytes.span))
    }
}
