// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB
import Platform

extension DurableDatabase {
    /// Copies a database, which other processes may be writing, into a new file of one consistent state, durably.
    ///
    /// The copy needs no write-ahead file beside it, and only this user can read it.
    ///
    /// - Throws: ``DurableOpenError``.
    package static func copy(_ source: String, to target: String) throws(DurableOpenError) {
        guard access(source, F_OK) == 0 else { throw .missing }
        let copy = try create(target)
        defer { Foundation.close(copy) }
        try opening {
            let from = try DatabaseQueue(path: source, configuration: reading)
            let to = try DatabaseQueue(path: target)
            try from.backup(to: to)
            try to.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try to.close()
            try from.close()
        }
        guard fsync(copy) == 0 else { throw .file(code: errno) }
    }

    /// Reads a database, and leaves nothing beside it that was not there. The caller makes sure that no server starts
    /// meanwhile.
    ///
    /// - Throws: ``DurableOpenError``.
    package static func read<Value>(
        _ path: String, _ body: (Database) throws -> Value
    ) throws(DurableOpenError) -> Value {
        guard access(path, F_OK) == 0 else { throw .missing }
        return try leavingNothing(beside: path) { () throws(DurableOpenError) in
            try opening {
                let queue = try DatabaseQueue(path: path, configuration: reading)
                let value = try queue.read(body)
                try queue.close()
                return value
            }
        }
    }

    /// Whether SQLite finds every page, index and reference of a database in order.
    ///
    /// - Throws: ``DurableOpenError``: it cannot even be read.
    package static func isSound(_ path: String) throws(DurableOpenError) -> Bool {
        try read(path) { database in
            let words = try String.fetchAll(database, sql: "PRAGMA integrity_check(1)")
            return try words == ["ok"] && Row.fetchOne(database, sql: "PRAGMA foreign_key_check") == nil
        }
    }

    private static var reading: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(30)
        return configuration
    }

    private static func create(_ path: String) throws(DurableOpenError) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw errno == EEXIST ? .exists : .file(code: errno) }
        return descriptor
    }

    /// Who only reads does not remove the files that SQLite makes beside a database for readers.
    private static func leavingNothing<Value>(
        beside path: String, _ body: () throws(DurableOpenError) -> Value
    ) throws(DurableOpenError) -> Value {
        let sides: [String] = [path + "-wal", path + "-shm"]
        let hadNone = sides.allSatisfy { access($0, F_OK) != 0 }
        defer {
            if hadNone, isEmpty(path + "-wal") { for side in sides { _ = unlink(side) } }
        }
        return try body()
    }

    private static func isEmpty(_ path: String) -> Bool {
        FileStatus(of: path)?.byteCount == 0
    }
}
