// SPDX-License-Identifier: Apache-2.0

import Signet

/// A remedy, whose commands are links to the pages that do the same.
///
/// A sentence of the command line names a command, in quotes or at its end: `signet people trust bob@example.org`. The
/// terminal shows the command as it is typed. This app shows a link to the page that does the same, or, if there is none, the command.
enum RemedyText {
    enum Part: Hashable, Sendable {
        case text(String)
        case command(String, WebRoute?)
    }

    static func parts(of remedy: String) -> [Part] {
        var parts: [Part] = []
        var rest = remedy[...]
        while let (before, command, after) = next(in: rest) {
            if !before.isEmpty { parts.append(.text(String(before))) }
            parts.append(.command(String(command), route(of: command)))
            rest = after
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }

    /// The next command: from `'signet ` to the next quote, or from `signet ` behind a colon to the end of the sentence.
    private static func next(in text: Substring) -> (before: Substring, command: Substring, after: Substring)? {
        let quoted = text.firstRange(of: "'signet ")
        let bare = text.firstRange(of: ": signet ")
        if let quoted, quoted.lowerBound < bare?.lowerBound ?? text.endIndex,
            let end = text[quoted.upperBound...].firstIndex(of: "'")
        {
            let start = text.index(after: quoted.lowerBound)
            return (text[..<quoted.lowerBound], text[start..<end], text[text.index(after: end)...])
        }
        guard let bare else { return nil }
        let start = text.index(bare.lowerBound, offsetBy: 2)
        let end = text[start...].firstRange(of: ". ")?.lowerBound ?? text.endIndex
        let command = text[start..<end]
        guard command.last == "." else { return (text[..<start], command, text[end...]) }
        return (text[..<start], command.dropLast(), text[command.index(before: command.endIndex)...])
    }

    /// The page that does the same; nil if there is none.
    private static func route(of command: Substring) -> WebRoute? {
        let words = command.split(separator: " ").dropFirst().map(String.init)
        let handle = words.count > 2 ? try? Handle(words[2]) : nil
        switch (words.first, words.dropFirst().first, handle) {
        case ("people", "trust", let handle?): return .change(handle)
        case ("people", "verify", let handle?): return .compare(handle)
        case ("people", "add", _?), ("people", "accept", _?), ("people", "block", _?): return .people
        case ("people", "requests", _), ("people", "list", _): return .people
        case ("lookup", let handle?, _): return (try? Handle(handle)).map { .checks($0) }
        case ("guardian", "confirm", let owner?): return .guardian(owner)
        case ("guardian", _, _), ("guardians", _, _): return .guardians
        case ("recover", "stop", _): return .recovery
        case ("devices", "list", _): return .devices
        case ("sites", _, _): return .sites
        case ("cards", _, _): return .cards
        case ("card", _, _): return .ownCard
        case ("meet", _, _): return .meet
        case ("call", _, _): return .calls
        case ("notes", "ls", _), ("notes", "sync", _): return .notes
        default: return nil
        }
    }
}
