// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct IdentityTests {
    @Test func status_describesWhereTheIdentityIs() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("bob", "identity", "status")
            expect(0, exit)
            for words in ["is on this device, and portable", "guesses the passphrase", "device 1", "this device"] {
                #expect(exit.output.contains(words), "\(words)")
            }
            let json = try await town.signet("bob", "identity", "status", "--offline", "--json").object()
            #expect(json["custody"] as? String == "portable")
            let phone = try await town.signet("phone", "identity", "status")
            #expect(phone.status == 0 && phone.output.contains("is on another device"))
        }
    }

    @Test func aDeviceIsLinkedOnlyWithTheDigitsThatItShows() async throws {
        try await Town.withServer { town, _ in
            try town.prepareHome("tablet", Town.bob, withIdentity: false)
            let joined = try await town.signet(
                "tablet", "identity", "join", Town.bob, "--directory", "server/directory.signet", "--card", "a.card",
                "--json")
            expect(0, joined)
            let code = try #require(try joined.object()["code"] as? String)
            #expect(code.wholeMatch(of: /[0-9]{4} [0-9]{4} [0-9]{4}/) != nil)

            let wrong = code == "0000 0000 0000" ? "1" : "0000 0000 0000"
            let refused = try await town.signet("bob", "devices", "add", "a.card", "--code", wrong)
            expect(1, refused)
            #expect(refused.errors.contains("not the one that your new device made"))
            expect(2, try await town.signet("bob", "devices", "add", "a.card"), "without a terminal to ask")
            #expect(try await town.signet("tablet", "account", "show").status != 0)

            let typed = code.filter { $0 != " " }
            let added = try await town.signet("bob", "devices", "add", "a.card", "--code", typed, "--json")
            expect(0, added)
            let digits = try #require(try added.object()["confirmation"] as? String)
            expect(0, try await town.signet("tablet", "devices", "confirm", "--code", digits))
            expect(0, try await town.signet("tablet", "account", "show"))
            let old = try await town.signet("bob", "identity", "link-device", "a.card", "--code", typed)
            expect(64, old)
            #expect(old.complaint == "'signet identity link-device' is now 'signet devices add'.")
            let status = try await town.signet("bob", "identity", "status")
            #expect(status.output.contains("device 3"))
            expect(0, try await town.signet("bob", "identity", "revoke-device", "3"))
            #expect(try await town.signet("tablet", "identity", "status").status == 2)
        }
    }

    @Test func anotherDevicesCardIsRefusedWithThisCode() async throws {
        try await Town.withServer { town, _ in
            for (home, card) in [("one", "a.card"), ("two", "b.card")] {
                try town.prepareHome(home, Town.bob, withIdentity: false)
                expect(
                    0,
                    try await town.signet(
                        home, "identity", "join", Town.bob, "--directory", "server/directory.signet", "--card", card))
            }
            let own = try await town.signet(
                "one", "identity", "join", Town.bob, "--directory", "server/directory.signet", "--card", "a.card",
                "--json")
            let code = try #require(try own.object()["code"] as? String)
            let swapped = try await town.signet("bob", "devices", "add", "b.card", "--code", code)
            expect(1, swapped)
        }
    }

    @Test func theQRCodeIsDrawnOnRequest() async throws {
        try await Town.withServer { town, _ in
            try town.prepareHome("tablet", Town.bob, withIdentity: false)
            let exit = try await town.signet(
                "tablet", "identity", "join", Town.bob, "--directory", "server/directory.signet", "--qr")
            expect(0, exit)
            let drawn = exit.output.split(separator: "\n").filter { $0.contains("\u{2588}") }
            #expect(drawn.count > 60 && Set(drawn.map(\.count)).count == 1)
        }
    }

    /// Section 9.8: these commands show no key, no identifier and no long number.
    @Test func noKeyOrIdentifierIsShownOutsideOfAdvanced() async throws {
        try await Town.withServer { town, _ in
            try await RunningSite.with(["shop"], in: town) { sites in
                let said = try await everything(town, sites[0])
                #expect(said.count > 40)
                for (command, text) in said {
                    #expect(ShownKeys.find(in: text).isEmpty, "\(command): \(text.prefix(2000))")
                    #expect(text.firstMatch(of: Self.wordsOfTheTrade) == nil, "\(command): \(text.prefix(2000))")
                }
            }
            let shown = try await town.signet("bob", "advanced", "identity")
            #expect(shown.status == 0 && !ShownKeys.find(in: shown.output).isEmpty)
            #expect(shown.output.contains("did:key:zDn"))
        }
    }

    /// The scan itself: the texts that it finds and those that it allows.
    @Test func theScanFindsKeysOfEveryForm_andNoCodeForPeople() {
        let (hex, words) = (String(repeating: "0aF9", count: 10), String(repeating: "Qk1Z", count: 10))
        for key in ["did:key:zDnaeTHx", "DID:web:a", "z" + words, hex, words, "sha256/" + words + "=", words + "-_"] {
            #expect(!ShownKeys.find(in: "a \(key) b").isEmpty, "\(key)")
        }
        for shown in ["1234 5678 9012", "academic acid acne 42", "0123456789abcdef0123456789abcdef", "Said: nothing"] {
            #expect(ShownKeys.find(in: shown).isEmpty, "\(shown)")
        }
        #expect(ShownKeys.isAdvanced(["--home", "a", "advanced", "identity"]))
        #expect(ShownKeys.isAdvanced(["lookup", "a", "--json", "--advanced"]))
        #expect(!ShownKeys.isAdvanced(["--home=advanced", "account", "show", "--json"]))
        #expect(!ShownKeys.isAdvanced(["people", "add", "advanced"]))
    }

    private static var wordsOfTheTrade: Regex<Substring> {
        /(?i)private key|public key|\bseed\b|\bshares?\b|\bhash\b/
    }

    /// The output of successful and failing commands and of every page of help, with the command that was typed.
    private func everything(_ town: Town, _ site: RunningSite) async throws -> [(String, String)] {
        try town.prepareHome("tablet", Town.bob, withIdentity: false)
        let directory = ["--directory", "server/directory.signet", "--card", "t.card"]
        let trust = ["--roots", site.roots]
        var commands: [[String]] = [
            ["identity", "status"], ["identity", "status", "--offline"],
            ["devices", "add", "nothing.card"], ["identity", "revoke-device", "9"],
            ["sites", "list"], ["sites", "signin", site.host] + trust, ["sites", "register", site.host],
            ["sites", "register", site.host] + trust, ["sites", "register", site.host] + trust,
            ["sites", "register", "127.0.0.1:\(site.port)"] + trust, ["sites", "register", "localhost:1"] + trust,
            ["sites", "signin", site.host] + trust, ["sites", "list"], ["sites", "object", site.host] + trust,
            ["sites", "re-register", "--all"] + trust, ["sites", "re-register"] + trust,
            ["sites", "forget", site.host], ["sites", "forget", "nobody.example", "--yes"],
            ["sites", "forget", site.host, "--yes"],
        ]
        commands += commands.map { $0 + ["--json"] }
        var said: [(String, String)] = []
        for command in commands {
            let exit = try await town.signet(command + ["--home", "bob"])
            #expect(exit.status != 70, "\(command)")
            said.append((command.joined(separator: " "), exit.output + exit.errors))
        }
        let joined = try await town.signet(["identity", "join", Town.bob, "--home", "tablet", "--json"] + directory)
        let wrong = try await town.signet("bob", "devices", "add", "t.card", "--code", "1")
        let locked = try await town.signet("bob", "sites", "list", environment: ["SIGNET_PASSPHRASE": "wrong"])
        said += [("join", joined.output), ("link", wrong.output + wrong.errors), ("wrong", locked.errors)]
        for page in [["identity"], ["sites"]]
            + ["status", "join", "revoke-device"].map({ ["identity", $0] })
            + ["register", "signin", "list", "forget", "re-register", "object"].map({ ["sites", $0] })
        {
            let help = try await town.signet(page + ["--help"])
            #expect(help.status == 0)
            said.append(("help of \(page)", help.output + help.errors))
        }
        return said
    }
}
