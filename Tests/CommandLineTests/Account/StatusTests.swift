// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `signet status`: what a device knows, on one page.
@Suite(.serialized) struct StatusTests {
    static let withoutPassphrase = ["SIGNET_PASSPHRASE": ""]

    @Test func itNeedsNoPassphraseAndNoServer() async throws {
        try await Town.with { town in
            let exit = try await town.signet("alice", "status", environment: Self.withoutPassphrase)
            expect(0, exit)
            #expect(exit.lines.first == Town.alice)
            #expect(exit.output.contains("1, not compared: \(Town.bob)"), "\(exit.output)")
            #expect(exit.output.contains("example.org/signet, "))
            #expect(exit.output.contains("not asked: signet status --requests"))
            #expect(exit.lines.count <= 12, "one page")
            let facts = try await town.signet("alice", "status", "--json", environment: Self.withoutPassphrase).object()
            #expect(facts["notCompared"] as? [String] == [Town.bob] && facts["compared"] as? Int == 0)
            #expect(facts["requests"] is NSNull && facts["identityHere"] as? Bool == true)
            let phone = try await town.signet("phone", "status", "--json", environment: Self.withoutPassphrase).object()
            #expect(phone["identityHere"] as? Bool == false && phone["handle"] as? String == Town.bob)
        }
    }

    @Test func whoWasComparedIsNotNamed_andRequestsAreNamedWhenAskedFor() async throws {
        try await Town.withServer { town, _ in
            let number = try await town.signet("alice", "people", "verify", Town.bob, "--json").object()["number"]
            let digits = try #require(number as? String)
            expect(0, try await town.signet("alice", "people", "verify", Town.bob, "--matches", digits))
            let compared = try await town.signet("alice", "status", "--requests")
            expect(0, compared)
            #expect(compared.output.contains("1, all compared") && compared.output.contains("requests     none"))

            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            expect(
                0,
                try await town.signet(
                    "carol", "account", "create", "carol@example.org", "--directory", town.profile.path()))
            expect(0, try await town.signet("carol", "people", "add", Town.alice))
            let asked = try await town.signet("alice", "status", "--requests")
            #expect(asked.output.contains("carol@example.org: signet people accept HANDLE"), "\(asked.output)")
        }
    }

    @Test func theStatusOfASuspendedAccountSaysSo() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signetd("accounts", "suspend", Town.bob, "--data", "server"))
            let exit = try await town.signet("bob", "status", "--requests")
            expect(1, exit)
            let words = "The directory's operator has suspended this account."
            #expect(exit.lines.first == Town.bob && exit.output.contains("requests     \(words)"), "\(exit.output)")
            #expect(exit.complaint.contains(words), "\(exit.errors)")
        }
    }

    @Test func aFolderWithoutAnAccountIsNamed() async throws {
        try await Town.with { town in
            let exit = try await town.signet("nowhere", "status")
            expect(64, exit)
            #expect(exit.complaint.contains("There is no account in"))
        }
    }
}
