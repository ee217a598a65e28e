// SPDX-License-Identifier: Apache-2.0

public import SealedNotes
import SignetClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// The protocol carries text as UTF-8 and keeps it byte for byte. These properties convert it to strings and dates. They
// read a byte that is not UTF-8 as U+FFFD; the stored byte does not change unless the text is set.

extension NoteDocument {
    /// The title, as text.
    public var titleText: String {
        get { String(decoding: title, as: UTF8.self) }
        set { title = Array(newValue.utf8) }
    }

    /// The body of the note, as text.
    public var bodyText: String {
        get { String(decoding: body, as: UTF8.self) }
        set { body = Array(newValue.utf8) }
    }

    /// The tags, as text.
    public var tagTexts: [String] {
        get { tags.map { String(decoding: $0, as: UTF8.self) } }
        set { tags = newValue.map { Array($0.utf8) } }
    }

    /// When the note was begun, to a second.
    public var createdDate: Date { Date(seconds: created) }

    /// When this revision was made, to a second.
    public var modifiedDate: Date { Date(seconds: modified) }
}

extension AttachmentManifest {
    /// The file's name, as text.
    public var nameText: String { String(decoding: name, as: UTF8.self) }

    /// The file's media type, as text.
    public var mediaTypeText: String { String(decoding: mediaType, as: UTF8.self) }
}

extension NoteFacts {
    /// The title, as text; nil while the note stays closed or has no content.
    public var titleText: String? { document?.titleText }

    /// The body of the note, as text; nil while the note stays closed or has no content.
    public var bodyText: String? { document?.bodyText }

    /// When the last revision was made, to a second; nil while the note stays closed or has no content.
    public var modifiedDate: Date? { document?.modifiedDate }
}

extension NoteFacts.Comment {
    /// The comment, as text.
    public var plainText: String { String(decoding: text, as: UTF8.self) }

    /// The time of the author's clock, to a second.
    public var date: Date { Date(seconds: time) }
}
