// SPDX-License-Identifier: Apache-2.0

import CPostgres
import SQLStores

/// An answer of libpq.
final class PostgresResult {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    /// What went wrong; nil if nothing did.
    var failure: PostgresFailure? {
        switch PQresultStatus(raw) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return nil
        default: break
        }
        let severity = signet_pq_severity(raw).map { String(cString: $0) }
        return PostgresFailure(
            state: signet_pq_state(raw).map { String(cString: $0) }, isLost: severity == "FATAL" || severity == "PANIC",
            words: signet_pq_message(raw).map { String(cString: $0) } ?? String(cString: PQresultErrorMessage(raw)))
    }

    /// The command that was run, as the server names it: `COMMIT`, or `ROLLBACK` where nothing was left to commit.
    var tag: String { String(cString: PQcmdStatus(raw)) }

    /// How many rows a command changed.
    var changeCount: Int { Int(String(cString: PQcmdTuples(raw))) ?? 0 }

    var rowCount: Int { Int(PQntuples(raw)) }
    var columnCount: Int { Int(PQnfields(raw)) }

    /// A row of an answer in binary form.
    ///
    /// - Throws: ``UnreadableColumn``.
    func row(_ row: Int) throws(UnreadableColumn) -> SQLRow {
        var values: [SQLValue] = []
        for column in 0..<columnCount { values.append(try value(row, column)) }
        return SQLRow(values)
    }

    /// A field of an answer in text form.
    func words(_ row: Int, _ column: Int) -> String? {
        guard row < rowCount, column < columnCount, PQgetisnull(raw, Int32(row), Int32(column)) == 0 else { return nil }
        return String(cString: PQgetvalue(raw, Int32(row), Int32(column)))
    }

    private func value(_ row: Int, _ column: Int) throws(UnreadableColumn) -> SQLValue {
        let (row, place) = (Int32(row), Int32(column))
        let type = PostgresType(rawValue: PQftype(raw, place))
        guard let type, type.isRead else {
            throw UnreadableColumn(type: type.map { "\($0)" } ?? "type \(PQftype(raw, place))", column: column)
        }
        guard PQgetisnull(raw, row, place) == 0 else { return .null }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(raw, row, place), count: Int(PQgetlength(raw, row, place)))
        switch type {
        case .bytea: return .bytes(Array(bytes))
        case .text, .varchar, .name: return .text(String(decoding: bytes, as: UTF8.self))
        default: return .integer(Self.integer(bytes))
        }
    }

    /// The most significant byte first, in two's complement; 1, 2, 4 or 8 bytes.
    private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        let isNegative = bytes.count > 1 && (bytes.first ?? 0) >= 0x80
        return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }
}

/// Types by their numbers in `pg_type`, of which those that are not read are here for their names.
enum PostgresType: UInt32 {
    case bool = 16
    case bytea = 17
    case name = 19
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case oid = 26
    case json = 114
    case xid = 28
    case float4 = 700
    case float8 = 701
    case varchar = 1043
    case date = 1082
    case timestamp = 1114
    case timestamptz = 1184
    case numeric = 1700
    case void = 2278

    var isRead: Bool {
        switch self {
        case .bool, .bytea, .name, .int8, .int2, .int4, .text, .varchar: true
        default: false
        }
    }
}
