// SPDX-License-Identifier: Apache-2.0

import EngineLab
import SQLStores
import Synchronization
import Testing

@testable import PostgresStores

/// Transactions that others disturb: run again, and not for ever.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct RetryTests {
    private let lent: LabDatabase
    /// Another server's connections to the same tables.
    private let other: any SQLDatabase
    private let database: any SQLDatabase
    private let runs = Tally()
    private let pauses = Recorded()

    private final class Faults: Sendable {
        let all = Mutex<[SQLFault]>([])
    }

    /// The pauses that were made, and no time is spent.
    private final class Recorded: Sendable {
        let lengths = Mutex<[Duration]>([])
    }

    init() throws {
        lent = try PostgresLab.database()
        other = try lent.open(SQLRule.schema)
        var options = PostgresDatabase.Options()
        options.pauses = PostgresPauses(
            random: { $0.upperBound }, sleep: { [pauses] length in pauses.lengths.withLock { $0.append(length) } })
        database = try lent.open(SQLRule.schema, options: options)
        try other.writeNow { transaction in
            for id in [1, 2] { try transaction.run(Counters.add, [id]) }
        }
    }

    private var waited: [Duration] { pauses.lengths.withLock(\.self) }

    /// Adds ten to a counter to which another writer adds one meanwhile, as often as is said.
    private func add(disturbedTimes: Int) async throws {
        try await database.write { [runs, other] transaction in
            let run = runs.up()
            let value = try transaction.row(Counters.value, [1])?.integer(0) ?? 0
            if run <= disturbedTimes {
                try other.writeNow { _ = try $0.run("UPDATE counters SET value = value + 1 WHERE id = ?", [1]) }
            }
            try transaction.run(Counters.set, [value + 10, 1])
        }
    }

    @Test(arguments: [0, 1, 8]) func aDisturbedTransactionIsRunAgain(times: Int) async throws {
        try await add(disturbedTimes: times)
        #expect(runs.count == times + 1)
        #expect(waited == (0..<times).map { .milliseconds(2 << $0) })
        #expect(try await other.read { try $0.row(Counters.value, [1])?.integer(0) } == Int64(times) + 10)
    }

    @Test func whoIsAlwaysDisturbedIsRefusedAfterTwentyFourMore() async throws {
        #expect(await fault { try await add(disturbedTimes: .max) } == .unavailable(.postgres(state: "40001")))
        #expect(runs.count == 25)
        let growing = [2, 4, 8, 16, 32, 64, 128]
        #expect(waited == (growing + Array(repeating: 256, count: 17)).map { .milliseconds($0) })
    }

    /// A second row of one key can be a race that another run would not lose, so it is run again, too.
    @Test func aSecondRowOfOneKeyIsTriedAgain() async throws {
        #expect(
            await fault {
                try await database.write { [runs] transaction in
                    runs.up()
                    try transaction.run(Counters.add, [1])
                }
            } == .unavailable(.postgres(state: "23505")))
        #expect(runs.count == 25)
    }

    /// Two that wait for each other's row: the server ends one of them, which then has its turn.
    @Test func twoThatWaitForEachOtherBothGoThrough() async throws {
        try lent.administer("ALTER DATABASE \(lent.name) SET deadlock_timeout = '20ms'")
        let (first, second) = (try lent.open(SQLRule.schema), try lent.open(SQLRule.schema))
        let states = Faults()
        let arrived = Meeting(of: 2)
        @Sendable func cross(_ database: any SQLDatabase, _ ids: [Int]) async throws {
            try await database.write { transaction in
                try transaction.run("UPDATE counters SET value = value + 1 WHERE id = ?", [ids[0]])
                arrived.arrive()
                do { try transaction.run("UPDATE counters SET value = value + 1 WHERE id = ?", [ids[1]]) } catch {
                    if let fault = error as? SQLFault { states.all.withLock { $0.append(fault) } }
                    throw error
                }
            }
        }
        async let one: Void = cross(first, [1, 2])
        async let two: Void = cross(second, [2, 1])
        _ = try await (one, two)
        #expect(states.all.withLock(\.self).contains(.unavailable(.postgres(state: "40P01"))))
        let values = try await other.read { try $0.rows("SELECT value FROM counters").map { try $0.integer(0) } }
        #expect(values == [2, 2])
    }

    @Test func whatCanPassIsKnownByItsState() {
        func passes(_ state: String?, _ isolation: PostgresIsolation, isLost: Bool = false) -> Bool {
            PostgresFailure(state: state, isLost: isLost).mayPass(in: isolation)
        }
        for isolation in [PostgresIsolation.snapshot, .serializable, .readCommitted] {
            for state in ["40001", "40P01"] {
                #expect(passes(state, isolation) && !passes(state, isolation, isLost: true))
            }
            for state in [nil, "23503", "25006", "57014", "57P01", "XX001"] { #expect(!passes(state, isolation)) }
            #expect(passes("23505", isolation) == (isolation == .serializable))
        }
        #expect(!passes("23505", .serializable, isLost: true))
    }

    @Test func aDiskThatFailsNeedsANewStart() {
        for state in ["58030", "XX000", "XX001"] {
            #expect(PostgresFailure(state: state).fault == .storageFailed(.postgres(state: state)))
            #expect(PostgresFailure(state: state, isLost: true).fault == .unavailable(.postgres(state: state)))
        }
        for state in ["53100", "57P03", nil] {
            #expect(PostgresFailure(state: state).fault == .unavailable(.postgres(state: state)))
        }
    }

    // MARK: Mistakes of this program, and what others do to the tables

    @Test func writingWhereOneReadsIsRefusedOnce() async throws {
        let refused = await fault {
            _ = try await database.read { [runs] transaction in
                runs.up()
                return try transaction.run(Counters.add, [3])
            }
        }
        #expect(refused == .unavailable(.postgres(state: "25006")))
        #expect(runs.count == 1)
    }

    /// A column is added while a server runs: what it had prepared is prepared again, once.
    @Test func whatWasPreparedForOtherTablesIsPreparedAgain() async throws {
        let all = "SELECT * FROM counters WHERE id = ?"
        var options = PostgresDatabase.Options()
        options.connectionCount = 1
        let database = try lent.open(SQLRule.schema, options: options)
        func read() async throws -> Int? {
            try await database.read { [runs] transaction in
                runs.up()
                return try transaction.row(all, [1])?.values.count
            }
        }
        #expect(try await read() == 2)
        try await other.write { _ = try $0.run("ALTER TABLE counters ADD COLUMN more BIGINT") }
        #expect(try await read() == 3)
        #expect(runs.count == 3)
        try await database.write { _ = try $0.run("DEALLOCATE ALL") }
        #expect(try await read() == 3)
        #expect(runs.count == 5)
    }

    /// More statements than a connection keeps.
    @Test func aConnectionForgetsWhatItHasPreparedInTime() async throws {
        let sum = try await database.write { transaction in
            try (1...1100).reduce(into: 0) { sum, number in
                sum += try transaction.row("SELECT CAST(? AS BIGINT) + \(number)", [1])?.integer(0) ?? 0
            }
        }
        #expect(sum == 1100 + 1100 * 1101 / 2)
    }

    /// The sum of a column has a type of its own, in which no row of ours may come.
    @Test func aColumnOfAnotherTypeIsAMistake() async throws {
        await #expect(throws: UnreadableColumn(type: "numeric", column: 1)) {
            try await database.read { try $0.rows("SELECT 1, SUM(value) FROM counters") }
        }
    }
}

/// Holds threads until as many have come. Who comes later, on another run, is not held.
private final class Meeting: Sendable {
    private let missing: Mutex<Int>
    private let gate = Gate()

    init(of count: Int) { missing = Mutex(count) }

    func arrive() {
        if missing.withLock({
            $0 -= 1; return $0 <= 0
        }) {
            gate.open()
        }
        gate.wait()
    }
}
