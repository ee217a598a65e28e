// SPDX-License-Identifier: Apache-2.0

import Credentials

/// How a card is printed for a person, and for programs.
enum CardPage {
    /// The lines of a card. Another person may have written them, so they are made safe to print.
    static func lines(_ fields: [(field: BusinessCard.Field, text: String)]) -> [String] {
        guard !fields.isEmpty else { return ["  No line of the card is shown."] }
        return fields.map { field, text in
            let name = field.words + String(repeating: " ", count: max(0, 14 - field.words.count))
            return "  \(Paint.output.faint(name))\(NoteText.line(Array(text.utf8)))"
        }
    }

    /// The lines for programs, under the names of their claims.
    static func json(_ fields: [(field: BusinessCard.Field, text: String)]) -> PrintedValue {
        .object(Dictionary(fields.map { ($0.field.rawValue, .string($0.text)) }) { first, _ in first })
    }

    /// What a reader may conclude from a card that passed every check, and what not.
    static func verdict(_ key: String, isCopy: Bool, isAdvanced: Bool) -> [String] {
        let (proved, notProved) =
            isCopy
            ? (ShownCardWords.provedOfCopy, ShownCardWords.notProvedOfCopy)
            : (ShownCardWords.proved, ShownCardWords.notProved)
        return ["\(Paint.output.good("✓")) Proved: \(proved)"]
            + notProved.map { "\(Paint.output.warning("!")) Not proved: \($0)" }
            + (isAdvanced ? ["  Signed by \(key)"] : [])
    }
}
