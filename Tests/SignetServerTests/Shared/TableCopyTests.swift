// SPDX-License-Identifier: Apache-2.0

import EngineLab
import SQLStores
import Testing

@testable import SignetServer

/// Rows on their way from a file to a server.
@Suite(
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("moving tables"), "There is no PostgreSQL 15 here."))
struct TableCopyTests {
    private static let schema = SQLSchema(
        "copied",
        [
            SQLSchema.Step(
                "1: people and what they have",
                """
                CREATE TABLE people (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL UNIQUE, bytes INTEGER NOT NULL DEFAULT 0
                ) STRICT;
                CREATE TABLE things (
                    owner INTEGER NOT NULL REFERENCES people ON DELETE CASCADE, number INTEGER NOT NULL, words TEXT,
                    PRIMARY KEY (owner, number)
                ) STRICT, WITHOUT ROWID;

                """,
                sqlite: """
                    CREATE TRIGGER things_paid AFTER INSERT ON things BEGIN
                        UPDATE people SET bytes = bytes + 10 WHERE id = NEW.owner;
                    END;
                    """,
                postgres: """
                    CREATE FUNCTION things_paid() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN UPDATE people SET bytes = bytes + 10 WHERE id = NEW.owner; RETURN NULL; END $$;
                    CREATE TRIGGER things_paid AFTER INSERT ON things FOR EACH ROW EXECUTE FUNCTION things_paid();
                    """)
        ])

    private let file: LabPlace
    private let server: LabPlace
    private let source: any SQLDatabase
    private let target: any SQLDatabase
    private var copy: TableCopy { TableCopy(from: source, to: target) }

    init() throws {
        file = try LabPlace(on: .sqlite)
        server = try LabPlace(on: .postgres)
        source = try file.open(Self.schema)
        target = try server.open(Self.schema)
        try source.writeNow { database in
            for name in ["alice", "bob", "carol"] {
                try database.run("INSERT INTO people (name) VALUES (?)", [Array(name.utf8)])
            }
            try database.run("DELETE FROM people WHERE name = ?", [Array("carol".utf8)])
            try database.run("INSERT INTO things VALUES (1, 1, ?)", ["a ‘thing’ — 𝄞"])
            try database.run("INSERT INTO things VALUES (1, 2, ?)", [nil])
        }
    }

    @Test func everyRowIsThereAndNobodyPaysTwice() throws {
        #expect(try copy.run(isRepeated: false) == 4)
        try copy.compare()
        #expect(try target.readNow { try $0.row("SELECT bytes FROM people WHERE id = 1")?.integer(0) } == 20)
    }

    @Test func whatComesNextIsPaidAndHasANumberOfItsOwn() throws {
        _ = try copy.run(isRepeated: false)
        try target.writeNow { database in
            let id = try database.row("INSERT INTO people (name) VALUES (?) RETURNING id", [Array("dave".utf8)])
            #expect(try id?.integer(0) ?? 0 > 3)
            try database.run("INSERT INTO things VALUES (2, 1, ?)", ["his"])
            #expect(try database.row("SELECT bytes FROM people WHERE id = 2")?.integer(0) == 10)
        }
    }

    @Test func numbersOfRowsThatAreGoneAreNotGivenAgain() throws {
        _ = try copy.run(isRepeated: false)
        try target.writeNow { database in
            // Carol had the third.
            let id = try database.row("INSERT INTO people (name) VALUES (?) RETURNING id", [Array("dave".utf8)])
            #expect(try id?.integer(0) == 4)
        }
    }

    @Test func whatCameBackIsTheSame_andWhatComesNextIsPaidAndHasANumberOfItsOwn() throws {
        _ = try copy.run(isRepeated: false)
        try target.writeNow { database in
            try database.run("INSERT INTO people (name) VALUES (?)", [Array("dave".utf8)])
            try database.run("DELETE FROM people WHERE name = ?", [Array("dave".utf8)])
        }
        let place = try LabPlace(on: .sqlite)
        let file = try place.open(Self.schema)
        let back = TableCopy(from: target, backTo: file)
        #expect(try back.run(isRepeated: false) == 4)
        try back.compare()
        try TableCopy(from: source, to: target).compare()
        try file.writeNow { database in
            #expect(try database.row("SELECT bytes FROM people WHERE id = 1")?.integer(0) == 20)
            let id = try database.row("INSERT INTO people (name) VALUES (?) RETURNING id", [Array("erin".utf8)])
            #expect(try id?.integer(0) == 5)
            try database.run("INSERT INTO things VALUES (2, 1, ?)", ["his"])
            #expect(try database.row("SELECT bytes FROM people WHERE id = 2")?.integer(0) == 10)
        }
    }

    @Test(arguments: ["UPDATE things SET words = 'other' WHERE number = 1", "DELETE FROM things WHERE number = 2"])
    func anotherRowOnTheWayBackIsFound(change: String) throws {
        _ = try copy.run(isRepeated: false)
        let place = try LabPlace(on: .sqlite)
        let file = try place.open(Self.schema)
        let back = TableCopy(from: target, backTo: file)
        _ = try back.run(isRepeated: false)
        try file.writeNow { _ = try $0.run(change) }
        #expect(throws: TableCopy.Fault.differs(table: "things")) { try back.compare() }
    }

    @Test func aTableWithRowsIsRefused_andThenHasWhatItHad() throws {
        try target.writeNow { _ = try $0.run("INSERT INTO people (id, name) VALUES (9, ?)", [Array("eve".utf8)]) }
        #expect(throws: TableCopy.Fault.notEmpty(table: "people")) { try copy.run(isRepeated: false) }
        #expect(try target.readNow { try $0.row("SELECT COUNT(*) FROM people")?.integer(0) } == 1)
    }

    @Test func whatAnInterruptedCopyHasLeftIsReplaced() throws {
        _ = try copy.run(isRepeated: false)
        try source.writeNow { _ = try $0.run("DELETE FROM things WHERE number = 2") }
        #expect(try copy.run(isRepeated: true) == 3)
        try copy.compare()
    }

    @Test(arguments: [
        "UPDATE things SET words = 'other' WHERE number = 1", "DELETE FROM things WHERE number = 2",
        "UPDATE things SET words = '' WHERE number = 2",
    ])
    func anotherRowThereIsFound(change: String) throws {
        _ = try copy.run(isRepeated: false)
        try target.writeNow { _ = try $0.run(change) }
        #expect(throws: TableCopy.Fault.differs(table: "things")) { try copy.compare() }
    }
}
