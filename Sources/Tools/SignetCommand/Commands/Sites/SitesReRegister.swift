import ArgumentParser
import DeviceIdentity
import SignetClient
import SitesClient

extension Sites {
    /// `signet sites re-register`
    struct ReRegister: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give sites new keys, each in the name of the recovery key that it alone has.",
            discussion: """
                After a recovery this is how the sites learn of your new device, one at a time and without learning \
                of each other. Without a recovery, use it with --all when somebody may have copied this device.
                A site may wait before new keys count; give the command again then.
                """)

        @Argument(help: ArgumentHelp("Sites; without any, those that need new keys.", valueName: "host"))
        var hosts: [String] = []
        @Flag(help: "Every site that knows you.") var all = false
        @OptionGroup var site: SiteOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try SiteSession(home)
            let places = hosts.isEmpty ? try await listed(session) : hosts
            var results: [(place: String, until: UInt64?)] = []
            for place in places {
                let site = try await site.connect(try ServerPlace(place), in: session)
                let until = try await session.run(.reRegister(site.host), at: place) { book, grant throws(SitesError) in
                    try await book.giveNewKeys(to: site, grant)
                }
                results.append((site.host.words, until))
            }
            output.emit(
                ["sites": .array(results.map { Self.json($0.place, $0.until) })],
                results.isEmpty
                    ? "No site needs new keys." : results.map { Self.text($0.place, $0.until) }.joined(separator: "\n"))
            guard !results.isEmpty else { return }
            await GuardedThings.follow(home, knowing: session.presence.passphrase)
        }

        private func listed(_ session: SiteSession) async throws -> [String] {
            let sites = try await session.run(.showSites, at: session.home.path) { book, grant throws(SitesError) in
                try await book.sites(grant)
            }
            return sites.filter { all || $0.needsNewKeys }.map(\.host.words)
        }

        private static func json(_ place: String, _ until: UInt64?) -> JSONValue {
            [
                "newKeysCountFrom": until.map { .number($0) } ?? .null,
                "outcome": until == nil ? "new-keys-count" : "new-keys-wait", "site": .string(place),
            ]
        }

        private static func text(_ place: String, _ until: UInt64?) -> String {
            guard let until else { return "\(Paint.output.good("✓")) \(place) has your new keys." }
            return "\(Paint.output.warning("…")) \(place) lets your new keys count from \(Moment.date(until)) on."
        }
    }
}
