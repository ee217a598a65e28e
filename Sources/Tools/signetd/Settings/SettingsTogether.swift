// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyDirectory
import KeyTransparency
import Platform
import SignetAPI
import SignetServer
import TransparencyLog

extension Run {
    /// What a start would find wrong with settings each of which is right by itself.
    struct Contradictions {
        /// Sentences, one for each rule that is broken.
        fileprivate(set) var sentences: [String] = []
        /// Whether there is a data directory that this user cannot read, so that what depends on it was not looked at.
        fileprivate(set) var isDataUnread = false
    }

    /// What `signetd run` refuses of settings, or could not work with.
    ///
    /// - Parameter settings: without faults.
    static func contradictions(in settings: Settings) -> Contradictions {
        var found = Contradictions()
        let hasData = settings.values[.data] != nil
        do {
            let run = try parse(settings.arguments(besides: []) + (hasData ? [] : ["--data", "."]))
            found.note { try run.requireTogether() }
            found.note { try run.requireExplorer() }
            found.note { try run.requireBroker() }
            let profile = hasData ? run.profile(&found) : nil
            found.note { try run.requireIdentity(profile) }
            found.note { try run.requireFreshLog(profile) }
            guard let profile else { return found }
            found.note { try run.requireWitnesses(profile) }
            found.note { try run.requireMemories(profile) }
            guard !run.isShared else { return found }
            found.note { try run.requireMemory(profile) }
            found.note { try run.requireOneMachine() }
        } catch { found.sentences.append(message(for: error)) }
        return found
    }

    /// What a start demands of settings together before it touches the data; what else ``contradictions(in:)`` finds, it finds itself.
    func requirePossible() throws {
        let profile = try? StoredDirectory.readProfile(DataDirectory(path: data.data))
        try requireFreshLog(profile)
        guard let profile else { return }
        try requireWitnesses(profile)
        try requireMemories(profile)
    }

    /// That of the data directory; nil if there is none yet, or if it cannot be read.
    private func profile(_ found: inout Contradictions) -> DirectoryProfile? {
        do { return try StoredDirectory.readProfile(DataDirectory(path: data.data)) } catch {
            if case .file(let failure) = error, failure.code == EACCES { found.isDataUnread = true }
            return nil
        }
    }

    private func requireTogether() throws {
        let address = try bind.map { try ListenAddress(typed: $0) } ?? ListenAddress(of: DataDirectory(path: data.data))
        var configuration = HTTPSServer.Configuration()
        configuration.showsMetricsToAll = openMetrics
        try proxies.add(to: &configuration, at: address)
        guard case .network(let name) = address, let operators = configuration.monitoring,
            (operators.host, operators.port) == (name.host, name.port), name.port != 0
        else { return }
        throw ValidationError(
            "--admin-listen and --bind: one address cannot be both; choose another port for one of them")
    }

    private func requireIdentity(_ profile: DirectoryProfile?) throws {
        guard let tlsCert, let tlsKey else { return }
        try Self.saying("--tls-cert, --tls-key") {
            let identity = try TLSIdentity(certificate: tlsCert, key: tlsKey)
            _ = try ServerTLS(identity)
            if let profile { try StoredDirectory.requirePinned(identity, by: profile.pins) }
        }
    }

    private func requireExplorer() throws {
        guard let explorer else { return }
        try Self.saying(nil) { _ = try ExplorerFiles(at: explorer, beside: DataDirectory(path: data.data)) }
    }

    private func requireBroker() throws {
        guard let signals else { return }
        try Self.saying("--signals") { _ = try BrokerFile(at: signals) }
    }

    /// Clients wait for an answer to a registration for 20 seconds, also for the witnesses after the epoch. In milliseconds.
    private static let maximumEpoch: UInt32 = 10_000

    /// An idle log has to end an epoch, and sign its checkpoint again, before clients refuse it.
    ///
    /// - Parameter profile: of the data directory; nil: there is none yet.
    private func requireFreshLog(_ profile: DirectoryProfile?) throws {
        guard epoch <= Self.maximumEpoch else {
            throw ValidationError(
                "--epoch \(epoch): a registration waits for the end of an epoch, and a stop for the registration; choose at most "
                    + "\(Self.maximumEpoch) ms")
        }
        let (limit, age) = (EpochTimeRule.standard.maximumLag, (profile?.trust.freshness ?? .standard).maximumAge)
        let signing = UInt64(min(republish, max(heartbeat, 1)))
        guard UInt64(heartbeat) + signing < limit else {
            throw ValidationError(
                "--heartbeat \(heartbeat): clients refuse a log whose last epoch is \(limit) seconds old; choose "
                    + "\(Directory.standardHeartbeat)")
        }
        guard signing < age else {
            throw ValidationError(
                "--republish \(republish): clients refuse a log that was not signed for \(age) seconds; choose 60")
        }
    }

    private func requireWitnesses(_ profile: DirectoryProfile) throws {
        let roots = try roots()
        try Self.saying(nil) { try StoredDirectory.check(witnessRoots: roots, for: profile) }
        _ = try newest.disregarded.names(in: DataDirectory(path: data.data))
    }

    /// Refuses what shared engines have no use for, and where nobody could ever confirm what has to be confirmed.
    private func requireMemories(_ profile: DirectoryProfile) throws {
        guard !isShared else { return try newest.requireUnused() }
        guard newest.requireConfirmation, newest.secondMemory == nil,
            !profile.trust.policy.witnesses.contains(where: { $0.url != nil })
        else { return }
        throw ValidationError(
            "--require-confirmation: there is nobody to ask, since the policy in directory.signet has no witness with an address, and no "
                + "--second-memory is set; set one, or take this setting away")
    }

    private func requireMemory(_ profile: DirectoryProfile) throws {
        guard let memory = newest.memory, let origin = profile.trust.policy.logs.first?.name else {
            return
        }
        try Self.saying(nil) {
            do throws(NewestMemoryError) { _ = try memory.head(of: origin) } catch {
                throw StoredDirectoryError.rollback(.memory(error))
            }
        }
    }

    private var isShared: Bool { access(DataDirectory(path: data.data).engines, F_OK) == 0 }

    /// Refuses what only a directory on shared engines has.
    func requireOneMachine() throws {
        guard signals == nil, relays == .none, roles == .all else {
            throw ValidationError(
                "--roles, --signals and --relays are for a directory on shared engines, and this one is of one machine: "
                    + "see signetd move"
            )
        }
    }

    /// Gives an error as a start says it.
    private static func saying(_ option: String?, _ body: () throws -> Void) throws {
        do { try body() } catch let error as ValidationError { throw error } catch {
            throw ValidationError((option.map { "\($0): " } ?? "") + Verdict(error).sentence)
        }
    }
}

extension Run.Contradictions {
    fileprivate mutating func note(_ rule: () throws -> Void) {
        do { try rule() } catch { sentences.append(Run.message(for: error)) }
    }
}
