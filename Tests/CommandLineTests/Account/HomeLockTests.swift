// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetClient
import Testing

/// Two commands in one home folder.
struct HomeLockTests {
    /// The files of a recovery are read, changed and written back: of two commands at once, one would undo the other's
    /// change.
    @Test(.timeLimit(.minutes(3))) func stepsOfARecoveryTakeTurns() async throws {
        try await Town.withServer { town, _ in
            let home = HomeFolder(path: town["alice"].path())
            let files = try town.contents("alice")
            let lock = try #require(try home.lock())
            let busy = try await town.signet("alice", "guardian", "--json")
            expect(3, busy)
            #expect(busy.complaint.contains("Another signet process has been working"), "\(busy.errors)")
            #expect(try town.contents("alice") == files)
            withExtendedLifetime(lock) {}
        }
        try await Town.withServer { town, _ in
            async let first = town.signet("alice", "guardian", "--json")
            async let second = town.signet("alice", "guardian", "--json")
            for exit in try await [first, second] { expect(0, exit) }
        }
    }
}
