// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import SelectiveDisclosure
import Signet

/// `signet card verify`
struct CardVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a card that another person shows you, and say what is proved and what is not.",
        discussion: """
            The command uses no network and needs no account.

            Examples:
              signet card verify shown.card
              zbarimg --raw --oneshot PICTURE | signet card verify -
            """)

    @Argument(help: "The card that was shown: a file, or - for standard input.") var file: String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let text = try CardFile.text(file)
        let now = Int64(clamping: Surroundings.system.now())
        let shown: VerifiedPresentation
        do {
            shown = try ShownCard.verify(
                text, types: [BusinessCard.type], trusting: IssuerTrust(acceptsSelfIssued: true), at: now)
        } catch { throw CommandFailure(card: error) }
        let lines = BusinessCard.fields(in: shown.claims)
        output.emit(
            [
                "fields": CardPage.json(lines), "issuer": .key(key(shown)), "outcome": "shown",
                "proved": .array(["unchanged", "shown-now-by-its-key", "in-time"]),
                "notProved": .array(["true", "whose-key", "person-at-hand"]),
            ],
            (CardPage.lines(lines) + CardPage.verdict(key(shown), isAdvanced: output.advanced)).joined(separator: "\n"))
    }

    /// The name of the key that signed the card; a card of an issuer, who has no such name, was refused before.
    private func key(_ shown: VerifiedPresentation) -> String {
        if case .holder(let name) = shown.issuer { "\(name)" } else { "" }
    }
}
