// An app imports Signet alone, and has the names that its functions take and return.
@_exported public import KeyTransparency
@_exported public import NoteLog
@_exported public import NotesClient
@_exported public import PinnedHTTP
@_exported public import SealedMessages
@_exported public import SealedNotes
@_exported public import SignetAPI
@_exported public import SignetClient
