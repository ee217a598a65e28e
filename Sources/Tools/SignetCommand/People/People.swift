// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet
import SignetAPI

/// `signet people`
struct People: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people", abstract: "The people you know, and which of their devices you accepted.",
        discussion: "Example: signet people add bob@example.org",
        subcommands: [
            Add.self, Requests.self, Accept.self, Block.self, Verify.self, Card.self, List.self, Show.self, Trust.self,
        ])
}

extension People {
    /// Whom to ask or to agree with.
    struct BefriendOptions: ParsableArguments {
        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var card: CardOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions
    }

    /// Asks or agrees, then waits for the keys that are fetched in the background.
    fileprivate static func befriend(_ options: BefriendOptions, _ done: String, isAccepting: Bool) async throws {
        let handle = try Handle.typed(options.handle)
        let session = try Session(options.home)
        let contact = try options.card.contact(handle, session)
        let secrets = try session.secrets()
        if let contact {
            let metOn = try options.card.day()
            let verdict = try await session.with(secrets) { account in
                try await account.befriend(by: contact, isAccepting: isAccepting, metOn: metOn)
            }
            return try await say(verdict, session, options.output, "\(done), and is who the card says")
        }
        let verdict = try await session.with(secrets) { account in
            try await account.befriend(handle, isAccepting: isAccepting) {
                Output.error("\(handle) \(done), but their devices are not pinned yet.")
            }
        }
        try await say(verdict, session, options.output, done)
    }

    private static func say(
        _ verdict: LookupVerdict, _ session: Session, _ output: OutputOptions, _ done: String
    ) async throws {
        let comparison = try await session.comparison(with: verdict.handle)
        output.emit(
            PrintedValue.object([
                "devices": .number(UInt64(verdict.lookup.state.devices.count)),
                "handle": .string(verdict.handle.description),
                "outcome": .string(verdict.outcome.name),
            ]).adding(comparison.json),
            verdict.outcome.isBlocked
                ? "Nothing was sent to \(verdict.handle)." : "\(Paint.output.good("✓")) \(verdict.handle) \(done).")
        try LookupPage(answer: .registered(verdict), comparison, session: session)
            .finish(output, isExplained: false, isBrief: true)
    }

    /// `signet people add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Ask someone to be a friend, and pin their devices.",
            discussion: """
                With their contact card, what the directory shows is checked against it before anything is pinned.

                Examples:
                  signet people add bob@example.org
                  signet people add bob@example.org --card bob.card
                """)

        @OptionGroup var options: BefriendOptions

        func run() async throws { try await befriend(options, "was asked", isAccepting: false) }
    }

    /// `signet people accept`
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept", abstract: "Accept someone who asked you, and pin their devices.",
            discussion: "Example: signet people accept bob@example.org")

        @OptionGroup var options: BefriendOptions

        func run() async throws { try await befriend(options, "is a friend now", isAccepting: true) }
    }

    /// `signet people show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show what you accepted about someone.",
            discussion: "Example: signet people show bob@example.org")

        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let session = try Session(home)
            let person = try await session.read { home throws(SignetError) in try await home.person(handle) }
            guard let peer = person.pinned else { return try show(met: person) }
            output.emit(json(peer, person.comparison), text(peer, person.comparison))
        }

        /// Somebody who was met, and whom the directory has not shown yet.
        private func show(met person: KnownPerson) throws {
            guard person.comparison.comparison != nil else {
                throw CommandFailure(.usage, ClientMisuse.nothingPinned.sentence)
            }
            output.emit(
                PrintedValue.object(["handle": .string(person.handle.description), "pinnedAt": .null])
                    .adding(person.comparison.json),
                """
                \(Paint.output.strong(person.handle.description))  nothing pinned yet
                  \(person.comparison.words(person.handle))
                  The directory was not asked: 'signet people add \(person.handle)' compares what it shows.
                """)
        }

        private func json(_ peer: PinnedPeer, _ comparison: ComparisonState) -> PrintedValue {
            PrintedValue.object([
                "devices": .array(
                    peer.devices.map {
                        ["key": .base64($0.signingKey), "number": .number(UInt64($0.number))]
                    }),
                "handle": .string(peer.handle.description), "identityKey": .base64(peer.identityKey),
                "pinnedAt": .number(peer.pinnedAt), "stateHash": .base64(peer.stateHash),
                "version": .number(peer.version),
            ]).adding(comparison.json)
        }

        private func text(_ peer: PinnedPeer, _ comparison: ComparisonState) -> String {
            var lines = [
                "\(Paint.output.strong(peer.handle.description))  pinned \(Moment.date(peer.pinnedAt)), version \(peer.version)",
                "  \(comparison.words(peer.handle))",
            ]
            if output.advanced {
                lines.append("  identity  \(PrintedValue.printable(Base64.encode(peer.identityKey)))")
            }
            lines += peer.devices.map {
                "  device \($0.number)"
                    + (output.advanced ? "  \(PrintedValue.printable(Base64.encode($0.signingKey)))" : "")
            }
            return lines.joined(separator: "\n")
        }
    }
}
