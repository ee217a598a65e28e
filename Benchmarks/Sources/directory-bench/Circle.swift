// SPDX-License-Identifier: Apache-2.0

import Foundation
import Measuring
import NotesClient
import SecretMemory
import Signet
import SignetClient

/// A person who has asked many others to be friends, the accounts of ``BenchDirectory``.
struct Acquaintances {
    let home: String

    func add(_ count: Int) async throws {
        let passphrase = SecretBytes(copying: Circle.passphrase.utf8)
        let account = try await Account.open(in: HomeFolder(path: home), passphrase: passphrase)
        for number in 0..<count { _ = try await account.add(Handle("user\(number)@example.org")) }
        await account.close()
    }
}

/// People who are friends with the next ones in a circle and write notes, as the programs of Signet do it: over the network, each
/// with a home folder.
struct Circle {
    private static let count = isTried ? 3 : 40
    private static let friendCount = isTried ? 1 : 10
    private static let noteCount = isTried ? 1 : 20
    private static let noteByteCount = 1024
    private static let atOnce = 4
    static let passphrase = "a passphrase of the benchmark"

    let folder: String
    let profile: DirectoryProfile

    init(folder: String) throws {
        self.folder = folder
        profile = try HomeFolder.profile(in: DurableFile(path: folder + "/directory.signet"))
    }

    /// Prints a line after each step, and waits for a line from the script before the next one: it measures meanwhile.
    func run() async throws {
        let people = try await each(0..<Self.count) { try await create($0) }
        await step("people \(Self.count)")
        let pairs = people.indices.flatMap { person in
            (1...Self.friendCount).map { (person, (person + $0) % people.count) }
        }
        _ = try await each(pairs) { _ = try await people[$0.0].add(people[$0.1].handle) }
        _ = try await each(pairs) { _ = try await people[$0.1].accept(people[$0.0].handle) }
        await step("friends \(Self.friendCount)")
        _ = try await each(people) { try await write($0) }
        await step("notes \(Self.noteCount)")
        for account in people { await account.close() }
    }

    private func create(_ number: Int) async throws -> Account {
        try await Account.create(
            Handle("person\(number)@example.org"), at: profile, in: HomeFolder(path: "\(folder)/home\(number)"),
            passphrase: SecretBytes(copying: Self.passphrase.utf8))
    }

    private func write(_ account: Account) async throws {
        try await account.notes { book throws(NotesError) in
            for number in 0..<Self.noteCount {
                let body = randomBytes(Self.noteByteCount / 2).flatMap { Array(String($0 % 10 + 10).utf8) }
                _ = try await book.create(title: Array("note \(number)".utf8), body: body)
            }
        }
        _ = try await account.notes { book throws(NotesError) in try await book.sync() }
    }

    private func step(_ line: String) async {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        _ = readLine()
    }

    /// A few at once, as many people would be at any moment. The results are in the order of the elements.
    private func each<Element: Sendable, Value: Sendable>(
        _ elements: some Collection<Element>, _ work: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        var elements = elements.enumerated().makeIterator()
        return try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            func begin() {
                guard let (place, element) = elements.next() else { return }
                group.addTask { (place, try await work(element)) }
            }
            for _ in 0..<Self.atOnce { begin() }
            var values: [(Int, Value)] = []
            while let value = try await group.next() {
                values.append(value)
                begin()
            }
            return values.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
