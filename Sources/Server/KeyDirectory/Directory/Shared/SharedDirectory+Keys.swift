// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import LogEngine
package import LogFencing
package import SQLStores
package import SharedLog
package import TransparencyLog

// What a process has to know of changes of the log's key and of its witnesses.
extension SharedDirectory {
    /// Demands that the files of this machine are of after every change of keys and witnesses that the log has: who has older ones would lead
    /// with keys or for witnesses that clients do not trust any more, and serve without the proofs of the changes.
    ///
    /// - Parameters:
    ///   - number: of the last change in the log.
    ///   - changing: the trust of a change that this process makes.
    ///   - isLogged: whether an entry with this hash is in the log.
    /// - Throws: ``LogEngine/SharedLogFault/keysChanged``.
    func requireKnown(
        _ number: UInt64, changing: DirectoryTrust? = nil, isLogged: (TreeHash) -> Bool = { _ in false }
    ) throws(SharedLogFault) {
        guard let history else { return }
        try engines.requireKnown(number, in: history, changing: changing, isLogged: isLogged)
    }
}

extension SharedLogEngines {
    /// The head that a machine has shown last, if the log's key has signed it; nil: it has shown nothing, or that is lost.
    ///
    /// - Parameter state: the machine's folder of what it keeps of the log.
    package func shown(in state: String) -> TreeHead? {
        KeptFrames.shown(in: POSIXFileSystem(root: state)).flatMap { logSigned($0)?.head }
    }

    /// These engines, told of the last change of keys and witnesses that a folder has the proof of.
    package func knowing(history: String) -> SharedLogEngines {
        let chain = (try? SuccessionFile(path: DirectoryPaths(root: history).succession).read()).flatMap { $0 }
        guard let last = chain?.links.last, last.record.policy.logs.contains(where: { $0.name == origin }) else {
            return self
        }
        var engines = self
        // The change that ended the log before is shown by a checkpoint of that log.
        if let shown = try? Checkpoint(decoding: last.note.text), shown.origin == origin {
            engines.changed = shown.head.size
        }
        return engines
    }

    /// What the log has of changes of keys and witnesses after the last one that ``knowing(history:)`` has found. The cluster may run meanwhile.
    ///
    /// A process that ends before it has the proof of a change leaves it at the end of the log: nobody leads without it, and as long as it is not
    /// published, who follows the log does not see it. Whoever completes a change publishes an epoch after it.
    ///
    /// - Throws: ``LogEngine/SharedLogFault``; `keysChanged`: what is published is not what this policy demands.
    package func loggedChanges() async throws(SharedLogFault) -> LoggedChanges {
        let seen = try await look()
        var (size, logged) = (min(changed ?? 0, seen.published.head.size), LoggedChanges())
        while size < seen.size {
            for frame in try await frames(from: size, to: seen.size) {
                logged.take(frame, isPublished: frame.endIndex <= seen.published.head.size)
                size = frame.endIndex
            }
        }
        return logged
    }

    /// Demands that a folder has the proofs of every change of keys and witnesses that the log has.
    fileprivate func requireKnown(
        _ number: UInt64, in history: String, changing: DirectoryTrust? = nil, isLogged: (TreeHash) -> Bool
    ) throws(SharedLogFault) {
        let chain: SuccessionChain?
        do { chain = try SuccessionFile(path: DirectoryPaths(root: history).succession).read() } catch {
            throw .keysChanged
        }
        let last = chain?.links.last?.record
        if let changing {
            let record = Directory.successionRecord(.keys, changing, after: chain)
            if number == record.number, record == last || isLogged(.leaf(record.entry)) { return }
        }
        guard number <= last?.number ?? 0 else { throw .keysChanged }
        // The last change may be the one that ended the log before this one, or this one.
        guard let last, last.policy.logs.contains(where: { $0.name == origin }) else { return }
        guard last.policy == policy else { throw .keysChanged }
    }

    /// Takes a directory's log over in order to end it here, on a machine whose files are of after every change of keys and witnesses: one
    /// with older files has not the key that the log has by now, and could not go on with it.
    ///
    /// - Parameters:
    ///   - link: a connection of its own; the caller closes it.
    ///   - facts: what that connection's server says of itself, and what is demanded.
    ///   - holder: a name that no other process has.
    ///   - history: the folder with the proofs of earlier changes.
    ///   - others: what others hold who answer, asked by what was signed last.
    ///   - steady: a clock of this process that never runs back.
    /// - Throws: ``SharedLog/CandidacyEnd``.
    package func endDirectory(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), holder: String, history: String,
        others: @Sendable (PublishedCheckpoint) async -> [SeenHead],
        steady: @escaping @Sendable () -> Duration
    ) async throws(CandidacyEnd) -> ClaimedLog {
        let epochs = EpochSealer(clock: { 0 })
        return try await LogCandidate(knowing(history: history), holder: holder, clock: steady).end(
            over: link, facts, sealing: epochs, others: others
        ) { () throws(SharedLogFault) in
            try requireKnown(epochs.succession, in: history) { _ in false }
        }
    }

    /// Makes the objects of a directory's log again, on a machine whose files are of after every change of keys and witnesses, as every leader's
    /// are: with older ones the log's former key would sign after a change.
    ///
    /// - Parameters:
    ///   - link: a connection of its own; it is closed.
    ///   - facts: what that connection's server says of itself, and what is demanded.
    ///   - configuration: with the log's key.
    ///   - holder: a name that no other process has.
    ///   - history: the folder with the proofs of earlier changes.
    ///   - steady: a clock of this process that never runs back.
    ///   - witnesses: as for `LogCandidate.makeObjects`.
    /// - Throws: ``SharedLog/ObjectsRepairEnd``.
    package func makeDirectoryObjects(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), _ configuration: LogConfiguration,
        _ request: ObjectsRequest, holder: String, history: String, steady: @escaping @Sendable () -> Duration,
        witnesses: @Sendable (PublishedCheckpoint) async -> [Policy.Name: WitnessWord]
    ) async throws(ObjectsRepairEnd) -> ObjectsReport {
        let epochs = EpochSealer(clock: { 0 })
        var configuration = configuration
        configuration.sealing = epochs
        return try await LogCandidate(knowing(history: history), holder: holder, clock: steady).makeObjects(
            over: link, facts, configuration, request,
            requirement: { () throws(SharedLogFault) in try requireKnown(epochs.succession, in: history) { _ in false }
            },
            witnesses: witnesses)
    }
}
