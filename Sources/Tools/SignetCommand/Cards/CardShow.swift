// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import QRCode
import SelectiveDisclosure
import Signet

/// `signet card show`
struct CardShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show your card, or the lines of it that you choose.",
        discussion: """
            With --qr, --picture or --out, the card is signed for this moment and is accepted for two minutes. Without \
            them, the command lists what is on the card.

            With --link, what is shown is a link of the directory's server, for people who do not have signet: the page \
            checks the card in their browser, and the server does not get it. The server must have the page: its operator runs it \
            with --explorer.

            Examples:
              signet card show my.card --only name --only phone --qr
              signet card show my.card --link --qr
            """)

    @Argument(help: "The file that 'signet card make' made.") var file: String
    @Option(
        help: ArgumentHelp(
            "A line to show; may be given more than once. Without it, all lines are shown.", valueName: "line"),
        transform: BusinessCard.Field.typed)
    var only: [BusinessCard.Field] = []
    @Flag(help: "Show a link of the page that checks the card.") var link = false
    @Flag(help: "Draw the card as a QR code, if the window is wide enough.") var qr = false
    @Option(help: ArgumentHelp("Write the QR code into this file, as a PNG picture.", valueName: "file"))
    var picture: String?
    @Option(help: ArgumentHelp("Write the card that is shown into this file.", valueName: "file")) var out: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let session = try Session(home)
        let (keystore, _) = try session.cardOwner()
        let card = try CardFile(file, of: keystore).card
        let lines = BusinessCard.fields(of: card).filter { only.isEmpty || only.contains($0.field) }
        guard only.allSatisfy({ field in lines.contains { $0.field == field } }) else {
            throw CommandFailure(
                .usage, "The card has no such line.",
                "'signet card show \(PrintedValue.printable(file))' lists its lines."
            )
        }
        guard qr || link || picture != nil || out != nil else { return say(lines, nil) }
        let signed = try presented(card, lines.map(\.field), session)
        let shown = link ? ShownCardLink.link(at: session.profile.url, signed) : signed
        if let out { try OutputFile.write(shown + [UInt8(ascii: "\n")], to: out, outside: session.home) }
        if let picture { try QRSymbol.write(shown, as: picture, outside: session.home) }
        say(lines, shown)
    }

    private func presented(
        _ card: HeldCredential, _ fields: [BusinessCard.Field], _ session: Session
    ) throws -> [UInt8] {
        let secrets = try session.secrets()
        let now = Int64(clamping: Surroundings.system.now())
        do {
            return try ShownCard.presented(card, disclosing: Set(fields.map(\.claim)), at: now) { bytes in
                guard let signature = try secrets.signAsIdentity(bytes) else { throw KeystoreError.keysDoNotFit }
                return signature
            }
        } catch let error as KeystoreError { throw CommandFailure(error, path: session.home.keystore.path) }
    }

    private func say(_ lines: [(field: BusinessCard.Field, text: String)], _ shown: [UInt8]?) {
        var page = CardPage.lines(lines)
        if shown != nil { page.append("  Signed for this moment: it is accepted for two minutes.") }
        if link, let shown { page.append("  \(String(decoding: shown, as: UTF8.self))") }
        if qr, let shown { page.append(QRSymbol(shown)?.shownText ?? "  This is too long for a QR code: use --out.") }
        let files = [out, picture].compactMap { $0 }
        let address: PrintedValue = link ? shown.map { .string(String(decoding: $0, as: UTF8.self)) } ?? .null : .null
        output.emit(
            [
                "link": address,
                "card": shown.map { .key(String(decoding: $0, as: UTF8.self)) } ?? .null,
                "fields": CardPage.json(lines), "files": .array(files.map { .string($0) }),
            ], page.joined(separator: "\n"))
    }
}
