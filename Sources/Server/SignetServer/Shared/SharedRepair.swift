// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeyDirectory
import KeyTransparency
import LogEngine
package import LogFencing
package import Logging
import SQLStores
import SharedLog
import SignetAPI
package import TransparencyLog

/// Puts back into the database what it lacks of a shared log. Nothing is signed.
package struct SharedRepair: Sendable {
    private let data: DataDirectory
    private let engines: SharedEngines
    private let logger: Logger
    private let roots: [UInt8]
    private let witnesses: @Sendable (Policy, PublishedCheckpoint) async -> [SeenHead]

    /// What was done.
    package struct Report: Sendable {
        /// Of the log and the accounts.
        package let done: SharedDirectory.Repaired
        /// What others have seen that neither the database nor the bucket's object `signed` has: this machine, or witnesses.
        package let missing: SeenHead?
    }

    /// - Parameters:
    ///   - witnessRoots: root certificates to trust beside the system's when asking witnesses, PEM.
    ///   - disregarded: witnesses whose word does not count.
    package init(
        _ data: DataDirectory, _ engines: SharedEngines, witnessRoots: [UInt8] = [],
        disregarding disregarded: Set<Policy.Name> = [], logger: Logger
    ) {
        self.init(data, engines, witnessRoots: witnessRoots, logger: logger) {
            await SharedEngines.seen(
                by: $0, beyond: $1, roots: witnessRoots, disregarding: disregarded, logger: logger)
        }
    }

    /// - Parameter witnesses: what they hold who answer, asked by a checkpoint.
    init(
        _ data: DataDirectory, _ engines: SharedEngines, witnessRoots: [UInt8] = [], logger: Logger,
        witnesses: @escaping @Sendable (Policy, PublishedCheckpoint) async -> [SeenHead]
    ) {
        self.data = data
        self.engines = engines
        self.logger = logger
        roots = witnessRoots
        self.witnesses = witnesses
    }

    /// Whether the result has what others have seen is reported, not demanded: what was put back is put back.
    ///
    /// - Throws: ``StoredDirectoryError``.
    package func run() async throws(StoredDirectoryError) -> Report {
        let profile = try StoredDirectory.readProfile(data)
        try StoredDirectory.check(witnessRoots: roots, for: profile)
        let secret = try StoredDirectory.readSharedSecret(data, isNeeded: true) ?? FrontEndSecret()
        let place = try StoredDirectory.place(data, engines, profile, secret, logger)
        defer { place.close() }
        let (link, facts): (any SQLDatabase, DatabaseFacts)
        do throws(SharedEnginesError) { (link, facts) = try await engines.link() } catch {
            throw .shared(SharedSetupError(error))
        }
        let holder = SharedEngines.holder("repair")
        do throws(SharedDirectoryError) {
            let done = try await place.repair(
                over: link, (facts, engines.demands), holder: holder,
                others: { await witnesses(profile.trust.policy, $0) }, steady: StoredDirectory.steadyClock())
            let seen = (done.shown.map { [SeenHead($0, in: .thisMachine)] } ?? []) + done.log.seen
            let missing = seen.filter { $0.head.size > done.log.size }.max { $0.head.size < $1.head.size }
            return Report(done: done, missing: missing)
        } catch { throw .shared(SharedSetupError(error)) }
    }
}
