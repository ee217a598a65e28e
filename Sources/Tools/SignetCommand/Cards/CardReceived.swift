// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Signet

/// `signet card received`
struct CardReceived: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "received", abstract: "The business cards that people gave you when you met.",
        discussion: """
            Each card was signed by the identity key that the person proved when you met. No one else confirms what it says.

            Example: signet card received
            """)

    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let session = try Session(home)
        let secrets = try session.secrets()
        let people = try await session.with(secrets) { account in
            try await account.metContacts().filter { !$0.card.isEmpty }
        }
        let pages = people.map { person in
            ["\(Paint.output.strong(person.handle.description))  met on \(Moment.day(person.day))"]
                + CardPage.lines(person.card.map { ($0.field, $0.text) })
        }
        output.emit(
            [
                "cards": .array(
                    people.map { person in
                        [
                            "fields": CardPage.json(person.card.map { ($0.field, $0.text) }),
                            "handle": .string(person.handle.description), "metOn": .string(Moment.day(person.day)),
                        ]
                    })
            ], people.isEmpty ? "Nobody has given you a card yet." : pages.flatMap { $0 }.joined(separator: "\n"))
    }
}
