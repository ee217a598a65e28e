// SPDX-License-Identifier: Apache-2.0

import EngineLab
import PostgresStores
import Synchronization
import Testing

@testable import SignetServer

/// A database that does not let a process in: a mistake when it starts, and for one that runs something that passes.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("databases that turn away"),
        "There is no PostgreSQL 15 here.")
)
struct TurnedAwayTests {
    /// A log that was led, and its engines as another user of the database.
    private func withUser(
        _ body: (MovingDirectory, _ user: String, SharedEngines) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.move()
            try await directory.lead(isFilled: false)
            let user = "user_of_\(directory.lab.name)"
            try directory.sql("CREATE ROLE \(user) LOGIN SUPERUSER")
            let address = directory.lab.address.description.replacing("user=signet", with: "user=\(user)")
            let engines = SharedEngines(
                file: try directory.engines().file, address: try PostgresAddress(address), objects: directory.objects,
                replicatesBelowSQL: true)
            try await body(directory, user, engines)
        }
    }

    @Test func aProcessThatIsTurnedAwayAtItsStartEnds() async throws {
        try await withUser { directory, user, engines in
            try directory.sql("ALTER ROLE \(user) NOLOGIN")
            let (retries, report) = AsyncStream.makeStream(of: Void.self)
            var options = Sequencer.Options()
            options.words = {
                report.yield()
                return "\($0)"
            }
            let sequencer = Sequencer(directory.data, engines, options, logger: silent)
            let running = Task { try await sequencer.run() }
            let watching = Task { for await _ in retries { running.cancel() } }
            await #expect {
                try await running.value
            } throws: { error in
                guard case StoredDirectoryError.shared(let setup) = error else { return false }
                return setup.isTurnedAway
            }
            watching.cancel()
        }
    }

    /// An operator changes a password here and there in turn, or restores the primary.
    @Test func aProcessThatRunsWaitsUntilItIsLetInAgain() async throws {
        try await withUser { directory, user, engines in
            let said = Mutex<[String]>([])
            var options = Sequencer.Options()
            options.words = { error in
                said.withLock { $0.append("\(error)") }
                return "\(error)"
            }
            func generation() throws -> Int { Int(try directory.sql("SELECT generation FROM log.log") ?? "") ?? 0 }
            let before = try generation()
            try await directory.lead(over: engines, options) {
                try await directory.settle { try generation() == before + 1 }
                try directory.sql("ALTER ROLE \(user) NOLOGIN")
                try directory.sql(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '\(user)'")
                try await directory.settle { said.withLock { $0.contains { $0.contains("turnedAway") } } }
                try directory.sql("ALTER ROLE \(user) LOGIN")
                try await directory.settle { try generation() > before + 1 }
                return true
            }
        }
    }
}
