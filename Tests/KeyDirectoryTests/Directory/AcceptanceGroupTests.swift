// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import EngineLab
import KeyTransparency
import SQLStores
import SignetAPI
import Synchronization
import Testing

@testable import KeyDirectory

/// Changes that are written in one transaction: each ends as if it were alone.
@Suite(.everyEngine) struct AcceptanceGroupTests {
    typealias Outcome = AcceptanceQueue.Outcome

    let place: Place
    let directory: Directory
    let rows: any SQLDatabase
    let group: AcceptanceGroup

    init() async throws {
        place = try Place()
        directory = try await place.create()
        rows = directory.database.rows
        group = AcceptanceGroup(rows: rows, handsOver: true, logger: Place.silent)
    }

    private func group(over database: any SQLDatabase) -> AcceptanceGroup {
        AcceptanceGroup(rows: database, handsOver: true, logger: Place.silent)
    }

    private func registration(_ person: Person) async throws -> Acceptance {
        let submission = try await person.submission(devices: person.devices, at: directory)
        let (signature, _) = try person.devices[0].sign(.register, submission.encoded, at: directory, time: 1)
        let statement = Statement(submission: submission, signature: signature, time: place.clock.now)
        let (label, proof) = try directory.label(of: person.handle)
        return .registration(
            Registration(statement, StateRow(statement, label: label), label: label, proof: proof))
    }

    private func registration(_ name: String, _ devices: [Device]? = nil) async throws -> Acceptance {
        var person = try Person(name)
        if let devices { person.devices = devices }
        return try await registration(person)
    }

    /// Brings the state after the present one of a person who is registered.
    private func update(_ person: Person, adding devices: [Device]) async throws -> Acceptance {
        let submission = try await person.submission(devices: person.devices + devices, at: directory)
        let (signature, _) = try person.devices[0].sign(.updateState, submission.encoded, at: directory, time: 1)
        let statement = Statement(submission: submission, signature: signature, time: place.clock.now)
        let handle = person.handle
        let account = try #require(try await rows.read { try AccountRow.find(handle, in: $0) })
        let row = StateRow(statement, label: account.label, after: person.state)
        let database = DirectoryDatabase(database: rows, handsOver: true, logger: Place.silent)
        return .change(byteCount: 1) { transaction in
            let newest = try StateRow.newest(of: account.id, in: transaction)?.version
            guard newest == row.version - 1 else { throw DirectoryError.refused(.versionConflict) }
            try database.insert(statement, row, of: account, in: transaction)
            return nil
        }
    }

    /// What a change is told.
    private enum Answer: Hashable {
        case account, done, refused(ErrorCode), database, stopped
    }

    private static func answer(_ outcome: Outcome) -> Answer {
        switch outcome {
        case .success(let account): account == nil ? .done : .account
        case .failure(.refused(let code)): .refused(code)
        case .failure(.database): .database
        case .failure(.stopped): .stopped
        }
    }

    private struct TakenBack: Error {}

    /// What a group of changes is told, and how many rows are there afterwards; nil if its transaction ends because its only change is refused.
    /// Nothing is kept.
    private func tried(_ changes: [Acceptance]) async throws -> (answers: [Answer], counts: [Int64]?) {
        let found = Shared<([Answer], [Int64]?)>(([], nil))
        do {
            try await rows.write { [group] transaction in
                let outcomes = try group.outcomes(of: changes, in: transaction)
                let counts = try ["accounts", "states", "devices", "waiting", "audit"].map {
                    try transaction.row("SELECT COUNT(*) FROM \($0)")?.integer(0) ?? 0
                }
                found.change { $0 = (outcomes.map(Self.answer), counts) }
                throw TakenBack()
            }
        } catch is TakenBack {} catch let error as DirectoryError { return ([Self.answer(.failure(error))], nil) }
        return found.now
    }

    /// Every order of two of these, and all of them: what is told to one does not depend on the others, but for a key and a version that only the
    /// first one gets.
    @Test func everyOrderOfOutcomes() async throws {
        var (alice, bob) = (try Person("alice@example.org"), try Person("bob@example.org"))
        var erased = try Person("erased@example.org")
        try await bob.register(at: directory)
        try await alice.register(at: directory)
        try await erased.register(at: directory)
        try await directory.erase(erased.handle)
        let contested = try Device(1)
        let stale = try await update(alice, adding: [Device(90)])
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        let kinds: [(change: Acceptance, answer: Answer, rows: [Int64])] = [
            (try await registration("new@example.org"), .account, [1, 1, 1, 1, 1]),
            (try await registration("two@example.org", [Device(1), Device(2)]), .account, [1, 1, 2, 1, 1]),
            (try await registration("first@example.org", [contested]), .account, [1, 1, 1, 1, 1]),
            (try await registration("second@example.org", [contested]), .account, [1, 1, 1, 1, 1]),
            (try await registration("alice@example.org"), .done, []),
            (try await registration("erased@example.org"), .refused(.handleTaken), []),
            (try await registration("thief@example.org", [alice.devices[0]]), .refused(.keyInUse), []),
            (try await update(alice, adding: [Device(95)]), .done, [0, 1, 1, 1, 0]),
            // Its first device is written before the second one is refused.
            (
                try await update(alice, adding: [Device(96), Device(97, signing: bob.devices[0].signing)]),
                .refused(.keyInUse), []
            ),
            (stale, .refused(.versionConflict), []),
        ]
        let before = try #require(try await tried([]).counts)
        // Which of two is told something else when it comes after the other.
        let later: [[Int]: Answer] = [
            [2, 3]: .refused(.keyInUse), [3, 2]: .refused(.keyInUse), [7, 8]: .refused(.versionConflict),
        ]
        let all = Array(kinds.indices)
        for order in Self.orders(of: kinds.count, upTo: 2) + [all, all.reversed()] {
            var (answers, counts) = ([Answer](), before)
            for (index, place) in order.enumerated() {
                let other = order.prefix(index).compactMap { later[[$0, place]] }.first
                answers.append(other ?? kinds[place].answer)
                guard other == nil else { continue }
                for (table, count) in kinds[place].rows.enumerated() { counts[table] += count }
            }
            let found = try await tried(order.map { kinds[$0].change })
            #expect(found.answers == answers && (found.counts ?? before) == counts, "\(order)")
        }
    }

    private static func orders(of count: Int, upTo length: Int) -> [[Int]] {
        var (all, last) = ([[Int]](), [[Int]]([[]]))
        for _ in 0..<length {
            last = last.flatMap { order in (0..<count).filter { !order.contains($0) }.map { order + [$0] } }
            all += last
        }
        return all
    }

    /// What is written for many at once is what is written for one.
    @Test func manyAccountsHaveTheRowsOfOne() async throws {
        var people: [Person] = []
        for number in 0..<70 { people.append(try Person("person-\(number)@example.org", deviceCount: 1 + number % 2)) }
        var changes: [Acceptance] = []
        for person in people { changes.append(try await registration(person)) }
        let outcomes = await group.write(changes)
        #expect(outcomes.map(Self.answer) == Array(repeating: .account, count: 70))
        for (person, outcome) in zip(people, outcomes) {
            let found = try await rows.read { transaction in
                let account = try AccountRow.find(person.handle, in: transaction)
                let state = try account.flatMap { try StateRow.newest(of: $0.id, in: transaction) }
                let id = account?.id ?? 0
                return (
                    account, state, try DeviceRow.active(of: id, at: 1, in: transaction),
                    try transaction.row(
                        "SELECT COUNT(*) FROM waiting JOIN states ON states.id = state WHERE account = ?", [id]),
                    try transaction.row("SELECT event, time FROM audit WHERE account = ?", [id])
                )
            }
            #expect(try outcome.get()?.id == found.0?.id)
            #expect(try found.1?.state().devices == person.devices.map(\.record))
            #expect(found.2.map(\.signingKey) == person.devices.map(\.record.keys.signing))
            #expect(found.3?.values == [.integer(1)])
            #expect(found.4?.values == [.text("registered"), .integer(Int64(place.clock.now))])
        }
    }

    /// Nothing is known that a client could send to make a transaction fail; if something is found, it hits nobody else.
    @Test func aChangeThatMakesTheTransactionFailKeepsNobodyElseOut() async throws {
        let poison = Acceptance.change(byteCount: 1) { transaction in
            try transaction.run("INSERT INTO erased (label, version) VALUES (?, NULL)", [[UInt8]()])
            return nil
        }
        let damaged = Acceptance.change(byteCount: 1) { _ in throw DamagedRow() }
        var changes: [Acceptance] = [poison]
        for number in 0..<5 { changes.append(try await registration("person-\(number)@example.org")) }
        changes.insert(damaged, at: 4)
        changes.append(poison)
        #expect(
            await group.write(changes).map(Self.answer)
                == [.database, .account, .account, .account, .database, .account, .account, .database])
        #expect(try await rows.read { try $0.row("SELECT COUNT(*) FROM accounts")?.integer(0) } == 5)
    }

    /// Runs each transaction, and then says something else about it.
    private final class Saying: SQLDatabase {
        let engine: any SQLDatabase
        let fault: SQLFault
        let isWritten: Bool
        let count = Shared(0)

        init(_ engine: any SQLDatabase, _ fault: SQLFault, isWritten: Bool) {
            (self.engine, self.fault, self.isWritten) = (engine, fault, isWritten)
        }

        var nowExpression: String { engine.nowExpression }
        func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            try await engine.read(body)
        }
        func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            count.change { $0 += 1 }
            if isWritten { _ = try await engine.write(body) }
            throw fault
        }
        func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try engine.readNow(body) }
        func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { throw fault }
        func expunge() async throws {}
        func close() {}
    }

    /// Whoever asks again is told what is there.
    @Test func aCommitOfUnknownOutcomeIsNotRunAgain() async throws {
        let unknown = Saying(rows, .outcomeUnknown(.postgres(state: nil)), isWritten: true)
        var changes: [Acceptance] = []
        for number in 0..<3 { changes.append(try await registration("person-\(number)@example.org")) }
        let answers = await group(over: unknown).write(changes).map(Self.answer)
        #expect(answers == [.database, .database, .database] && unknown.count.now == 1)
        #expect(await group.write(changes).map(Self.answer) == [.done, .done, .done])
    }

    /// Else one that is away would be asked as often as there are changes, each time until it is given up.
    @Test(arguments: [nil, "40001", "53300", "57P01"])
    func anEngineThatIsBusyOrAwayIsAskedOnce(state: String?) async throws {
        let away = Saying(rows, .unavailable(.postgres(state: state)), isWritten: false)
        let changes = [try await registration("one@example.org"), try await registration("two@example.org")]
        #expect(await group(over: away).write(changes).map(Self.answer) == [.database, .database])
        #expect(away.count.now == 1)
    }

    @Test func aDiskThatFailsEndsTheProcess() async throws {
        let failing = Saying(rows, .storageFailed(.postgres(state: "58030")), isWritten: false)
        let changes = [try await registration("one@example.org"), try await registration("two@example.org")]
        #expect(await group(over: failing).write(changes).map(Self.answer) == [.stopped, .stopped])
    }
}
