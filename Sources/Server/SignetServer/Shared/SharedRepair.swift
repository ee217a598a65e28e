// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeyDirectory
import LogFencing
package import Logging
import SQLStores
import SharedLog

/// Puts back into the database what it lacks of a shared log. Nothing is signed.
package struct SharedRepair: Sendable {
    private let data: DataDirectory
    private let engines: SharedEngines
    private let logger: Logger

    package init(_ data: DataDirectory, _ engines: SharedEngines, logger: Logger) {
        self.data = data
        self.engines = engines
        self.logger = logger
    }

    /// - Throws: ``StoredDirectoryError``.
    package func run() async throws(StoredDirectoryError) -> SharedDirectory.Repaired {
        let profile = try StoredDirectory.readProfile(data)
        let secret = try StoredDirectory.readSharedSecret(data, isNeeded: true) ?? FrontEndSecret()
        let place = try StoredDirectory.place(data, engines, profile, secret, logger)
        defer { place.close() }
        let (link, facts): (any SQLDatabase, DatabaseFacts)
        do throws(SharedEnginesError) { (link, facts) = try await engines.link() } catch {
            throw .shared(SharedSetupError(error))
        }
        let holder = SharedEngines.holder("repair")
        do throws(SharedDirectoryError) {
            return try await place.repair(
                over: link, (facts, engines.demands), holder: holder, steady: StoredDirectory.steadyClock())
        } catch { throw .shared(SharedSetupError(error)) }
    }
}
