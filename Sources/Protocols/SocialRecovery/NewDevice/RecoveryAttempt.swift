// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency
import SecretMemory
public import SecretSharing

/// The new device's side: from the request to an identity that is guarded again.
///
/// A value without any secret: shares stay sealed in it, and are opened each time they are looked at. Keep ``encoded``
/// after each step.
///
/// ```
/// collecting → (enough right shares) → succeeding → (the log has the succession) → rearming → done
/// ```
public struct RecoveryAttempt: Hashable, Sendable {
    /// How far it is.
    public enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// Guardians are asked.
        case collecting = 1
        /// The recovery key was rebuilt once and signed the succession, which goes to the log.
        case succeeding = 2
        /// The log has it; old devices are gone. Sites get new keys, and new guardians' packets go out.
        case rearming = 3
        /// Guarded again.
        case done = 4
    }

    /// The request.
    public let request: RecoveryRequest
    /// What the account committed to.
    public let commitment: RecoveryCommitment
    /// The bundle.
    public let bundle: RecoveryBundle
    /// How far it is.
    public private(set) var stage: Stage = .collecting
    /// The signed state under the new identity key, once there is one.
    public private(set) var succession: AccountState?
    /// What the log holds of the request.
    public let start: RecoveryStart
    private var releases: [ShareRelease] = []
    private static let format: StaticString = "signet-recovery-attempt/v2\n"

    /// Begins with a request that the log holds.
    ///
    /// - Parameters:
    ///   - start: what the log holds of it.
    ///   - bundle: as the server gave it.
    ///   - state: the account's last state, from a verified lookup.
    /// - Throws: ``RecoveryAttemptError``.
    public init(
        _ request: RecoveryRequest, start: RecoveryStart, bundle: [UInt8], state: AccountState
    ) throws(RecoveryAttemptError) {
        commitment = start.commitment
        guard state.isCommitted(to: commitment, at: start.started) else { throw .notCommitted }
        do throws(RecoveryBundleError) {
            self.bundle = try RecoveryBundle(decoding: bundle, commitment: commitment)
        } catch { throw .bundle(error) }
        guard self.bundle.scope == request.scope else { throw .anotherAccount }
        guard start.request == request.hash, start.identityKey == request.identityKey else { throw .anotherRequest }
        self.start = start
        self.request = request
    }

    /// Takes what a guardian released. The same again changes nothing.
    ///
    /// - Parameter guardian: the person and their identity key, from a verified lookup.
    /// - Throws: ``RecoveryAttemptError``: not for this request, or not from this guardian.
    public mutating func take(
        _ release: ShareRelease, from guardian: GuardianKey
    ) throws(RecoveryAttemptError) {
        guard stage == .collecting else { throw .outOfOrder(stage) }
        guard release.request == request.hash, release.scope == request.scope else { throw .anotherRequest }
        guard release.guardian == guardian.handle, release.isSigned(by: guardian.identityKey) else {
            throw .notFromGuardian(guardian.handle)
        }
        // A guardian may correct a wrong share; the newest counts.
        releases.removeAll { $0.guardian == guardian.handle }
        releases.append(release)
    }

    /// Looks at what came in.
    ///
    /// - Parameter key: the private half of the request's sealing key.
    public func standing(with key: SealingKey) -> RecoveryStanding {
        guard let judged = judge(with: key) else {
            // Right parts cannot be told from false ones before two have opened the list.
            return RecoveryStanding(
                right: [], wrong: [], unjudged: releases.map(\.guardian),
                missing: max(1, GuardianParts.directoryThreshold - releases.count), isMissingExact: false)
        }
        return RecoveryStanding(
            right: judged.right.map(\.guardian), wrong: judged.wrong, unjudged: [],
            missing: max(0, judged.directory.commitments.threshold - judged.right.count), isMissingExact: true)
    }

    /// The guardians whom the owner had chosen; nil before two of them have helped.
    public func guardians(with key: SealingKey) -> [Handle]? {
        judge(with: key)?.directory.guardians.map(\.handle)
    }

    private typealias Released = (guardian: Handle, share: SecretShare, parts: GuardianParts)
    private typealias Found = (guardian: Handle, share: VerifiedShare, parts: GuardianParts)
    private typealias Judged = (directory: GuardianDirectory.Contents, right: [Found], wrong: [Handle])

    /// Tells right parts from wrong ones by the list of guardians; nil while no two of them open it.
    private func judge(with key: SealingKey) -> Judged? {
        let opened = releases.map { release in (release.guardian, release.open(with: key)) }
        let found: [Released] = opened.compactMap { guardian, part in part.map { (guardian, $0.share, $0.parts) } }
        guard let directory = directory(found) else { return nil }
        let right = found.compactMap { verified($0, in: directory) }
        let names = Set(right.map(\.guardian))
        return (directory, right, opened.map(\.0).filter { !names.contains($0) })
    }

    /// The list that any two of the parts open: a false part among them spoils its own pairs alone.
    private func directory(_ found: [Released]) -> GuardianDirectory.Contents? {
        for (position, first) in found.enumerated() {
            for second in found.dropFirst(position + 1) {
                if let contents = bundle.directory.open(with: first.parts, second.parts, scope: bundle.scope),
                    Array(SHA256.hash(data: contents.commitments.publicKey.encoded)) == commitment.keyHash
                {
                    return contents
                }
            }
        }
        return nil
    }

    /// A part that is whole, right, and this guardian's own.
    private func verified(_ found: Released, in directory: GuardianDirectory.Contents) -> Found? {
        let hash = found.parts.hash(with: found.share, of: found.guardian)
        guard directory.guardians.contains(where: { $0.handle == found.guardian && $0.part == hash }),
            let share = try? directory.commitments.verify(found.share)
        else { return nil }
        return (found.guardian, share, found.parts)
    }

    /// Enough right parts to rebuild what was cut.
    private func enough(_ key: SealingKey) throws(RecoveryAttemptError) -> [Found] {
        guard let judged = judge(with: key) else { throw .notEnough(missing: standing(with: key).missing) }
        let missing = judged.directory.commitments.threshold - judged.right.count
        guard missing <= 0 else { throw .notEnough(missing: missing) }
        return Array(judged.right.prefix(judged.directory.commitments.threshold))
    }

    /// Rebuilds the recovery key for the time of one call.
    ///
    /// - Throws: ``RecoveryAttemptError/notEnough(missing:)``, or any error that `body` throws, wrapped.
    ///
    /// Security: the key is gone when `body` returns. Sign the succession, and keep nothing of it.
    public func withRecoveryKey<Result>(
        _ key: SealingKey, _ body: (SecretScalar) throws -> Result
    ) throws(RecoveryAttemptError) -> Result {
        let shares = try enough(key).map(\.share)
        do { return try body(SecretScalar(combining: shares)) } catch { throw .recoveryKeyUnused }
    }

    /// Rebuilds the journal's key for the time of one call.
    ///
    /// - Throws: ``RecoveryAttemptError/notEnough(missing:)``, or any error that `body` throws, wrapped.
    ///
    /// Security: open the journal, and keep nothing of the key.
    public func withJournalKey<Result>(
        _ key: SealingKey, _ body: (SealingKey) throws -> Result
    ) throws(RecoveryAttemptError) -> Result {
        let parts = try enough(key).map(\.parts.journal)
        guard let seed = SecretBytes.combined(from: parts).flatMap(JournalSeed.init),
            seed.publicKey == bundle.journalKey
        else { throw .recoveryKeyUnused }
        do { return try body(seed.privateKey) } catch { throw .recoveryKeyUnused }
    }

    /// Rebuilds the recovery key, signs the next state with it and the new identity key, and lets it go.
    ///
    /// The step is signed again if the account has another state by now, or if the earlier time is not `time`.
    ///
    /// - Parameters:
    ///   - key: the private half of the request's sealing key.
    ///   - state: the account's last state under the old identity key.
    ///   - device: the new device, the only one of the next state.
    ///   - time: when, in seconds since 1970; after the delay.
    ///   - accepting: signs with the new identity key.
    /// - Throws: ``RecoveryAttemptError``.
    public mutating func succeed(
        with key: SealingKey, after state: AccountState, device: DeviceRecord, at time: UInt64,
        accepting: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryAttemptError) -> AccountState {
        guard stage == .collecting || stage == .succeeding else { throw .outOfOrder(stage) }
        let start = start
        guard state.version < UInt64.max else { throw .notSucceeded }
        let body = AccountStateBody(
            handle: state.handle, version: state.version + 1, previous: state.hash, identityKey: request.identityKey,
            recoveryCommitment: nil, pendingRecovery: nil, accountHead: state.accountHead, devices: [device])
        let signed = try withRecoveryKey(key) { secret in
            let publicKey = try secret.publicPoint().encoded
            return try AccountState(
                recovering: body, by: start, recoveryKey: publicKey, at: time,
                authorizing: { Array(try secret.signingKey().signature(for: $0).rawRepresentation) },
                accepting: accepting)
        }
        succession = signed
        stage = .succeeding
        return signed
    }

    /// The log has the succession, and a state under the new key with this device and none of the old ones.
    ///
    /// - Parameters:
    ///   - before: the account's last state under the old key.
    ///   - after: the new state, from a verified lookup.
    /// - Throws: ``RecoveryAttemptError``: it is not that state yet.
    public mutating func succeeded(
        before: AccountState, after: AccountState
    ) throws(RecoveryAttemptError) {
        guard stage == .succeeding || stage == .rearming else { throw .outOfOrder(stage) }
        guard after.identityKey == request.identityKey, after.handle == before.handle else { throw .notSucceeded }
        let old = Set(before.devices.map(\.keys.signing))
        guard after.devices.contains(where: { $0.keys.signing == request.signingKey }),
            !after.devices.contains(where: { old.contains($0.keys.signing) })
        else { throw .oldDevicesRemain }
        stage = .rearming
    }

    /// New guardians' shares are in force.
    ///
    /// - Throws: ``RecoveryAttemptError``: the setup is not active, or of the epoch that was just used up.
    public mutating func rearmed(by setup: RecoverySetup) throws(RecoveryAttemptError) {
        guard stage == .rearming || stage == .done else { throw .outOfOrder(stage) }
        guard setup.stage == .active, setup.bundle.scope.label == request.scope.label,
            setup.bundle.scope.epoch > request.scope.epoch
        else { throw .notRearmed }
        stage = .done
    }
}

/// What came in from guardians.
public struct RecoveryStanding: Hashable, Sendable {
    /// Whose shares are right.
    public let right: [Handle]
    /// The guardians whose shares are damaged or false: ask them again, or ask others.
    public let wrong: [Handle]
    /// The senders of shares that cannot be judged yet: the list that is needed for this opens once two right shares
    /// are there.
    public let unjudged: [Handle]
    /// How many more right ones are needed; at least so many while ``isMissingExact`` is false.
    public let missing: Int
    /// Whether the list is open, and with it how many are needed.
    public let isMissingExact: Bool

    /// What came in before anything could.
    package static var nothing: RecoveryStanding {
        RecoveryStanding(
            right: [], wrong: [], unjudged: [], missing: GuardianParts.directoryThreshold, isMissingExact: false)
    }
}

/// Why a recovery does not go on.
public enum RecoveryAttemptError: Error, Hashable, Sendable {
    /// The account commits to another recovery, or to none.
    case notCommitted
    /// The bundle is not the account's.
    case bundle(RecoveryBundleError)
    /// The request is for another account or epoch than the bundle.
    case anotherAccount
    /// The release answers another request, or the start is another request's.
    case anotherRequest
    /// The release is not by this guardian.
    case notFromGuardian(Handle)
    /// This many more right shares are needed.
    case notEnough(missing: Int)
    /// The recovery key was there and what it was for failed.
    case recoveryKeyUnused
    /// The account's state is not under the new key yet.
    case notSucceeded
    /// A device from before is still in the account's state, or the new one is not.
    case oldDevicesRemain
    /// No new guardians' shares are in force.
    case notRearmed
    /// The step does not come at this stage.
    case outOfOrder(RecoveryAttempt.Stage)
}

extension RecoveryAttempt {
    /// For the new device: `signet-recovery-attempt/v2` LF, u8 stage, 257 bytes of the start, then each behind a u32
    /// length: request, bundle, next state (or nothing); u8 count and the releases, each behind a u32 length.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(stage.rawValue)
        writer.write(start.encoded)
        writer.long(request.encoded)
        writer.long(bundle.encoded)
        writer.long(succession?.encoded ?? [])
        writer.write(UInt8(truncatingIfNeeded: releases.count))
        for release in releases { writer.long(release.encoded) }
        return writer.bytes
    }

    /// Reads what the new device kept.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try RecoveryAttempt(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        guard let stage = Stage(rawValue: try reader.uint8()) else { throw RecoveryFormatError.invalidField }
        self.stage = stage
        start = try RecoveryStart(decoding: reader.array(RecoveryStart.byteCount))
        commitment = start.commitment
        request = try RecoveryRequest(decoding: reader.long())
        bundle = try RecoveryBundle(decoding: reader.long(), commitment: commitment)
        let succession = try reader.long()
        self.succession = succession.isEmpty ? nil : try AccountState(decoding: succession)
        for _ in 0..<(try reader.uint8()) { releases.append(try ShareRelease(decoding: reader.long())) }
        guard (stage == .collecting) == (self.succession == nil) else { throw RecoveryFormatError.invalidField }
    }
}
