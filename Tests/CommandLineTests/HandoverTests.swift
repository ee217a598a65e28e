import Foundation
import Testing

/// `signetd succeed`, and what two friends see of it.
@Suite(.serialized) struct HandoverTests {
    private func succeed(
        _ town: Town, from old: String = "server", origin: String = "example.org/next"
    ) async throws -> Exit {
        try await town.signetd("succeed", "--from", old, "--data", "heir", "--origin", origin)
    }

    @Test func friendsGoOnInTheNewLogAndAChangeIsStillAChange() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "monitor"))
                expect(0, try await town.signet("bob", "monitor"))
            }
            let made = try await succeed(town)
            expect(0, made)
            #expect(made.output.contains("example.org/next") && !town.exists("heir.heir"))
            expect(73, try await succeed(town), "done is done")
            let pins = try ["server", "heir"].map { name in
                String(decoding: try town.bytes("\(name)/directory.signet"), as: UTF8.self)
                    .split(separator: "\n").filter { $0.hasPrefix("tls-") }
            }
            #expect(pins[0].count == 3 && pins[0] == pins[1])
            #expect(try town.bytes("heir/tls/backup.key") == town.bytes("server/tls/backup.key"))

            try await town.serving(data: "heir") { _ in
                expect(2, try await town.signet("alice", "lookup", Town.bob), "the clock's key is new")
                expect(0, try await town.signet("alice", "directory", "update", "--accept"))
                let found = try await town.signet("alice", "lookup", Town.bob, "--json")
                expect(0, found)
                #expect(try found.object()["outcome"] as? String == "matched", "still pinned")
                expect(0, try await town.signet("alice", "monitor"), "what was logged anew is the owner's doing")
                expect(0, try await town.signet("alice", "log", "verify"))
                #expect(try await town.signet("alice", "people", "list").output.contains(Town.bob))

                for home in ["bob", "phone"] {
                    expect(0, try await town.signet(home, "directory", "update", "--accept"))
                }
                expect(0, try await town.signet("bob", "devices", "revoke", "2"))
                expect(2, try await town.signet("alice", "lookup", Town.bob), "a change in the new log")
                expect(0, try await town.signet("bob", "monitor"))
                let phone = try await town.signet("phone", "account", "show")
                #expect(phone.complaint == "This device was removed from the account.")
            }
        }
    }

    @Test func interruptedAfterTheDraftTheSameCommandCompletesItAndAnotherDoesNot() async throws {
        try await Town.with { town in
            // The old log cannot be opened: its directory is made, and nothing has ended.
            let log = town["server/records/log"]
            try FileManager.default.moveItem(at: log, to: town["away"])
            #expect(try await succeed(town).status != 0)
            #expect(town.exists("heir.heir") && !town.exists("heir"))
            let draft = try town.bytes("heir.heir/directory.signet")
            try FileManager.default.moveItem(at: town["away"], to: log)
            expect(73, try await succeed(town, origin: "example.org/another"))
            expect(73, try await succeed(town, origin: "example.org/signet"))
            expect(0, try await succeed(town))
            #expect(try town.bytes("heir/directory.signet") == draft)
        }
    }

    @Test func aSuccessorOfAnOlderCopyIsRefusedAndTheEvidenceKept() async throws {
        try await Town.with { town in
            try FileManager.default.copyItem(at: town["server"], to: town["stale"])
            try await town.serving { _ in
                try await town.addDeviceOfBob("tablet")
                expect(0, try await town.signet("alice", "people", "trust", Town.bob, "--yes"))
            }
            expect(0, try await succeed(town, from: "stale"))
            try await town.serving(data: "heir") { _ in
                let before = try town.bytes("alice/directory")
                expect(1, try await town.signet("alice", "lookup", Town.bob))
                expect(1, try await town.signet("alice", "directory", "update", "--accept"))
                #expect(try town.bytes("alice/directory") == before)
                let kept = try await town.signet("alice", "evidence", "list", "--json").object()["evidence"] as? [Any]
                #expect(kept?.count == 1)
            }
        }
    }
}
