// SPDX-License-Identifier: Apache-2.0

public import KeyDirectory
package import KeyPinning
import KeyTransparency
import LogEngine
public import LogWitness
public import Logging
import Platform
public import SignetAPI
public import TransparencyLog
import VRF

/// A data directory that was set up: read, and open.
public struct StoredDirectory: Sendable {
    /// What clients need to trust the server.
    public let profile: DirectoryProfile
    /// The directory itself.
    public let directory: Directory
    /// The server's certificate and key.
    public let identity: TLSIdentity
    /// What each witness cosigned last; nil: none is asked.
    package let witnesses: WitnessProgress?
    /// What all front ends share; nil: this server is the only one.
    package let shared: FrontEndSecret?
    /// What several machines share; nil: the directory is of one machine.
    package let engines: SharedEngines?
    /// Ends the log when a witness contradicts it; nil: others may write it.
    let watch: ContradictionWatch?
    /// By which the log goes on; nil: by that of the machine, or of the database.
    package var clock: LogClock?

    /// Why the log has stopped, if a witness contradicted it, or it could open no file.
    package var whyStopped: (any Error)? {
        if let contradiction = watch?.found { return StoredDirectoryError.rollback(contradiction) }
        return directory.log.failure?.isOfOpenFiles == true ? ServerStop.tooManyOpenFiles : nil
    }

    /// Reads the files of a data directory and opens the log and the database in it.
    ///
    /// - Parameters:
    ///   - identity: another one than the one in the data directory.
    ///   - epochInterval: the least time between two epochs, unless a full batch of changes waits.
    ///   - heartbeat: after this many seconds without an epoch, one ends even if it has no changes.
    ///   - witnessRoots: root certificates to trust beside the system's when asking witnesses, PEM.
    ///   - guarding: whom to ask first whether the data went back.
    ///   - frontEnd: how this server is one of several for this directory; nil: it is the only one.
    ///   - next: the policy of a change of keys or witnesses that the caller makes, or completes.
    ///   - logger: gets the directory's remarks.
    /// - Throws: ``StoredDirectoryError``: the operator has to act.
    public static func open(
        _ data: DataDirectory, identity: TLSIdentity? = nil, epochInterval: Duration = .zero,
        heartbeat: UInt64 = Directory.standardHeartbeat, witnessRoots: [UInt8] = [],
        guarding: RollbackGuard = RollbackGuard(), frontEnd: FrontEnd? = nil, changingTo next: Policy? = nil,
        logger: Logger
    ) async throws(StoredDirectoryError) -> StoredDirectory {
        guard access(data.engines, F_OK) != 0 else { throw .otherForm }
        do throws(FileFailure) {
            if try TLSRotation(data).complete() { logger.notice("an interrupted change of the TLS key was completed") }
        } catch { throw .file(error) }
        let profile = try readProfile(data)
        let changes = KeyChanges(at: data.records)
        do { try changes.requireNewest(profile.trust.policy, changingTo: next) } catch {
            throw refusal(error, of: data, profile)
        }
        try DataParts(data).requireAll()
        let keys = try readTrustedKeys(data, profile, logger: logger)
        let shared = try readSharedSecret(data, isNeeded: frontEnd != nil)
        if let identity { try requirePinned(identity, by: profile.pins) }
        let identity = if let identity { identity } else { try readIdentity(data, pinnedBy: profile.pins) }
        // Behind a proxy that adds TLS the files of before may lie there, so this is no reason not to start.
        if let refusal = await identity.refusal(by: profile.server, at: profile.url, ServerClock.system.time()) {
            logger.warning("clients refuse the server's certificate", metadata: ["why": "\(refusal)"])
        }
        let named = try await requireNewest(data, profile, guarding, witnessRoots, logger)
        let logClock = try Self.clock(of: data, guarding, profile.trust.policy, keys, named: named, logger)
        let clock = { @Sendable in logClock.time() }
        let witnessing: WitnessedPublishing?
        let watch = ContradictionWatch(disregarding: guarding.disregarded)
        do throws(WitnessRootsError) {
            witnessing = try WitnessedPublishing(
                profile.trust.policy, additionalRoots: witnessRoots, clock: clock,
                heard: { logClock.heard($0, isEnough: $1, isRefused: $2) }, watch: watch, logger: logger)
        } catch { throw .witnessRoots(error) }
        let directory: Directory
        do throws(DirectoryOpenError) {
            directory = try await Directory.open(
                at: data.records, keys: keys, clock: clock, epochClock: { logClock.epochTime() }, logger: logger,
                epochInterval: epochInterval,
                heartbeat: heartbeat,
                witnessing: guarding.memory.map {
                    RememberedPublishing(memory: $0, witnesses: witnessing, logger: logger)
                } ?? witnessing, frontEnd: frontEnd, secret: shared ?? FrontEndSecret())
        } catch { throw .directory(error) }
        do throws(StoredDirectoryError) {
            try requireList(of: data, directory)
            do throws(DirectoryOpenError) {
                try changes.requireNewest(profile.trust.policy, logged: directory.keyChanges, changingTo: next)
            } catch { throw refusal(error, of: data, profile) }
        } catch {
            await directory.close()
            throw error
        }
        if let ahead = Readiness.secondsAhead(directory.lastEpochTime, at: ServerClock.system.time()) {
            logger.error(
                "the log's last epoch is in the future: clients refuse it until then, or this machine's clock is behind",
                metadata: ["ahead": "\(ahead)s"])
        }
        return StoredDirectory(
            profile: profile, directory: directory, identity: identity, witnesses: witnessing?.progress,
            shared: frontEnd == nil ? nil : shared, engines: nil, watch: watch, clock: logClock)
    }

    /// Refuses a directory that had a list of its parts, and has none.
    private static func requireList(of data: DataDirectory, _ directory: Directory) throws(StoredDirectoryError) {
        let wasWritten: Bool
        do { wasWritten = try directory.hasListOfParts() } catch { throw .directory(error) }
        do { try DataParts(data).requireList(wasWritten) } catch { throw .file(error) }
    }

    /// The clock by which the log goes on.
    ///
    /// - Parameter named: what time it is by the clocks of the witnesses that answer now.
    private static func clock(
        of data: DataDirectory, _ guarding: RollbackGuard, _ policy: Policy, _ keys: DirectoryKeys,
        named: [Policy.Name: UInt64], _ logger: Logger
    ) throws(StoredDirectoryError) -> LogClock {
        let own = keys.cosigners.map(\.verifierKey)
        let consenting = guarding.disregarded.union(policy.witnesses.filter { own.contains($0.key) }.map(\.name))
        let newest = try? LogCopy(of: data.log).signedHead()
        do throws(ClockAhead) {
            return try LogClock(
                after: newest.map { DirectoryAdapter.time(of: $0.note) }, policy: policy, consenting: consenting,
                named: named, isAccepted: guarding.acceptsClock
            ) { fault in
                guard let fault else { return logger.notice("the log follows this machine's clock") }
                logger.error("a clock is wrong", metadata: ["what": "\(Readiness.Fault.clock(fault).text)"])
            }
        } catch { throw .clockAhead(error) }
    }

    /// Looks whether root certificates for witnesses are some, as a start does.
    ///
    /// - Throws: ``StoredDirectoryError/witnessRoots``.
    package static func check(
        witnessRoots: [UInt8], for profile: DirectoryProfile
    ) throws(StoredDirectoryError) {
        do throws(WitnessRootsError) {
            _ = try WitnessedPublishing(
                profile.trust.policy, additionalRoots: witnessRoots, clock: { 0 },
                logger: Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
        } catch { throw .witnessRoots(error) }
    }

    /// A front end without the secret would refuse what the others have sealed.
    static func readSharedSecret(
        _ data: DataDirectory, isNeeded: Bool
    ) throws(StoredDirectoryError) -> FrontEndSecret? {
        let secret: FrontEndSecret?
        do { secret = try FrontEndSecret.read(from: data.keys) } catch { throw .keys(error) }
        guard secret != nil || !isNeeded else { throw .keys(.missing(.shared)) }
        return secret
    }

    /// Refuses data that is older than what others have seen, before anything is signed.
    ///
    /// - Returns: the times that witnesses name, in seconds since 1970; none of those that are disregarded.
    private static func requireNewest(
        _ data: DataDirectory, _ profile: DirectoryProfile, _ guarding: RollbackGuard, _ roots: [UInt8],
        _ logger: Logger
    ) async throws(StoredDirectoryError) -> [Policy.Name: UInt64] {
        guard let origin = profile.trust.policy.logs.first?.name else { throw .noLog }
        do {
            return try await guarding.check(
                data, profile.trust.policy, origin: origin, roots: roots, logger: logger)
        } catch {
            switch error {
            // Opening it says more.
            case .log(.noLog): return [:]
            case .log(let error): throw .directory(.log(error))
            case .witnessRoots(let error): throw .witnessRoots(error)
            default: throw .rollback(error)
            }
        }
    }

    /// Takes down which databases and keys a server has opened or made beside the log: from now on they and the list have to be there.
    ///
    /// - Throws: ``StoredDirectoryError/file(_:)``, ``StoredDirectoryError/directory(_:)``.
    package func recordParts(of data: DataDirectory) throws(StoredDirectoryError) {
        try DataParts(data).record()
        do { try directory.noteListOfParts() } catch { throw .directory(error) }
    }

    /// Refuses a directory whose log has handed over: nothing can be logged any more, and what was served and kept under
    /// it would be lost.
    ///
    /// - Throws: ``StoredDirectoryError/ended(by:)``, ``StoredDirectoryError/successionUnreadable``.
    public func requireGoingOn() throws(StoredDirectoryError) {
        let last: SuccessionRecord?
        do { last = try directory.succession()?.links.last?.record } catch { throw .successionUnreadable }
        // A successor has the chain that led to it.
        let own = profile.trust.policy.logs.first?.name
        if let last, last.kind == .log, !last.policy.logs.contains(where: { $0.name == own }) {
            throw .ended(by: last.policy.logs)
        }
        guard !directory.hasEnded else { throw .ended(by: []) }
    }

    /// Reads what clients need to trust the server.
    ///
    /// - Throws: ``StoredDirectoryError``.
    public static func readProfile(_ data: DataDirectory) throws(StoredDirectoryError) -> DirectoryProfile {
        let bytes: [UInt8]
        do { bytes = try PrivateFile.read(data.profile) } catch {
            let isSetUp = access(data.keys, F_OK) == 0
            throw error.code == ENOENT && !isSetUp ? .notSetUp : .file(error)
        }
        do { return try DirectoryProfile(decoding: bytes) } catch { throw .profile(error) }
    }

    /// The names of the witnesses of a directory, and of those from before a change which was interrupted.
    ///
    /// - Throws: ``StoredDirectoryError``.
    package static func witnessNames(_ data: DataDirectory) throws(StoredDirectoryError) -> Set<Policy.Name> {
        let policies = [try readProfile(data).trust.policy, formerPolicy(data)].compactMap(\.self)
        return Set(policies.flatMap(\.witnesses).map(\.name))
    }

    /// Reads the keys of a directory, which have to be those that its clients are told to trust.
    ///
    /// - Parameter signing: as for `DirectoryKeys.read`.
    /// - Throws: ``StoredDirectoryError``; ``StoredDirectoryError/rotationInterrupted``, ``StoredDirectoryError/clockKeyDiffers`` or
    ///   ``StoredDirectoryError/vrfKeyDiffers`` if clients would believe nothing that these sign and prove.
    static func readTrustedKeys(
        _ data: DataDirectory, _ profile: DirectoryProfile, signing: Bool = true, logger: Logger? = nil
    ) throws(StoredDirectoryError) -> DirectoryKeys {
        let (keys, policy) = (try readKeys(data, profile, signing: signing, logger: logger), profile.trust.policy)
        guard policy.logs.contains(keys.log.verifierKey) else { throw .rotationInterrupted }
        for own in keys.cosigners.map(\.verifierKey) {
            let known = policy.witnesses.map(\.key).filter { $0.name == own.name }
            guard known.isEmpty || known.contains(own) else { throw .clockKeyDiffers }
        }
        try requireTrusted(keys.vrf, profile)
        return keys
    }

    /// Reads the key of the labels alone: all that a process needs which does not write the log.
    ///
    /// - Throws: ``StoredDirectoryError``; ``StoredDirectoryError/vrfKeyDiffers``.
    static func readTrustedVRFKey(
        _ data: DataDirectory, _ profile: DirectoryProfile
    ) throws(StoredDirectoryError) -> VRFPrivateKey {
        let key: VRFPrivateKey
        do throws(KeyFileError) { key = try DirectoryKeys.readVRFKey(from: data.keys) } catch { throw .keys(error) }
        try requireTrusted(key, profile)
        return key
    }

    /// Reads the keys that a machine has whose processes share a log, as their starts do, and signs nothing: all of them where the log's key is,
    /// and otherwise that of the labels.
    ///
    /// - Returns: whether the log's key is there.
    /// - Throws: ``StoredDirectoryError``.
    static func requireSharedKeys(
        _ data: DataDirectory, _ profile: DirectoryProfile
    ) throws(StoredDirectoryError) -> Bool {
        guard access("\(data.keys)/\(KeyFile.log.name)", F_OK) == 0 else {
            _ = try readTrustedVRFKey(data, profile)
            return false
        }
        _ = try readTrustedKeys(data, profile, signing: false)
        return true
    }

    private static func requireTrusted(
        _ key: VRFPrivateKey, _ profile: DirectoryProfile
    ) throws(StoredDirectoryError) {
        guard key.publicKey == profile.trust.vrfKey else { throw .vrfKeyDiffers }
    }

    static func readKeys(
        _ data: DataDirectory, _ profile: DirectoryProfile, signing: Bool = true, logger: Logger? = nil
    ) throws(StoredDirectoryError) -> DirectoryKeys {
        guard let log = profile.trust.policy.logs.first else { throw .noLog }
        do {
            return try DirectoryKeys.read(from: data.keys, origin: log.name, signing: signing, logger: logger)
        } catch { throw .keys(error) }
    }

    /// Reads key and certificate for clients that know these pins: none of them would accept another key, such as one that a renewal
    /// has made.
    static func readIdentity(
        _ data: DataDirectory, pinnedBy pins: [Pin]
    ) throws(StoredDirectoryError) -> TLSIdentity {
        let identity: TLSIdentity
        do { identity = try TLSIdentity(certificate: data.certificate, key: data.certificateKey) } catch {
            throw .identity(error)
        }
        try requirePinned(identity, by: pins)
        return identity
    }

    /// Refuses a key that no client would accept. Whether a pinned authority signed the certificate is not looked at.
    ///
    /// - Throws: ``StoredDirectoryError/identity(_:)``.
    package static func requirePinned(_ identity: TLSIdentity, by pins: [Pin]) throws(StoredDirectoryError) {
        if let pin = try? identity.pin, !pins.contains(where: { $0.tier != .leaf || $0.key == pin }) {
            throw .identity(.notPinned)
        }
    }
}

/// Why a data directory was not opened.
public enum StoredDirectoryError: Error, Sendable {
    /// There is no data directory, or it was not made by the setup.
    case notSetUp
    /// A file was not read.
    case file(FileFailure)
    /// These databases and keys were there, and are missing or empty.
    case lostParts([String])
    /// The file for clients is damaged.
    case profile(DirectoryProfileError)
    /// The file for clients names no log.
    case noLog
    /// The keys were not read.
    case keys(KeyFileError)
    /// The TLS identity was not read.
    case identity(StoredIdentityError)
    /// The log's key is not the one that clients are told to trust: a rotation was interrupted.
    case rotationInterrupted
    /// This change of the log's key or witnesses is in the log, and the files were made before it: it was interrupted, or they are an older copy.
    case changePending(PendingChange)
    /// The key of the log's own clock is not the one that clients are told to trust.
    case clockKeyDiffers
    /// The key of the labels is not the one that clients are told to trust.
    case vrfKeyDiffers
    /// The root certificates for witnesses cannot be used.
    case witnessRoots(WitnessRootsError)
    /// The machine's clock is far after what the log signed last, or after what the witnesses' clocks say. Nothing was signed.
    case clockAhead(ClockAhead)
    /// The data may be older than what others have seen. Nothing was signed.
    case rollback(RollbackError)
    /// The log or the database was not opened.
    case directory(DirectoryOpenError)
    /// The log has ended, and one of these keys goes on; none: its end was not cosigned yet, so that the handover is to be
    /// completed.
    case ended(by: [VerifierKey])
    /// The file of the directory's changes of keys cannot be read.
    case successionUnreadable
    /// The file of the directory's changes of keys is missing, or an older copy: it lacks the last change, which the log and the file for clients
    /// have.
    case successionOutdated
    /// What several machines share was not opened, or not taken over.
    case shared(SharedSetupError)
    /// The data directory is in shared engines, and the command is for one of one machine.
    case otherForm
    /// The data directory has no engines, and the command needs them.
    case notShared
}
