// SPDX-License-Identifier: Apache-2.0

// Statements for many rows at once. An engine keeps what it has prepared, so there are seven forms of each, and not one for every count.
extension SQLTransaction {
    /// The most rows of one statement. It is a power of two.
    static let rowsAtOnce = 64

    /// Writes rows of the same columns.
    ///
    /// - Parameters:
    ///   - target: a table with its columns, such as `waiting (state)`.
    ///   - rows: the values of each. None of them is NULL.
    ///   - columns: what is given back of each row, in no order; empty for nothing.
    /// - Returns: one row for each, or none.
    @discardableResult
    package func insert(
        into target: String, _ rows: [SQLArguments], returning columns: String = ""
    ) throws -> [SQLRow] {
        let returning = columns.isEmpty ? "" : " RETURNING \(columns)"
        return try Self.pieces(of: rows.count).flatMap { piece in
            let places = rows[piece].map { "(\(Self.places($0.count)))" }.joined(separator: ", ")
            return try self.rows("INSERT INTO \(target) VALUES \(places)\(returning)", Array(rows[piece].joined()))
        }
    }

    /// The rows of a query for each of many keys, in no order.
    ///
    /// - Parameter query: ends before the list of the keys, such as `SELECT id FROM waiting WHERE state IN`.
    package func rows(_ query: String, in keys: [any SQLArgument]) throws -> [SQLRow] {
        try Self.pieces(of: keys.count).flatMap { piece in
            try rows("\(query) (\(Self.places(piece.count)))", Array(keys[piece]))
        }
    }

    /// Runs a statement for each of many keys.
    ///
    /// - Parameter statement: ends before the list of the keys, such as `DELETE FROM waiting WHERE id IN`.
    package func run(_ statement: String, in keys: [any SQLArgument]) throws {
        for piece in Self.pieces(of: keys.count) {
            try run("\(statement) (\(Self.places(piece.count)))", Array(keys[piece]))
        }
    }

    /// Divides so many rows among statements of 64, 32, 16 … rows.
    static func pieces(of count: Int) -> [Range<Int>] {
        var (pieces, start, size) = ([Range<Int>](), 0, rowsAtOnce)
        while start < count {
            while size > count - start { size /= 2 }
            pieces.append(start..<start + size)
            start += size
        }
        return pieces
    }

    private static func places(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }
}
