// SPDX-License-Identifier: Apache-2.0

import Signet
import Synchronization

/// A file of a note is saved by the browser and never shown by it, whatever its author says that it is.
extension WebPages {
    func file(_ note: NoteID, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        let context = await context(request.session)
        guard let blob = request.query["blob"].flatMap({ NoteID(digits: $0) }),
            let file = facts.document?.attachments.first(where: { $0.blob == blob })
        else {
            let advice = Advice("The note has no such file any more.", "Look at the note again.")
            return refusedFile(note, advice, 404, context)
        }
        if let advice = SavedFile.refusal(byteCount: file.byteCount) { return refusedFile(note, advice, 413, context) }
        let bytes = Mutex<[UInt8]>([])
        try await account.notes { book throws(NotesError) in
            try await book.fetch(file, of: note) { piece in
                bytes.withLock { $0 += piece }
                return true
            }
        }
        return SavedFile.answer(named: file.name, bytes.withLock { $0 })
    }

    private func refusedFile(_ note: NoteID, _ advice: Advice, _ status: Int, _ context: PageContext) -> WebAnswer {
        .page(
            context.page(
                "\(advice.what)", in: .notes, isNarrow: true,
                Part.notice(
                    advice, .known, context, isPage: true,
                    "<p class=\"line\"><a class=\"button main\" href=\"\(context.to(.note(note)))\">The note</a></p>")),
            status: status)
    }
}

/// The answer with which a browser saves a file.
enum SavedFile {
    /// No longer file is sent by a page, in bytes: it is in this process's memory as a whole.
    static let maximumByteCount: UInt64 = 64 << 20

    /// Why a file is not sent; nil if it is.
    static func refusal(byteCount: UInt64) -> Advice? {
        guard byteCount > maximumByteCount else { return nil }
        return Advice(
            "The file is longer than \(maximumByteCount >> 20) MiB, too long for this page.",
            "Fetch it in a terminal, once this page is locked: 'signet notes fetch'.")
    }

    /// The media type that its author states is not used: a browser would run what HTML and SVG contain.
    static func answer(named name: [UInt8], _ bytes: [UInt8]) -> WebAnswer {
        WebAnswer(
            status: 200, mediaType: "application/octet-stream", body: bytes,
            fields: [("content-disposition", "attachment; filename*=UTF-8''\(PercentCoding.encode(savedName(name)))")])
    }

    /// A name for the folder in which the browser saves it (RFC 6266, section 4.3): no part of a path, nothing that is not seen, and not
    /// hidden.
    static func savedName(_ name: [UInt8]) -> String {
        let parts: Set<Unicode.Scalar> = ["/", "\\", ":", "\n", "\t", "\u{FFFD}"]
        var saved = ""
        for scalar in ShownText.of(name).unicodeScalars {
            saved.unicodeScalars.append(parts.contains(scalar) ? "_" : scalar)
        }
        let seen = saved.drop { $0 == "." || $0 == " " }
        return seen.isEmpty ? "file" : String(seen.prefix(200))
    }
}
