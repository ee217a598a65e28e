// SPDX-License-Identifier: Apache-2.0

import Credentials

/// Cards as a person reads them.
enum CardPage {
    /// The lines of a card, which others may have written.
    static func lines(_ fields: [(field: BusinessCard.Field, text: String)]) -> [String] {
        guard !fields.isEmpty else { return ["  No line of the card is shown."] }
        return fields.map { field, text in
            let name = field.words + String(repeating: " ", count: max(0, 14 - field.words.count))
            return "  \(Paint.output.faint(name))\(NoteText.line(Array(text.utf8)))"
        }
    }

    /// For programs: the lines by the names of their claims.
    static func json(_ fields: [(field: BusinessCard.Field, text: String)]) -> PrintedValue {
        .object(Dictionary(fields.map { ($0.field.rawValue, .string($0.text)) }) { first, _ in first })
    }

    /// What may be concluded, and what may not.
    static func verdict(_ key: String, isAdvanced: Bool) -> [String] {
        [
            "\(Paint.output.good("✓")) Proved: the one who made this card showed it within the last two minutes, and nothing in it was changed.",
            "\(Paint.output.warning("!")) Not proved: that it is true. The person states it, and no one else confirms it.",
            "\(Paint.output.warning("!")) Not proved: who the person is. Compare keys with the person: signet people verify.",
            "\(Paint.output.warning("!")) Not proved: that the one before you made it. A photograph of the code counts for two minutes: "
                + "ask to see another one.",
        ] + (isAdvanced ? ["  Signed by \(key)"] : [])
    }
}
