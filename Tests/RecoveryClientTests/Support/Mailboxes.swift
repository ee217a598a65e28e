// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import SQLStores

@testable import RecoveryStore

/// Where the mailboxes of a test are. The suites that need no file run on any; `SIGNET_TEST_ENGINE` names it.
enum Engine: String, CaseIterable, Sendable {
    case sqlite

    static let chosen = ProcessInfo.processInfo.environment["SIGNET_TEST_ENGINE"].flatMap(Engine.init) ?? .sqlite
}

/// The tables of a recovery store, with nothing in them, removed at the end.
final class Mailboxes: Sendable {
    private let engine: Engine
    private let path: String

    init(on engine: Engine = .chosen) throws {
        self.engine = engine
        path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString).sqlite").path
    }

    /// Opens them.
    func open() throws -> any SQLDatabase {
        switch engine {
        case .sqlite: try SQLiteDatabase(at: path, RecoverySchema.schema)
        }
    }

    /// As another process has them that writes at the same time; one process uses a file.
    func open(beside first: any SQLDatabase) throws -> any SQLDatabase {
        switch engine {
        case .sqlite: first
        }
    }

    deinit {
        for name in [path, path + "-wal", path + "-shm"] { try? FileManager.default.removeItem(atPath: name) }
    }
}

/// Holds threads until it is opened.
final class Gate: Sendable {
    private let condition = NSCondition()
    private let state = Flag()

    var isOpen: Bool { state.isSet }

    func open() {
        condition.withLock {
            state.isSet = true
            condition.broadcast()
        }
    }

    func wait() {
        condition.withLock { while !state.isSet { condition.wait() } }
    }
}
