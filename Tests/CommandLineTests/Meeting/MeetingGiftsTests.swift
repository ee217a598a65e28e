// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What two people give each other who meet, as processes.
@Suite struct MeetingGiftsTests {
    private static let carol = "carol@example.org"

    private func meet(
        _ town: Town, _ first: String, _ firstOptions: [String], _ second: String, _ secondOptions: [String]
    ) async throws -> (host: Exit, guest: Exit) {
        let (host, link) = try await MeetProcess.host(town, first, options: firstOptions)
        let guest = try MeetProcess.guest(town, second, link, options: secondOptions)
        let (hostWords, guestWords) = (try await host.words(), try await guest.words())
        host.type(guestWords)
        guest.type(hostWords)
        let exits = (host: try await host.exit(), guest: try await guest.exit())
        expect(0, exits.host)
        expect(0, exits.guest)
        return exits
    }

    private func register(_ town: Town, _ name: String) async throws {
        try town.prepareHome(name, "\(name)@example.org", withIdentity: true)
        try await town.serving { _ in
            let made = try await town.signet(
                name, "account", "create", "\(name)@example.org", "--directory", "server/directory.signet")
            expect(0, made)
        }
    }

    @Test func aCardChangesHands_withTheChosenLinesAlone() async throws {
        try await Town.with { town in
            let made = try await town.signet(
                "alice", "card", "make", "alice.card", "--name", "Alice \u{1B}[31m", "--email", "alice@home.example",
                "--note", "hidden")
            // A card has no control characters.
            expect(64, made)
            expect(
                0,
                try await town.signet(
                    "alice", "card", "make", "alice.card", "--name", "Alice A.", "--email", "alice@home.example",
                    "--note",
                    "hidden"))
            let (host, guest) = try await meet(
                town, "alice", ["--card", "alice.card", "--only", "name", "--only", "email"], "bob", [])
            #expect(try host.object()["card"] is NSNull)
            let card = try #require(try guest.object()["card"] as? [String: String])
            #expect(card == ["name": "Alice A.", "email": "alice@home.example"])
            let received = try await town.signet("bob", "card", "received")
            expect(0, received)
            #expect(received.output.contains(Town.alice) && received.output.contains("alice@home.example"))
            #expect(!received.output.contains("hidden"))
            let kept = try town.bytes("bob/met-contacts")
            #expect(kept.firstRange(of: Array("alice".utf8)) == nil, "what people gave is sealed")
            let none = try await town.signet("alice", "card", "received")
            #expect(none.output.contains("Nobody has given you a card"))
        }
    }

    @Test func aCardThatSomebodyElseMadeIsNotGiven() async throws {
        try await Town.with { town in
            expect(0, try await town.signet("bob", "card", "make", "bob.card", "--name", "Bob"))
            let refused = try await town.signet("alice", "meet", "--address", "127.0.0.1", "--card", "bob.card")
            expect(65, refused)
            #expect(refused.errors.contains("is not a card that your identity made"))
        }
    }

    @Test func twoPeopleFindOutWhomBothHaveMet_unlessThePersonIsHidden() async throws {
        try await Town.with { town in
            try await register(town, "carol")
            _ = try await meet(town, "carol", [], "alice", [])
            _ = try await meet(town, "bob", [], "carol", [])
            let (host, guest) = try await meet(town, "alice", ["--contacts"], "bob", ["--contacts"])
            #expect(try host.object()["bothKnow"] as? [String] == [Self.carol])
            #expect(try guest.object()["bothKnow"] as? [String] == [Self.carol])
            let hidden = try await meet(town, "bob", ["--contacts"], "alice", ["--contacts", "--hide", Self.carol])
            #expect(try hidden.host.object()["bothKnow"] as? [String] == [])
            #expect(try hidden.guest.object()["bothKnow"] as? [String] == [])
            let alone = try await meet(town, "alice", ["--contacts"], "bob", [])
            #expect(try alone.host.object()["bothKnow"] is NSNull && alone.host.object()["fault"] is NSNull)
            #expect(try alone.guest.object()["bothKnow"] is NSNull)
        }
    }

    /// Somebody else's file, or one of another device: nothing in it is believed, and the meeting stands.
    @Test func aFileOfGiftsThatWasChangedIsNotBelieved_andTheMeetingStands() async throws {
        try await Town.with { town in
            _ = try await meet(town, "alice", [], "bob", [])
            let file = town.folder.appending(path: "alice/met-contacts")
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
            let (host, guest) = try await meet(town, "alice", ["--contacts"], "bob", ["--contacts"])
            #expect(try (host.object()["fault"] as? String)?.contains("met-contacts") == true)
            #expect(try host.object()["compared"] as? Bool == true && guest.object()["compared"] as? Bool == true)
            #expect(try Data(contentsOf: file) == bytes, "nothing was written over it")
            let received = try await town.signet("alice", "card", "received")
            #expect(received.status != 0 && received.errors.contains("met-contacts"))
        }
    }
}
