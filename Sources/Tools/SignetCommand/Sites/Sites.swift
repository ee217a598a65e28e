// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyPinning
import PinnedHTTP
import Signet

/// `signet sites`
struct Sites: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sites", abstract: "The sites that know you, each by a separate identity.",
        discussion: """
            Every site gets keys of its own, chosen by the name that its certificate proves. No site learns anything \
            that another one also has, and none ever sees your account.

            Example: signet sites register shop.example
            """,
        subcommands: [Register.self, SignIn.self, List.self, Forget.self, ReRegister.self, Object.self])
}

/// A site, and whom to believe about it.
struct SiteOptions: ParsableArguments {
    @OptionGroup var anchors: AnchorOptions
    @Option(help: ArgumentHelp("Also require the keys of this pin policy.", valueName: "file")) var pins: String?

    /// Connects, and has the site prove its name.
    func connect(_ place: ServerPlace, in session: Session) async throws -> SiteConnection {
        _ = try session.owner()
        let (anchors, pins) = (try anchors.anchors(), try pins.map { try PinPolicyFile.read($0) })
        do { return try await session.open.site(place.address, trusting: anchors, pins: pins) } catch {
            throw CommandFailure(error, session: session, at: place.address.authority)
        }
    }
}

extension Session {
    /// Does something with the sites that know the person, once they have approved.
    func approved<Value>(
        _ action: PresenceAction, at place: String, _ body: (Account, consuming Approval) async throws -> Value
    ) async throws -> Value {
        try await approved(action) { account, approval in
            do { return try await body(account, approval) } catch let error as SignetError {
                throw CommandFailure(error, session: self, at: place)
            }
        }
    }
}

extension CommandFailure {
    /// What a site, or the list of sites, did not do.
    init(_ error: SignetError, session: Session, at place: String) {
        guard case .sites(let error) = error else {
            self.init(error, session: session)
            return
        }
        self.init(error.family.status, error.sentence(place))
    }
}

extension Sites {
    /// `signet sites register`
    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "register", abstract: "Register at a site, as someone whom no other site knows.",
            discussion: """
                If it is interrupted or offline, run the same command again: it continues with the same keys.

                Example: signet sites register shop.example
                """)

        @Argument(help: ArgumentHelp("The site, such as shop.example.", valueName: "host")) var host: String
        @OptionGroup var site: SiteOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let site = try await site.connect(try ServerPlace(host), in: session)
            let place = site.host.words
            try await session.approved(.register(site.host), at: place) { account, approval in
                try await account.register(at: site, approval)
            }
            output.emit(
                ["outcome": "registered", "site": .string(place)],
                """
                \(Paint.output.good("✓")) \(Paint.output.strong(place)) now knows you, by keys that no other site sees.
                  Sign in with:  signet sites signin \(place)
                """)
        }
    }

    /// `signet sites signin`
    struct SignIn: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "signin", abstract: "Sign in at a site.",
            discussion: """
                With --cards, also ask whether the site wants to see a card, and print the link for 'signet show'.

                Example: signet sites signin shop.example
                """)

        @Argument(help: ArgumentHelp("The site.", valueName: "host")) var host: String
        @Flag(help: "Ask whether the site wants to see a card.") var cards = false
        @OptionGroup var site: SiteOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let site = try await site.connect(try ServerPlace(host), in: session)
            let place = site.host.words
            if cards { return try await askForCards(site, place, session) }
            let due = try await session.approved(.signIn(site.host), at: place) { account, approval in
                try await account.signIn(at: site, approval)?.seconds
            }
            output.emit(
                [
                    "newKeysCountFrom": due.map { .number($0) } ?? .null, "outcome": "signed-in",
                    "site": .string(place),
                ],
                "\(Paint.output.good("✓")) You are signed in at \(Paint.output.strong(place))." + warning(due, place))
        }

        private func askForCards(_ site: SiteConnection, _ place: String, _ session: Session) async throws {
            let link = try await session.approved(.signIn(site.host), at: place) { account, approval in
                do throws(SignetError) { return try await account.cardLink(at: site, approval) } catch {
                    guard case .sites(.noSite(404)) = error else { throw error }
                    throw CommandFailure(
                        .usage, "\(place) asks for no cards.", "Sign in without --cards: signet sites signin \(place)")
                }
            }
            let text = link.map { PrintedValue.printable($0) }
            let asked = text.map { "It asks to see a card:\n  signet show \"\($0)\"" }
            output.emit(
                ["link": text.map { .string($0) } ?? .null, "outcome": "signed-in", "site": .string(place)],
                "\(Paint.output.good("✓")) You are signed in at \(Paint.output.strong(place)). "
                    + (asked ?? "It asks for no card, or has seen it before."))
        }

        private func warning(_ due: UInt64?, _ place: String) -> String {
            guard let due else { return "" }
            return """

                \(Paint.output.bad("!")) Someone asked \(place) for new keys in your name; they are accepted from \
                \(Moment.date(due)) on.
                  If that was not you:  signet sites object \(place)
                """
        }
    }

    /// `signet sites object`
    struct Object: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "object", abstract: "Object to new keys that someone asked a site for in your name.",
            discussion: "Example: signet sites object shop.example")

        @Argument(help: ArgumentHelp("The site.", valueName: "host")) var host: String
        @OptionGroup var site: SiteOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let site = try await site.connect(try ServerPlace(host), in: session)
            let place = site.host.words
            try await session.approved(.objectAt(site.host), at: place) { account, approval in
                try await account.object(at: site, approval)
            }
            output.emit(
                ["outcome": "objected", "site": .string(place)],
                "\(Paint.output.good("✓")) \(place) forgot the other keys. Yours are still accepted.")
        }
    }

    /// `signet sites list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the sites that know you.",
            discussion: "Example: signet sites list")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let sites = try await session.approved(.showSites, at: session.home.path) { account, approval in
                try await account.sites(approval)
            }
            let lines = sites.map { site in
                let since = site.since.map { "since \(Moment.date($0))" } ?? ""
                return "  \(site.host.words)  \(since)" + (site.needsNewKeys ? "  needs new keys" : "")
            }
            output.emit(
                ["sites": .array(sites.map(Self.json))],
                lines.isEmpty ? "No site knows you yet." : lines.joined(separator: "\n"))
        }

        private static func json(_ site: SiteBook.Listing) -> PrintedValue {
            [
                "needsNewKeys": .bool(site.needsNewKeys), "since": site.since.map { .number($0) } ?? .null,
                "site": .string(site.host.words),
            ]
        }
    }

    /// `signet sites forget`
    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget", abstract: "Forget a site, and erase the only keys to what you have there.",
            discussion: "Example: signet sites forget shop.example")

        @Argument(help: ArgumentHelp("The site, as 'signet sites list' shows it.", valueName: "host"))
        var host: String
        @Flag(help: "Forget it without asking.") var yes = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let place = PrintedValue.printable(host)
            guard let host = try? VerifiedHost(stored: Array(host.utf8)) else {
                throw CommandFailure(.usage, "'\(place)' is not a site.", "A site looks like shop.example.")
            }
            if !yes {
                try Question.demand(
                    "Forget \(place)? After that, no one can sign in there as you.", orElse: "Nothing was forgotten.")
            }
            try await session.approved(.forgetSite(host), at: place) { account, approval in
                try await account.forget(host, approval)
            }
            output.emit(
                ["outcome": "forgotten", "site": .string(place)], "\(Paint.output.good("✓")) \(place) is forgotten.")
        }
    }
}
