// SPDX-License-Identifier: Apache-2.0

import Signet
import Synchronization

/// A file on its way to a note. It goes on while its page is left, and is found again on the page of the note.
final class FileUpload: Sendable {
    /// How it ended.
    enum End: Sendable {
        /// With what is said of it.
        case attached(HTML)
        case refused(Advice)
    }

    let note: NoteID
    let name: [UInt8]
    let byteCount: Int
    private let state: Mutex<State>

    private struct State {
        /// The file until it has ended.
        var file: AttachedFile?
        var sealedByteCount = 0
        var end: End?
    }

    init(_ file: AttachedFile, to note: NoteID) {
        (name, byteCount, self.note) = (file.name, file.content.count, note)
        state = Mutex(State(file: file))
    }

    /// How much of the file is sealed.
    var sealedByteCount: Int { state.withLock { $0.sealedByteCount } }
    var end: End? { state.withLock { $0.end } }

    /// A piece of the file; nil behind its end.
    @Sendable func piece(_ index: Int) -> [UInt8]? {
        state.withLock { state in
            let piece = state.file?.piece(index)
            state.sealedByteCount += piece?.count ?? 0
            return piece
        }
    }

    /// The first end counts.
    fileprivate func end(_ end: End) { state.withLock { if $0.end == nil { ($0.file, $0.end) = (nil, end) } } }

    /// The account is locked: nothing more of the file is sealed.
    func stop() {
        end(
            .refused(
                Advice(
                    "\(ShownText.of(name)) is not attached: the account was locked while it was on its way.",
                    "Attach it again.")))
    }
}

extension WebAccount {
    /// Begins to attach a file.
    ///
    /// - Returns: false if another file is on its way to this note, or what came of it was not taken yet.
    func begin(_ upload: FileUpload, _ attach: @escaping @Sendable () async -> FileUpload.End) -> Bool {
        guard uploads[upload.note] == nil else { return false }
        uploads[upload.note] = upload
        keep(Task { upload.end(await attach()) })
        return true
    }

    /// What came of a file, once; nil while it is on its way.
    func takeEnd(of upload: FileUpload) -> FileUpload.End? {
        guard let end = upload.end else { return nil }
        if uploads[upload.note] === upload { uploads[upload.note] = nil }
        return end
    }

    /// The file on its way to a note.
    func upload(to note: NoteID) -> FileUpload? { uploads[note] }
}
