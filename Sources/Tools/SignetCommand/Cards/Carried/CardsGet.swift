// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Issuance
import KeyPinning
import Signet
import StrictJSON

extension CardsCommand {
    /// `signet cards get`
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get", abstract: "Get a card that an issuer offers you.",
            discussion: """
                You see who offers the card and what it is, and are asked before anything is sent. If the issuer told you a \
                code, it is asked for too. If the command is interrupted, run it again with the same link: it continues with \
                the same keys.

                Example: signet cards get "openid-credential-offer://?credential_offer=%7B%7D" --copies 10
                """)

        @Argument(help: "The link with which the issuer offers the card.") var link: String
        @Option(help: ArgumentHelp("The code that the issuer told you.", valueName: "code")) var code: String?
        @Option(help: "How many copies, 1 to \(CardBook.maximumCopyCount): at so many sites you can show the card.")
        var copies: Int = 10
        @Flag(help: "Get it without asking.") var yes = false
        @OptionGroup var issuer: SiteOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...CardBook.maximumCopyCount).contains(copies) else {
                throw ValidationError("--copies is from 1 to \(CardBook.maximumCopyCount).")
            }
        }

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            let anchors = try issuer.anchors.anchors()
            let offer: CardOffer
            do {
                offer = try await session.open.cardOffer(
                    Array(link.utf8), trusting: anchors, pins: try issuer.pins.map { try PinPolicyFile.read($0) })
            } catch let error as SignetError { throw CommandFailure(error, session: session, at: "the issuer") }
            let place = offer.host.words
            if !yes {
                try Question.demand(
                    CarriedCardPage.question(offer, copies: copies) + "\nGet this card from \(place)?",
                    orElse: "Nothing was sent.")
            }
            let code = try enteredCode(for: offer)
            let card = try await session.approved(.carryCards, at: place) { account, approval in
                try await account.getCard(
                    offer, transactionCode: code, copies: copies, trusting: anchors, approval)
            }
            output.emit(
                CarriedCardPage.json(card),
                """
                \(Paint.output.good("✓")) Got from \(Paint.output.strong(place)) as card \(card.number), which you can show at \
                \(Moment.count(UInt64(card.unusedCount), "site")).
                \(CarriedCardPage.text(card))
                """)
        }

        /// The code in the form that the offer describes; asked for if it was not given.
        private func enteredCode(for offer: CardOffer) throws -> String? {
            guard let form = offer.transactionCode else {
                guard code == nil else {
                    throw CommandFailure(
                        .usage, "This offer asks for no code.",
                        "Nothing was sent. Leave --code out if you trust the link.")
                }
                return nil
            }
            let unasked = CommandFailure(
                .usage, "\(offer.host.words) told you a code, which this offer asks for. Nothing was sent.",
                "Add it with --code.")
            let entered = try code ?? Question.line("The code that \(offer.host.words) told you:", unasked: unasked)
            guard form.accepts(entered) else {
                throw CommandFailure(
                    .usage, "The code has \(form.length) \(form.isNumeric ? "digits" : "characters").",
                    "Nothing was sent. Check it, and try again.")
            }
            return entered
        }
    }
}

extension CarriedCardPage {
    /// Who offers, and what.
    static func question(_ offer: CardOffer, copies: Int) -> String {
        let count = UInt64(min(copies, offer.maximumCopyCount))
        return [
            "\(offer.host.words) offers you a card. Its certificate proves the name.",
            "  Type: \(line(offer.type))",
            "  You would get \(CardsCommand.copies(count)), each with a key of its own, for \(Moment.count(count, "site")).",
            "  The issuer knows all copies, and can recognize them together with the sites.",
        ].joined(separator: "\n")
    }
}
