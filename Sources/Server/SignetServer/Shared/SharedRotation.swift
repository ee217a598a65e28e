// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import LogWitness
import Platform
import SQLStores
import SharedLog
import SignetAPI
import TransparencyLog

/// A change of the log's key or of its witnesses in a directory that several machines share, made on one that has the log's key while no process
/// of the directory runs.
///
/// Under the old keys the leadership is claimed as every leader claims it, and the change is logged and cosigned. Then this machine's files get
/// the new keys, the leadership is claimed once more, and the second memory and the published checkpoint are signed with them, by the same
/// comparisons as ever. From the moment the change is in the log, nobody leads or starts to serve whose files do not have it; from the
/// moment the second memory is signed with another key, the old one signs nothing more.
///
/// ```
/// history/succession        the change with its proof, for clients
/// directory.signet.before   what was trusted before; there until the change is complete
/// directory.signet          what is trusted from now on
/// keys/log.key.next         becomes keys/log.key at last
/// ```
package struct SharedRotation: Sendable {
    /// What is done, in this order. Each is durable before the next begins; interrupted after any of them, the same again goes on.
    package enum Step: CaseIterable, Sendable {
        /// The change is in the log, cosigned under what was trusted before, and its proof is in the file for clients.
        case logged
        /// What was trusted before is kept beside.
        case kept
        /// This machine trusts what is trusted from now on.
        case trusted
        /// What was signed and published last is signed and cosigned as from now on, and one more epoch is published.
        case signed
        /// The log's next key is its key.
        case taken
    }

    private let rotation: DirectoryKeyRotation
    let engines: SharedEngines
    private var data: DataDirectory { rotation.data }

    init(_ rotation: DirectoryKeyRotation, _ engines: SharedEngines) {
        (self.rotation, self.engines) = (rotation, engines)
    }

    /// Gives the log the key that was announced, or completes that.
    func changeLogKey(untried: Bool) async throws(KeyRotationError) -> DirectoryProfile {
        if let done = try await complete(), done.isOfKey { return done.profile }
        let (profile, pending) = (try rotation.profile(), try await pendingChange())
        // Only the next key of that change can complete it.
        if access("\(data.keys)/\(KeyFile.nextLog.name)", F_OK) != 0 {
            try rotation.require(nil, as: pending, after: profile)
        }
        let next = try rotation.announceLogKey()
        guard let log = profile.trust.policy.listedLogs.first else { throw .stored(.noLog) }
        let policy = try rotation.policy(log: Policy.Log(key: next, url: log.url), of: profile.trust.policy)
        try rotation.require(policy, as: pending, after: profile)
        if !untried {
            let signed = await engines.remembered(by: [profile.trust.policy])
            try await rotation.tryNextKey(policy, profile, shared: signed)
        }
        return try await change(to: policy)
    }

    /// Logs that another policy is trusted from now on, and makes it so.
    func change(to policy: Policy) async throws(KeyRotationError) -> DirectoryProfile {
        let profile = try rotation.profile()
        let changed = profile.requiring(policy)
        try await requireAlone()
        let keys = try keys(of: profile)
        if access(data.history, F_OK) != 0 {
            try filing { () throws(FileFailure) in try PrivateFile.makeFolder(data.history) }
        }
        try await lead(profile, keys, changing: changed.trust) { (stored) throws(KeyRotationError) in
            try await rotation.logged(.keys, changed.trust, in: stored).get()
        }
        try rotation.sharedInterruption(.logged)
        try filing { () throws(FileFailure) in
            try PrivateFile.replace(data.formerProfile, with: profile.encoded, mode: 0o644)
        }
        try rotation.sharedInterruption(.kept)
        try filing { () throws(FileFailure) in
            try PrivateFile.replace(data.profile, with: changed.encoded, mode: 0o644)
        }
        try rotation.sharedInterruption(.trusted)
        _ = try await complete()
        return changed
    }

    /// Completes a change after this machine has begun to trust what is trusted from now on.
    ///
    /// - Returns: what is trusted now, and whether the change was one of the log's key; nil if there was nothing to complete.
    func complete() async throws(KeyRotationError) -> (profile: DirectoryProfile, isOfKey: Bool)? {
        guard access(data.formerProfile, F_OK) == 0 else { return nil }
        let (profile, former) = (try rotation.profile(), try formerProfile())
        guard former != profile else {
            // Interrupted just before; the change is in the log, and is made again.
            try forget()
            return nil
        }
        try await requireAlone()
        let keys = try keys(of: profile)
        try await lead(profile, keys, former: former.trust.policy) { (stored) throws(KeyRotationError) in
            do throws(KeyRotationError) { try await publish(stored) } catch {
                switch error {
                // Who leads and shows nothing gives the lease back after a while: the log stops before witnesses were asked thirty times.
                case .directory(.stopped), .directory(.refused(.unwitnessed)): throw .unfinished
                default: throw error
                }
            }
        }
        try rotation.sharedInterruption(.signed)
        if hasNextKey(keys.log.verifierKey) { try rotation.takeNextLogKey() }
        try rotation.sharedInterruption(.taken)
        try forget()
        return (profile, former.trust.policy.logs != profile.trust.policy.logs)
    }

    /// Demands that the files of this machine are of after every change that the log has.
    func requireNewest() async throws(KeyRotationError) {
        let profile = try rotation.profile()
        // Before the rest: what is published meanwhile is read there.
        guard try await pendingChange() == nil else { throw fault(.keysChanged) }
        do throws(StoredDirectoryError) {
            let place = try StoredDirectory.place(
                data, engines, profile, FrontEndSecret(), keepsState: false, rotation.logger)
            defer { place.close() }
            do throws(SharedDirectoryError) {
                await (try await place.follow(steady: StoredDirectory.steadyClock())).close()
            } catch { throw .shared(SharedSetupError(error)) }
        } catch { throw .stored(error) }
    }

    /// The record of a change that was interrupted; nil: there is none. It may not be published yet.
    ///
    /// - Throws: ``KeyRotationError``; also on a machine whose files are not those by which the log is published.
    func pendingChange() async throws(KeyRotationError) -> SuccessionRecord? {
        let policy = try rotation.profile().trust.policy
        guard let origin = policy.logs.first?.name else { throw .stored(.noLog) }
        // A pool would bring tables up to date, and others may be connected.
        let link: any SQLDatabase
        do { (link, _) = try await engines.link() } catch { throw .stored(.shared(SharedSetupError(error))) }
        defer { link.close() }
        let log = SharedLogEngines(database: link, objects: engines.objects, policy: policy, origin: origin)
        let logged: LoggedChanges
        do throws(SharedLogFault) {
            logged = try await log.knowing(history: data.history).loggedChanges()
        } catch { throw fault(error) }
        return try rotation.pendingChange(at: data.history, after: policy, logged: logged)
    }

    private func fault(_ fault: SharedLogFault) -> KeyRotationError {
        .stored(.shared(SharedSetupError(SharedDirectoryError.log(.fault(fault)))))
    }

    // MARK: Leading

    /// Leads meanwhile, as every leader does.
    private func lead(
        _ profile: DirectoryProfile, _ keys: DirectoryKeys, former: Policy? = nil, changing: DirectoryTrust? = nil,
        _ body: (StoredDirectory) async throws(KeyRotationError) -> Void
    ) async throws(KeyRotationError) {
        let (stored, place): (StoredDirectory, SharedDirectory)
        do throws(StoredDirectoryError) { (stored, place) = try await open(profile, keys, former, changing) } catch {
            if case .shared(let setup) = error, case .directory(.candidacy(.ended(.othersLead))) = setup.cause,
                await isLogged()
            {
                throw .unfinishedBesideOthers(nil)
            }
            throw .stored(error)
        }
        defer { place.close() }
        do throws(KeyRotationError) { try await body(stored) } catch {
            await stored.directory.close()
            throw error
        }
        await stored.directory.close()
    }

    private func open(
        _ profile: DirectoryProfile, _ keys: DirectoryKeys, _ former: Policy?, _ changing: DirectoryTrust?
    ) async throws(StoredDirectoryError) -> (StoredDirectory, SharedDirectory) {
        let secret = try StoredDirectory.readSharedSecret(data, isNeeded: true) ?? FrontEndSecret()
        let identity = try StoredDirectory.readIdentity(data, pinnedBy: profile.pins)
        let (policy, roots) = (profile.trust.policy, rotation.witnessRoots)
        let witnessing: WitnessedPublishing?
        do throws(WitnessRootsError) {
            witnessing = try WitnessedPublishing(
                policy, additionalRoots: roots, clock: ServerClock.system.time, logger: rotation.logger)
        } catch { throw .witnessRoots(error) }
        let place = try StoredDirectory.place(
            data, engines, profile, secret, keepsState: false, former: former, rotation.logger)
        do throws(StoredDirectoryError) {
            let directory = try await directory(place, keys, witnessing, changing, policy)
            let stored = StoredDirectory(
                profile: profile, directory: directory, identity: identity, witnesses: witnessing?.progress,
                shared: secret, engines: engines, watch: nil)
            return (stored, place)
        } catch {
            place.close()
            throw error
        }
    }

    private func directory(
        _ place: SharedDirectory, _ keys: DirectoryKeys, _ witnessing: WitnessedPublishing?,
        _ changing: DirectoryTrust?, _ policy: Policy
    ) async throws(StoredDirectoryError) -> Directory {
        let (link, facts): (any SQLDatabase, DatabaseFacts)
        do throws(SharedEnginesError) { (link, facts) = try await engines.link() } catch {
            throw .shared(SharedSetupError(error))
        }
        let (roots, disregarded, logger) = (rotation.witnessRoots, rotation.guarding.disregarded, rotation.logger)
        do throws(SharedDirectoryError) {
            return try await place.lead(
                keys, over: link, (facts, engines.demands), holder: Self.holder, witnessing: witnessing,
                others: {
                    await SharedEngines.seen(
                        by: policy, beyond: $0, roots: roots, disregarding: disregarded, logger: logger)
                }, changing: changing, steady: StoredDirectory.steadyClock())
        } catch { throw .shared(SharedSetupError(error)) }
    }

    private static let holder = SharedEngines.holder("rotate")

    private func publish(_ stored: StoredDirectory) async throws(KeyRotationError) {
        let directory = stored.directory
        // By what is published after the change, a machine with older files sees that it was not interrupted.
        let outcome = await rotation.whileServing(stored) { await rotation.publish(directory, endsEpoch: true) }
        do { try outcome.get() } catch { throw .directory(error) }
    }

    private func requireAlone() async throws(KeyRotationError) {
        let others: Int
        do { others = try await engines.othersConnected(looks: rotation.looks) } catch {
            throw .stored(.shared(SharedSetupError(error)))
        }
        guard others == 0 else { throw await isLogged() ? .unfinishedBesideOthers(others) : .othersConnected(others) }
    }

    /// Whether the log has a change that this machine has not completed.
    private func isLogged() async -> Bool {
        guard access(data.formerProfile, F_OK) != 0 else { return true }
        return (try? await pendingChange()) != nil
    }

    // MARK: Files

    /// The keys of a policy: the log's own, or the next one, if that is what the policy has.
    private func keys(of profile: DirectoryProfile) throws(KeyRotationError) -> DirectoryKeys {
        let policy = profile.trust.policy
        guard let log = policy.logs.first else { throw .stored(.noLog) }
        do {
            let keys = try DirectoryKeys.read(from: data.keys, origin: log.name, logger: rotation.logger)
            if policy.logs.contains(keys.log.verifierKey) { return keys }
            guard access("\(data.keys)/\(KeyFile.nextLog.name)", F_OK) == 0 else {
                throw KeyRotationError.stored(.rotationInterrupted)
            }
            let next = try DirectoryKeys.nextLogKey(in: data.keys, origin: log.name)
            guard policy.logs.contains(next.verifierKey) else { throw KeyRotationError.stored(.rotationInterrupted) }
            return DirectoryKeys(log: next, cosigners: keys.cosigners, vrf: keys.vrf)
        } catch let error as KeyRotationError { throw error } catch let error as KeyFileError {
            throw .keys(error)
        } catch { throw .stored(.rotationInterrupted) }
    }

    /// Whether the next key is there and is this one.
    private func hasNextKey(_ key: VerifierKey) -> Bool {
        guard access("\(data.keys)/\(KeyFile.nextLog.name)", F_OK) == 0 else { return false }
        return (try? DirectoryKeys.nextLogKey(in: data.keys, origin: key.name).verifierKey) == key
    }

    private func formerProfile() throws(KeyRotationError) -> DirectoryProfile {
        let bytes = try filing { () throws(FileFailure) in try PrivateFile.read(data.formerProfile) }
        do { return try DirectoryProfile(decoding: bytes) } catch { throw .stored(.profile(error)) }
    }

    private func forget() throws(KeyRotationError) {
        try filing { () throws(FileFailure) in
            guard unlink(data.formerProfile) == 0 else { throw FileFailure(data.formerProfile) }
            try PrivateFile.synchronize(folder: data.path)
        }
    }

    private func filing<Value>(_ body: () throws(FileFailure) -> Value) throws(KeyRotationError) -> Value {
        do throws(FileFailure) { return try body() } catch { throw .file(error) }
    }
}
