// SPDX-License-Identifier: Apache-2.0

import Crypto
import EngineLab
import SQLStores
import Synchronization
import Testing

@testable import SignetServer

/// What front ends remember and count together, with two of them on one database.
@Suite(.enabled(if: LabEngine.present == [.sqlite] || PostgresLab.isPresent, "There is no PostgreSQL 15 here."))
struct SQLLimitsTests {
    /// A database whose time stands still until a test moves it.
    private final class Clocked: SQLDatabase {
        let engine: any SQLDatabase
        let now = Mutex<Int64>(1_800_000_000_000)

        init(_ engine: any SQLDatabase) { self.engine = engine }

        var nowExpression: String { "CAST(\(now.withLock { $0 }) AS BIGINT)" }
        func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            try await engine.read(body)
        }
        func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            try await engine.write(body)
        }
        func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }
        func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.writeNow(body) }
        func expunge() async throws { try await engine.expunge() }
        func close() { engine.close() }
    }

    private let place: LabPlace
    private let clocked: Clocked
    private let seconds = Shared<UInt64>(1_800_000_000)

    private final class Shared<Value: Sendable>: Sendable {
        private let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
        var now: Value {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    init() throws {
        place = try LabPlace(on: LabEngine.present[0])
        clocked = Clocked(try place.open(SQLLimits.schema))
    }

    private func frontEnd() -> SQLLimits { SQLLimits(clocked) { [seconds] in seconds.now } }

    @Test func aMarkIsTakenOnceByAllFrontEndsTogether() async throws {
        let (one, other) = (frontEnd(), frontEnd())
        let mark = [UInt8](repeating: 1, count: 32)
        #expect(try await one.take(mark, until: 1_800_000_060))
        #expect(try await !other.take(mark, until: 1_800_000_060))
        #expect(try await other.take([UInt8](repeating: 2, count: 32), until: 1_800_000_060))
    }

    @Test func theSecretOfTheFirstFrontEndIsThatOfAll() async throws {
        let (one, other) = (frontEnd(), frontEnd())
        let (secret, foreign) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        #expect(try await one.isKnown(secret: "login", digest: secret))
        #expect(try await !other.isKnown(secret: "login", digest: foreign))
        #expect(try await other.isKnown(secret: "login", digest: secret))
        #expect(try await other.isKnown(secret: "another kind", digest: foreign))
    }

    /// A rotation goes from front end to front end: those that have rotated, those that have only been told, and those that were forgotten.
    @Test func aSecretTakesThePlaceOfAFormerOneAndNoOther() async throws {
        let limits = frontEnd()
        let (old, new, other) = (
            [UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32), [UInt8](repeating: 3, count: 32)
        )
        #expect(try await limits.isKnown(secret: "shared", digest: old, before: new))
        #expect(try await !limits.isKnown(secret: "shared", digest: other), "another secret")
        #expect(try await !limits.isKnown(secret: "shared", digest: other, before: new), "another one before the next")
        #expect(try await !limits.isKnown(secret: "shared", digest: new), "a next one that nobody knows to follow")
        #expect(try await limits.isKnown(secret: "shared", digest: new, after: [old]), "the first that has rotated")
        #expect(
            try await limits.isKnown(secret: "shared", digest: old, before: new), "one that has been told of the next")
        #expect(try await !limits.isKnown(secret: "shared", digest: old), "one that was forgotten")
        #expect(try await limits.isKnown(secret: "shared", digest: new), "one that has only the newest")
        #expect(
            try await limits.isKnown(secret: "shared", digest: other, after: [old, new]),
            "replaced because it was stolen")
        #expect(try await !limits.isKnown(secret: "shared", digest: new, after: [old]), "the stolen one")
    }

    @Test func aMarkIsForgottenWhenItsTimeIsOver() async throws {
        let one = frontEnd()
        let mark = [UInt8](repeating: 1, count: 32)
        #expect(try await one.take(mark, until: 1_800_000_060))
        seconds.now = 1_800_000_060
        #expect(try await !one.take(mark, until: 1_800_000_120))
        seconds.now = 1_800_000_061
        #expect(try await one.take(mark, until: 1_800_000_120))
    }

    private func key(_ name: UInt8, burst: UInt64 = 3) -> AttemptKey {
        AttemptKey(
            name, [name], LoginLimits.Rate(burst: burst, secondsPerAttempt: 60),
            under: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
    }

    @Test func guessesAreCountedOverAllFrontEnds() async throws {
        let (one, other) = (frontEnd(), frontEnd())
        for limits in [one, other, one] { #expect(try await limits.take([key(1)])) }
        #expect(try await !other.take([key(1)]))
        #expect(try await other.take([key(2)]))
    }

    @Test func allKeysAreCountedOrNone() async throws {
        let limits = frontEnd()
        for _ in 0..<3 { #expect(try await limits.take([key(1)])) }
        #expect(try await !limits.take([key(2), key(1)]))
        for _ in 0..<3 { #expect(try await limits.take([key(2)])) }
        #expect(try await !limits.take([key(2)]))
    }

    @Test func aGuessComesBackAfterItsTime() async throws {
        let limits = frontEnd()
        for _ in 0..<3 { #expect(try await limits.take([key(1)])) }
        clocked.now.withLock { $0 += 59_999 }
        #expect(try await !limits.take([key(1)]))
        clocked.now.withLock { $0 += 1 }
        #expect(try await limits.take([key(1)]))
        #expect(try await !limits.take([key(1)]))
    }

    @Test func aLoginThatSucceededGivesItsGuessBack() async throws {
        let limits = frontEnd()
        for _ in 0..<3 { #expect(try await limits.take([key(1)])) }
        try await limits.giveBack([key(1)])
        #expect(try await limits.take([key(1)]))
        #expect(try await !limits.take([key(1)]))
    }

    private func pass(_ milliseconds: Int64) { clocked.now.withLock { $0 += milliseconds } }

    /// The database's clock was an hour ahead when somebody tried, and was set right.
    @Test func aClockThatWasAheadLocksNobodyOut() async throws {
        let limits = frontEnd()
        pass(3_600_000)
        #expect(try await limits.take([key(1), key(2)]))
        pass(-3_600_000)
        #expect(try await !limits.take([key(1), key(2)]), "as if all were used up")
        pass(60_000)
        #expect(try await limits.take([key(1), key(2)]), "an attempt comes back after its time")
    }

    @Test func aClockThatWasAheadGivesNobodyMoreThanABurst() async throws {
        let limits = frontEnd()
        pass(3_600_000)
        for _ in 0..<3 { #expect(try await limits.take([key(1)])) }
        pass(-3_600_000)
        for _ in 0..<3 { #expect(try await !limits.take([key(1)])) }
        for _ in 0..<3 {
            pass(60_000)
            #expect(try await limits.take([key(1)]))
            #expect(try await !limits.take([key(1)]))
        }
    }

    /// The attack: front ends were started with different `--login-attempts`. Whoever asks them in turn would be refused by the narrower one, which
    /// writes down what the wider one has counted, and guess on at the wider one.
    @Test func frontEndsWithDifferentLimitsGiveNobodyMoreThanBothTogether() async throws {
        let (wide, narrow) = (frontEnd(), frontEnd())
        var count = 0
        for _ in 0..<10 {
            for _ in 0..<11 { if try await wide.take([key(1, burst: 10)]) { count += 1 } }
            for _ in 0..<4 { if try await narrow.take([key(1)]) { count += 1 } }
        }
        #expect(count == 13)
    }

    @Test func whatHasNoLimitAnyMoreIsNotRefusedForWhatWasCounted() async throws {
        let limits = frontEnd()
        for _ in 0..<3 { #expect(try await limits.take([key(1)])) }
        #expect(try await limits.take([key(1, burst: 0)]))
    }

    @Test func whatHasNoLimitIsNotCounted() async throws {
        let limits = frontEnd()
        for _ in 0..<20 { #expect(try await limits.take([key(1, burst: 0)])) }
    }
}
