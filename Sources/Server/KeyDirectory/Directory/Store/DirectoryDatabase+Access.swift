// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import GRDB
import Logging

extension DirectoryDatabase {
    /// Reads one consistent state of the database. Everything a request reads goes in one call.
    func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(DirectoryError) -> Value {
        do { return try await pool.read(body) } catch { throw failure(error) }
    }

    /// Writes in one transaction, and returns when it is on the disk.
    func write<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws(DirectoryError) -> Value {
        do { return try await pool.write(body) } catch { throw failure(error) }
    }

    /// Empties the write-ahead file of the database into the database, while no one reads or writes.
    func truncateWriteAheadFile() async throws(DirectoryError) {
        do {
            _ = try await pool.barrierWriteWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch { throw failure(error) }
    }

    /// A refusal stays one. If SQLite could not read, write or wait for the disk, the state of the disk is unknown, and
    /// the process ends.
    private func failure(_ error: any Error) -> DirectoryError {
        switch error {
        case let error as DirectoryError: return error
        case let error as DatabaseError:
            logger.error("database failed", metadata: ["code": "\(error.extendedResultCode.rawValue)"])
            switch error.resultCode {
            case .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB: return .stopped
            default: return .database
            }
        case is CancellationError: return .database
        default:
            logger.error("database row is damaged")
            return .database
        }
    }
}
