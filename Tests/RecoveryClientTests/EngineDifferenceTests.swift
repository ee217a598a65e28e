// SPDX-License-Identifier: Apache-2.0

import EngineLab
import KeyTransparency
import SQLStores
import SeededRandomness
import SignetAPI
import Testing

@testable import RecoveryStore

/// The same random letters, files and erasures in mailboxes on SQLite and on PostgreSQL: each answer alike, and all rows alike.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct EngineDifferenceTests {
    enum Operation: Sendable {
        case letter(from: Int, to: Int, byte: UInt8, isFriend: Bool)
        case file(of: Int, byte: UInt8)
        case read(Int, after: UInt64)
        case fileUnder(Int, byte: UInt8)
        case drop(Int, [UInt64])
        case erase(Int)
    }

    private let people: [Handle]
    private static let now: UInt64 = 1_800_000_000

    init() throws { people = try (0..<5).map { try Handle(typed: Array("person-\($0)@example.org".utf8)) } }

    private static func operation(_ generator: inout SeededGenerator) -> Operation {
        let (one, other) = (Int(generator.next() % 5), Int(generator.next() % 5))
        let byte = UInt8(generator.next() % 40)
        switch generator.next() % 40 {
        case 0..<24: return .letter(from: one, to: other, byte: byte, isFriend: generator.next() % 2 == 0)
        case 24..<28: return .file(of: one, byte: byte % 4)
        case 28..<32: return .read(one, after: generator.next() % 60)
        case 32..<34: return .fileUnder(one, byte: byte % 4)
        case 34..<39: return .drop(one, (0..<4).map { _ in generator.next() % 80 })
        default: return .erase(one)
        }
    }

    private func perform(_ operation: Operation, _ store: MailboxStore) async throws -> String {
        switch operation {
        case .letter(let sender, let recipient, let byte, let isFriend):
            let draft = RecoveryLetter.Draft(
                to: people[recipient], body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount))
            return "\(try await store.keep(draft, from: people[sender], isFriend: isFriend, at: Self.now))"
        case .file(let owner, let byte):
            let commitment = [UInt8](repeating: byte, count: 32)
            let file = RecoveryFile(commitment: commitment, bytes: [byte, 1, 2])
            try await store.keep(file, of: people[owner], sparing: [[UInt8](repeating: 1, count: 32)], at: Self.now)
            return "kept"
        case .read(let owner, let number):
            let letters = try await store.letters(to: people[owner], after: number).letters
            return "\(letters.map { ($0.number, $0.sender, $0.body[0]) })"
        case .fileUnder(let owner, let byte):
            return "\(try await store.file(under: [UInt8](repeating: byte, count: 32), of: people[owner]) ?? [])"
        case .drop(let owner, let numbers):
            try await store.drop(RecoveryDrop(numbers), to: people[owner])
            return "dropped"
        case .erase(let owner):
            try await store.erase(people[owner])
            return "erased"
        }
    }

    /// All rows but the numbers that an engine gives by itself.
    private static func contents(_ store: MailboxStore) async throws -> String {
        try await store.read { database in
            let rows =
                try database.rows(
                    "SELECT recipient, number, sender, friend, time, body FROM letters ORDER BY recipient, number")
                + database.rows("SELECT recipient, last FROM mailboxes ORDER BY recipient")
                + database.rows("SELECT owner, commitment, bytes, time FROM files ORDER BY owner, id")
                + database.rows("SELECT owner FROM requests") + database.rows("SELECT sender FROM answers")
            return "\(rows.map(\.values))"
        }
    }

    private func subject(_ engine: LabEngine) throws -> DifferentialRun<Operation>.Subject {
        let store = MailboxStore(database: try LabPlace(on: engine).open(RecoverySchema.schema))
        return DifferentialRun.Subject {
            try await perform($0, store)
        } contents: {
            try await Self.contents(store)
        }
    }

    @Test(arguments: UInt64(1)...10) func mailboxesOnBothEnginesAnswerAlike(seed: UInt64) async throws {
        try await DifferentialRun(Self.operation)
            .run(seed: seed, steps: 400, subject(.sqlite), subject(.postgres))
    }
}
