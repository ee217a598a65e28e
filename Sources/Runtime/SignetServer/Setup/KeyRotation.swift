public import KeyDirectory
import KeyTransparency
import LogWitness
public import Logging
public import SignetAPI
public import TransparencyLog

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Changes a directory's log key or policy without locking anyone out: the change is logged and witnessed under the old
/// ones first, and clients follow it by themselves.
///
/// Whatever interrupts it, doing the same again completes it.
public struct KeyRotation: Sendable {
    private let data: DataDirectory
    private let witnessRoots: [UInt8]
    private let logger: Logger

    /// A rotation in a data directory whose server is not running.
    ///
    /// - Parameter witnessRoots: as for ``StoredDirectory/open(_:identity:epochInterval:witnessRoots:logger:)``.
    public init(_ data: DataDirectory, witnessRoots: [UInt8] = [], logger: Logger) {
        self.data = data
        self.witnessRoots = witnessRoots
        self.logger = logger
    }

    /// Gives the log another key. Witnesses must have been told the new one, ``announceLogKey()``.
    ///
    /// - Returns: what new clients need.
    /// - Throws: ``KeyRotationError``.
    public func rotateLogKey() async throws(KeyRotationError) -> DirectoryProfile {
        let profile = try profile()
        let next = try announceLogKey()
        guard let log = profile.trust.policy.listedLogs.first else { throw .stored(.noLog) }
        guard log.key != next else {
            // Interrupted after clients were told and before the key took its place.
            try takeNextLogKey()
            return profile
        }
        let policy = try policy(log: Policy.Log(key: next, url: log.url), of: profile.trust.policy)
        let changed = try await change(to: policy, profile)
        try takeNextLogKey()
        return changed
    }

    /// The key that the log is to have next; made now unless it was made before.
    ///
    /// - Throws: ``KeyRotationError``.
    public func announceLogKey() throws(KeyRotationError) -> VerifierKey {
        guard let log = try profile().trust.policy.logs.first else { throw .stored(.noLog) }
        do { return try DirectoryKeys.nextLogKey(in: data.keys, origin: log.name).verifierKey } catch {
            throw .keys(error)
        }
    }

    /// Demands other witnesses from now on.
    ///
    /// - Parameter witnesses: as for ``DirectorySetup/witnesses``.
    /// - Throws: ``KeyRotationError``.
    public func changeWitnesses(to witnesses: [UInt8]) async throws(KeyRotationError) -> DirectoryProfile {
        let profile = try profile()
        let (policy, keys) = (profile.trust.policy, try keys(profile))
        guard let log = policy.listedLogs.first else { throw .stored(.noLog) }
        let changed: Policy
        do { changed = try DirectorySetup.policy(log: log, cosigners: keys.cosigners, witnesses: witnesses) } catch {
            throw .policy(error)
        }
        return changed == policy ? profile : try await change(to: changed, profile)
    }

    private func change(to policy: Policy, _ profile: DirectoryProfile) async throws(KeyRotationError) -> DirectoryProfile {
        let trust = profile.trust
        let stored: StoredDirectory
        do {
            stored = try await StoredDirectory.open(data, witnessRoots: witnessRoots, logger: logger)
        } catch { throw .stored(error) }
        do throws(DirectoryError) {
            let links = try stored.directory.succession()?.links ?? []
            let isDone = links.last.map { $0.record.policy == policy } ?? false
            let record = SuccessionRecord(
                kind: .keys, number: UInt64(links.count) + (isDone ? 0 : 1), vrfKey: trust.vrfKey, policy: policy)
            _ = try await stored.directory.succeed(record)
            await stored.directory.close()
        } catch {
            await stored.directory.close()
            throw .directory(error)
        }
        let changed = DirectoryProfile(
            url: profile.url, tlsRoot: profile.tlsRoot,
            trust: DirectoryTrust(policy: policy, vrfKey: trust.vrfKey, freshness: trust.freshness))
        do throws(FileFailure) { try PrivateFile.replace(data.profile, with: changed.encoded, mode: 0o644) } catch {
            throw .file(error)
        }
        return changed
    }

    private func policy(log: Policy.Log, of old: Policy) throws(KeyRotationError) -> Policy {
        do {
            return try Policy(logs: [log], witnesses: old.witnesses, groups: old.groups, quorum: old.quorum)
        } catch { throw .policy(error) }
    }

    private func profile() throws(KeyRotationError) -> DirectoryProfile {
        do { return try StoredDirectory.readProfile(data) } catch { throw .stored(error) }
    }

    private func keys(_ profile: DirectoryProfile) throws(KeyRotationError) -> DirectoryKeys {
        do { return try StoredDirectory.readKeys(data, profile) } catch { throw .stored(error) }
    }

    private func takeNextLogKey() throws(KeyRotationError) {
        do { try DirectoryKeys.takeNextLogKey(in: data.keys) } catch { throw .keys(error) }
    }
}

/// Why a rotation is not done. Doing the same again goes on where it stopped.
public enum KeyRotationError: Error, Sendable {
    /// The data directory was not opened.
    case stored(StoredDirectoryError)
    /// A key was not made, read or put in place.
    case keys(KeyFileError)
    /// The lines do not make a policy.
    case policy(PolicyError)
    /// The change was not logged, or not witnessed yet.
    case directory(DirectoryError)
    /// The file for clients was not replaced.
    case file(FileFailure)
}
