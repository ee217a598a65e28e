// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeyDirectory
import KeyTransparency
public import LogEngine
import LogWitness
public import Logging
import Platform
public import SignetAPI
public import TransparencyLog

/// Changes a directory's log key or policy without locking anyone out: the change is logged and witnessed under the old
/// ones first, and clients follow it by themselves.
///
/// If it is interrupted, repeating the call completes it.
public struct DirectoryKeyRotation: Sendable {
    let data: DataDirectory
    let witnessRoots: [UInt8]
    let guarding: RollbackGuard
    private let serving: HTTPSServer.Configuration?
    let logger: Logger
    let disks: HandoverDisks
    /// Called after each step of a handover: where it throws, a process would have been killed.
    let interruption: @Sendable (HandoverStep) throws(KeyRotationError) -> Void
    /// Connects to what several machines share; nil if the directory is of one.
    var connect: @Sendable (DataDirectory) async throws(SharedEnginesError) -> SharedEngines? = SharedEngines.open
    /// How long to wait for witnesses before giving up, in rounds of a second.
    var patience = 30
    /// How often to look whether others are connected.
    var looks = 60
    /// The same as `interruption` for a change in engines that several machines share.
    var sharedInterruption: @Sendable (SharedRotation.Step) throws(KeyRotationError) -> Void = {
        (_) throws(KeyRotationError) in
    }

    /// A rotation in a data directory whose server is not running.
    ///
    /// - Parameters:
    ///   - witnessRoots: as for ``StoredDirectory/open(_:identity:epochInterval:heartbeat:witnessRoots:logger:)``.
    ///   - guarding: whom to ask first whether the data went back, and where to remember what is signed.
    ///   - serving: serve meanwhile, as auditors among the witnesses need it; nil: do not.
    public init(
        _ data: DataDirectory, witnessRoots: [UInt8] = [], guarding: RollbackGuard = RollbackGuard(),
        serving: HTTPSServer.Configuration? = nil, logger: Logger
    ) {
        self.init(
            data, witnessRoots: witnessRoots, guarding: guarding, serving: serving, logger: logger, disks: .system
        ) { _ throws(KeyRotationError) in }
    }

    /// The same on disks that fail, and interrupted.
    package init(
        _ data: DataDirectory, witnessRoots: [UInt8] = [], guarding: RollbackGuard = RollbackGuard(),
        serving: HTTPSServer.Configuration? = nil, logger: Logger, disks: HandoverDisks,
        interruption: @escaping @Sendable (HandoverStep) throws(KeyRotationError) -> Void
    ) {
        self.disks = disks
        self.interruption = interruption
        self.data = data
        self.witnessRoots = witnessRoots
        self.guarding = guarding
        self.serving = serving
        self.logger = logger
    }

    /// Gives the log another key. Witnesses must have been told the new one, ``announceLogKey()``.
    ///
    /// - Parameter untried: whether not to ask first if enough of them know it.
    /// - Returns: what new clients need.
    /// - Throws: ``KeyRotationError``.
    public func rotateLogKey(untried: Bool = false) async throws(KeyRotationError) -> DirectoryProfile {
        let hold = try holdKeys()
        defer { withExtendedLifetime(hold) {} }
        if let shared = try await sharedRotation() { return try await shared.changeLogKey(untried: untried) }
        let profile = try profile()
        let pending = try pendingChange(after: profile)
        // Only the next key of that change can complete it.
        if access("\(data.keys)/\(KeyFile.nextLog.name)", F_OK) != 0 { try require(nil, as: pending, after: profile) }
        let next = try announceLogKey()
        guard let log = profile.trust.policy.listedLogs.first else { throw .stored(.noLog) }
        guard log.key != next else {
            // Interrupted after clients were told and before the key took its place.
            try takeNextLogKey()
            return profile
        }
        let policy = try policy(log: Policy.Log(key: next, url: log.url), of: profile.trust.policy)
        try require(policy, as: pending, after: profile)
        if !untried { try await tryNextKey(policy, profile) }
        let changed = try await change(to: policy, profile)
        try takeNextLogKey()
        return changed
    }

    /// The key that the log is to have next; made now unless it was made before.
    ///
    /// - Parameter token: where a token keeps it.
    /// - Throws: ``KeyRotationError``; another one than the token's was made before: `keys(.exists(.nextLog))`.
    public func announceLogKey(in token: TokenAddress? = nil) throws(KeyRotationError) -> VerifierKey {
        let profile = try profile()
        guard let log = profile.trust.policy.logs.first else { throw .stored(.noLog) }
        // A front end has no key of the log, and gets none.
        if isShared { _ = try keys(profile) }
        do { return try DirectoryKeys.nextLogKey(in: data.keys, origin: log.name, token: token).verifierKey } catch {
            throw .keys(error)
        }
    }

    /// Makes the key that the log is to have next anew, and discards the one that was made before: after a break-in it is the thief's too.
    ///
    /// - Parameter token: where a token keeps it.
    /// - Returns: the next key, and the one that was discarded; nil: there was none that could be read.
    /// - Throws: ``KeyRotationError``: the one of before is still there. If a change is in the log and not complete, that may be the only key with
    ///   which the log can go on.
    public func announceAnotherLogKey(
        in token: TokenAddress? = nil
    ) async throws(KeyRotationError) -> (key: VerifierKey, discarded: VerifierKey?) {
        let profile = try profile()
        guard let log = profile.trust.policy.logs.first else { throw .stored(.noLog) }
        let hold = try holdKeys()
        defer { withExtendedLifetime(hold) {} }
        try await requireComplete(profile)
        do { return try DirectoryKeys.replaceNextLogKey(in: data.keys, origin: log.name, token: token) } catch {
            throw .keys(error)
        }
    }

    /// Keeps others from giving the log its next key, and from discarding that, for as long as the value lives: between the two the key that the
    /// log names would be lost. A running server does not hold the keys.
    ///
    /// - Returns: nil if the folder cannot be opened, which whoever reads a key says.
    /// - Throws: ``KeyRotationError/underWay``.
    func holdKeys() throws(KeyRotationError) -> (any LogDirectoryLock)? {
        do throws(LogOpenError) { return try LogCopy(of: data.keys).hold() } catch {
            guard error != .inUse else { throw .underWay }
            return nil
        }
    }

    /// Refuses a directory whose log has a change that its files do not have. Its server may be running.
    private func requireComplete(_ profile: DirectoryProfile) async throws(KeyRotationError) {
        // The key may already be the one that clients trust.
        do { _ = try StoredDirectory.readTrustedKeys(data, profile, signing: false) } catch { throw .stored(error) }
        if let shared = try await sharedRotation() { return try await shared.requireNewest() }
        let number = try loggedChanges().last?.number
        do { try KeyChanges(at: data.records).requireNewest(profile.trust.policy, logged: number) } catch {
            throw .stored(StoredDirectory.refusal(error, of: data, profile))
        }
    }

    /// What the log of this machine has of changes of keys and witnesses. Its server may be running.
    func loggedChanges() throws(KeyRotationError) -> LoggedChanges {
        var last: LogOpenError?
        // A frame that the server writes meanwhile can look damaged.
        for _ in 0..<3 {
            do throws(LogOpenError) { return try KeyChanges.logged(in: LogCopy(of: data.log)) } catch {
                // No server has started yet.
                if case .noLog = error { return LoggedChanges() }
                last = error
            }
        }
        guard let last else { return LoggedChanges() }
        throw .stored(.directory(.log(last)))
    }

    /// Demands other witnesses from now on.
    ///
    /// - Parameters:
    ///   - witnesses: as for ``DirectorySetup/witnesses``.
    ///   - untried: whether not to ask first if enough of them answer and know this log.
    /// - Returns: what new clients need; nil: they are demanded already. A change of the log's key that was interrupted is completed before:
    ///   ``hasInterruptedKeyChange``.
    /// - Throws: ``KeyRotationError``.
    public func changeWitnesses(
        to witnesses: [UInt8], untried: Bool = false
    ) async throws(KeyRotationError) -> DirectoryProfile? {
        let shared = try await sharedRotation()
        let completed = try await shared?.complete()
        let profile = try profile()
        let (policy, keys) = (profile.trust.policy, try keys(profile))
        guard let log = policy.listedLogs.first else { throw .stored(.noLog) }
        let changed: Policy
        do { changed = try DirectorySetup.policy(log: log, cosigners: keys.cosigners, witnesses: witnesses) } catch {
            throw .policy(error)
        }
        let pending = shared == nil ? try pendingChange(after: profile) : try await shared?.pendingChange()
        try require(changed, as: pending, after: profile)
        guard changed != policy else {
            // What these files demand may not be what the log does.
            if completed == nil { try await shared?.requireNewest() }
            return completed.flatMap { $0.isOfKey ? nil : $0.profile }
        }
        if !untried {
            let signed = await shared?.engines.remembered(by: [policy])
            try await WitnessTrial(data: data, roots: witnessRoots, shared: signed).run(
                changed, own: keys.cosigners.map(\.verifierKey))
        }
        if let shared { return try await shared.change(to: changed) }
        return try await change(to: changed, profile)
    }

    /// Whether a change of the log's key was interrupted that several machines have to get, after this one has begun to trust the next key.
    /// Whichever change comes next completes it first.
    package var hasInterruptedKeyChange: Bool {
        guard let bytes = try? PrivateFile.read(data.formerProfile),
            let former = try? DirectoryProfile(decoding: bytes), let profile = try? profile()
        else { return false }
        return former.trust.policy.logs != profile.trust.policy.logs
    }

    /// Asks the witnesses whether they know the next key: where too few do, nothing could be published any more.
    ///
    /// - Parameter shared: what the log signed last, if several machines share it.
    func tryNextKey(
        _ policy: Policy, _ profile: DirectoryProfile, shared: (note: SignedNote, head: TreeHead)? = nil
    ) async throws(KeyRotationError) {
        guard let log = policy.logs.first else { throw .stored(.noLog) }
        let next: NoteSigner
        do { next = try DirectoryKeys.nextLogKey(in: data.keys, origin: log.name) } catch { throw .keys(error) }
        try await WitnessTrial(data: data, roots: witnessRoots, shared: shared).run(
            policy, signedBy: next, own: try keys(profile).cosigners.map(\.verifierKey))
    }

    private func change(
        to policy: Policy, _ profile: DirectoryProfile
    ) async throws(KeyRotationError) -> DirectoryProfile {
        let changed = profile.requiring(policy)
        try await log(.keys, changed.trust)
        do throws(FileFailure) { try PrivateFile.replace(data.profile, with: changed.encoded, mode: 0o644) } catch {
            throw .file(error)
        }
        return changed
    }

    /// Logs the change, waits until witnesses have cosigned it, and then does something with the directory.
    func log(
        _ kind: SuccessionRecord.Kind, _ trust: DirectoryTrust,
        then body: (Directory) async throws(KeyRotationError) -> Void = { _ in }
    ) async throws(KeyRotationError) {
        let stored: StoredDirectory
        do {
            stored = try await StoredDirectory.open(
                data, witnessRoots: witnessRoots, guarding: guarding, changingTo: trust.policy, logger: logger)
        } catch { throw .stored(error) }
        var outcome = await logged(kind, trust, in: stored)
        if case .success = outcome {
            do throws(KeyRotationError) { try await body(stored.directory) } catch { outcome = .failure(error) }
        }
        await stored.directory.close()
        try outcome.get()
    }

    func logged(
        _ kind: SuccessionRecord.Kind, _ trust: DirectoryTrust, in stored: StoredDirectory
    ) async -> Result<Void, KeyRotationError> {
        var goesOn = true
        do { try stored.requireGoingOn() } catch {
            // Only the handover itself goes on with a log that has ended.
            guard kind != .keys else { return .failure(.stored(error)) }
            goesOn = false
        }
        let directory = stored.directory
        return await whileServing(stored) { [goesOn] in
            // What cannot be cosigned now is not logged: there is no way back from there.
            if goesOn, case .failure(let error) = await publish(directory) { return .failure(.directory(error)) }
            return await log(kind, trust, in: directory).mapError { error in
                if case .refused(.unwitnessed) = error { .unfinished } else { .directory(error) }
            }
        }
    }

    /// Logs the change, and waits until witnesses have cosigned it.
    private func log(
        _ kind: SuccessionRecord.Kind, _ trust: DirectoryTrust, in directory: Directory
    ) async -> Result<Void, DirectoryError> {
        var failure = DirectoryError.refused(.unwitnessed)
        for _ in 0..<patience {
            do throws(DirectoryError) {
                _ = try await directory.succeed(
                    Directory.successionRecord(kind, trust, after: directory.succession()))
                return .success(())
            } catch { failure = error }
            guard case .refused(.unwitnessed) = failure else { break }
            try? await Task.sleep(for: .seconds(1))
        }
        return .failure(failure)
    }

    /// Waits until a checkpoint is published that is signed and witnessed as from now on.
    ///
    /// - Parameter endsEpoch: whether one more epoch is to end with it.
    func publish(_ directory: Directory, endsEpoch: Bool = false) async -> Result<Void, DirectoryError> {
        var failure = DirectoryError.refused(.unwitnessed)
        let size = directory.log.published.head.size
        for _ in 0..<patience {
            do throws(LogWaitError) {
                try await directory.republish()
                // One that witnesses had not cosigned in time may have been published since.
                if endsEpoch, directory.log.published.head.size <= size { try await directory.endEpoch() }
                return .success(())
            } catch {
                switch error {
                case .belowQuorum: failure = .refused(.unwitnessed)
                case .cancelled, .closed, .displaced: return .failure(.refused(.unavailable))
                case .stopped: return .failure(.stopped)
                }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        return .failure(failure)
    }

    func whileServing<Failure>(
        _ stored: StoredDirectory, _ body: @escaping @Sendable () async -> Result<Void, Failure>
    ) async -> Result<Void, Failure> {
        guard let serving,
            let server = try? HTTPSServer(
                stored.directory, identity: stored.identity, configuration: serving, logger: logger)
        else { return await body() }
        let task = Task { try await server.run(stoppingOnSignals: false) }
        let outcome = await body()
        task.cancel()
        _ = await task.result
        return outcome
    }

    func policy(log: Policy.Log, of old: Policy) throws(KeyRotationError) -> Policy {
        do {
            return try Policy(logs: [log], witnesses: old.witnesses, groups: old.groups, quorum: old.quorum)
        } catch { throw .policy(error) }
    }

    private var isShared: Bool { access(data.engines, F_OK) == 0 }

    /// A log that ends in shared engines would need others for its successor; that is not built.
    ///
    /// - Throws: ``KeyRotationError/sharedEngines``: nothing was changed.
    func requireOneMachine() throws(KeyRotationError) {
        guard !isShared else { throw .sharedEngines }
    }

    private func sharedRotation() async throws(KeyRotationError) -> SharedRotation? {
        guard isShared else { return nil }
        let engines: SharedEngines?
        do { engines = try await connect(data) } catch { throw .stored(.shared(SharedSetupError(error))) }
        guard let engines else { return nil }
        return SharedRotation(self, engines)
    }

    func profile() throws(KeyRotationError) -> DirectoryProfile {
        do { return try StoredDirectory.readProfile(data) } catch { throw .stored(error) }
    }

    func keys(_ profile: DirectoryProfile) throws(KeyRotationError) -> DirectoryKeys {
        do { return try StoredDirectory.readKeys(data, profile, signing: false) } catch { throw .stored(error) }
    }

    func takeNextLogKey() throws(KeyRotationError) {
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
    /// Those of the new witnesses that answer and know the log are not a quorum: the others, with a word for each. Nothing was changed.
    case witnessesSilent([Policy.Name: String])
    /// The next key does not sign.
    case signing(LogSigningError)
    /// The change was not logged. Nothing was changed.
    case directory(DirectoryError)
    /// The change is in the log, and is not cosigned by enough witnesses, or nothing is published by the new keys or witnesses yet.
    case unfinished
    /// The file for clients was not replaced.
    case file(FileFailure)
    /// The new data directory was not made.
    case setup(SetupError)
    /// Another change is in the log, and is not complete: only that one can be made. Nothing was changed.
    case otherChange(PendingChange)
    /// A successor with another name or other witnesses was begun in the same place.
    case otherSuccessor
    /// The disks would not let a handover end.
    case handover(HandoverError)
    /// The directory is in engines that several machines share, and its log cannot end there. Nothing was changed.
    case sharedEngines
    /// Another process gives the log its next key, or discards that. Nothing was changed.
    case underWay
    /// So many connections to the database are of other processes of the directory. Nothing was changed.
    case othersConnected(Int)
    /// The change is in the log, and other processes of the directory keep it from being completed: so many connections to the database are
    /// theirs; nil: one of them leads.
    case unfinishedBesideOthers(Int?)
    /// Of tests: a process would have been killed.
    case interrupted
}

extension DirectoryProfile {
    /// The profile with another policy.
    func requiring(_ policy: Policy) -> DirectoryProfile {
        trusting(DirectoryTrust(policy: policy, vrfKey: trust.vrfKey, freshness: trust.freshness))
    }
}
