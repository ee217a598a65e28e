// SPDX-License-Identifier: Apache-2.0

/// The tables of a store, as the steps that brought them about.
package struct SQLSchema: Sendable {
    /// What the server calls the group of tables; a file needs none.
    package let name: String
    /// In order. A step that has landed never changes its name.
    package let steps: [Step]

    package init(_ name: String, _ steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    /// The tables that are there when all steps have run.
    package var tables: Set<String> {
        var names: Set<String> = []
        for step in steps {
            for match in step.sql.matches(of: #/\b(CREATE|DROP) TABLE (\w+)/#) {
                if match.1 == "CREATE" { names.insert(String(match.2)) } else { names.remove(String(match.2)) }
            }
        }
        return names
    }

    /// One step.
    package struct Step: Sendable {
        package let name: String
        /// Statements in SQLite's words that ``PortableSQL`` can translate, divided by `;`.
        package let sql: String
        /// What only SQLite runs, after it: triggers.
        package let sqlite: String
        /// What only PostgreSQL runs, after it: the same triggers in its language.
        package let postgres: String
        /// How many steps a program must know to use tables in which this one has run; nil: this one too. A step that only adds what older
        /// programs need not know says fewer, and then programs of both versions can run side by side on PostgreSQL.
        package let minimumReader: Int?

        package init(
            _ name: String, _ sql: String, sqlite: String = "", postgres: String = "", minimumReader: Int? = nil
        ) {
            self.minimumReader = minimumReader
            self.name = name
            self.sql = sql
            self.sqlite = sqlite
            self.postgres = postgres
        }
    }
}
