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
            ? (
                "the person who made this card signed what it says, and nothing in it was changed.",
                "It is a copy, and anyone who has seen it can show it."
            )
            : (
                "the person who made this card showed it within the last two minutes, and nothing in it was changed.",
                "A photograph of the code is accepted for two minutes: ask the person to show the card again."
            )
        return [
            "\(Paint.output.good("✓")) Proved: \(proved)",
            "\(Paint.output.warning("!")) Not proved: that the card is true. Only its maker says so.",
            "\(Paint.output.warning("!")) Not proved: who made it. Compare keys with the person: signet people verify.",
            "\(Paint.output.warning("!")) Not proved: that the person before you made it. \(notProved)",
        ] + (isAdvanced ? ["  Signed by \(key)"] : [])
    }
}
