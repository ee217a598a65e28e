// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import Testing

@testable import SignetServer

/// The ledger of a signer of wallet cards, as a file of the server.
struct TokenLedgerFileTests {
    /// Runs lines of Python on the ledger of a data directory.
    private func python(_ data: DataDirectory, _ lines: String) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        let opened = "import sqlite3, sys\nledger = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        process.arguments = ["python3", "-c", opened + lines, data.path + "/cards/tokens.sqlite"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text
    }

    private func makeLedger(_ data: DataDirectory, with account: Handle) throws {
        try PrivateFile.makeFolder(data.path + "/cards")
        _ = try CardSignerFiles(data).ledger()
        _ = try python(data, "ledger.execute(\"INSERT INTO given VALUES (?, 1, 3)\", (b'\(account)',))")
    }

    /// Whoever is erased is erased, whether or not the signer can sign: the key is damaged, or the whole signer was taken away.
    @Test(arguments: [true, false]) func anErasureForgetsTheTokens_alsoWhereNothingCanBeSigned(
        hasStatement: Bool
    ) async throws {
        try await withDataDirectory { data in
            let account = try Handle(typed: Array("alice@example.org".utf8))
            try makeLedger(data, with: account)
            if hasStatement { try PrivateFile.write("damaged".utf8, to: data.path + "/cards/statement") }
            let stored = try await StoredDirectory.open(data, logger: silent)
            let cards = CardSignerAnswering(data, beside: stored.directory, clock: { TestPerson.now }, logger: silent)
            await cards.keepUp()
            let count = "print(ledger.execute('SELECT count(*) FROM given').fetchone()[0])"
            #expect(try python(data, count) == "1\n")
            try await cards.erase(account)
            #expect(try python(data, count) == "0\n")
            await cards.close()
            await stored.directory.close()
        }
    }

    @Test func aLedgerThatIsTakenAwayIsNamed() async throws {
        try await withDataDirectory { data in
            try makeLedger(data, with: Handle(typed: Array("alice@example.org".utf8)))
            let held = HeldFiles(of: data)
            #expect(held.lost == [])
            try FileManager.default.removeItem(atPath: data.path + "/cards/tokens.sqlite")
            #expect(held.lost == ["cards/tokens.sqlite"])
        }
    }
}
