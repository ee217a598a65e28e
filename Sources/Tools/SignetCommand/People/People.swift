// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import SignetAPI
import SignetClient

/// `signet people`
struct People: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people", abstract: "The people you know, and which of their devices you accepted.",
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
            let verdict = try await session.run { client throws(ClientError) in
                try await client.addFriend(by: contact, isAccepting: isAccepting, metOn: metOn, by: secrets)
            }
            return try await say(verdict, session, options.output, "\(done), and is who the card says")
        }
        let friendship = try await session.run { client throws(ClientError) in
            isAccepting
                ? try await client.acceptFriend(handle, by: secrets) : try await client.addFriend(handle, by: secrets)
        }
        friendship.request?.warn()
        let verdict: LookupVerdict
        switch await friendship.pinning.value {
        case .success(let found): verdict = found
        case .failure(let error):
            Output.error("\(handle) \(done), but their devices are not pinned yet.")
            throw CommandFailure(error, session: session)
        }
        try await say(verdict, session, options.output, done)
    }

    private static func say(
        _ verdict: LookupVerdict, _ session: Session, _ output: OutputOptions, _ done: String
    ) async throws {
        let comparison = try await session.comparison(with: verdict.handle)
        output.emit(
            JSONValue.object([
                "devices": .number(UInt64(verdict.lookup.state.devices.count)),
                "handle": .string(verdict.handle.description),
                "outcome": .string(verdict.outcome.name),
            ]).adding(comparison.json),
            "\(Paint.output.good("✓")) \(verdict.handle) \(done).")
        try LookupPage(answer: .registered(verdict), comparison, session: session)
            .finish(output, isExplained: false, isBrief: true)
    }

    /// `signet people add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Ask someone to be a friend, and pin their devices.",
            discussion:
                "With their contact card, what the directory shows is checked against it before anything is pinned.")

        @OptionGroup var options: BefriendOptions

        func run() async throws { try await befriend(options, "was asked", isAccepting: false) }
    }

    /// `signet people accept`
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept", abstract: "Accept someone who asked you, and pin their devices.")

        @OptionGroup var options: BefriendOptions

        func run() async throws { try await befriend(options, "is a friend now", isAccepting: true) }
    }

    /// `signet people list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List people, and requests to you.")

        @Flag(help: "Show only what this device remembers; needs no passphrase.") var offline = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        private struct Line {
            var status: FriendStatus?
            var pinned: PinnedPeer?
            var comparison = ComparisonState.none
            var request: Result<MetFriendRequest, ClientError>?
        }

        func run() async throws {
            let session = try Session(home)
            var lines: [String: Line] = [:]
            for person in try await session.stored({ store throws(StoreError) in try await store.people() }) {
                lines[person.handle.description] = Line()
            }
            for peer in try await session.stored({ store throws(StoreError) in try await store.pinnedPeers() }
            )
            where peer.handle != session.keystore?.handle {
                lines[peer.handle.description, default: Line()].pinned = peer
            }
            for comparison in try await session.stored({ store throws(StoreError) in try await store.comparisons() }) {
                let handle = comparison.handle.description
                guard let pinned = lines[handle]?.pinned else { continue }
                lines[handle]?.comparison = ComparisonState(comparison, of: pinned.identityKey)
            }
            if !offline {
                let secrets = try session.secrets()
                let friends = try await session.run { client throws(ClientError) in
                    try await client.friends(of: secrets)
                }
                for (handle, status) in friends { lines[handle.description, default: Line()].status = status }
                let met = try await session.run { client throws(ClientError) in
                    try await client.meetFriends(friends, by: secrets)
                }
                for (handle, result) in met { lines[handle.description, default: Line()].request = result }
            }
            let sorted = lines.sorted { $0.key < $1.key }
            output.emit(
                ["people": .array(sorted.map { Self.json($0.key, $0.value) })],
                sorted.isEmpty
                    ? "No one yet." : sorted.map { Self.text($0.key, $0.value) }.joined(separator: "\n"))
            try Self.finish(sorted.compactMap { $0.value.request }, session)
        }

        /// Says what friends' requests showed; a fork last, and loudest.
        private static func finish(_ requests: [Result<MetFriendRequest, ClientError>], _ session: Session) throws {
            for case .success(let request) in requests { request.warn() }
            for case .failure(.forkMet(let fork)) in requests {
                throw CommandFailure(ClientError.forkMet(fork), session: session)
            }
        }

        private static func json(_ handle: String, _ line: Line) -> JSONValue {
            JSONValue.object([
                "handle": .string(handle), "status": line.status.map { .string($0.rawValue) } ?? .null,
                "pinnedDevices": line.pinned.map { .number(UInt64($0.devices.count)) } ?? .null,
                "pinnedVersion": line.pinned.map { .number($0.version) } ?? .null,
                "request": line.request.map { .string(name($0)) } ?? .null,
            ]).adding(line.comparison.json)
        }

        /// How the checkpoint that came with what a friend signed compares; nil where that was done before.
        private static func name(_ request: Result<MetFriendRequest, ClientError>) -> String {
            switch request {
            case .success(let request): request.name
            case .failure(.forkMet): "fork"
            case .failure(.friendRequest): "not-shown"
            case .failure: "not-compared"
            }
        }

        private static func text(_ handle: String, _ line: Line) -> String {
            let status =
                switch line.status {
                case .requested: "you asked"
                case .invited: Paint.output.warning("asks you") + " (signet people accept \(handle))"
                case .accepted: "friend"
                case nil: "known here"
                }
            let pinned =
                line.pinned.map { "\(Moment.count(UInt64($0.devices.count), "device")) pinned" }
                ?? "nothing pinned"
            let compared = line.pinned == nil ? "" : ", \(line.comparison.brief)"
            let request = line.request.map(name) == "not-shown" ? ", no signed request shown" : ""
            return "  \(Paint.output.strong(handle))  \(status), \(pinned)\(compared)\(request)"
        }
    }

    /// `signet people show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show what you accepted about someone.")

        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let session = try Session(home)
            guard
                let peer = try await session.stored({ store throws(StoreError) in
                    try await store.pinnedPeer(handle)
                })
            else {
                throw CommandFailure(.usage, ClientMisuse.nothingPinned.sentence)
            }
            let comparison = try await session.comparison(with: handle)
            output.emit(json(peer, comparison), text(peer, comparison))
        }

        private func json(_ peer: PinnedPeer, _ comparison: ComparisonState) -> JSONValue {
            JSONValue.object([
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
            if output.advanced { lines.append("  identity  \(JSONValue.printable(Base64.encode(peer.identityKey)))") }
            lines += peer.devices.map {
                "  device \($0.number)"
                    + (output.advanced ? "  \(JSONValue.printable(Base64.encode($0.signingKey)))" : "")
            }
            return lines.joined(separator: "\n")
        }
    }

    /// `signet people trust`
    struct Trust: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trust", abstract: "Look at a change to someone's devices, and accept it.",
            discussion: "Ask the person over another channel first: a new device may be theirs, or someone else's."
        )

        @Argument(help: "Their handle, or your own.") var handle: String
        @Flag(help: "Accept what is shown without asking.") var yes = false
        @Option(
            help: ArgumentHelp(
                "Accept only this exact state, as 'lookup --json --advanced' names it.", valueName: "stateHash"))
        var state: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let session = try Session(home)
            let verdict = try await session.run { client throws(ClientError) in
                try await client.lookup(handle).verdict
            }
            switch verdict.outcome {
            case .changed(let change): try agree(to: change, verdict, try await session.comparison(with: handle))
            case .contradicted(let contradiction): throw CommandFailure(.notProven, contradiction.sentence)
            case .stranger: throw CommandFailure(.usage, ClientMisuse.nothingPinned.sentence)
            case .matched, .firstPinned, .accepted:
                return output.emit(
                    ["handle": .string(handle.description), "outcome": .string(verdict.outcome.name)],
                    ClientMisuse.nothingToAccept.sentence.what)
            }
            let accepted = try await session.run { client throws(ClientError) in
                try await client.trust(handle, accepting: verdict.stateHash)
            }
            output.emit(
                [
                    "handle": .string(handle.description), "outcome": .string(accepted.outcome.name),
                    "stateHash": .base64(accepted.stateHash),
                ],
                "\(Paint.output.good("✓")) You accepted \(handle) as they are now.")
        }

        private func agree(to change: PeerKeyChange, _ verdict: LookupVerdict, _ comparison: ComparisonState) throws {
            if let state {
                guard (try? Base64.decode(Array(state.utf8))) == verdict.stateHash else {
                    throw CommandFailure(.needsDecision, ClientMisuse.changeHasMoved.sentence)
                }
                return
            }
            if !output.json { Output.line("\(verdict.handle): \(change.words).") }
            if change.identityKeyChanged, let before = comparison.comparison {
                Output.error(Paint.error.bad(before.alarm))
            }
            guard try yes || Question.confirm("Accept this?", option: "--yes or --state") else {
                throw CommandFailure(
                    .needsDecision, "Nothing was accepted.", "\(verdict.handle) stays blocked.")
            }
        }
    }
}

extension Session {
    /// Reads the store and says what went wrong.
    func stored<Value>(_ body: (SQLiteStore) async throws(StoreError) -> Value) async throws -> Value {
        do throws(StoreError) { return try await body(client.store) } catch {
            throw CommandFailure(error, path: storePath)
        }
    }
}
