// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import VerifiableMap

/// Whether shared notes are compared with the directory's log.
package enum HeadsInLog: Sendable {
    /// Notes are compared, and nothing is sent to a note that was not compared.
    case demanded
    /// Notes are not compared: for tests with a server of notes that has no log.
    case notThere
}

/// Why this device may have a different state of a note from other members. Nothing is sent to the note until this is
/// resolved.
public enum HeadDoubt: Error, Hashable, Sendable {
    /// The server shows no logged states of notes.
    case noRoot
    /// The states that the server shows are not those in the log, or not current.
    case root(NotesRootError)
    /// The server does not show the logged state of this note.
    case noHead
    /// The state of this note that the server shows is not the one in the log.
    case head(MapProofError)
    /// The log has a state of the note that the server does not deliver.
    case kept(LoggedHeadError)
    /// For this many seconds the log has not had the state of the note that this device has, so that others may not see
    /// it.
    case unlogged(seconds: UInt64)
}
