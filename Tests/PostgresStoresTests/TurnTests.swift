// SPDX-License-Identifier: Apache-2.0

import EngineLab
import SQLStores
import Testing

@testable import PostgresStores

/// Transactions that take turns: they do not disturb each other, and nobody has to wait for one that does not end.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct TurnTests {
    private let lent: LabDatabase
    private let repeats = Tally()
    private let runs = Tally()
    private let held = Tally()
    private let mayGo = Gate()

    init() throws {
        lent = try PostgresLab.database()
        try lent.open(SQLRule.schema).writeNow { _ = try $0.run(Counters.add, [1]) }
    }

    private func open(_ change: (inout PostgresDatabase.Options) -> Void = { _ in }) throws -> any SQLDatabase {
        var options = PostgresDatabase.Options()
        options.onRepeat = { [repeats] in repeats.up() }
        (options.turnPatience, options.idling) = (.seconds(60), .seconds(60))
        change(&options)
        return try lent.open(SQLRule.schema, options: options)
    }

    /// Adds ten to a counter in turn, and holds the turn in between if it is to.
    private func add(_ database: any SQLDatabase, holds: Bool = false) async throws {
        try await database.writeInTurn(on: "things") { [held, mayGo, runs] transaction in
            runs.up()
            let value = try transaction.row(Counters.value, [1])?.integer(0) ?? 0
            if holds {
                held.up()
                mayGo.wait()
            }
            try transaction.run(Counters.set, [value + 10, 1])
        }
    }

    private func waitUntilOneWaits() async throws {
        while try runs.count < 2 && lent.administer("SELECT COUNT(*) FROM pg_locks WHERE NOT granted") == "0" {
            await Task.yield()
        }
        #expect(runs.count == 1)
    }

    @Test func theSecondSeesWhatTheFirstWrote_andNothingIsRunAgain() async throws {
        let (first, second) = (try open(), try open())
        async let one: Void = add(first, holds: true)
        while held.count == 0 { await Task.yield() }
        async let two: Void = add(second)
        try await waitUntilOneWaits()
        mayGo.open()
        _ = try await (one, two)
        #expect(try await first.read { try $0.row(Counters.value, [1])?.integer(0) } == 20)
        #expect(repeats.count == 0)
    }

    /// Who takes no turn is held up by nobody who has it.
    @Test func othersAreNotHeldUp() async throws {
        let (first, second) = (try open(), try open())
        async let one: Void = add(first, holds: true)
        while held.count == 0 { await Task.yield() }
        try await second.write { _ = try $0.run("INSERT INTO things (number) VALUES (1)") }
        mayGo.open()
        try await one
    }

    @Test func aTurnThatDoesNotComeIsNotWaitedForForEver() async throws {
        let (first, second) = (try open(), try open { $0.turnPatience = .milliseconds(5) })
        async let one: Void = add(first, holds: true)
        while held.count == 0 { await Task.yield() }
        try await add(second)
        mayGo.open()
        try await one
        #expect(try await first.read { try $0.row(Counters.value, [1])?.integer(0) } == 20)
        #expect(repeats.count == 1, "as safe as without a turn")
    }

    /// A process that stands still with its turn.
    @Test func theTurnOfAProcessThatStandsStillEnds() async throws {
        let (first, second) = (try open { $0.idling = .milliseconds(20) }, try open())
        let one = Task { await fault { try await add(first, holds: true) } }
        while held.count == 0 { await Task.yield() }
        try await add(second)
        mayGo.open()
        let isRefused = if case .unavailable = await one.value { true } else { false }
        #expect(isRefused)
        #expect(try await second.read { try $0.row(Counters.value, [1])?.integer(0) } == 10)
    }
}
