// SPDX-License-Identifier: Apache-2.0

import EngineLab
import PostgresStores
import SQLStores
import Synchronization

/// What the tests of this target do with the table `counters` of ``SQLRule``.
enum Counters {
    static let value = "SELECT value FROM counters WHERE id = ?"
    static let set = "UPDATE counters SET value = ? WHERE id = ?"
    static let add = "INSERT INTO counters VALUES (?, 0)"

    static func count(_ database: any SQLDatabase) async throws -> Int64? {
        try await database.read { try $0.row("SELECT COUNT(*) FROM counters")?.integer(0) }
    }
}

/// How often something has happened.
final class Tally: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock(\.self) }

    /// Counts one more, and returns how many there are now.
    @discardableResult func up() -> Int {
        number.withLock {
            $0 += 1; return $0
        }
    }
}

/// What a body throws; nil: nothing.
func fault(_ body: () async throws -> Void) async -> SQLFault? {
    do { try await body() } catch { return error as? SQLFault }
    return nil
}

extension SQLFault {
    /// Whether the outcome is not known.
    var isUnknown: Bool { if case .outcomeUnknown = self { true } else { false } }
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}
