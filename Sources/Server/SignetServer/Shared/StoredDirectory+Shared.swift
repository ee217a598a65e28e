// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import LogWitness
package import Logging
import Platform
import SQLStores
package import SharedLog
import SignetAPI
import TransparencyLog
import VRF

extension StoredDirectory {
    /// Opens the directory of a process that accepts and answers, beside others: it needs neither the log's key nor any file of the log.
    ///
    /// - Parameters:
    ///   - engines: of this data directory.
    ///   - identity: another one than the one in the data directory.
    ///   - onFatal: called once, when the log shows nothing new any more: the process is to end.
    /// - Returns: the directory, and what keeps it at what is published, to be run.
    /// - Throws: ``StoredDirectoryError``.
    package static func serve(
        _ data: DataDirectory, _ engines: SharedEngines, identity: TLSIdentity? = nil, logger: Logger,
        onFatal: @escaping @Sendable () -> Void
    ) async throws(StoredDirectoryError) -> (StoredDirectory, LogFollower) {
        let profile = try readProfile(data)
        let shared = try readSharedSecret(data, isNeeded: true) ?? FrontEndSecret()
        if let identity { try requirePinned(identity, by: profile.pins) }
        let identity = if let identity { identity } else { try readIdentity(data, pinnedBy: profile.pins) }
        let vrf = try readTrustedVRFKey(data, profile)
        try await engines.requireInstallation()
        let place = try place(data, engines, profile, shared, logger)
        let (directory, follower): (Directory, LogFollower)
        do throws(SharedDirectoryError) {
            (directory, follower) = try await place.serve(vrf: vrf, steady: steadyClock(), onFatal: onFatal)
        } catch {
            place.close()
            throw .shared(SharedSetupError(error))
        }
        let stored = StoredDirectory(
            profile: profile, directory: directory, identity: identity, witnesses: nil, shared: shared,
            engines: engines, watch: nil)
        return (stored, follower)
    }

    /// - Parameters:
    ///   - former: what was trusted before a change of keys or witnesses that the caller completes; nobody else may use the place until then.
    ///   - keepsState: whether frames and a snapshot of the index are kept in the folder of state; otherwise nothing there is used.
    static func place(
        _ data: DataDirectory, _ engines: SharedEngines, _ profile: DirectoryProfile, _ secret: FrontEndSecret,
        keepsState: Bool = true, former: Policy? = nil, _ logger: Logger
    ) throws(StoredDirectoryError) -> SharedDirectory {
        if former == nil { try requireNoneInterrupted(data) }
        guard let origin = profile.trust.policy.logs.first?.name else { throw .noLog }
        // A move that was interrupted before its last step.
        try? LogCopy(of: data.log).retire()
        // A process that serves and sequences comes here twice at once.
        do { try PrivateFile.makeFolder(data.state) } catch {
            guard error.code == EEXIST else { throw .file(error) }
        }
        do throws(SharedEnginesError) {
            var log = try engines.log(profile.trust.policy, origin)
            log.former = former
            return SharedDirectory(
                log,
                accounts: try engines.database(SharedDirectory.schema, count: 8), state: keepsState ? data.state : nil,
                history: data.history,
                secret: secret,
                clock: ServerClock.system.time, wall: ServerClock.system.time, logger: logger)
        } catch { throw .shared(SharedSetupError(error)) }
    }

    /// Refuses a machine on which a change of the log's key or its witnesses was interrupted.
    ///
    /// - Throws: ``StoredDirectoryError/rotationInterrupted``.
    static func requireNoneInterrupted(_ data: DataDirectory) throws(StoredDirectoryError) {
        guard access(data.formerProfile, F_OK) != 0 else { throw .rotationInterrupted }
    }

    /// What was trusted before a change of keys or witnesses that was interrupted on this machine; nil if it is not there or cannot be read.
    static func formerPolicy(_ data: DataDirectory) -> Policy? {
        guard let bytes = try? PrivateFile.read(data.formerProfile) else { return nil }
        return try? DirectoryProfile(decoding: bytes).trust.policy
    }

    /// A clock of this process that never runs back.
    static func steadyClock() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }
}
