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
            The command uses no network and needs no account. It reads the card itself, or the link of the page that checks it.

            Examples:
              signet card verify shown.card
              echo 'https://directory.example/card#…' | signet card verify -
              zbarimg --raw --oneshot PICTURE | signet card verify -
              signet card verify --copy wallet.txt

            With --copy, the command reads the code of a card in a wallet, which was not signed for this moment.
            """)

    @Argument(help: "The card that was shown: a file, or - for standard input.") var file: String
    @Flag(help: "It is a copy, such as the code of a card in a wallet: anyone may show it.") var copy = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let text = ShownCardLink.card(in: try CardFile.text(file))
        let now = Int64(clamping: Surroundings.system.now())
        let (types, trust) = ([BusinessCard.type], IssuerTrust(acceptsSelfIssued: true))
        let shown: VerifiedPresentation
        do {
            shown =
                copy
                ? try ShownCard.verify(copy: text, types: types, trusting: trust, at: now)
                : try ShownCard.verify(text, types: types, trusting: trust, at: now)
        } catch {
            guard copy, error == .bindingAudience else { throw CommandFailure(card: error) }
            throw CommandFailure(
                .notProven, "This is no copy: somebody signed it for one moment.",
                "If it was shown to you just now, leave out --copy.")
        }
        let lines = BusinessCard.fields(in: shown.claims)
        let proved: [PrintedValue] = ["unchanged", copy ? "signed-by-its-key" : "shown-now-by-its-key", "in-time"]
        output.emit(
            [
                "fields": CardPage.json(lines), "issuer": .key(key(shown)), "outcome": copy ? "copy" : "shown",
                "proved": .array(proved), "notProved": .array(["true", "whose-key", "person-at-hand"]),
            ],
            (CardPage.lines(lines) + CardPage.verdict(key(shown), isCopy: copy, isAdvanced: output.advanced))
                .joined(separator: "\n"))
    }

    /// The name of the key that signed the card; a card of an issuer, who has no such name, was refused before.
    private func key(_ shown: VerifiedPresentation) -> String {
        if case .holder(let name) = shown.issuer { "\(name)" } else { "" }
    }
}
