// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import NoteLog
import SealedNotes
import Signet

extension NoteFacts {
    /// The note's name as a person types it: 32 hex digits.
    var name: String { note.hexadecimal }
    /// The part of the name that lists show.
    var shortName: String { String(name.prefix(8)) }

    /// The title, or words that replace it.
    var heading: String {
        guard let document else { return "(closed)" }
        let title = NoteText.line(document.title)
        return title.isEmpty ? "(no title)" : title
    }

    var json: PrintedValue {
        [
            "attachments": .array(
                (document?.attachments ?? []).map { file in
                    ["bytes": .number(file.byteCount), "name": .text(file.name), "type": .text(file.mediaType)]
                }),
            "comments": .array(
                comments.map { comment in
                    [
                        "author": .string(comment.author.description), "text": .text(comment.text),
                        "time": .number(comment.time),
                    ]
                }),
            "conflictOf": document?.conflictOf.map { .string($0.hexadecimal) } ?? .null,
            "created": document.map { .number($0.created) } ?? .null,
            "epoch": .number(UInt64(epoch)),
            "locked": lock.map { .string($0.sentence.what) } ?? .null,
            "members": .array(
                members.map { ["handle": .string($0.handle.description), "role": .string($0.role.name)] }),
            "left": .array(left.map { .string($0.description) }),
            "leftOut": .array(
                leftOut.map { ["device": .base64($0.device), "handle": .string($0.handle.description)] }),
            "modified": document.map { .number($0.modified) } ?? .null,
            "note": .string(name),
            "owner": owner.map { .string($0.description) } ?? .null,
            "revisions": .number(UInt64(revisionCount)),
            "standing": .string(standing.name),
            "stars": .array(stars.map(\.description).sorted().map { .string($0) }),
            "tags": .array((document?.tags ?? []).map { .text($0) }),
            "title": document.map { .text($0.title) } ?? .null,
            "trouble": fault.map { .string($0.sentence.what) } ?? .null,
            "waiting": .bool(isPending),
        ]
    }
}

extension NoteID {
    var hexadecimal: String { String(decoding: Hex.encode(bytes), as: UTF8.self) }
}

extension NoteRole {
    /// A name that scripts may rely on.
    var name: String { self == .writer ? "writer" : "reader" }
}

extension NoteFacts.Standing {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .owner: "owner"
        case .writer: "writer"
        case .reader: "reader"
        case .removed: "removed"
        case .left: "left"
        case .deleted: "deleted"
        case .unknown: "unknown"
        }
    }
}

/// Texts that others wrote, shown so that they cannot move the cursor or change colours.
enum NoteText {
    /// The text in one line.
    static func line(_ bytes: [UInt8]) -> String { shown(bytes) { _ in false } }

    /// The text with its lines.
    static func block(_ bytes: [UInt8]) -> String { shown(bytes) { $0 == "\n" || $0 == "\t" } }

    private static func shown(_ bytes: [UInt8], _ mayStay: (Unicode.Scalar) -> Bool) -> String {
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            text.unicodeScalars.append(mayStay(scalar) || isHarmless(scalar) ? scalar : "\u{FFFD}")
        }
        return text
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Emoji are joined by a format character that changes nothing else.
        case .format: scalar.value == 0x200D
        case .control, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

/// Lists and pages of notes.
enum NotesPage {
    static func list(_ notes: [NoteFacts]) -> String {
        guard !notes.isEmpty else {
            return "No notes. Write one with 'signet notes new TITLE', or fetch yours with 'signet notes sync'."
        }
        return notes.map(line).joined(separator: "\n")
    }

    private static func line(_ note: NoteFacts) -> String {
        var words = [standing(note)]
        if !note.stars.isEmpty { words.append("★ \(note.stars.count)") }
        if !note.comments.isEmpty { words.append(Moment.count(UInt64(note.comments.count), "comment")) }
        if note.document?.conflictOf != nil { words.append("other side of a conflict") }
        if note.isPending { words.append(Paint.output.warning("waiting to be sent")) }
        if note.lock != nil { words.append(Paint.output.bad("closed")) }
        if note.fault != nil { words.append(Paint.output.bad("trouble")) }
        return
            "  \(Paint.output.faint(note.shortName))  \(Paint.output.strong(note.heading))  \(words.joined(separator: ", "))"
    }

    private static func standing(_ note: NoteFacts) -> String {
        switch note.standing {
        case .owner:
            note.members.isEmpty ? "yours" : "yours, shared with \(Moment.people(note.members.count))"
        case .writer: "from \(owner(note)), you may write"
        case .reader: "from \(owner(note)), to read"
        case .removed: "from \(owner(note)), taken back"
        case .left: "from \(owner(note)), left by you"
        case .deleted: "deleted"
        case .unknown: "owner uncertain"
        }
    }

    private static func owner(_ note: NoteFacts) -> String { note.owner?.description ?? "someone" }

    static func page(_ note: NoteFacts) -> String {
        var lines = ["\(Paint.output.strong(note.heading))  \(Paint.output.faint(note.shortName))"]
        lines.append("  \(standing(note))" + (note.modified > 0 ? ", \(Moment.date(note.modified))" : ""))
        if let document = note.document {
            if !document.tags.isEmpty {
                lines.append("  tags: " + document.tags.map(NoteText.line).joined(separator: ", "))
            }
            lines += document.attachments.map { "  file: \(NoteText.line($0.name)), \($0.byteCount) bytes" }
            lines += ["", NoteText.block(document.body)]
        }
        lines += troubles(note)
        if !note.stars.isEmpty { lines += ["", "★ " + note.stars.map(\.description).sorted().joined(separator: ", ")] }
        for comment in note.comments {
            lines += ["", "\(Paint.output.strong(comment.author.description)), \(Moment.date(comment.time)):"]
            lines.append(NoteText.block(comment.text))
        }
        if !note.leftOut.isEmpty { lines += [""] + leftOut(note) }
        return lines.joined(separator: "\n")
    }

    /// The lines about comments and stars that do not count, by the people who signed them.
    static func leftOut(_ note: NoteFacts) -> [String] {
        Dictionary(grouping: note.leftOut, by: \.handle).sorted { $0.key.description < $1.key.description }.map {
            let devices = Set($1.map { String(decoding: Hex.encode(Array($0.device.prefix(4))), as: UTF8.self) })
                .sorted()
            return """
                  left out: \($1.count) of the comments and stars from \($0), signed by \
                device \(devices.joined(separator: ", "))
                """
        }
    }

    private static func troubles(_ note: NoteFacts) -> [String] {
        [(note.lock, "closed"), (note.fault, "trouble")].flatMap { lock, word in
            lock.map { ["", "\(Paint.output.bad(word)): \($0.sentence.what)", "  \($0.sentence.remedy)"] } ?? []
        }
    }

    /// Reports what waits to be sent, and why: the notes, or only the signed list of their states.
    static func waits(_ notes: [NoteFacts], because sentence: Sentence) {
        let waiting = notes.filter(\.isPending).map(\.shortName)
        for name in waiting.isEmpty ? ["the signed list of your notes' states"] : waiting.sorted() {
            Output.error("\(Paint.error.warning("not sent:")) \(name): \(sentence.what)")
        }
        Output.error("        \(sentence.remedy)")
    }

    /// Reports what the server did not accept.
    ///
    /// - Returns: whether everything was sent.
    static func finish(_ report: SyncReport) throws -> Bool {
        for note in report.rekeyed.sorted() {
            Output.error("\(note.hexadecimal.prefix(8)) has a new key: someone left it, or you removed a device.")
        }
        for (note, problem) in report.notRekeyed.sorted(by: { $0.key < $1.key }) {
            Output.error(
                "\(Paint.error.warning("same key still:")) \(note.hexadecimal.prefix(8)): \(problem.sentence.what)")
            Output.error("        \(problem.sentence.remedy)")
        }
        for (note, problem) in report.refused.sorted(by: { $0.key < $1.key }) {
            let sentence = problem.sentence
            Output.error("\(Paint.error.warning("not sent:")) \(note.hexadecimal.prefix(8)): \(sentence.what)")
            Output.error("        \(sentence.remedy)")
        }
        for (note, doubt) in report.doubts.sorted(by: { $0.key < $1.key }) where report.refused[note] == nil {
            Output.error("\(Paint.error.bad("trouble:")) \(note.hexadecimal.prefix(8)): \(doubt.sentence.what)")
            Output.error("         \(doubt.sentence.remedy)")
        }
        if let first = report.dropped.min() {
            let sentence = NoteLock.overfull.sentence
            let names =
                Moment.count(UInt64(report.dropped.count), "note") + ", the first \(first.hexadecimal.prefix(8))"
            Output.error("\(Paint.error.bad("trouble:")) \(names): \(sentence.what)")
            Output.error("         \(sentence.remedy)")
        }
        for (handle, met) in report.met.sorted(by: { $0.key.description < $1.key.description }) {
            switch met {
            case .fork(_): throw CommandFailure.forkMet(handle.description)
            case .noProof:
                Output.error(
                    "\(Paint.error.warning("not proved:")) that \(handle) and you see the same log of the "
                        + "directory. Try again later."
                )
            case .oneHistory, .otherLog, .notCompared: break
            }
        }
        return report.refused.isEmpty
    }
}

extension Moment {
    /// `1 person`, `2 people`.
    static func people(_ count: Int) -> String { count == 1 ? "1 person" : "\(count) people" }
}
