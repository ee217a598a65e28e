// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import KeyTransparency
import TransparencyLog
import VRF

extension Row {
    /// The bytes in a column.
    func bytes(_ column: Int) throws -> [UInt8] { Array(try decode(Data.self, atIndex: column)) }

    /// The integer in a column.
    func integer(_ column: Int) throws -> Int64 { try decode(Int64.self, atIndex: column) }

    /// The version in a column.
    func version(_ column: Int) throws -> UInt64 {
        guard let version = UInt64(exactly: try integer(column)) else { throw DamagedRow() }
        return version
    }

    /// The leaf hash in a column.
    func leaf(_ column: Int) throws -> TreeHash {
        guard let leaf = TreeHash(try bytes(column)) else { throw DamagedRow() }
        return leaf
    }
}

extension Database {
    /// The first row of a query whose statement is prepared once.
    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// All rows of a query whose statement is prepared once.
    func rows(_ sql: String, _ arguments: StatementArguments) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Runs a statement that is prepared once.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
