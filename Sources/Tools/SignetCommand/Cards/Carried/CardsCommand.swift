// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import JOSE
import LocalWeb
import Signet
import StrictJSON

/// `signet cards`
struct CardsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "The cards that others issued to you, such as a member card.",
        discussion: """
            A card comes in copies, each bound to a key of its own. Every site sees another copy, so that two sites cannot \
            find out from it that they know one person. The issuer knows all copies.

            Examples:
              signet cards get "openid-credential-offer://?credential_offer=%7B%7D"
              signet cards request keys.json --copies 10
              signet cards add member.cards --roots issuer.pem
              signet cards list
            """,
        subcommands: [Get.self, Request.self, Add.self, List.self, Remove.self])

    /// `1 copy`, `2 copies`.
    static func copies(_ number: UInt64) -> String { number == 1 ? "1 copy" : "\(number) copies" }
}

extension CardsCommand {
    /// `signet cards request`
    struct Request: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "request", abstract: "Make keys for the copies of a card, which the issuer needs.",
            discussion: """
                The file has the public keys as a JSON Web Key Set. Give it to one issuer only: two issuers who get the \
                same keys know that they issue to one person.

                Example: signet cards request keys.json --copies 10
                """)

        @Argument(help: "Where to put the public keys.") var file: String
        @Option(help: "How many copies, 1 to \(CardBook.maximumCopyCount): at so many sites you can show the card.")
        var copies: Int = 10
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...CardBook.maximumCopyCount).contains(copies) else {
                throw ValidationError("--copies is from 1 to \(CardBook.maximumCopyCount).")
            }
        }

        func run() async throws {
            let session = try Session(home)
            try OutputFile.checkRoom(file, outside: session.home)
            let keys = try await session.approved(.carryCards, at: session.home.path) { account, approval in
                try await account.cardKeys(forCopies: copies, approval)
            }
            let set: JSONObject = ["keys": .array(keys.map { .object($0.object) })]
            try OutputFile.write(set.encoded + [UInt8(ascii: "\n")], to: file, outside: session.home)
            output.emit(
                ["copies": .number(UInt64(copies)), "file": .string(file)],
                """
                \(Paint.output.good("✓")) The keys for \(CardsCommand.copies(UInt64(copies))) are in \
                \(Paint.output.strong(PrintedValue.printable(file))).
                  Give the file to the issuer, and add what comes back:  signet cards add FILE
                """)
        }
    }

    /// `signet cards add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a card that an issuer made for you.",
            discussion: """
                The file has one copy of the card on each line (SD-JWT VC). Say whose card you expect: an issuer with a \
                certificate of an authority in the file of --roots, or the holder of the did:key of --issuer.

                Examples:
                  signet cards add member.cards --roots issuer.pem
                  signet cards add member.cards --issuer did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169
                """)

        @Argument(help: "The card: a file, or - for standard input.") var file: String
        @Option(help: ArgumentHelp("Certificates of authorities that certify issuers, PEM.", valueName: "file"))
        var roots: String?
        @Option(help: ArgumentHelp("The issuer's did:key.", valueName: "did")) var issuer: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (roots == nil) != (issuer == nil) else {
                throw ValidationError("Name the issuer, with either --roots or --issuer.")
            }
        }

        func run() async throws {
            let session = try Session(home)
            let source = try named()
            let copies = try CardFile.text(file, maximumByteCount: 4_194_304)
                .split(separator: UInt8(ascii: "\n")).map { Array($0) }
            let card = try await session.approved(.carryCards, at: session.home.path) { account, approval in
                try await account.addCard(copies, from: source, approval)
            }
            output.emit(
                CarriedCardPage.json(card),
                """
                \(Paint.output.good("✓")) Added as card \(card.number), which you can show at \
                \(Moment.count(UInt64(card.unusedCount), "site")).
                \(CarriedCardPage.text(card))
                """)
        }

        private func named() throws -> CardIssuer {
            if let roots { return .certified(by: try CertificateFile.read(roots)) }
            return .did(JSONText(issuer ?? ""))
        }
    }

    /// `signet cards list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List your cards, what they state, and which sites have seen them.",
            discussion: "Example: signet cards list")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let cards = try await session.approved(.carryCards, at: session.home.path) { account, approval in
                try await account.cards(approval)
            }
            output.emit(
                ["cards": .array(cards.map(CarriedCardPage.json))],
                cards.isEmpty ? "You carry no cards." : cards.map(CarriedCardPage.text).joined(separator: "\n"))
        }
    }

    /// `signet cards rm`
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Forget a card, and erase its keys.",
            discussion: """
                With --waiting, forget the keys of 'signet cards request' for which no card has arrived.

                Examples:
                  signet cards rm 1 --yes
                  signet cards rm --waiting
                """)

        @Argument(help: "The number of the card, as 'signet cards list' shows it.") var number: UInt64?
        @Flag(help: "Forget the keys that wait for a card.") var waiting = false
        @Flag(help: "Forget it without asking.") var yes = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (number != nil) != waiting else { throw ValidationError("Name a card, or use --waiting.") }
        }

        func run() async throws {
            let session = try Session(home)
            let what = number.map { "Card \($0)" } ?? "The keys that waited for a card"
            if !yes {
                try Question.demand(
                    "Forget \(number.map { "card \($0)" } ?? "the keys that wait for a card")? There is no other copy.",
                    orElse: "Nothing was forgotten.")
            }
            try await session.approved(.carryCards, at: session.home.path) { account, approval in
                try await account.removeCard(number, approval)
            }
            output.emit(
                ["card": number.map { .number($0) } ?? .null, "outcome": "forgotten"],
                "\(Paint.output.good("✓")) \(what) \(number == nil ? "are" : "is") forgotten.")
        }
    }
}

/// How a carried card is printed for a person, and for programs. The issuer wrote what it states, so it is made safe to print.
enum CarriedCardPage {
    static func text(_ card: IssuedCard) -> String {
        let shown = card.sites.map { "      shown to \($0.words)" }
        return
            ([
                "  \(card.number)  \(line(card.type))",
                "      stated by \(issuer(card))"
                    + (card.expiry.map { ", valid until \(Moment.date(UInt64(clamping: $0)))" } ?? ""),
            ] + claims(card.claims).map { "      \($0)" } + shown
            + ["      \(CardsCommand.copies(UInt64(card.unusedCount))) for further sites"])
            .joined(separator: "\n")
    }

    /// For the app.
    static func words(_ card: IssuedCard) -> CardWords {
        let stated = card.claims.names.map {
            CardWords.Fact(line($0), line(JSONText(utf8: card.claims[$0].map(spelled) ?? []) ?? ""))
        }
        let shown = card.sites.map(\.words).joined(separator: ", ")
        return CardWords(
            line(card.type),
            [CardWords.Fact("Stated by", issuer(card))] + stated
                + (card.expiry.map { [CardWords.Fact("Valid until", Moment.date(UInt64(clamping: $0)))] } ?? [])
                + [
                    CardWords.Fact("Shown to", shown.isEmpty ? "No site yet" : shown),
                    CardWords.Fact("Left", "\(CardsCommand.copies(UInt64(card.unusedCount))) for further sites"),
                ])
    }

    static func json(_ card: IssuedCard) -> PrintedValue {
        [
            "claims": .object(
                Dictionary(card.claims.names.map { ($0.description, value(card.claims[$0])) }) { first, _ in first }),
            "expires": card.expiry.map { .number(UInt64(clamping: $0)) } ?? .null, "issuer": .string(issuer(card)),
            "number": .number(card.number), "sites": .array(card.sites.map { .string($0.words) }),
            "type": .string(card.type.description), "unused": .number(UInt64(card.unusedCount)),
        ]
    }

    /// The issuer's name; a key has none that a person could read.
    static func issuer(_ card: IssuedCard) -> String {
        card.issuer.utf8.starts(with: "did:".utf8) ? "the key that you named" : line(card.issuer)
    }

    /// `member: true`.
    static func claims(_ claims: JSONObject) -> [String] {
        claims.names.map { "\(line($0)): \(line(JSONText(utf8: claims[$0].map(spelled) ?? []) ?? ""))" }
    }

    private static func spelled(_ value: JSONValue) -> [UInt8] { value.string?.utf8 ?? value.encoded }

    private static func value(_ value: JSONValue?) -> PrintedValue {
        switch value {
        case .bool(let value): .bool(value)
        case .some(let value): .string(String(decoding: spelled(value), as: UTF8.self))
        case nil: .null
        }
    }

    static func line(_ text: JSONText) -> String { NoteText.line(text.utf8) }
}
