// SPDX-License-Identifier: Apache-2.0

import CardSigner
package import DurableStorage
package import KeyDirectory
package import LogEngine
package import LogFencing
package import NoteStore
import RecoveryStore
package import SQLStores
package import SharedLog

/// Why a directory was not moved. It is what it was, or it was moved and ``movedAlready`` is the answer from then on; only after
/// ``outcomeUnknown(_:)`` nobody knows which.
package enum MoveError: Error, Sendable {
    /// Its log is in shared engines already.
    case movedAlready
    /// It is one of one machine already.
    case onFiles
    /// The data directory was not read.
    case stored(StoredDirectoryError)
    /// The log was not read, or a server has it open.
    case log(LogOpenError)
    /// Others have seen more of the log than is here, or it is not known whether they have.
    case rollback(RollbackError)
    /// A key was not read or made.
    case keys(KeyFileError)
    /// A file was not written.
    case file(FileFailure)
    /// Something is where the files are to be.
    case present(path: String)
    /// A database of this machine was not opened.
    case database(path: String, DurableOpenError)
    /// The engines were not connected.
    case engines(SharedEnginesError)
    /// The database does not keep what it acknowledges.
    case unfit(DatabaseFault)
    /// The tables of a store.
    case tables(String, TableCopy.Fault)
    /// A database failed while a store was copied.
    case copying(String, SQLCode?)
    /// The connection ended while the database let go of the log: it may have. The same move again looks first, and completes what is left.
    case outcomeUnknown(SQLCode)
    /// The log, in the shared engines.
    case shared(SharedLogFault)
    /// The log was not taken over from the processes that share it.
    case candidacy(CandidacyEnd)
    /// So many connections of others are open to the database.
    case othersConnected(Int)
    /// So many accounts were erased whose end no process has logged yet.
    case endsWaiting(Int)
    /// Another copy than the one in this data directory goes on.
    case movedElsewhere
    /// An object with a piece of a file of a note.
    case noteFile(NoteObjectFault)
    /// The move was interrupted on purpose: of tests.
    case interrupted
}

extension DataDirectory {
    /// Each store's file and tables.
    var movingStores: [(path: String, schema: SQLSchema)] {
        [
            (records + "/directory.sqlite", SharedDirectory.schema), (notesDatabase, NoteArchive.schema),
            (recovery, RecoverySchema.schema), (path + "/cards/tokens.sqlite", TokenLedger.schema),
        ]
    }
}
