// SPDX-License-Identifier: Apache-2.0

import EngineLab
import PostgresStores
import SQLStores
import Testing

/// PostgreSQL keeps the rules of ``SQLRule``.
struct PostgresRuleTests {
    @Test(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here."), arguments: SQLRule.allCases)
    func postgresKeepsTheRule(rule: SQLRule) async throws {
        let database = try PostgresLab.database().open(SQLRule.schema)
        defer { database.close() }
        try await rule.check(database)
    }

    @Test func whatIsLeftOutIsSaid() {
        guard !PostgresLab.isPresent else { return }
        #expect(!PostgresLab.sayWhatIsLeftOut("PostgresStoresTests"))
    }
}
