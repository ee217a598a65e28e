// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Two people who verify each other, as processes.
@Suite struct PeopleTests {
    private static var canScan: Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/zbarimg") }
    }

    /// The last two groups of each half.
    private static func lastGroups(_ number: String) -> String {
        let groups = number.split(separator: " ")
        return (groups[4..<6] + groups[10..<12]).joined(separator: " ")
    }

    private static func number(_ town: Town, _ home: String, _ peer: String) async throws -> String {
        let exit = try await town.signet(home, "people", "verify", peer, "--json")
        expect(0, exit)
        #expect(try exit.object()["compared"] as? Bool == false)
        return try #require(try exit.object()["number"] as? String)
    }

    @Test func twoPeopleCompareSixtyDigits() async throws {
        try await Town.withServer { town, _ in
            let number = try await Self.number(town, "alice", Town.bob)
            #expect(try await Self.number(town, "bob", Town.alice) == number, "both see one number")
            #expect(number.split(separator: " ").map(\.count) == Array(repeating: 5, count: 12))
            let page = try await town.signet("alice", "people", "verify", Town.bob)
            #expect(page.output.contains("\u{2588}") && page.output.contains("have not compared keys"))

            for slip in ["1", String(number.dropLast()), "\(Self.lastGroups(number).dropLast())O"] {
                let cut = try await town.signet("alice", "people", "verify", Town.bob, "--matches", slip)
                expect(64, cut, "a typing error is no alarm")
                #expect(cut.complaint.hasSuffix("nothing was compared."))
            }
            let other = Self.lastGroups(number).map { $0 == "0" ? "1" : $0 == " " ? " " : "0" }.joined()
            let wrong = try await town.signet("alice", "people", "verify", Town.bob, "--matches", other)
            expect(1, wrong)
            #expect(wrong.complaint.hasPrefix("ALARM: these are not the digits"))
            #expect(try await town.signet("alice", "people", "list").output.contains("not compared"))

            let right = try await town.signet(
                "alice", "people", "verify", Town.bob, "--matches", Self.lastGroups(number), "--met", "2026-11-20",
                "--json")
            expect(0, right)
            #expect(try right.keys() == ["compared", "comparedBy", "handle", "metOn", "number"])
            #expect(try right.object()["metOn"] as? String == "2026-11-20")
            let lookup = try await town.signet("alice", "lookup", Town.bob, "--json").object()
            #expect(lookup["compared"] as? Bool == true && lookup["firstContact"] as? Bool == false)
            #expect((lookup["outsideWitnesses"] as? [Any])?.isEmpty == true)
            let verdict = try await town.signet("alice", "lookup", Town.bob)
            #expect(verdict.lines.count == 5, "what matters: \(verdict.output)")
            #expect(
                verdict.output.contains("met on 2026-11-20") && verdict.output.contains("no one outside the directory"))
            #expect(try await town.signet("alice", "people", "list").output.contains("compared in person"))
            expect(
                64,
                try await town.signet("alice", "people", "verify", Town.bob, "--matches", number, "--met", "2999-01-01")
            )
            expect(64, try await town.signet("alice", "people", "verify", Town.alice), "oneself")
            expect(4, try await town.signet("alice", "people", "verify", "nobody@example.org"))
        }
    }

    @Test(.enabled(if: canScan, "no zbarimg here")) func theCodeIsScannedFromAPicture() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "people", "verify", Town.bob, "--picture", "screen.png"))
            let scanned = try await town.signet("bob", "people", "verify", Town.alice, "--scan", "screen.png", "--json")
            expect(0, scanned)
            #expect(try scanned.object()["comparedBy"] as? String == "code")
            let own = try await town.signet("alice", "people", "verify", Town.bob, "--scan", "screen.png")
            expect(1, own, "one's own screen")
            #expect(own.complaint == "This is the code of alice@example.org.")
            // A contact card from a screen at first contact.
            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            expect(
                0,
                try await town.signet(
                    "carol", "account", "create", "carol@example.org", "--directory", town.profile.path()))
            expect(0, try await town.signet("carol", "people", "card", "--picture", "card.png"))
            let card = ["people", "add", "carol@example.org", "--scan", "card.png", "--json"]
            #expect(try await town.signet(card + ["--home", "alice"]).object()["comparedBy"] as? String == "card")
            try town.write(Array("not a picture".utf8), to: "none.png")
            expect(65, try await town.signet("bob", "people", "verify", Town.alice, "--scan", "none.png"))
            let without = try await town.signet(
                "bob", "people", "verify", Town.alice, "--scan", "screen.png", environment: ["PATH": "/nonexistent"])
            expect(3, without)
            #expect(without.errors.contains("zbar-tools"))
        }
    }

    /// The directory does nothing wrong by having no request.
    @Test func whoAcceptsSomebodyWhoDidNotAskIsToldSo() async throws {
        try await Town.withServer { town, _ in
            let create = ["account", "create", "carol@example.org", "--directory", "server/directory.signet"]
            expect(0, try await town.signet(create + ["--home", "carol"]))
            for person in ["carol@example.org", "nobody@example.org"] {
                let exit = try await town.signet("alice", "people", "accept", person)
                expect(64, exit)
                #expect(exit.complaint == "\(person) has not asked you, so there is nothing to accept.")
            }
            // One's own request is nothing to accept either.
            expect(0, try await town.signet("alice", "people", "add", "carol@example.org"))
            expect(64, try await town.signet("alice", "people", "accept", "carol@example.org"))
            expect(0, try await town.signet("carol", "people", "accept", Town.alice))
        }
    }

    @Test func noCommandOverwritesAForeignFileOrWritesBesideTheKeys() async throws {
        try await Town.withServer { town, _ in
            let keystore = try town.bytes("alice/keystore")
            try town.write(Array("mine".utf8), to: "mine")
            for (option, command) in [
                ("--out", ["people", "card"]), ("--picture", ["people", "card"]),
                ("--picture", ["people", "verify", Town.bob]),
            ] {
                for place in ["alice/keystore", "alice/new", "alice/../alice/new"] {
                    let exit = try await town.signet(command + [option, place, "--home", "alice"])
                    expect(64, exit)
                    #expect(exit.complaint.hasPrefix("\(place) would be beside your keys"))
                }
                expect(65, try await town.signet(command + [option, "mine", "--home", "alice"]))
            }
            for place in ["alice", "alice/evidence", "alice/evidence/", "alice//evidence/..//evidence/"] {
                expect(64, try await town.signet("alice", "lookup", Town.bob, "--save-proof", place))
                expect(64, try await town.signet("alice", "evidence", "export", place))
                expect(64, try await town.signet("alice", "notes", "export", place, "--markdown", "--yes"))
            }
            for _ in 0..<2 { expect(0, try await town.signet("alice", "lookup", Town.bob, "--save-proof", "proof")) }
            for name in ["policy", "account.tlog-proof", "account.entry"] {
                let (kept, others) = (try town.bytes("proof/\(name)"), Array("mine".utf8))
                try town.write(others, to: "proof/\(name)")
                expect(65, try await town.signet("alice", "lookup", Town.bob, "--save-proof", "proof"))
                #expect(try town.bytes("proof/\(name)") == others)
                try town.write(kept, to: "proof/\(name)")
            }
            let drawing = ["call", "simulate", "--participants", "2", "--rotations", "1", "--svg"]
            expect(65, try await town.signet(drawing + ["mine"]))
            for _ in 0..<2 { expect(0, try await town.signet(drawing + ["drawing"])) }
            #expect(try town.bytes("alice/keystore") == keystore)
            #expect(try town.bytes("mine") == Array("mine".utf8))
            #expect(!FileManager.default.fileExists(atPath: town["alice/new"].path()))
            #expect(!FileManager.default.fileExists(atPath: town["alice/evidence"].path()))
            // A command may overwrite its own output.
            for _ in 0..<2 { expect(0, try await town.signet("alice", "people", "card", "--out", "card")) }
            let alone = try await town.signet("alice", "people", "verify", Town.bob, "--met", "today")
            expect(64, alone)
            #expect(alone.complaint.hasPrefix("Nothing was compared"))
        }
    }

    /// Another person's card or objection is not overwritten, although it has the same kind.
    @Test func noCommandOverwritesAnotherPersonsFileOfTheSameKind() async throws {
        try await Town.withServer { town, _ in
            let join = { (home: String, handle: String) in
                try await town.signet(
                    home, "account", "join", handle, "--directory", town.profile.path(), "--card", "device.card")
            }
            let commands: [(String, () async throws -> Exit, () async throws -> Exit)] = [
                (
                    "card", { try await town.signet("bob", "people", "card", "--out", "card") },
                    { try await town.signet("alice", "people", "card", "--out", "card") }
                ),
                (
                    "objection", { try await town.signet("bob", "recover", "stop", "--out", "objection") },
                    { try await town.signet("alice", "recover", "stop", "--out", "objection") }
                ),
                (
                    "device.card", { try await join("bobs-tablet", Town.bob) },
                    { try await join("alices-tablet", Town.alice) }
                ),
            ]
            for (path, theirs, mine) in commands {
                for _ in 0..<2 { expect(0, try await theirs(), "\(path): their own they may write again") }
                let before = try town.bytes(path)
                let exit = try await mine()
                expect(65, exit, path)
                #expect(exit.complaint == "\(path) already exists.")
                #expect(try town.bytes(path) == before)
            }
            #expect(!town.exists("alices-tablet/keystore"), "no keys without their card")
        }
    }

    /// Neither command needs a home, and neither writes beside the keys of one.
    @Test func aServersOrAuditorsKeyIsNotWrittenBesideTheAccountsKeys() async throws {
        try await Town.with { town in
            let before = try town.contents("alice")
            for command in [["pins", "backup", "api.example.org"], ["audit", "key", "auditor.example/map"]] {
                let named = try await town.signet(command + ["--out", "alice/new", "--home", "alice"])
                let standard = try await Program.signet.run(
                    command + ["--out", "alice/new"], in: town.folder, environment: ["SIGNET_HOME": "alice"])
                for exit in [named, standard] {
                    expect(64, exit, "\(command)")
                    #expect(exit.complaint.contains("would be beside your keys"))
                }
            }
            #expect(try town.contents("alice") == before)
            for name in ["one.csr", "two.memory"] { try town.write(Array("mine".utf8), to: name) }
            expect(65, try await town.signet(["pins", "backup", "api.example.org", "--out", "one"]))
            expect(65, try await town.signet(["audit", "key", "auditor.example/map", "--out", "two"]))
            #expect(!town.exists("one.key") && !town.exists("two"), "neither of two files is written alone")
            #expect(try town.bytes("one.csr") == Array("mine".utf8))
        }
    }

    @Test func aContactCardIsCheckedBeforePinning() async throws {
        try await Town.withServer { town, _ in
            for name in ["carol", "dana"] {
                try town.prepareHome(name, "\(name)@example.org", withIdentity: true)
                expect(
                    0,
                    try await town.signet(
                        name, "account", "create", "\(name)@example.org", "--directory", town.profile.path()))
                expect(0, try await town.signet(name, "people", "card", "--out", "\(name).card"))
            }
            let other = try await town.signet("alice", "people", "add", "carol@example.org", "--card", "dana.card")
            expect(1, other)
            #expect(other.complaint == "The contact card belongs to dana@example.org.")
            try town.edit("dana.card") { $0.replacing("dana@", with: "dane@") }
            expect(65, try await town.signet("alice", "people", "add", "dane@example.org", "--card", "dana.card"))
            #expect(try await !town.signet("alice", "people", "list").output.contains("dan"), "nothing was pinned")
            let added = try await town.signet(
                "alice", "people", "add", "carol@example.org", "--card", "carol.card", "--json")
            expect(0, added)
            #expect(try added.object()["comparedBy"] as? String == "card")
            expect(64, try await town.signet("alice", "people", "add", "carol@example.org", "--met", "today"))
            let asking = try await town.signet("carol", "people", "requests", "--json")
            #expect(try asking.object()["requests"] as? [String] == [Town.alice])
            expect(0, try await town.signet("carol", "people", "block", Town.alice))
            #expect(try await town.signet("carol", "people", "requests").output.hasPrefix("No one is asking."))
            expect(64, try await town.signet("carol", "people", "block", Town.alice), "no request is left")
        }
    }

    /// A flag is no claim: it needs the record of a meeting or comparison.
    @Test func metAndComparedNeedARecordedMeetingOrComparison() async throws {
        try await Town.withServer { town, _ in
            for flag in ["--met", "--compared"] {
                let claimed = try await town.signet(
                    "alice", "guardians", "add", Town.bob, "--needed", "1", flag, Town.bob)
                expect(64, claimed, flag)
                #expect(claimed.complaint.hasPrefix("This device has no record that you"), "\(claimed.complaint)")
            }
            let number = try await Self.number(town, "alice", Town.bob)
            expect(0, try await town.signet("alice", "people", "verify", Town.bob, "--matches", number))
            let met = try await town.signet("alice", "guardians", "add", Town.bob, "--needed", "1", "--met", Town.bob)
            #expect(met.complaint.hasPrefix("This device has no record that you met"), "compared, and not met")
            let long = try await town.signet(
                "alice", "guardians", "add", Town.bob, Town.bob, "--needed", "2", "--wait", "31d")
            expect(64, long)
            #expect(long.complaint == "That wait is too long." && long.errors.contains("Choose at most 30 days."))
            let compared = try await town.signet(
                "alice", "guardians", "add", Town.bob, "--needed", "1", "--compared", Town.bob)
            #expect(!compared.complaint.hasPrefix("This device has no record"), "\(compared.complaint)")
        }
    }

    /// An identity that was compared has been replaced: the message is stronger than for an uncompared one.
    @Test func anotherIdentityOfAComparedPersonIsAnAlarm() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                let number = try await Self.number(town, "alice", Town.bob)
                expect(0, try await town.signet("alice", "people", "verify", Town.bob, "--matches", number))
            }
            try await town.serving(.lyingServer, ["--attack", "replaced-account", "--port", "0"]) { _ in
                let exit = try await town.signet("alice", "lookup", Town.bob, "--json")
                expect(2, exit)
                #expect(try exit.object()["comparedIdentityChanged"] as? Bool == true)
                let page = try await town.signet("alice", "lookup", Town.bob)
                #expect(page.complaint.hasPrefix("ALARM: You compared the sixty digits"), "\(page.complaint)")
                expect(2, try await town.signet("alice", "people", "verify", Town.bob))
            }
        }
    }
}
