// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Testing

/// Real sites, each a process with TLS and its own database.
@Suite struct SitesTests {
    /// Two sites combine all that they hold of alice: every header, every byte of every request and answer, every row.
    /// Values that they also hold of bob do not identify her, and are removed. No common value is left, also across a
    /// change of all keys by the recovery keys that the sites have on file.
    @Test func colludingSitesFindNothingEqualBeforeOrAfterARecovery() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop", "bank"], in: town) { sites in
                var held: [String: [[Holdings]]] = [:]
                for home in ["alice", "bob"] {
                    held[home] = try await lives(of: home, at: sites)
                }
                let (alice, bob) = (try #require(held["alice"]), try #require(held["bob"]))
                let everyones = Holdings.linking(bob[0], bob[1])
                let linked = Holdings.linking(alice[0], alice[1]).subtracting(everyones)
                #expect(linked.isEmpty, "both have \(linked.map(Array.init).prefix(5))")
                // The method finds equal values: one site recognizes its own member after the change of keys.
                let known = alice[0][0].runs.intersection(alice[0][1].runs).subtracting(everyones)
                #expect(known.count > 20)
                try await town.expectNoAccountKey(of: "alice", in: alice.flatMap { $0 })
            }
        }
    }

    /// The data that each site holds of a person, before and after they gave all sites new keys.
    private func lives(of home: String, at sites: [RunningSite]) async throws -> [[Holdings]] {
        var held: [[Holdings]] = []
        for site in sites {
            for command in ["register", "signin", "signin"] { try await expect(0, site.signet(home, command)) }
            held.append([try await site.news()])
        }
        for (index, site) in sites.enumerated() {
            for command in ["re-register", "signin"] { try await expect(0, site.signet(home, command)) }
            held[index].append(try await site.news())
        }
        return held
    }

    @Test func signinAtAnUnknownSiteSendsNoSignature() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop", "bank"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                _ = try await sites[1].news()
                let exit = try await sites[1].signet("alice", "signin")
                expect(64, exit)
                #expect(exit.errors.contains("does not know you"))
                let bodies = try await sites[1].news().fields.filter { $0.count == 129 }
                #expect(bodies.isEmpty, "no signature was sent")
            }
        }
    }

    @Test func aSiteWithAnUntrustedCertificateGetsNoRequest() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop", "bank"], in: town) { sites in
                let exit = try await town.signet(
                    "alice", "sites", "register", sites[0].host, "--roots", sites[1].roots)
                expect(1, exit)
                #expect(exit.errors.contains("No authority that you trust has certified"))
                let said = exit.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(said.contains("name that with --roots FILE") && !said.contains("directory file"), "\(said)")
                let seen = try town.bytes("shop.record")
                #expect(seen.isEmpty)
            }
        }
    }

    /// A site is not a directory: what to do names no file that it does not have.
    @Test func aSiteThatDoesNotAnswerIsNotCalledADirectory_andOneWithoutCardsSaysSo() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                let asked = try await town.signet(
                    "alice", "sites", "signin", sites[0].host, "--roots", sites[0].roots, "--cards")
                expect(64, asked)
                #expect(asked.errors.contains("asks for no cards"), "\(asked.errors)")
            }
            let silent = try await town.signet("alice", "sites", "register", "localhost:1")
            #expect(silent.status != 0)
            #expect(silent.errors.contains("Nothing answers at localhost:1") && !silent.errors.contains("directory"))
        }
    }

    @Test func theOldKeyCanObjectToNewKeys() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town, recoveryDelay: 86_400) { sites in
                let shop = sites[0]
                try await expect(0, shop.signet("alice", "register"))
                try await expect(0, Exit.of(URL(filePath: "/bin/cp"), ["-a", "alice", "thief"], in: town.folder))
                let waiting = try await shop.signet("thief", "re-register")
                expect(0, waiting)
                #expect(waiting.output.contains("accepts your new keys from"))
                let warned = try await shop.signet("alice", "signin")
                #expect(warned.output.contains("Someone asked") && warned.output.contains("sites object"))
                try await expect(0, shop.signet("alice", "object"))
                let calm = try await shop.signet("alice", "signin")
                #expect(calm.status == 0 && !calm.output.contains("Someone asked"))
                try await expect(1, shop.signet("alice", "object"))
            }
        }
    }

    @Test func sitesAreListedAndForgotten() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                #expect(try await town.signet("alice", "sites", "list").output == "No site knows you yet.\n")
                try await expect(0, sites[0].signet("alice", "register"))
                try await expect(64, sites[0].signet("alice", "register"))
                #expect(try await town.signet("alice", "sites", "list").output.contains(sites[0].host))
                try await expect(64, town.signet("alice", "sites", "forget", sites[0].host), "no one was asked")
                try await expect(0, town.signet("alice", "sites", "forget", sites[0].host, "--yes"))
                #expect(try await town.signet("alice", "sites", "list").output == "No site knows you yet.\n")
                try await expect(64, sites[0].signet("alice", "signin"))
                let register = try await sites[0].signet("alice", "register", "--json")
                #expect(try register.object()["outcome"] as? String == "registered", "as a new member")
            }
        }
    }

    @Test func membersAreKeptAcrossARestartOfTheSite() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                try await sites[0].stop()
                try await sites[0].start()
                try await expect(0, sites[0].signet("alice", "signin"))
            }
        }
    }

    /// One address opens more silent connections than the site may have files open.
    @Test func aClientThatFillsItsConnectionsDoesNotPreventOthersFromSigningIn() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                try await sites[0].restart(openFiles: 64)
                var idle: [any Channel] = []
                for _ in 0..<150 {
                    idle.append(
                        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                            .bind(to: SocketAddress(ipAddress: "127.0.0.9", port: 0))
                            .connect(host: "127.0.0.1", port: sites[0].port).get())
                }
                try await expect(0, sites[0].signet("alice", "signin"))
                for channel in idle { try? await channel.close() }
            }
        }
    }

    @Test func wrongPassphrasesAreCountedAcrossCommandsAndCauseAWait() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                for _ in 0..<6 {
                    try await expect(
                        65, town.signet("alice", "sites", "list", environment: ["SIGNET_PASSPHRASE": "wrong"]))
                }
                let exit = try await town.signet("alice", "sites", "list")
                expect(65, exit)
                #expect(exit.errors.contains("too many wrong passphrases"))
            }
        }
    }

    /// The folder does not reveal at which sites its owner has an account.
    @Test func noSitesNameIsReadableInTheHomeFolder() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                for (file, bytes) in try town.contents("alice") {
                    #expect(!bytes.contains(Array(sites[0].host.utf8)), "\(file)")
                }
                for file in ["site-keys", "sites"] {
                    let mode = try FileManager.default.attributesOfItem(atPath: town["alice/\(file)"].path())[
                        .posixPermissions]
                    #expect((mode as? NSNumber)?.intValue == 0o600)
                }
            }
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        count >= part.count && (0...(count - part.count)).contains { self[$0..<$0 + part.count].elementsEqual(part) }
    }
}
