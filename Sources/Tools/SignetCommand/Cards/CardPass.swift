// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import DeviceIdentity
import LocalWeb
import QRCode
import Signet

/// `signet card pass`
struct CardPass: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pass", abstract: "Make a card for the wallet of a telephone of your business card.",
        discussion: """
            The directory's server signs the card without seeing it: it gets 32 bytes, and a token that does not say whose it is. The card \
            says that its holder made it. A telephone takes it only if Apple issued the certificate of the server's signer.

            The card's code is a copy of your business card with the lines that you choose. Anyone who sees it can show it too.

            Example: signet card pass my.card --only name --only email --out my.pkpass
            """)

    @Argument(help: "The file that 'signet card make' made.") var file: String
    @Option(help: ArgumentHelp("Where to put the card for the wallet.", valueName: "file")) var out: String
    @Option(
        help: ArgumentHelp(
            "A line to show; may be given more than once. Without it, all lines are shown.", valueName: "line"),
        transform: BusinessCard.Field.typed)
    var only: [BusinessCard.Field] = []
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let session = try Session(home)
        let (keystore, _) = try session.cardOwner()
        let card = try CardFile(file, of: keystore).card
        let lines = BusinessCard.fields(of: card).filter { only.isEmpty || only.contains($0.field) }
        guard !lines.isEmpty, only.allSatisfy({ field in lines.contains { $0.field == field } }) else {
            throw CommandFailure(
                .usage, "The card has no such line.",
                "'signet card show \(PrintedValue.printable(file))' lists its lines.")
        }
        guard QRSymbol(WalletCard(card, showing: Set(lines.map(\.field))).copy) != nil else {
            throw CommandFailure(WalletCardFault.tooLong)
        }
        try OutputFile.checkRoom(out, outside: session.home)
        let pass = try await session.approved(.carryCards, at: session.home.path) { account, approval in
            try await account.walletCard(
                of: card, showing: Set(lines.map(\.field)), pictures: WalletIcon.pictures, approval)
        }
        try OutputFile.write(pass.archive, to: out, outside: session.home)
        let byApple = pass.certifiedBy.contains("Apple Worldwide Developer Relations")
        output.emit(
            [
                "certifiedBy": .string(pass.certifiedBy), "fields": CardPage.json(lines), "file": .string(out),
                "outcome": "signed",
            ],
            (CardPage.lines(lines) + [
                "\(Paint.output.good("✓")) The card is in \(Paint.output.strong(PrintedValue.printable(out))).",
                "  It says that you made it. The server that signed it has not seen it.",
                byApple
                    ? "  Its signer's certificate says that Apple issued it."
                    : "  NOT APPLE: its signer's certificate is of \(PrintedValue.printable(pass.certifiedBy)). Telephones refuse it.",
            ]).joined(separator: "\n"))
    }
}
