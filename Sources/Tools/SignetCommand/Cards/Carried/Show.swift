// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyPinning
import Signet
import StrictJSON

/// `signet show`
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a site what it asks for, from the cards that others issued to you.",
        discussion: """
            'signet sites signin HOST --cards' prints the link of what a site asks for. You see who asks, what for, and \
            what the site would see, and are asked before anything is sent. With --only, you are not asked: name what may \
            be shown, and if the site asks for anything else, nothing is sent.

            Example: signet show "openid4vp://?client_id=x509_san_dns%3Ashop.example" --only member
            """)

    @Argument(help: "The link with which the site asks.") var link: String
    @Option(
        help: ArgumentHelp("What may be shown, without being asked. May be repeated.", valueName: "claim"))
    var only: [String] = []
    @OptionGroup var site: SiteOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let session = try Session(home)
        _ = try session.owner()
        let request = try await fetched(session)
        let place = request.site.host.words
        let consent = try await session.approved(.showCard(request.site.host), at: place) { account, approval in
            let consent = try await account.consent(to: request, approval)
            try agree(consent)
            try await account.show(consent, approval)
            return consent
        }
        output.emit(
            [
                "outcome": "shown", "shown": .array(consent.names.sorted().map { .string($0.description) }),
                "site": .string(place),
            ],
            "\(Paint.output.good("✓")) \(Paint.output.strong(place)) has seen it, and nothing else of your cards.")
    }

    private func fetched(_ session: Session) async throws -> CardRequest {
        let (anchors, pins) = (try site.anchors.anchors(), try site.pins.map { try PinPolicyFile.read($0) })
        do { return try await session.open.cardRequest(Array(link.utf8), trusting: anchors, pins: pins) } catch {
            throw CommandFailure(error, session: session, at: "the site")
        }
    }

    /// The person agrees to what would be shown, or nothing is sent.
    private func agree(_ consent: CardConsent) throws {
        let place = consent.site.words
        let excess = consent.names.filter { !only.contains($0.description) }.sorted()
        guard only.isEmpty else {
            guard excess.isEmpty else {
                throw CommandFailure(
                    .notProven,
                    "\(place) asks for more than you named: \(excess.map(CarriedCardPage.line).joined(separator: ", ")).",
                    "Nothing was sent. If the site may see it, add --only for it.")
            }
            return
        }
        let unasked = CommandFailure(
            .usage,
            "This command asks before it shows anything, but there is no terminal on which to ask. Nothing was sent.",
            "Name what may be shown with --only.")
        let question = CarriedCardPage.question(consent) + "\nShow this to \(place)?"
        guard try Question.confirm(question, unasked: unasked) else {
            throw CommandFailure(.interrupted, "Nothing was sent.", "")
        }
    }
}

extension CarriedCardPage {
    /// Who asks, why, and what they would see.
    static func question(_ consent: CardConsent) -> String {
        let place = consent.site.words
        var lines = ["\(place) asks to see a card. Its certificate proves the name."]
        if let purpose = consent.purpose { lines.append("  It says why: \"\(line(purpose))\"") }
        for part in consent.parts {
            lines.append("  It would see, stated by \(issuer(part.card)):")
            lines += claims(part.shown).map { "    \($0)" }
            let hidden = UInt64(part.card.claims.members.count - part.shown.members.count)
            if hidden > 0 { lines.append("  It would not see \(Moment.count(hidden, "other line")) of the card.") }
            if part.usesCopy {
                lines.append(
                    "  It gets a copy of its own; \(CardsCommand.copies(UInt64(part.card.unusedCount - 1))) would be left."
                )
            }
        }
        return (lines + ["  The site and the issuer together could recognize the card."]).joined(separator: "\n")
    }
}
