// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import SQLStores
import Testing

@testable import NoteStore

/// The engines that keep the rules of the store. One more case here, and every suite with ``Trait/everyEngine`` runs on it too.
enum NoteStoreEngine: String, CaseIterable {
    /// A file of this machine.
    case sqlite = "SQLite"
    /// The same, which begins each transaction anew once, as a server does when others have written meanwhile.
    case repeating = "SQLite, each transaction twice"
    /// A database of a real server.
    case postgres = "PostgreSQL"

    /// Those of this run.
    static var present: [NoteStoreEngine] {
        LabEngine.present.flatMap { $0 == .postgres ? [NoteStoreEngine.postgres] : [.sqlite, .repeating] }
    }

    /// That of the test that is running.
    @TaskLocal static var current = sqlite

    /// An empty place for a store, until the last reference to it is gone.
    func makePlace() throws -> any StorePlace {
        switch self {
        case .sqlite: try StoreFile()
        case .repeating: RepeatingPlace(place: try StoreFile())
        case .postgres: try StoreOnServer()
        }
    }
}

/// Where a store of a test has its rows.
protocol StorePlace: Sendable {
    /// Opens the database, also again after it was closed.
    func open() throws -> any SQLDatabase

    /// Whether bytes are anywhere where the store had written them.
    func holds(_ bytes: [UInt8], _ database: any SQLDatabase) throws -> Bool
}

/// An SQLite file in a folder of its own.
final class StoreFile: StorePlace {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "notes-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/notes.sqlite"
    }

    deinit { try? FileManager.default.removeItem(atPath: String(path.dropLast("/notes.sqlite".count))) }

    func open() throws -> any SQLDatabase { try NoteDatabase.file(at: path) {} }

    func holds(_ bytes: [UInt8], _ database: any SQLDatabase) throws -> Bool {
        ["", "-wal"].contains { suffix in
            FileManager.default.contents(atPath: path + suffix)?.range(of: Data(bytes)) != nil
        }
    }
}

/// Runs each test of a suite on every engine, and says of a failure on which one it was.
struct EveryEngine: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for engine in NoteStoreEngine.present {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("on \(engine.rawValue)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                try await NoteStoreEngine.$current.withValue(engine) { try await function() }
            }
        }
    }
}

extension Trait where Self == EveryEngine {
    /// For a suite whose rules hold on every engine.
    static var everyEngine: EveryEngine { EveryEngine() }
}
