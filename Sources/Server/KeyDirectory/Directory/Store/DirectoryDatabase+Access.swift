// SPDX-License-Identifier: Apache-2.0

import Logging
import SQLStores
import SignetAPI

extension DirectoryDatabase {
    /// Reads one consistent state of the database. Everything a request reads goes in one call.
    func read<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws(DirectoryError) -> Value {
        do { return try await rows.read(body) } catch { throw Self.failure(error, logger) }
    }

    /// Writes in one transaction, and returns when it is durable. `body` may run several times. Nothing is written where that or the log is
    /// gone with the process.
    func write<Value: Sendable>(
        _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws(DirectoryError) -> Value {
        guard isKept() else { throw .refused(.unavailable) }
        do { return try await rows.write(body) } catch { throw Self.failure(error, logger) }
    }

    /// Leaves no copy of deleted rows beside an SQLite file.
    func expunge() async throws(DirectoryError) {
        do { try await rows.expunge() } catch { throw Self.failure(error, logger) }
    }

    /// A refusal stays one. If the engine could not read, write or wait for the disk, the state of the disk is unknown, and
    /// the process ends. A commit of unknown outcome is a failure of this request: whoever repeats it gets the receipt of what is
    /// there.
    static func failure(_ error: any Error, _ logger: Logger) -> DirectoryError {
        switch error {
        case let error as DirectoryError: return error
        case let fault as SQLFault:
            logger.error("database failed", metadata: ["code": "\(fault.code)"])
            if case .storageFailed = fault { return .stopped }
            return .database
        case is CancellationError: return .database
        default:
            logger.error("database row is damaged")
            return .database
        }
    }
}
