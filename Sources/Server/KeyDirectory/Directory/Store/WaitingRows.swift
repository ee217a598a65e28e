// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import SQLStores

/// What the process that writes the log is to log next.
struct WaitingStep: Hashable, Sendable {
    /// One or the other.
    enum Content: Hashable, Sendable {
        /// The state with this number in `states`.
        case state(Int64)
        /// The end of an account that was erased: its label of 32 bytes, and the version of the record that closes it.
        case closing(label: [UInt8], version: UInt64)
    }

    /// By which ``DirectoryDatabase/remove(waiting:)`` takes it.
    let id: Int64
    let content: Content
}

extension DirectoryDatabase {
    /// The steps that wait for the log, the oldest first. An account's states come in the order of their versions.
    ///
    /// Whoever logs them asks again from the beginning, and never from a number on: a lower number can be committed after a
    /// higher one.
    ///
    /// - Parameter limit: at most so many.
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``.
    func waiting(limit: Int) async throws(DirectoryError) -> [WaitingStep] {
        try await read { try WaitingRows.first(limit, in: $0) }
    }

    /// Takes out steps that are in the log, by their numbers. One that is not there changes nothing.
    ///
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``.
    func remove(waiting steps: [Int64]) async throws(DirectoryError) {
        try await write { try WaitingRows.remove(steps, in: $0) }
    }
}

/// The table `waiting`. A state's row goes with the state; that of an end stays until it is logged.
enum WaitingRows {
    static func insert(state: Int64, in database: SQLTransaction) throws {
        try database.run("INSERT INTO waiting (state) VALUES (?)", [state])
    }

    static func insert(closing label: [UInt8], _ version: UInt64, in database: SQLTransaction) throws {
        try database.run("INSERT INTO waiting (label, version) VALUES (?, ?)", [label, Int64(clamping: version)])
    }

    static func first(_ limit: Int, in database: SQLTransaction) throws -> [WaitingStep] {
        try database.rows("SELECT id, state, label, version FROM waiting ORDER BY id LIMIT ?", [limit]).map { row in
            let content: WaitingStep.Content =
                if let state = try row.optionalInteger(1) { .state(state) } else {
                    .closing(label: try row.bytes(2), version: try row.version(3))
                }
            return WaitingStep(id: try row.integer(0), content: content)
        }
    }

    /// How many wait, and the number of the first.
    static func extent(in database: SQLTransaction) throws -> (count: Int64, first: Int64?) {
        guard let row = try database.row("SELECT COUNT(*), MIN(id) FROM waiting") else { return (0, nil) }
        return (try row.integer(0), try row.optionalInteger(1))
    }

    static func remove(_ steps: [Int64], in database: SQLTransaction) throws {
        try database.run("DELETE FROM waiting WHERE id IN", in: steps)
    }
}
