// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import SignetAPI
import Testing

@testable import SignetServer

/// A person's tool that begins a transaction in a database of a running server, and does not end it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DatabaseLockTests {
    /// Another process with a lock, until its input ends.
    private final class Tool {
        private let process = Process()
        private let input = Pipe()

        /// Returns when it has the lock.
        init(locking path: String) throws {
            let output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c",
                """
                import sqlite3, sys
                database = sqlite3.connect(sys.argv[1], isolation_level=None)
                database.execute("BEGIN EXCLUSIVE")
                sys.stdout.write("locked\\n")
                sys.stdout.flush()
                sys.stdin.read()
                """, path,
            ]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
        }

        func end() throws {
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }

    @Test(arguments: ["records/directory.sqlite", "recovery.sqlite", "cards/tokens.sqlite"])
    func aDatabaseThatAnotherProcessKeepsLockedIsNamed_untilItIsFree(_ name: String) async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let parts = try await StandardParts.open(data, beside: stored, logger: silent)
            try PrivateFile.makeFolder(data.path + "/cards")
            let ledger = try CardSignerFiles(data).ledger()
            let locks = DatabaseLocks(of: data, patience: 0.2, logger: silent)
            await locks.look()
            #expect(locks.locked == [], "the server itself has them open")
            let tool = try Tool(locking: "\(data.path)/\(name)")
            await locks.look()
            #expect(locks.locked == [name])
            try tool.end()
            await locks.look()
            #expect(locks.locked == [])
            locks.close()
            withExtendedLifetime(ledger) {}
            for part in parts { await part.close() }
            await stored.directory.close()
        }
    }

    @Test func readySaysSoOfARunningServer_andStopsSayingSo() async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let server = HTTPSServer(
                answering: DirectoryAdapter(stored.directory), and: [], as: try ServerTLS(stored.identity),
                configuration: configuration { $0.watchedFolder = data.path }, logger: silent)
            try await run(server) { port in
                let client = TestClient(port: port, root: stored.profile.tlsRoot)
                let words = "locked by another process: records/directory.sqlite"
                let tool = try Tool(locking: data.records + "/directory.sqlite")
                while try await client.get("/ready")?.text.contains(words) != true { await Task.yield() }
                try tool.end()
                while try await client.get("/ready")?.text != "ready\n" { await Task.yield() }
            }
            await stored.directory.close()
        }
    }
}
