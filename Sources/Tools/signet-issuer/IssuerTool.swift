// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Issuance
import IssuerServer
import SignetAPI
import StrictJSON

/// `signet-issuer`
@main
struct IssuerTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet-issuer",
        abstract: "An example of an issuer of member cards.",
        discussion: """
            It offers a card to a member, who gets it with 'signet cards get LINK', and can withdraw it later. Make a \
            certificate with the tools of your choice.

            Examples:
              signet-issuer init --database issuer.db --host club.example
              signet-issuer run --database issuer.db --certificate club.pem --key club.key --port 443
              signet-issuer offer --database issuer.db --member "Ming Lee"
              signet-issuer list --database issuer.db
              signet-issuer withdraw 1 --database issuer.db
            """,
        version: Release.version, subcommands: [Init.self, Run.self, Offer.self, List.self, Withdraw.self])
}

/// The database of the issuer.
struct DatabaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The issuer's database.", valueName: "file")) var database: String

    /// Opens it.
    func open() throws -> IssuerDatabase {
        try Self.explained(database) { () throws(IssuerStoreError) in try IssuerDatabase(path: database) }
    }

    /// Runs a step, and says in a sentence why it failed.
    static func explained<Value>(
        _ path: String, _ body: () throws(IssuerStoreError) -> Value
    ) throws -> Value {
        // Whose cards were made, and for which keys, is the issuer's alone.
        umask(0o077)
        do throws(IssuerStoreError) { return try body() } catch {
            throw ValidationError(sentence(error, path))
        }
    }

    private static func sentence(_ error: IssuerStoreError, _ path: String) -> String {
        switch error {
        case .missing: "--database \(path): there is no such file; make it with 'signet-issuer init'"
        case .exists: "--database \(path): the file is there already"
        case .damaged: "--database \(path): not an issuer's database, or one of a newer version"
        case .unknown: "no offer has this number; 'signet-issuer list' shows all"
        case .full: "the status list has no room for more cards: make another issuer"
        case .unavailable: "--database \(path): it cannot be read or written now; is the disk full?"
        }
    }
}

extension IssuerTool {
    /// `signet-issuer init`
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make the database of a new issuer.")

        @OptionGroup var options: DatabaseOptions
        @Option(help: ArgumentHelp("The issuer's name, as in its certificate.", valueName: "host")) var host: String
        @Option(help: ArgumentHelp("The TCP port, which is part of the issuer's name.", valueName: "port"))
        var port: UInt16 = 443

        func run() throws {
            let name: IssuerName
            do throws(IssuanceFault) {
                name = try IssuerName(JSONText("https://\(host)" + (port == 443 ? "" : ":\(port)")))
                guard port > 0 else { throw .issuer }
            } catch {
                throw ValidationError("--host and --port: a name in lower case, such as club.example, and not port 0")
            }
            try DatabaseOptions.explained(options.database) { () throws(IssuerStoreError) in
                try IssuerDatabase.make(at: options.database, for: name)
            }
            print("made \(options.database) for \(name.text)")
        }
    }

    /// `signet-issuer offer`
    struct Offer: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Offer a member card to one person.",
            discussion: """
                Prints a link, which is good for one card, and a code. Send the link, and tell the person the code in \
                another way, for example by phone: whoever has both gets the card.
                """)

        @OptionGroup var options: DatabaseOptions
        @Option(help: ArgumentHelp("The member's name, as the card will state it.", valueName: "name")) var member:
            String
        @Option(help: ArgumentHelp("For how long the offer can be used.", valueName: "hours")) var hours: Int64 = 24
        @Option(help: ArgumentHelp("For how long the card will be valid.", valueName: "days")) var days: Int64 = 365
        @Flag(help: "Ask for no code: the link alone is good for the card.") var noCode = false

        func validate() throws {
            guard (1...200).contains(member.utf8.count),
                !member.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else { throw ValidationError("--member: a name of at most 200 bytes, without control characters.") }
            guard (0...720).contains(hours) else { throw ValidationError("--hours is from 0 to 720.") }
            guard (1...3650).contains(days) else { throw ValidationError("--days is from 1 to 3650.") }
        }

        func run() throws {
            let database = try options.open()
            let now = Int64(max(0, time(nil)))
            let (offer, code) = try made(by: database.issuer)
            let record = OfferRecord(
                code: offer.code, transactionCode: code.map { JSONText($0) }, expiry: now + hours * 3600)
            let number = try DatabaseOptions.explained(options.database) { () throws(IssuerStoreError) in
                try database.add(record, member: member, cardExpiry: now + days * 86_400)
            }
            print("offer \(number)")
            print("link  \(String(decoding: offer.link, as: UTF8.self))")
            if let code { print("code  \(code)") }
        }

        private func made(by issuer: IssuerName) throws -> (offer: CredentialOffer, code: String?) {
            var generator = SystemRandomNumberGenerator()
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
            let secret = String((0..<32).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
            let digits =
                noCode ? nil : String((0..<6).map { _ in Character("\(Int.random(in: 0...9, using: &generator))") })
            let form = try digits.map { try CredentialOffer.TransactionCode(length: $0.utf8.count) }
            let offer = try CredentialOffer(
                of: IssuerService.configuration, by: issuer, code: JSONText(secret), transactionCode: form)
            return (offer, digits)
        }
    }

    /// `signet-issuer list`
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the offers, and the cards that were made of them.")

        @OptionGroup var options: DatabaseOptions

        func run() throws {
            let database = try options.open()
            let now = Int64(max(0, time(nil)))
            let listings = try DatabaseOptions.explained(options.database) { () throws(IssuerStoreError) in
                try database.listings()
            }
            for line in listings { print("\(line.number)\t\(Self.state(of: line, at: now))\t\(line.member)") }
        }

        private static func state(of line: IssuerDatabase.Listing, at now: Int64) -> String {
            if line.isWithdrawn { return "withdrawn" }
            if line.copyCount > 0 { return "\(line.copyCount) copies" }
            if line.isLocked { return "locked" }
            return now < line.expiry ? "open" : "expired"
        }
    }

    /// `signet-issuer withdraw`
    struct Withdraw: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Withdraw a card, or an offer that nobody has used.",
            discussion: "Sites refuse the card once they have fetched the next status list.")

        @Argument(help: "The number of the offer, as 'signet-issuer list' shows it.") var number: Int64
        @OptionGroup var options: DatabaseOptions

        func run() throws {
            let database = try options.open()
            let (member, count) = try DatabaseOptions.explained(options.database) { () throws(IssuerStoreError) in
                try database.withdraw(number)
            }
            print("withdrawn: \(count) copies of \(member)")
        }
    }
}
