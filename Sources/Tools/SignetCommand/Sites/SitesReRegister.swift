// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import Signet

extension Sites {
    /// `signet sites re-register`
    struct ReRegister: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "re-register",
            abstract: "Give sites new keys, each authorised by the recovery key for that site alone.",
            discussion: """
                After a recovery, this is how the sites learn about your new device, one at a time and without \
                learning about each other. Without a recovery, use it with --all if someone may have copied this \
                device.
                A site may wait before it accepts new keys; run the command again then.

                Example: signet sites re-register shop.example
                """)

        @Argument(help: ArgumentHelp("Sites; without any, those that need new keys.", valueName: "host"))
        var hosts: [String] = []
        @Flag(help: "Every site that knows you.") var all = false
        @OptionGroup var site: SiteOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let places = hosts.isEmpty ? try await listed(session) : hosts
            var results: [(place: String, until: UInt64?)] = []
            for place in places {
                let site = try await site.connect(try ServerPlace(place), in: session)
                let until = try await session.approved(.reRegister(site.host), at: place) { account, approval in
                    try await account.giveNewKeys(to: site, approval)?.seconds
                }
                results.append((site.host.words, until))
            }
            output.emit(
                ["sites": .array(results.map { Self.json($0.place, $0.until) })],
                results.isEmpty
                    ? "No site needs new keys." : results.map { Self.text($0.place, $0.until) }.joined(separator: "\n"))
        }

        private func listed(_ session: Session) async throws -> [String] {
            let sites = try await session.approved(.showSites, at: session.home.path) { account, approval in
                try await account.sites(approval)
            }
            return sites.filter { all || $0.needsNewKeys }.map(\.host.words)
        }

        private static func json(_ place: String, _ until: UInt64?) -> PrintedValue {
            [
                "newKeysCountFrom": until.map { .number($0) } ?? .null,
                "outcome": until == nil ? "new-keys-count" : "new-keys-wait", "site": .string(place),
            ]
        }

        private static func text(_ place: String, _ until: UInt64?) -> String {
            guard let until else { return "\(Paint.output.good("✓")) \(place) has your new keys." }
            return "\(Paint.output.warning("…")) \(place) accepts your new keys from \(Moment.date(until)) on."
        }
    }
}
