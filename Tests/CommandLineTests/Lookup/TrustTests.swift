// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Changes of a friend's devices, or of one's own.
@Suite(.serialized) struct TrustTests {
    @Test func aNewDeviceOfAFriendBlocksUntilItIsAccepted() async throws {
        try await Town.withServer { town, _ in
            let old =
                try await town.signet("alice", "lookup", Town.bob, "--json", "--advanced").object()["stateHash"]
                as? String
            try await town.addDeviceOfBob("tablet")

            let blocked = try await town.signet("alice", "lookup", Town.bob, "--json", "--advanced")
            expect(2, blocked)
            let object = try blocked.object()
            #expect(object["outcome"] as? String == "changed" && object["usable"] as? Bool == false)
            #expect(object["change"] as? String == "device 3 was added" && object["devices"] == nil)
            #expect(blocked.complaint.contains("device 3 was added since you accepted them"))
            let shown = try await town.signet("alice", "lookup", Town.bob)
            #expect(shown.output.contains("✗ blocked: device 3 was added"))

            let unasked = try await town.signet("alice", "people", "trust", Town.bob)
            expect(2, unasked, "without a terminal and without --yes")
            #expect(unasked.errors.contains("--yes or --state"))
            for other in [try #require(old), "", "AAAA", "not base64"] {
                expect(2, try await town.signet("alice", "people", "trust", Town.bob, "--state", other), other)
            }
            expect(2, try await town.signet("alice", "lookup", Town.bob), "still blocked")

            let hash = try #require(object["stateHash"] as? String)
            let accepted = try await town.signet("alice", "people", "trust", Town.bob, "--state", hash, "--json")
            expect(0, accepted)
            #expect(try accepted.keys() == ["handle", "outcome"])
            #expect(try accepted.object()["outcome"] as? String == "accepted")
            let after = try await town.signet("alice", "lookup", Town.bob, "--json")
            expect(0, after)
            #expect((try after.object()["devices"] as? [Any])?.count == 3)
        }
    }

    @Test func aRevokedDeviceIsNamedToTheFriendAndToItself() async throws {
        try await Town.withServer { town, _ in
            let revoked = try await town.signet("bob", "devices", "revoke", "2", "--json")
            expect(0, revoked)
            #expect(try revoked.keys() == ["devices", "rekeyed", "version"])

            let phone = try await town.signet("phone", "account", "show")
            expect(2, phone, "on the revoked device")
            #expect(phone.complaint == "This device was removed from the account.")
            expect(2, try await town.signet("phone", "devices", "list"))
            expect(1, try await town.signet("phone", "people", "list"), "a signed request of a revoked device")

            let friend = try await town.signet("alice", "lookup", Town.bob)
            expect(2, friend)
            #expect(friend.complaint.contains("device 2 was removed"))
            expect(0, try await town.signet("alice", "people", "trust", Town.bob, "--yes"))
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            #expect(try await town.signet("alice", "people", "trust", Town.bob).output.contains("nothing to accept"))
            expect(64, try await town.signet("bob", "devices", "revoke", "2"), "the number is gone")
        }
    }

    @Test func aDeviceWithoutTheIdentityRevokesNoDevice() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("phone", "devices", "revoke", "1")
            expect(64, exit)
            #expect(exit.complaint == "This device does not hold the account's identity.")
            expect(0, try await town.signet("alice", "lookup", Town.bob))
        }
    }

    @Test func aStrangerIsShownAndNotPinned() async throws {
        try await Town.withServer { town, _ in
            let profile = town.profile.path()
            let exit = try await town.signet("visitor", "lookup", Town.bob, "--directory", profile, "--json")
            expect(0, exit)
            #expect(try exit.object()["outcome"] as? String == "stranger")
            for command in [["people", "trust", Town.bob], ["people", "show", Town.bob]] {
                try await Self.expectNothingAccepted(town, command)
            }
        }
    }

    private static func expectNothingAccepted(_ town: Town, _ command: [String]) async throws {
        let exit = try await town.signet(["--home", "phone"] + command.map { $0 == Town.bob ? Town.alice : $0 })
        expect(64, exit, "\(command)")
        #expect(exit.complaint == "You have not accepted anything from this person yet.")
    }

    @Test func aChangedCardOrOneForAnotherAccountAddsNoDevice() async throws {
        try await Town.withServer { town, _ in
            let code = try await town.makeCard("t", Town.bob)
            let add = ["devices", "add", "t.card", "--code", code]
            expect(64, try await town.signet(add + ["--home", "alice"]), "bob's card at alice's")
            expect(2, try await town.signet("bob", "devices", "add", "t.card"), "without a terminal to compare digits")
            let card = try town.bytes("t.card")
            for (index, name) in [(0, "format"), (40, "key"), (card.count - 1, "signature")] {
                var altered = card
                altered[index] ^= 1
                try town.write(altered, to: "altered.card")
                let exit = try await town.signet("bob", "devices", "add", "altered.card", "--code", code)
                #expect([1, 65].contains(exit.status), "\(name): \(exit.errors)")
            }
            try town.write(card.dropLast(), to: "altered.card")
            expect(65, try await town.signet("bob", "devices", "add", "altered.card", "--code", code), "cut short")
            expect(1, try await town.signet("t", "account", "show"), "not added yet")
            let added = try await town.signet(add + ["--home", "bob", "--json"])
            expect(0, added)
            let again = try await town.signet(add + ["--home", "bob", "--json"])
            expect(0, again, "the same card again")
            #expect(again.output == added.output, "the same digits")
            expect(1, try await town.signet("t", "account", "show"), "not confirmed yet")
            let digits = try #require(try added.object()["confirmation"] as? String)
            let wrong = digits == "0000 0000 0000" ? "1" : "0000 0000 0000"
            let refused = try await town.signet("t", "devices", "confirm", "--code", wrong)
            expect(1, refused)
            #expect(refused.complaint.contains("is not the one that your other device has"))
            expect(2, try await town.signet("t", "devices", "confirm"), "without a terminal to type them")
            expect(1, try await town.signet("t", "account", "show"), "still not confirmed")
            expect(0, try await town.signet("t", "devices", "confirm", "--code", digits))
            expect(0, try await town.signet("t", "account", "show"))
            expect(64, try await town.signet("t", "devices", "confirm", "--code", digits), "once")
        }
    }

    /// The attacker who carries the card replaces it with a valid one of their own device.
    @Test func anotherDevicesCardIsNotAddedWithThisCardsDigits() async throws {
        try await Town.withServer { town, _ in
            let code = try await town.makeCard("mine", Town.bob)
            let theirs = try await town.makeCard("theirs", Town.bob)
            #expect(code != theirs)
            let exit = try await town.signet("bob", "devices", "add", "theirs.card", "--code", code)
            expect(1, exit)
            #expect(exit.complaint == "This card is not the one that your new device made.")
            expect(1, try await town.signet("theirs", "account", "show"))
            expect(0, try await town.signet("bob", "devices", "add", "mine.card", "--code", code))
        }
    }

    @Test func manyProcessesLookUpAtOnceOnOneHome() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            expect(0, try await town.signet("alice", "people", "trust", Town.bob, "--yes"))
            try await town.addDeviceOfBob("tablet")
            let statuses = try await withThrowingTaskGroup(of: Exit.self) { group in
                for _ in 0..<4 { group.addTask { try await town.signet("alice", "lookup", Town.alice) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for exit in statuses { expect(0, exit, "one of four at once") }
        }
    }
}
