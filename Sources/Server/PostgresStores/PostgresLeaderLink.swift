// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// A ``PostgresLink`` in the form in which a log's leader takes its connection.
///
/// Nothing is run again, and no connection is made anew: after an unknown outcome every transaction fails.
package struct PostgresLeaderLink: SQLDatabase {
    private let link: PostgresLink

    package init(_ link: PostgresLink) { self.link = link }

    package func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await write(body)
    }

    package func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        switch await link.transact(body) {
        case .committed(let value): return value
        case .refused(let error): throw error
        case .failed(let fault): throw fault
        case .unknown(let code): throw SQLFault.outcomeUnknown(code)
        }
    }

    package func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try writeNow(body) }

    package func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try link.transactNow(body)
    }

    package var nowExpression: String { PostgresDatabase.nowExpression }

    /// As `PostgresDatabase.expunge()`.
    package func expunge() async throws {}

    package func close() { link.closeNow() }
}
