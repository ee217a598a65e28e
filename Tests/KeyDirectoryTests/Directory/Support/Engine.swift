// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import SQLStores

@testable import KeyDirectory

/// Where the accounts of a test are. The suites that need no file run on any; `SIGNET_TEST_ENGINE` names it.
enum Engine: String, CaseIterable, Sendable {
    case sqlite

    static let chosen = ProcessInfo.processInfo.environment["SIGNET_TEST_ENGINE"].flatMap(Engine.init) ?? .sqlite
}

/// The tables of a directory, with nothing in them, removed at the end.
final class Accounts: Sendable {
    private let engine: Engine
    private let path: String

    init(on engine: Engine) throws {
        self.engine = engine
        path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString).sqlite").path
    }

    /// Opens them, perhaps beside others who have them open.
    func open() throws -> any SQLDatabase {
        switch engine {
        case .sqlite: try SQLiteDatabase(at: path, DirectorySchema.schema)
        }
    }

    deinit {
        for name in [path, path + "-wal", path + "-shm"] { try? FileManager.default.removeItem(atPath: name) }
    }
}

extension SQLTransaction {
    /// The audit table: each event with the number of its account.
    func events() throws -> [String] {
        try rows("SELECT event, account FROM audit ORDER BY id").map { "\(try $0.text(0)) \(try $0.integer(1))" }
    }
}
