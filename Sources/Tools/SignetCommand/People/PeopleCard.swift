// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Platform
import QRCode
import Signet
import SignetAPI

/// A person's contact card, and the day on which they gave it.
struct CardOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Their contact card, as they gave it to you.", valueName: "file")) var card: String?
    @Option(help: ArgumentHelp("A picture (PNG) of their contact card's code.", valueName: "file")) var scan: String?
    @Option(
        help: ArgumentHelp("The day on which you met and they gave it to you: 2026-11-22, or today.", valueName: "day"))
    var met: Day?

    func validate() throws {
        guard card == nil || scan == nil else { throw ValidationError("Give --card or --scan, not both.") }
        guard met == nil || card != nil || scan != nil else {
            throw ValidationError("--met needs --card or --scan.")
        }
    }

    func day() throws -> UInt64? { try met?.past() }

    /// The card, if there is one; it is this person's.
    func contact(_ handle: Handle, _ session: Session) throws -> ContactCard? {
        let bytes: [UInt8]
        switch (card, scan) {
        case (let card?, _): bytes = try InputFile.read(card, maximumByteCount: ContactCard.maximumByteCount)
        case (nil, let scan?): bytes = try ScannedPicture.read(scan)
        case (nil, nil): return nil
        }
        let contact: ContactCard
        do { contact = try ContactCard(decoding: bytes, policy: session.profile.trust.policy) } catch {
            throw CommandFailure(.badFile, error.sentence)
        }
        guard contact.handle == handle else {
            throw CommandFailure(.notProven, ContactCardMismatch.anotherPerson(contact.handle).sentence)
        }
        return contact
    }
}

extension People {
    /// `signet people card`
    struct Card: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "card",
            abstract: "Make your contact card: people who add you with it need not trust the directory for your keys.",
            discussion: """
                It contains your handle, your identity key and your newest view of the log, signed; nothing secret. \
                Hand it over in person, or show its code. The other person then runs: signet people add YOUR-HANDLE \
                --card FILE, or --scan PICTURE.

                Example: signet people card --picture alice.png
                """)

        @Option(help: ArgumentHelp("Write the card into this file.", valueName: "file")) var out: String?
        @Option(help: ArgumentHelp("Write its code as a picture (PNG) into this file.", valueName: "file"))
        var picture: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let secrets = try session.secrets()
            let card = try await session.with(secrets) { try await $0.contactCard() }
            if let out {
                let policy = session.profile.trust.policy
                try OutputFile.write(card.encoded, to: out, outside: session.home) {
                    (try? ContactCard(decoding: $0, policy: policy))?.handle == card.handle
                }
            }
            if let picture { try QRSymbol.write(card.encoded, as: picture, outside: session.home) }
            let places = [out, picture].compactMap { $0 }
            output.emit(
                [
                    "card": .key(String(decoding: card.encoded, as: UTF8.self)),
                    "files": .array(places.map { .string($0) }), "handle": .string(card.handle.description),
                    "version": .number(card.version),
                ],
                places.isEmpty
                    ? Self.drawn(card)
                    : "\(Paint.output.good("✓")) Your contact card is in \(places.joined(separator: " and ")); there is no secret in it."
            )
        }

        private static func drawn(_ card: ContactCard) -> String {
            QRSymbol(card.encoded)?.shownText ?? ""
        }
    }
}

extension QRSymbol {
    /// On a terminal in colours that a camera reads, in a file without any. A terminal that is too narrow gets what to do about it, since a
    /// code whose lines are broken cannot be read.
    var shownText: String {
        guard isatty(STDOUT_FILENO) == 1 else { return text }
        let width = side + 8
        if let columns = columnCount(of: STDOUT_FILENO), width > columns {
            return
                "  The code is \(width) columns wide, and this window has \(columns). Make the window wider or its letters "
                + "smaller, or write the code into a picture: --picture FILE"
        }
        return terminalText
    }
}
