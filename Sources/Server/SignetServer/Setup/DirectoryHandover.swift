// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import Platform
public import SignetAPI
public import TransparencyLog

extension DirectoryKeyRotation {
    /// Ends the log, and makes the data directory of a new one, with new keys, that goes on with the same people under
    /// the same URL, TLS identity and pins.
    ///
    /// Until it is whole, the new directory is in a folder next to its place, whose name ends in `.draft`. From the moment
    /// the old log has ended, the keys in there are the only ones that can go on. So everything that can fail is tried
    /// before that. On another disk, notes, letters and inboxes are copied, and those in the old directory stay.
    ///
    /// - Parameters:
    ///   - successor: where the new data directory is to be.
    ///   - origin: the new log's, permanently; it differs from the old log's.
    ///   - witnesses: as for ``DirectorySetup/witnesses``; nil: those of the old log.
    ///   - now: seconds since 1970.
    /// - Returns: what new clients need.
    /// - Throws: ``KeyRotationError``; doing the same again goes on.
    public func handOver(
        to successor: DataDirectory, origin: KeyName, witnesses: [UInt8]?, at now: UInt64
    ) async throws(KeyRotationError) -> DirectoryProfile {
        try requireOneMachine()
        guard access(successor.path, F_OK) != 0 else { throw .setup(.exists) }
        try tryEverything(for: successor)
        do { _ = try TLSRotation(data).complete() } catch { throw .file(error) }
        let draft = DataDirectory(path: successor.path + ".draft")
        let old = try profile()
        let pending = try pendingChange(after: old)
        if access(draft.path, F_OK) != 0 { try require(nil, as: pending, after: old) }
        let made = try await draftProfile(draft, origin, witnesses, at: now)
        try require(made.trust.policy, as: pending, after: old)
        try interruption(.drafted)
        let profile = try inheritTLS(made, draft)
        try interruption(.pinned)
        let keys: DirectoryKeys
        do { keys = try StoredDirectory.readKeys(draft, profile) } catch { throw .stored(error) }
        try await log(.log, profile.trust) { (directory) throws(KeyRotationError) in
            try interruption(.ended)
            do throws(DirectoryError) { try await directory.handOver(to: draft.records, keys) } catch {
                throw .directory(error)
            }
        }
        try interruption(.handedOver)
        // From here on the old directory lacks what it had.
        do { try DataParts(data).forget() } catch { throw .file(error) }
        try await moveParts(to: draft)
        do { try draft.rename(to: successor) } catch { throw .setup(error) }
        try interruption(.named)
        return profile
    }

    /// What could fail later is tried while the old log goes on.
    private func tryEverything(for successor: DataDirectory) throws(KeyRotationError) {
        do throws(HandoverError) {
            try HandoverGround(old: data, successor: successor, disks: disks).check()
            for part in InheritedPart.allCases { try part.settle(in: data) }
        } catch { throw .handover(error) }
    }

    private func moveParts(to draft: DataDirectory) async throws(KeyRotationError) {
        for part in InheritedPart.allCases {
            do { try part.settle(in: data) } catch { throw .handover(error) }
            do { try part.move(from: data, to: draft, disks) } catch { throw .file(error) }
            try interruption(part.step)
        }
    }

    /// Makes the draft, or reads the one that was made before.
    private func draftProfile(
        _ draft: DataDirectory, _ origin: KeyName, _ witnesses: [UInt8]?, at now: UInt64
    ) async throws(KeyRotationError) -> DirectoryProfile {
        let old = try profile()
        guard old.trust.policy.logs.allSatisfy({ $0.name != origin }) else { throw .otherSuccessor }
        let lines = witnesses ?? Self.witnessLines(of: old.trust.policy)
        if access(draft.path, F_OK) == 0 { return try knownDraft(draft, origin, lines) }
        let identity: TLSIdentity
        let root: [UInt8]
        do {
            identity = try TLSIdentity(certificate: data.certificate, key: data.certificateKey)
            root = try TLSIdentity.readRoot(data.root)
        } catch { throw .stored(.identity(error)) }
        let setup = DirectorySetup(
            origin: origin, url: old.url, tls: .existing(identity, root: root), witnesses: lines,
            maximumAge: old.trust.freshness.maximumAge, logger: logger)
        do { return try await setup.make(draft, at: now) } catch { throw .setup(error) }
    }

    /// Gives the draft the TLS identity and the pins that the old directory has now, and its backup key if that is still there: clients keep
    /// their pins. The old server may have changed them since an earlier try made the draft.
    private func inheritTLS(
        _ made: DirectoryProfile, _ draft: DataDirectory
    ) throws(KeyRotationError) -> DirectoryProfile {
        guard let log = made.trust.policy.logs.first else { throw .stored(.noLog) }
        let own = try profile().server
        let identity: TLSIdentity
        do { identity = try StoredDirectory.readIdentity(data, pinnedBy: own.pins) } catch { throw .stored(error) }
        do { _ = try identity.context() } catch { throw .setup(.tls(error)) }
        // Not from before the reserve key was made: clients need time to learn of it.
        let times = [draft, data].compactMap { try? StoredPins.read($0.pins).time }
        let pins = DirectoryPins(origin: log.name, version: 1, time: times.max() ?? 0, server: own)
        let profile = made.following(pins)
        do throws(FileFailure) {
            try PrivateFile.replace(draft.certificateKey, with: identity.privateKey)
            try PrivateFile.replace(draft.certificate, with: identity.certificateChain, mode: 0o644)
            try PrivateFile.replace(draft.root, with: PrivateFile.read(data.root), mode: 0o644)
            try PrivateFile.replace(draft.pins, with: pins.text, mode: 0o644)
            if access(data.backupKey, F_OK) == 0 {
                try PrivateFile.replace(draft.backupKey, with: PrivateFile.read(data.backupKey))
            } else {
                unlink(draft.backupKey)
            }
            try PrivateFile.replace(draft.profile, with: profile.encoded, mode: 0o644)
        } catch { throw .file(error) }
        return profile
    }

    private func knownDraft(
        _ draft: DataDirectory, _ origin: KeyName, _ lines: [UInt8]
    ) throws(KeyRotationError) -> DirectoryProfile {
        let (profile, keys): (DirectoryProfile, DirectoryKeys)
        do {
            profile = try StoredDirectory.readProfile(draft)
            keys = try StoredDirectory.readKeys(draft, profile)
        } catch { throw .stored(error) }
        let policy = try? DirectorySetup.policy(
            log: Policy.Log(key: keys.log.verifierKey), cosigners: keys.cosigners, witnesses: lines)
        guard keys.log.verifierKey.name == origin, policy == profile.trust.policy else { throw .otherSuccessor }
        return profile
    }

    /// The lines of a policy without those that the setup writes itself.
    static func witnessLines(of policy: Policy) -> [UInt8] {
        let own = ["log ", "witness clock "].map { Array($0.utf8) }
        return policy.encoded.split(separator: UInt8(ascii: "\n"))
            .filter { line in !own.contains { line.starts(with: $0) } }
            .flatMap { $0 + [UInt8(ascii: "\n")] }
    }
}
