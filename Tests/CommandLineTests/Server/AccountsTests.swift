// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `signetd accounts` beside a running server.
@Suite(.serialized) struct AccountsTests {
    @Test func aSuspendedPersonKeepsWhatTheyWriteAndMayRevokeADevice() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("bob", "notes", "new", "First", "bread"))
            let suspended = try await town.signetd("accounts", "suspend", Town.bob, "--data", "server")
            expect(0, suspended)
            #expect(suspended.lines.contains { $0.hasPrefix("state       suspended since 20") })

            let note = try await town.signet("bob", "notes", "new", "List", "milk")
            #expect(note.errors.contains("operator has suspended this account"), "\(note.errors)")
            expect(0, try await town.signet("alice", "lookup", Town.bob), "others still look him up")
            expect(0, try await town.signet("bob", "devices", "revoke", "2"), "a stolen device is revoked")

            expect(0, try await town.signetd("accounts", "resume", Town.bob, "--data", "server"))
            expect(0, try await town.signet("bob", "notes", "sync"))
            let list = try await town.signet("bob", "notes", "ls")
            expect(0, list)
            #expect(list.output.contains("List"), "what was written meanwhile is there")
            let events = try await town.signetd("accounts", "events", Town.bob, "--data", "server")
            let names = events.lines.compactMap { $0.split(separator: " ").last.map(String.init) }
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
            let names = events.lines.compactMap { $0.split(separator: " ").last.map(String.init) }
            #expect(names.starts(with: ["quota-removed", "quota-set"]), "\(names)")
            #expect(names.count { $0.hasPrefix("quota") } == 2, "what is refused leaves no event")
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
            let carol = ["account", "create", "carol@example.org", "--directory", "server/directory.signet"]
            expect(0, try await town.signet(carol + ["--home", "carol"]))
            expect(0, try await town.signet("carol", "lookup", Town.bob), "who knew nobody sees nothing wrong")
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
