// SPDX-License-Identifier: Apache-2.0

import Foundation
import StrictJSON
import Testing

/// Cards that an issuer made, kept in the home of the person whom they are about.
@Suite struct CarriedCardTests {
    private func cards(_ town: Town, _ home: String = "alice") async throws -> [[String: Any]] {
        let listed = try await town.signet(home, "cards", "list", "--json")
        return try #require(try listed.object()["cards"] as? [[String: Any]])
    }

    @Test func aCardIsAddedListedAndForgotten() async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            #expect(try await town.signet("alice", "cards", "list").output == "You carry no cards.\n")
            try await issuer.give("alice", copies: 3)
            let card = try #require(try await cards(town).first)
            #expect(card["type"] as? String == "urn:signet:member-card:1")
            #expect(card["issuer"] as? String == "localhost")
            #expect(card["unused"] as? Int == 3 && card["number"] as? Int == 1)
            let claims = try #require(card["claims"] as? [String: Any])
            #expect(claims["name"] as? String == "Alice Lee" && claims["member"] as? Bool == true)
            let listed = try await town.signet("alice", "cards", "list").output
            #expect(listed.contains("name: Alice Lee") && listed.contains("3 copies for further sites"))
            try await expect(64, town.signet("alice", "cards", "rm", "1"), "no one was asked")
            try await expect(64, town.signet("alice", "cards", "rm", "7", "--yes"))
            try await expect(0, town.signet("alice", "cards", "rm", "1", "--yes"))
            #expect(try await cards(town).isEmpty)
        }
    }

    @Test func aCardIsReadFromStandardInput() async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            try await expect(0, town.signet("alice", "cards", "request", "alice.keys", "--copies", "1"))
            try issuer.issue("alice.keys", to: "alice.cards")
            let script = "exec \"$0\" cards add - --roots \(issuer.roots) --home alice < alice.cards"
            expect(
                0,
                try await Exit.of(
                    URL(filePath: "/bin/sh"), ["-c", script, Program.signet.file.path()], in: town.folder))
            #expect(try await cards(town).count == 1)
        }
    }

    /// Bob copies alice's card, and the issuer of another town makes one that says what it wants.
    @Test func aCardOfAnotherPersonOrIssuerIsNotAdded() async throws {
        try await Town.with { town in
            let (issuer, other) = (try TestIssuer(in: town), try TestIssuer("other", in: town))
            try await issuer.give("alice", copies: 2)
            let stolen = try await town.signet("bob", "cards", "add", "alice.cards", "--roots", issuer.roots)
            expect(64, stolen)
            #expect(stolen.complaint.contains("another person's"))
            let twice = try await town.signet("alice", "cards", "add", "alice.cards", "--roots", issuer.roots)
            expect(64, twice)
            try await expect(0, town.signet("bob", "cards", "request", "bob.keys", "--copies", "2"))
            try issuer.issue("bob.keys", to: "bob.cards")
            let wrong = try await town.signet("bob", "cards", "add", "bob.cards", "--roots", other.roots)
            expect(1, wrong)
            #expect(wrong.complaint.contains("The issuer that you named did not make this card"))
            try await expect(
                64, town.signet("bob", "cards", "add", "bob.cards"), "the issuer is named by the person alone")
            #expect(try await cards(town, "bob").isEmpty)
        }
    }

    @Test func aCardThatWasChangedOrMixedIsNotAdded_andTheGoodOneIsAddedAfterwards() async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            try await expect(0, town.signet("alice", "cards", "request", "alice.keys", "--copies", "2"))
            try issuer.issue("alice.keys", to: "good.cards")
            try issuer.issue("alice.keys", to: "otherwise.cards", claims: ["member": .bool(false)])
            let good = try town.bytes("good.cards").split(separator: 0x0A).map { Array($0) }
            let otherwise = try town.bytes("otherwise.cards").split(separator: 0x0A).map { Array($0) }
            var changed = good[0]
            let place = try #require(changed.firstIndex(of: UInt8(ascii: "~"))) - 20
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            try town.write(changed, to: "changed.cards")
            try town.write(good[0] + [0x0A] + otherwise[1], to: "mixed.cards")
            try town.write(good[0] + [0x0A] + good[0], to: "twice.cards")
            // Two copies that differ in everything but their entry in the status list.
            let keys = try #require(try JSONObject(decoding: town.bytes("alice.keys").dropLast())["keys"]?.array)
            try town.write((["keys": .array([keys[1]])] as JSONObject).encoded + [0x0A], to: "second.keys")
            try issuer.issue("second.keys", to: "second.cards")
            try town.write(good[0] + [0x0A] + town.bytes("second.cards"), to: "shared.cards")
            try town.write(Array("no card".utf8), to: "no.cards")
            for (file, words) in [
                ("changed.cards", "changed after the issuer signed it"), ("mixed.cards", "different cards"),
                ("twice.cards", "share an entry"), ("shared.cards", "share an entry"),
                ("no.cards", "not a card that can be read"),
            ] {
                let exit = try await town.signet("alice", "cards", "add", file, "--roots", issuer.roots)
                expect(1, exit, file)
                #expect(exit.complaint.contains(words), "\(exit.errors)")
            }
            try issuer.issue("alice.keys", to: "old.cards", days: -2)
            let old = try await town.signet("alice", "cards", "add", "old.cards", "--roots", issuer.roots)
            #expect(old.complaint.contains("has expired"))
            #expect(try await cards(town).isEmpty)
            try await expect(0, town.signet("alice", "cards", "add", "good.cards", "--roots", issuer.roots))
        }
    }

    /// The folder does not reveal what its owner carries.
    @Test func nothingOfACardIsReadableInTheHomeFolder() async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            try await issuer.give("alice", copies: 2)
            let card = try town.bytes("alice.cards").split(separator: 0x0A)[0]
            let parts = ["Alice Lee", "member-card"].map { Array($0.utf8)[...] } + [card[20..<60]]
            for (file, bytes) in try town.contents("alice") {
                for part in parts { #expect(bytes.firstRange(of: part) == nil, "\(file)") }
            }
            let mode = try FileManager.default.attributesOfItem(atPath: town["alice/cards"].path())[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
            try town.write(try town.bytes("alice/cards").map { $0 ^ 1 }, to: "alice/cards")
            let damaged = try await town.signet("alice", "cards", "list")
            expect(64, damaged)
            #expect(damaged.complaint.contains("was changed or belongs to other keys"))
        }
    }

    @Test func keysThatWaitAreLimited_andForgottenOnRequest() async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            for number in 1...4 {
                try await expect(0, town.signet("alice", "cards", "request", "\(number).keys", "--copies", "50"))
            }
            let more = try await town.signet("alice", "cards", "request", "5.keys", "--copies", "1")
            expect(64, more)
            #expect(more.complaint.contains("More than 200 keys") && !town.exists("5.keys"))
            try await expect(64, town.signet("alice", "cards", "request", "5.keys", "--copies", "51"))
            try await expect(0, town.signet("alice", "cards", "rm", "--waiting", "--yes"))
            try issuer.issue("1.keys", to: "late.cards")
            try await expect(64, town.signet("alice", "cards", "add", "late.cards", "--roots", issuer.roots))
            try await issuer.give("alice", copies: 1)
        }
    }
}
