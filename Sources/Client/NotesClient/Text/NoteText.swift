// SPDX-License-Identifier: Apache-2.0

public import SealedNotes
import SignetClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// What people read and write is UTF-8 in the protocol, kept byte for byte. Here it is text and dates; a byte that is no UTF-8 is read as
// U+FFFD, and stays as it is in what is kept unless the text is set.

extension NoteDocument {
    /// The title, as text.
    public var titleText: String {
        get { String(decoding: title, as: UTF8.self) }
        set { title = Array(newValue.utf8) }
    }

    /// What the note says, as text.
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

    /// What the note says, as text; nil while it stays closed or has no content.
    public var bodyText: String? { document?.bodyText }

    /// When the last revision was made, to a second; nil while the note stays closed or has no content.
    public var modifiedDate: Date? { document?.modifiedDate }
}

extension NoteFacts.Comment {
    /// What it says, as text.
    public var plainText: String { String(decoding: text, as: UTF8.self) }

    /// What the author's clock said, to a second.
    public var date: Date { Date(seconds: time) }
}
