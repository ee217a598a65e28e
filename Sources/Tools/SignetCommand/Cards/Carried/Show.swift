// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import Foundation
import KeyPinning
import Signet
import StrictJSON

/// `signet show`
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a site what it asks for, from the cards that others issued to you.",
        discussion: """
            The link comes from a page of the site, or from 'signet sites signin HOST --cards'. You see who asks, what for, and \
            what the site would see, and are asked before anything is sent. With --only, you are not asked: name what may \
            be shown, and if the site asks for anything else, nothing is sent.

            If a page of the site asks, you are signed in there as the one whom the site knows. A page on another device shows two \
            digits; a page on this device is opened again with --open.

            Examples:
              signet show "openid4vp://?client_id=x509_san_dns%3Ashop.example" --only member
              signet show "openid4vp://?client_id=x509_san_dns%3Ashop.example" --open
            """)

    @Argument(help: "The link with which the site asks.") var link: String
    @Option(
        help: ArgumentHelp("What may be shown, without being asked. May be repeated.", valueName: "claim"))
    var only: [String] = []
    @Option(help: ArgumentHelp("The two digits that the page with the code shows.", valueName: "digits"))
    var digits: String?
    @Flag(help: "Go back to the browser: open the address of the site in it.") var open = false
    @OptionGroup var site: SiteOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        // A link is good for one try.
        guard digits.map(Self.areDigits) ?? true else {
            throw ValidationError("--digits are the two digits that the page shows, such as 07.")
        }
    }

    private static func areDigits(_ text: String) -> Bool { text.utf8.count == 2 && text.allSatisfy(\.isWholeNumber) }

    func run() async throws {
        let session = try Session(home)
        _ = try session.owner()
        guard !only.isEmpty || isatty(STDIN_FILENO) == 1 else { throw Self.unasked }
        let request = try await fetched(session)
        let place = request.site.host.words
        let (consent, next) = try await session.approved(.showCard(request.site.host), at: place) { account, approval in
            let consent = try await account.consent(to: request, approval)
            try agree(consent)
            let next = try await account.show(consent, digits: try digits(for: consent), approval)
            return (consent, next)
        }
        finish(consent, next, place)
    }

    /// What comes of it, and how the person goes on.
    private func finish(_ consent: CardConsent, _ next: AfterShowing, _ place: String) {
        var lines = [
            "\(Paint.output.good("✓")) \(Paint.output.strong(place)) has seen it, and nothing else of your cards."
        ]
        if consent.signsIn { lines.append("  You are signed in there, as the one whom the site knows.") }
        var address: PrintedValue = .null
        switch next {
        case .finished: break
        case .otherDevice: lines.append("  The page on the other device goes on by itself.")
        case .browser(let text):
            address = .string(text)
            lines.append("  Go on in the browser in which you began: \(PrintedValue.printable(text))")
            if open { Desktop.open(text) }
        }
        output.emit(
            [
                "outcome": "shown", "shown": .array(consent.names.sorted().map { .string($0.description) }),
                "site": .string(place), "browser": address,
            ], lines.joined(separator: "\n"))
    }

    /// The digits that the page on another device shows: a person who does not see them does not look at the page that is to be signed in.
    private func digits(for consent: CardConsent) throws -> String? {
        guard consent.needsDigits, digits == nil else { return digits }
        let unasked = CommandFailure(
            .usage,
            "The page that asks shows two digits, but there is no terminal on which to ask for them. Nothing was sent.",
            "Get a new code from the page, and name its digits with --digits.")
        for _ in 0..<3 {
            let typed = try Question.line(
                "The two digits that the page of \(consent.site.words) shows:", unasked: unasked)
            let entered = typed.filter { $0 != " " }
            if Self.areDigits(entered) { return entered }
        }
        throw CommandFailure(
            .usage, "These are not two digits.", "Nothing was sent. Begin again on the page of the site.")
    }

    private static let unasked = CommandFailure(
        .usage,
        "This command asks before it shows anything, but there is no terminal on which to ask. Nothing was sent.",
        "Name what may be shown with --only.")

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
                    "Nothing was sent. If the site may see it, get a new link from it, and add --only for it.")
            }
            return
        }
        let question = CarriedCardPage.question(consent) + "\nShow this to \(place)?"
        guard try Question.confirm(question, unasked: Self.unasked) else {
            throw CommandFailure(.interrupted, "Nothing was sent.", "")
        }
    }
}

extension CarriedCardPage {
    /// Who asks, why, and what they would see.
    static func question(_ consent: CardConsent) -> String {
        let place = consent.site.words
        var lines = ["\(place) asks to see a card. Its certificate proves the name."]
        if consent.signsIn {
            lines.append(
                "  You would be signed in there, in the browser that shows the \(consent.needsDigits ? "code" : "link")."
            )
            lines.append("  Go on only if you opened that page yourself: otherwise somebody else is signed in as you.")
        }
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
