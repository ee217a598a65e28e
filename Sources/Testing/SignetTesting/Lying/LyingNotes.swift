// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
package import KeyTransparency
import NoteLog
package import NotesAPI
package import SignetAPI
package import SignetServer

/// A lie by a dishonest server about people's notes.
public enum NoteLie: String, CaseIterable, Hashable, Sendable {
    /// Some people are shown the notes in an earlier state, and what they write goes there. They never hear of a removal, for
    /// example.
    case frozenWriter = "frozen-writer"
    /// Some people are not shown the comments and stars of others.
    case droppedComment = "dropped-comment"
    /// As frozen-writer; in addition, requests for what the log says about the notes get no answer.
    case withheldHeads = "withheld-heads"

    /// The lie in a few words.
    public var summary: String {
        switch self {
        case .frozenWriter: "notes as they were, for some"
        case .droppedComment: "no comments of others, for some"
        case .withheldHeads: "notes as they were, for some, and no word of what is logged"
        }
    }
}

/// The notes of a real server, of which some people are shown something else. It is a test product and part of no server.
package struct LyingNotes: PartAnswering {
    private let truth: NotesAnswering
    private let past: NotesAnswering?
    private let lie: NoteLie
    private let victims: Set<Handle>

    /// Puts a lie in front of notes.
    ///
    /// - Parameter past: an earlier copy of them, for ``NoteLie/frozenWriter``.
    package init(_ truth: NotesAnswering, past: NotesAnswering?, lie: NoteLie, to victims: Set<Handle>) {
        self.truth = truth
        self.past = past
        self.lie = lie
        self.victims = victims
    }

    package var routes: [any PartRoute] { truth.routes }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let handle = request.caller?.handle, victims.contains(handle),
            let route = request.route as? NoteRoute
        else { return try await truth.answer(request) }
        switch lie {
        case .frozenWriter:
            let isLogged = [.loggedHeads, .childList].contains(route)
            return try await (isLogged ? truth : past ?? truth).answer(request)
        case .withheldHeads: return try await (past ?? truth).answer(request)
        case .droppedComment:
            let body = try await truth.answer(request)
            return route == .pull ? Self.withoutComments(body, of: handle) : body
        }
    }

    private static func withoutComments(_ body: [UInt8], of handle: Handle) -> [UInt8] {
        guard case .page(let page)? = try? FeedAnswer(decoding: body) else { return body }
        let entries = page.entries.filter { entry in
            guard case .child(let child) = entry.item else { return true }
            return child.author.handle == handle
        }
        return FeedAnswer.page(FeedPage(entries: entries, next: page.next, newest: page.newest)).encoded
    }

    package func close() async {
        await truth.close()
        await past?.close()
    }
}
