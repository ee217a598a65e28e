// SPDX-License-Identifier: Apache-2.0

import DurableStorage

/// What a column holds, on every engine: the three kinds that our tables use, or nothing.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
}

/// What a statement can be given.
package protocol SQLArgument: Sendable {
    /// The value that the engine gets.
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLArgument {
    package var sqlValue: SQLValue { self }
}

extension Int64: SQLArgument {
    package var sqlValue: SQLValue { .integer(self) }
}

extension Int: SQLArgument {
    package var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension UInt16: SQLArgument {
    package var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Array: SQLArgument where Element == UInt8 {
    package var sqlValue: SQLValue { .bytes(self) }
}

extension String: SQLArgument {
    package var sqlValue: SQLValue { .text(self) }
}

/// Arguments in the order of a statement's `?`, or by number where it says `?1`. Nil is NULL.
package typealias SQLArguments = [(any SQLArgument)?]

/// One row of an answer.
///
/// A column that does not hold what is asked for throws `DamagedRow`: no program of ours can have written it.
package struct SQLRow: Hashable, Sendable {
    /// In the order of the query.
    package let values: [SQLValue]

    package init(_ values: [SQLValue]) { self.values = values }

    /// The bytes in a column.
    package func bytes(_ column: Int) throws -> [UInt8] {
        guard case .bytes(let bytes) = try value(column) else { throw DamagedRow() }
        return bytes
    }

    /// The integer in a column.
    package func integer(_ column: Int) throws -> Int64 {
        guard case .integer(let integer) = try value(column) else { throw DamagedRow() }
        return integer
    }

    /// The text in a column.
    package func text(_ column: Int) throws -> String {
        guard case .text(let text) = try value(column) else { throw DamagedRow() }
        return text
    }

    /// The number in a column, which is never negative.
    package func count(_ column: Int) throws -> UInt64 {
        guard let count = UInt64(exactly: try integer(column)) else { throw DamagedRow() }
        return count
    }

    /// The bytes in a column, or nil where it is NULL.
    package func optionalBytes(_ column: Int) throws -> [UInt8]? {
        try value(column) == .null ? nil : bytes(column)
    }

    /// The integer in a column, or nil where it is NULL.
    package func optionalInteger(_ column: Int) throws -> Int64? {
        try value(column) == .null ? nil : integer(column)
    }

    /// The text in a column, or nil where it is NULL.
    package func optionalText(_ column: Int) throws -> String? {
        try value(column) == .null ? nil : text(column)
    }

    private func value(_ column: Int) throws -> SQLValue {
        guard values.indices.contains(column) else { throw DamagedRow() }
        return values[column]
    }
}
