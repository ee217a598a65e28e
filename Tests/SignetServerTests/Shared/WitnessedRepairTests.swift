// SPDX-License-Identifier: Apache-2.0

import EngineLab
import KeyDirectory
import LogFencing
import LogWitness
import SharedLog
import Testing
import TransparencyLog

@testable import SignetServer

/// A repair of a database whose bucket is an older copy too.
@Suite(
    .serialized,
    .enabled(if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("repairs"), "There is no PostgreSQL 15 here."))
struct WitnessedRepairTests {
    /// Whoever is told that all is there starts the processes, and these tell him to repair.
    @Test func whatAWitnessHasCosignedBeyondTheBucketIsReported() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.move()
            try await directory.lead(isFilled: false)
            let digits = try #require(try directory.sql("SELECT size FROM log.log"))
            let size = try #require(UInt64(digits))
            let name = try #require(Policy.Name(Array("w".utf8)))
            for (witnessed, isMissing) in [(size, false), (size + 1, true)] {
                let seen = SeenHead(TreeHead(size: witnessed, root: .emptyTree), in: .witness(name))
                let repair = SharedRepair(data, try directory.engines(), logger: silent) { _, _ in [seen] }
                let report = try await repair.run()
                #expect(report.done.log.size == size)
                #expect(report.missing == (isMissing ? seen : nil))
            }
        }
    }

    /// A witness that is ahead would not have been asked, and the repair would say that all is there.
    @Test func withRootsOfWitnessesThatCannotBeUsedNothingIsPutBack() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.move()
            try await directory.lead(isFilled: false)
            let roots = Array("no certificate".utf8)
            let repair = SharedRepair(data, try directory.engines(), witnessRoots: roots, logger: silent)
            do {
                _ = try await repair.run()
                Issue.record("it was repaired")
            } catch {
                guard case .witnessRoots(.malformed)? = error as? StoredDirectoryError else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
    }
}
