// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import VerifiableMap

/// Whether shared notes are compared with the directory's log.
package enum HeadsInLog: Sendable {
    /// Nothing is sent to a note that was not.
    case demanded
    /// For tests over a server of notes that has no log.
    case notThere
}

/// Why it is not certain that a note is the same here as for every other member. Nothing is sent to it meanwhile.
public enum HeadDoubt: Error, Hashable, Sendable {
    /// The server shows nothing that is logged of where notes stand.
    case noRoot
    /// What it shows is not what the log says, or not of now.
    case root(NotesRootError)
    /// It does not show what the log says of this note.
    case noHead
    /// What it shows of this note is not what the log says.
    case head(MapProofError)
    /// The log says of the note what the server does not deliver.
    case kept(LoggedHeadError)
    /// For so many seconds the log has not said of the note what this device has, so that others may not see it.
    case unlogged(seconds: UInt64)
}
