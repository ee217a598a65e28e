// SPDX-License-Identifier: Apache-2.0

public import NoteLog

/// A note as one device has it: what the server has accepted, and what the device has changed since. A value; storing
/// and sending are the caller's.
public struct NoteReplica: Equatable, Sendable {
    /// Which.
    public let note: NoteID
    /// The newest revision that was pulled or accepted, opened; nil before the first.
    public private(set) var base: NoteDocument?
    /// Where it stands; a push names it as its parent.
    public private(set) var view: RevisionView?
    /// What is to be pushed; nil if nothing.
    public private(set) var pending: NoteDocument?

    /// The result of applying news from the server.
    public enum Outcome: Equatable, Sendable {
        /// Nothing was pending: the note is the server's.
        case updated
        /// What was pending was joined with the news and is pending still.
        case merged
        /// They met: the note is the server's, and this is to be kept as a new note.
        case conflictCopy(NoteDocument)
        /// The note was deleted while something was pending: the change wins, as a new note.
        case keptAsNew(NoteDocument)
        /// The note was deleted.
        case removed
    }

    /// A note that nothing is known of yet.
    public init(note: NoteID) { self.note = note }

    /// What a person sees.
    public var document: NoteDocument? { pending ?? base }

    /// The person changed the note.
    public mutating func edit(_ document: NoteDocument) { pending = document == base ? nil : document }

    /// The server has accepted what was sent, as this revision.
    public mutating func accepted(_ document: NoteDocument, as view: RevisionView) {
        if pending == document { pending = nil }
        base = document
        self.view = view
    }

    /// A newer revision came from the server, verified and opened.
    public mutating func pulled(_ document: NoteDocument, at view: RevisionView) -> Outcome {
        let before = base
        base = document
        self.view = view
        guard let mine = pending else { return .updated }
        // Without a common base everything is a change.
        let empty = NoteDocument(title: [], body: [], created: document.created, modified: 0)
        switch DocumentMerge.merge(base: before ?? empty, mine: mine, theirs: document, of: note) {
        case .merged(let joined):
            edit(joined)
            return pending == nil ? .updated : .merged
        case .conflict(let copy):
            pending = nil
            return .conflictCopy(copy)
        }
    }

    /// The control log says that the note is deleted.
    public mutating func deleted() -> Outcome {
        defer {
            base = nil
            pending = nil
        }
        guard var mine = pending else { return .removed }
        mine.conflictOf = note
        return .keptAsNew(mine)
    }
}
