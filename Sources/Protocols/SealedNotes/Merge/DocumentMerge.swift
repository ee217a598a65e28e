// SPDX-License-Identifier: Apache-2.0

public import NoteLog

/// The outcome of merging two changes of one document.
public enum DocumentMerge: Equatable, Sendable {
    /// Both in one.
    case merged(NoteDocument)
    /// They meet: theirs stays the note, mine becomes a note of its own that names it.
    case conflict(copy: NoteDocument)

    /// Joins two changes of `base`. Nothing of either side is dropped: where they meet, the second case keeps both.
    ///
    /// - Parameter note: the note, which a conflict copy names.
    public static func merge(
        base: NoteDocument, mine: NoteDocument, theirs: NoteDocument, of note: NoteID
    ) -> DocumentMerge {
        var copy = mine
        copy.conflictOf = note
        guard let title = single(base.title, mine.title, theirs.title),
            let body = LineMerge.merge(base: base.body, mine: mine.body, theirs: theirs.body),
            let attachments = elements(base.attachments, mine.attachments, theirs.attachments, by: \.blob),
            let tags = elements(base.tags, mine.tags, theirs.tags, by: \.self)
        else { return .conflict(copy: copy) }
        return .merged(
            NoteDocument(
                title: title, body: body, tags: tags, attachments: attachments, created: theirs.created,
                modified: max(mine.modified, theirs.modified), conflictOf: theirs.conflictOf))
    }

    private static func single<Value: Equatable>(_ base: Value, _ mine: Value, _ theirs: Value) -> Value? {
        if mine == base || mine == theirs { return theirs }
        return theirs == base ? mine : nil
    }

    /// Theirs, less what mine removed, with what mine added and changed; nil where both changed one element.
    private static func elements<Element: Equatable, Name: Hashable>(
        _ base: [Element], _ mine: [Element], _ theirs: [Element], by name: (Element) -> Name
    ) -> [Element]? {
        func named(_ elements: [Element]) -> [Name: Element] {
            Dictionary(elements.map { (name($0), $0) }) { first, _ in first }
        }
        let (base, mineByName, theirsByName) = (named(base), named(mine), named(theirs))
        var result: [Element] = []
        for element in theirs {
            let name = name(element)
            guard let mine = mineByName[name] else {
                // Mine removed it: gone, unless theirs changed it.
                guard let before = base[name] else {
                    result.append(element)
                    continue
                }
                if before != element { return nil }
                continue
            }
            guard let chosen = base[name].map({ single($0, mine, element) }) ?? (mine == element ? mine : nil) else {
                return nil
            }
            result.append(chosen)
        }
        for element in mine where theirsByName[name(element)] == nil {
            guard let before = base[name(element)] else {
                result.append(element)
                continue
            }
            // Theirs removed it: gone, unless mine changed it.
            if before != element { return nil }
        }
        return result.count <= NoteDocument.maximumCount ? result : nil
    }
}
