// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import NoteLog
import Signet

extension Notes {
    /// `signet notes accept-loss`
    struct AcceptLoss: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept-loss", abstract: "Go on with a server that lost some of your notes.",
            discussion: """
                A server that was restored from a backup no longer has what was written after the backup, and a server \
                that hides something looks the same. Ask its operator, not through the server, before you use this.

                This device then begins with what the server has, and brings again what it has itself: newer texts, \
                lost notes, its own comments. People whom you had removed from a note are removed again first. People with \
                whom a lost note was shared, and files that the server does not have, are named: share and attach \
                them again. The file of before is kept. Each of your devices has to do this.

                Example: signet notes accept-loss
                """)

        @Flag(help: "Accept it without asking.") var yes = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            if !yes {
                try Question.demand(
                    "Did the server's operator tell you that it lost data? A server that cheats looks the same.",
                    orElse: "Nothing was changed.")
            }
            var notes = try await NotesSession(home)
            guard let (loss, before) = try await notes.acceptLoss() else {
                return output.emit(
                    ["lost": .bool(false)],
                    "The server has everything that this device has seen. Nothing was changed.")
            }
            let report = try await notes.run { book throws(NotesError) in try await book.sync() }
            let facts = await notes.book.notes()
            let titles = Dictionary(facts.map { ($0.note, $0) }) { first, _ in first }
            output.emit(loss.json(before), loss.page(titles, before))
            _ = try NotesPage.finish(report)
        }
    }
}

extension AcceptedLoss {
    fileprivate func json(_ before: String) -> PrintedValue {
        func pairs(_ notes: [NoteID: NoteID]) -> PrintedValue {
            .array(
                notes.sorted { $0.key < $1.key }.map {
                    ["note": .string($0.key.hexadecimal), "now": .string($0.value.hexadecimal)]
                })
        }
        func names(_ notes: Set<NoteID>) -> PrintedValue { .array(notes.sorted().map { .string($0.hexadecimal) }) }
        return [
            "before": .string(before), "closed": .number(UInt64(closedCount)), "copies": pairs(copies),
            "ended": names(ended),
            "files": .array(
                files.sorted { $0.key < $1.key }.map { note, names in
                    ["names": .array(names.map { .text($0) }), "note": .string(note.hexadecimal)]
                }),
            "lost": .bool(true), "remade": pairs(remade),
            "removed": .array(
                removed.sorted { $0.key < $1.key }.flatMap { note, people in
                    people.inOrder.map {
                        ["handle": .string($0.description), "note": .string(note.hexadecimal)] as PrintedValue
                    }
                }),
            "rewritten": names(rewritten),
            "unshared": .array(
                unshared.sorted { $0.key < $1.key }.flatMap { note, people in
                    people.inOrder.map {
                        [
                            "handle": .string($0.key.description), "note": .string(note.hexadecimal),
                            "role": .string($0.value.name),
                        ] as PrintedValue
                    }
                }),
        ]
    }

    fileprivate func page(_ facts: [NoteID: NoteFacts], _ before: String) -> String {
        func line(_ note: NoteID, _ words: String) -> String {
            "  \(note.hexadecimal.prefix(8))  \(facts[note]?.heading ?? "(no title)"): \(words)"
        }
        var lines = [
            "\(Paint.output.good("✓")) You accepted that the server lost something. This device has brought its notes again."
        ]
        lines += rewritten.sorted().map { line($0, "this device's text is sent again") }
        lines += remade.values.sorted().map { line($0, "made again, because the server no longer had it") }
        lines += copies.sorted { $0.key < $1.key }.map {
            line($0.value, "this device's text; \($0.key.hexadecimal.prefix(8)) was changed elsewhere")
        }
        lines += ended.sorted().map { line($0, "deleted, left or given away, again") }
        for (note, people) in removed.sorted(by: { $0.key < $1.key }) {
            lines.append(line(note, "\(people.inOrder.map(\.description).joined(separator: ", ")) removed, again"))
        }
        for (note, people) in unshared.sorted(by: { $0.key < $1.key }) {
            lines += people.inOrder.map { handle, role in
                "  Share it again: signet notes share \(note.hexadecimal.prefix(8)) \(handle)"
                    + (role == .writer ? " --write" : "")
            }
        }
        for (note, names) in files.sorted(by: { $0.key < $1.key }) {
            let shown = names.map { NoteText.line($0) }.joined(separator: ", ")
            lines.append(line(note, "the server may not have these files, attach them again: \(shown)"))
        }
        if closedCount > 0 {
            lines.append(
                "  \(Moment.count(UInt64(closedCount), "note")) that did not open here could not be brought again.")
        }
        lines.append("  What this device had before is in \(PrintedValue.printable(before)).")
        return lines.joined(separator: "\n")
    }
}

extension Set<Handle> {
    fileprivate var inOrder: [Handle] { sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }
}

extension [Handle: NoteRole] {
    fileprivate var inOrder: [(key: Handle, value: NoteRole)] {
        sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
    }
}
