// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import SQLStores
import Testing

/// SQLite keeps the rules of ``SQLRule``.
struct SQLiteRuleTests {
    @Test(arguments: SQLRule.allCases) func sqliteKeepsTheRule(rule: SQLRule) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "rules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try SQLiteDatabase(at: folder.appending(component: "rules.db").path, SQLRule.schema)
        defer { database.close() }
        try await rule.check(database)
    }
}
