// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// `signetd accounts` beside a running server.
@Suite(.serialized) struct AccountsTests {
    /// The second word of each line of an audit trail.
    private static func names(of events: Exit) -> [String] {
        events.lines.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    }

    @Test func whoUsedSudoIsInTheTrailAsAClaim() async throws {
        try await Town.withServer { town, _ in
            expect(
                0,
                try await Program.signetd.run(
                    ["accounts", "suspend", Town.bob, "--data", "server"], in: town.folder,
                    environment: ["SUDO_USER": "carol"]))
            let events = try await town.signetd("accounts", "events", Town.bob, "--data", "server")
            let actor = "by \(NSUserName()) (uid \(getuid()))"
            #expect(events.lines.first?.hasSuffix("  suspended  \(actor)  claims carol") == true, "\(events.lines)")
        }
    }

    @Test func aSuspendedPersonKeepsWhatTheyWriteAndMayRevokeADevice() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("bob", "notes", "new", "First", "bread"))
            let suspended = try await town.signetd("accounts", "suspend", Town.bob, "--data", "server")
            expect(0, suspended)
            #expect(suspended.lines.contains { $0.hasPrefix("state       suspended since 20") })

            let note = try await town.signet("bob", "notes", "new", "List", "milk")
            #expect(note.errors.contains("operator has suspended this account"), "\(note.errors)")
            for call in [["wait", "--once"], ["ring", Town.alice]] {
                let refused = try await town.signet(["call"] + call + ["--home", "bob"])
                expect(1, refused)
                #expect(refused.complaint.contains("operator has suspended this account"), "\(refused.errors)")
            }
            expect(0, try await town.signet("alice", "lookup", Town.bob), "others still look him up")
            expect(0, try await town.signet("bob", "devices", "revoke", "2"), "a stolen device is revoked")

            expect(0, try await town.signetd("accounts", "resume", Town.bob, "--data", "server"))
            expect(0, try await town.signet("bob", "notes", "sync"))
            let list = try await town.signet("bob", "notes", "ls")
            expect(0, list)
            #expect(list.output.contains("List"), "what was written meanwhile is there")
            let events = try await town.signetd("accounts", "events", Town.bob, "--data", "server")
            let names = Self.names(of: events)
            #expect(names.starts(with: ["resumed", "updated", "suspended"]), "\(names)")
        }
    }

    @Test func aQuotaOfOneAccountCountsAtOnce_andTheQuotaOfAllComesBack() async throws {
        try await Town.withServer { town, _ in
            func quota(_ size: String) async throws -> Exit {
                try await town.signetd("accounts", "quota", Town.bob, size, "--data", "server")
            }
            for wrong in ["", "-1", "5 GB", "5TB", "1e9", "18446744073709551616", "2000000GB"] {
                expect(64, try await quota(wrong), wrong)
            }
            expect(66, try await town.signetd("accounts", "quota", "eva@example.org", "5GB", "--data", "server"))
            let small = try await quota("100")
            expect(0, small)
            #expect(small.lines.contains { $0.hasPrefix("notes ") && $0.hasSuffix("kB, quota 1 kB") }, "\(small.lines)")
            let refused = try await town.signet("bob", "notes", "new", "Long", String(repeating: "milk ", count: 50))
            #expect(refused.complaint.contains("no more room"), "\(refused.output) \(refused.errors)")
            expect(0, try await town.signet("alice", "notes", "new", "List", "bread"))
            let again = try await quota("default")
            #expect(again.lines.contains { $0.hasPrefix("notes ") && !$0.contains("quota") }, "\(again.lines)")
            expect(0, try await town.signet("bob", "notes", "sync"))
            let events = try await town.signetd("accounts", "events", Town.bob, "--data", "server")
            let names = Self.names(of: events)
            #expect(names.starts(with: ["quota-removed", "quota-set"]), "\(names)")
            #expect(names.count { $0.hasPrefix("quota") } == 2, "what is refused leaves no event")
            let actor = "  by \(NSUserName()) (uid \(getuid()))"
            #expect(events.lines.first?.hasSuffix("  quota-removed  from 100 bytes to default\(actor)") == true)
            #expect(events.lines.dropFirst().first?.hasSuffix("  from default to 100 bytes\(actor)") == true)
        }
    }

    @Test func aRemovalIsReportedThoughTheServerHasNoRoomForWhatWaits() async throws {
        try await Town.withServer { town, _ in
            for title in ["Big", "Large"] {
                let text = String(repeating: "milk ", count: 4000)
                expect(0, try await town.signet("bob", "notes", "new", title, text))
            }
            expect(0, try await town.signetd("accounts", "quota", Town.bob, "10000", "--data", "server"))
            expect(0, try await town.signet("bob", "notes", "new", "Small", "bread"))

            let removed = try await town.signet("bob", "notes", "rm", "Big", "--yes")
            expect(0, removed)
            #expect(removed.output.contains("Big is deleted"), "\(removed.output)")
            let waiting = try #require(removed.errors.split(separator: "\n").first { $0.contains("not sent:") })
            #expect(waiting.contains("The server has no more room for your notes"), "\(waiting)")
            let list = try await town.signet("bob", "notes", "ls")
            let small = try #require(list.lines.first { $0.contains("Small") })
            #expect(
                waiting.split(separator: " ").contains { $0.count == 9 && small.contains($0.dropLast()) }, "\(small)")
            #expect(!list.output.contains("Big"), "\(list.output)")

            let last = try await town.signet("bob", "notes", "rm", "Large", "--yes")
            expect(0, last)
            #expect(!last.errors.contains("not sent:"), "there is room now: \(last.errors)")
        }
    }

    @Test func anErasureWantsYes_andWorksWhileTheServerRuns() async throws {
        try await Town.withServer { town, _ in
            let doubtful = try await town.signetd("accounts", "erase", Town.bob, "--data", "server")
            expect(64, doubtful)
            #expect(doubtful.errors.contains("--yes"))
            expect(0, try await town.signet("alice", "lookup", Town.bob), "nothing was done")

            let erased = try await town.signetd("accounts", "erase", Town.bob, "--yes", "--data", "server")
            expect(0, erased)
            #expect(erased.lines == ["erased"])
            let friend = try await town.signet("alice", "lookup", Town.bob)
            expect(4, friend)
            #expect(friend.complaint.contains("was closed: proved"))
            expect(66, try await town.signetd("accounts", "show", Town.bob, "--data", "server"))
            let events = try await town.signetd("accounts", "events", Town.bob, "--data", "server")
            expect(0, events)
            #expect(Self.names(of: events).first == "erased", "\(events.lines)")
            let list = try await town.signetd("accounts", "list", "--data", "server")
            #expect(list.lines.contains { $0.hasSuffix("active     \(Town.alice)") }, "\(list.lines)")
            #expect(!list.output.contains(Town.bob))
        }
    }

    @Test func aPersonJoinsWithTheInvitationThatTheOperatorMade() async throws {
        try await Town.with { town in
            let options = ["--bind", "127.0.0.1:0", "--epoch", "0", "--by-invitation"]
            try await town.serving(.signetd, options) { _ in
                let carol = "carol@example.org"
                let create = ["account", "create", carol, "--directory", "server/directory.signet", "--home", "carol"]
                let refused = try await town.signet(create)
                #expect(refused.status != 0)
                #expect(refused.errors.contains("registers people by invitation"), "\(refused.errors)")
                expect(64, try await town.signet(create + ["--invitation", "12345"]))
                let invited = try await town.signetd("accounts", "invite", carol, "--data", "server")
                expect(0, invited)
                let code = try #require(invited.lines.first { $0.hasPrefix("invitation  ") }?.dropFirst(12))
                expect(0, try await town.signet(create + ["--invitation", String(code)]))
                expect(0, try await town.signet("alice", "lookup", carol))
                expect(0, try await town.signet("bob", "devices", "revoke", "2"), "accounts that are there go on")
            }
        }
    }

    @Test func aReleasedHandleGoesToTheHolderOfTheCode_andNobodyTakesThemForTheSamePerson() async throws {
        try await Town.withServer { town, _ in
            func release(_ options: String...) async throws -> Exit {
                try await Program.signetd.run(
                    ["accounts", "release", Town.bob, "--data", "server"] + options, in: town.folder)
            }
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            let create = ["account", "create", Town.bob, "--directory", "server/directory.signet", "--home", "right"]
            let taken = try await town.signet(create + ["--invitation", String(repeating: "0", count: 32)])
            #expect(taken.status != 0, "it is not released")
            let doubtful = try await release()
            expect(64, doubtful)
            #expect(doubtful.errors.contains("--yes"))
            expect(66, try await town.signetd("accounts", "release", "eva@example.org", "--yes", "--data", "server"))

            let released = try await release("--yes")
            expect(0, released)
            let code = try #require(released.lines.first { $0.hasPrefix("invitation  ") }?.dropFirst(12))
            let shown = try await town.signetd("accounts", "show", Town.bob, "--data", "server")
            #expect(shown.lines.contains { $0.hasPrefix("state       released since 20") }, "\(shown.lines)")
            #expect(try await town.signet("bob", "notes", "new", "List", "milk").status != 0)

            let made = try await town.signet(create + ["--invitation", String(code)])
            expect(0, made)
            #expect(made.output.contains("was somebody else's before"), "\(made.output)")
            let friend = try await town.signet("alice", "lookup", Town.bob)
            expect(2, friend)
            #expect(friend.complaint.contains("has another identity, and no recovery in the log explains it"))
            let former = try await town.signet("bob", "monitor")
            #expect(former.status != 0)
            #expect(former.output.contains("Your identity was replaced with version"), "\(former.output)")

            let right = ["--home", "right"]
            expect(0, try await town.signet(["notes", "new", "List", "bread"] + right))
            expect(0, try await town.signet(["notes", "sync"] + right))
            let repeated = try await release("--yes")
            #expect(
                repeated.status != 0 && repeated.errors.contains("not taken from its new holder"), "\(repeated.errors)")
            expect(0, try await town.signet(["notes", "sync"] + right), "nothing of theirs is suspended or gone")
            let watched = try await town.signet(["monitor"] + right)
            expect(0, watched)
            let asked = try await town.signet("alice", "people", "add", Town.bob)
            expect(2, asked)
            #expect(asked.complaint.contains("has another identity"), "\(asked.complaint)")
            #expect(asked.output.contains("Nothing was sent"), "\(asked.output)")
            let requests = try await town.signet(["people", "requests"] + right)
            #expect(requests.output.contains("No one is asking"), "whoever is blocked is not asked: \(requests.output)")
            let carol = ["account", "create", "carol@example.org", "--directory", "server/directory.signet"]
            expect(0, try await town.signet(carol + ["--home", "carol"]))
            expect(0, try await town.signet("carol", "lookup", Town.bob), "who knew nobody sees nothing wrong")
        }
    }

    /// A server with a policy of registration, in the folder `policy` of the town.
    private func serving(
        _ policy: String, in town: Town, _ body: (RunningServer) async throws -> Void
    ) async throws {
        try town.write(policy.utf8, to: "registration")
        try await town.serving(
            .signetd, ["--bind", "127.0.0.1:0", "--epoch", "0", "--rate", "0", "--registration", "registration"], body)
    }

    @Test func aPersonJoinsWithTheCodeThatTheMailProgramWasGiven() async throws {
        try await Town.with { town in
            try town.write("#!/bin/sh\ncat >'\(town["mail"].path())'\n".utf8, to: "send-code")
            try town.chmod("send-code", 0o755)
            let policy = "register mail.example mail\nregister * nobody\nmail-program \(town["send-code"].path())\n"
            try await serving(policy, in: town) { _ in
                let create = [
                    "account", "create", "carol@mail.example", "--directory", "server/directory.signet", "--home",
                    "carol",
                ]
                let sent = try await town.signet(create)
                #expect(sent.status != 0)
                #expect(sent.errors.contains("has sent a code of six digits"), "\(sent.errors)")
                let mail = String(decoding: try town.bytes("mail"), as: UTF8.self).split(separator: "\n")
                #expect(mail.first == "address carol@mail.example")
                let code = try #require(mail.last?.dropFirst("code ".count))
                let other = code == "000000" ? "000001" : "000000"
                let wrong = try await town.signet(create + ["--code", other])
                #expect(wrong.errors.contains("does not take the code"), "\(wrong.errors)")
                expect(64, try await town.signet(create + ["--code", "12345"]))
                expect(0, try await town.signet(create + ["--code", String(code)]))
                expect(0, try await town.signet("alice", "lookup", "carol@mail.example"))
                let closed = try await town.signet([
                    "account", "create", "eva@example.org", "--directory", "server/directory.signet", "--home", "eva",
                ])
                #expect(closed.errors.contains("does not register handles of this domain"), "\(closed.errors)")
            }
        }
    }

    /// The login system is `openssl`, which has no code of ours in it.
    @Test func aPersonJoinsWithATokenOfTheLoginSystem() async throws {
        try await Town.with { town in
            func openssl(_ arguments: String...) async throws -> Exit {
                let exit = try await Exit.of(URL(filePath: "/usr/bin/openssl"), arguments, in: town.folder)
                try #require(exit.status == 0, "\(exit.errors)")
                return exit
            }
            func text(_ bytes: some Sequence<UInt8>) -> String {
                Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                    "=", with: "")
            }
            _ = try await openssl("genpkey", "-algorithm", "ed25519", "-out", "login.key")
            _ = try await openssl("pkey", "-in", "login.key", "-pubout", "-outform", "DER", "-out", "login.public")
            let key = try town.bytes("login.public").suffix(32)
            let set = "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"1\",\"x\":\"\(text(key))\"}]}"
            try town.write(set.utf8, to: "login.jwks")
            let policy = "register example.org token\ntoken-issuer https://login.example.org\ntoken-keys login.jwks\n"
            try await serving(policy, in: town) { _ in
                let create = [
                    "account", "create", "carol@example.org", "--directory", "server/directory.signet", "--home",
                    "carol",
                ]
                let needed = try await town.signet(create + ["--json", "--advanced"])
                #expect(needed.status != 0)
                #expect(needed.errors.contains("with a token of its operator's login system"), "\(needed.errors)")
                #expect(try await town.signet(create).output.isEmpty, "keys are shown to those who ask for them")
                let facts = try needed.object()
                #expect(try needed.keys() == ["audience", "deviceKey", "handle", "needs", "nonce"])
                let (audience, device) = (try #require(facts["audience"]), try #require(facts["deviceKey"]))
                let now = Int(Date().timeIntervalSince1970)
                func token(for handle: String) async throws -> String {
                    let claims = """
                        {"iss":"https://login.example.org","aud":"\(audience)","sub":"\(handle)","iat":\(now),"exp":\(now + 600),\
                        "cnf":{"jwk":{"kty":"OKP","crv":"Ed25519","x":"\(device)"}}}
                        """
                    let signed = text("{\"alg\":\"EdDSA\",\"kid\":\"1\"}".utf8) + "." + text(claims.utf8)
                    try town.write(signed.utf8, to: "signed")
                    _ = try await openssl(
                        "pkeyutl", "-sign", "-inkey", "login.key", "-rawin", "-in", "signed", "-out", "signature")
                    return signed + "." + text(try town.bytes("signature"))
                }
                try town.write(Array(try await token(for: "eva@example.org").utf8), to: "token")
                let wrong = try await town.signet(create + ["--token", "token"])
                #expect(wrong.errors.contains("does not take the token"), "\(wrong.errors)")
                try town.write("none".utf8, to: "token")
                expect(65, try await town.signet(create + ["--token", "token"]))
                try town.write(Array((try await token(for: "carol@example.org") + "\n").utf8), to: "token")
                expect(64, try await town.signet(create + ["--token", "token", "--code", "123456"]))
                expect(0, try await town.signet(create + ["--token", "token"]))
                expect(0, try await town.signet("alice", "lookup", "carol@example.org"))
            }
        }
    }

    /// Each with its place, and before anything is served.
    @Test func aPolicyThatIsWrongIsRefusedInWords() async throws {
        try await Town.with { town in
            func start(_ options: String...) async throws -> Exit {
                try await Program.signetd.run(
                    ["run", "--data", "server", "--bind", "127.0.0.1:0", "--registration", "registration"] + options,
                    in: town.folder)
            }
            func check() async throws -> Exit {
                try town.write("registration = registration\n".utf8, to: "conf")
                return try await town.signetd("config", "check", "--config", "conf")
            }
            let secret = "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"1\",\"k\":\"AAAA\"}]}"
            try town.write(secret.utf8, to: "keys")
            let token = "register * token\ntoken-issuer https://login.example.org\ntoken-keys "
            let cases = [
                ("register example.org tokn\n", "registration, line 1: there is no proof \"tokn\"; there are open"),
                ("\nregister example.org token\n", "registration: a domain registers with tokens: name the issuer"),
                (token + "keys\n", "keys: there is a secret key in the file"),
                (token + "none\n", "none: the keys of the token issuer cannot be read"),
            ]
            for (policy, words) in cases {
                try town.write(policy.utf8, to: "registration")
                let started = try await start()
                expect(78, started, policy)
                #expect(started.complaint.hasPrefix(words), "\(started.complaint)")
                let checked = try await check()
                expect(78, checked, policy)
                #expect(checked.output.hasPrefix("wrong: " + words), "\(checked.output)")
            }
            try town.write("register * open\n".utf8, to: "registration")
            expect(0, try await check())
            let both = try await start("--by-invitation")
            expect(64, both)
            #expect(both.errors.contains("only one of them says who may register"), "\(both.errors)")
        }
    }

    @Test func withoutAServerTheCommandSaysWhatToDo() async throws {
        try await Town.with { town in
            let exit = try await town.signetd("accounts", "list", "--data", "server")
            expect(75, exit)
            #expect(exit.complaint.contains("Start it with `signetd run`"))
        }
    }
}
