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
              signet card verify picture.png
              signet card verify --copy wallet.txt

            With --copy, the command reads the code of a card in a wallet, which was not signed for this moment.
            """)

    @Argument(help: "The card that was shown: a file, a picture (PNG, JPEG) of its code, or - for standard input.")
    var file: String
    @Flag(help: "It is a copy, such as the code of a card in a wallet: anyone may show it.") var copy = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let text = ShownCardLink.card(in: try shownText())
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

    /// The card as text; of a picture, what its code says.
    private func shownText() throws -> [UInt8] {
        guard file != "-", let picture = try? InputFile.read(file, maximumByteCount: 16 << 20),
            ScannedPicture.isPicture(picture)
        else { return try CardFile.text(file) }
        let code = try ScannedPicture.code(in: picture, named: PrintedValue.printable(file))
        return code.last == UInt8(ascii: "\n") ? code.dropLast() : code
    }

    /// The name of the key that signed the card; a card of an issuer, who has no such name, was refused before.
    private func key(_ shown: VerifiedPresentation) -> String {
        if case .holder(let name) = shown.issuer { "\(name)" } else { "" }
    }
}
