// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The interface for programs that call `signet`: exit status, one JSON object, and the names in it.
@Suite(.serialized) struct AnswerTests {
    /// Command, members of the answer, those that `--advanced` adds, and whether a second call gives the same bytes.
    private static let questions: [(command: [String], members: [String], keys: [String], isSteady: Bool)] = [
        (
            ["account", "show"], ["directory", "handle", "home", "keystore", "outcome", "version"],
            ["deviceKey", "identityKey"], true
        ),
        (
            ["account", "show", "--offline"], ["directory", "handle", "home", "keystore", "outcome", "version"],
            ["deviceKey", "identityKey"], true
        ),
        (["devices", "list"], ["devices", "outcome", "version"], [], true),
        (["people", "list"], ["people"], [], false),
        (["people", "list", "--offline"], ["people"], [], true),
        (
            ["people", "show", Town.bob], ["compared", "devices", "handle", "pinnedAt", "version"],
            ["identityKey", "stateHash"],
            true
        ),
        (["people", "trust", Town.bob], ["handle", "outcome"], [], true),
        (["people", "add", Town.bob], ["compared", "devices", "handle", "outcome"], [], true),
        (["people", "accept", Town.bob], ["compared", "devices", "handle", "outcome"], [], true),
        (
            ["lookup", Town.bob],
            [
                "age", "checks", "compared", "devices", "epoch", "firstContact", "handle", "outcome",
                "outsideWitnesses", "usable", "version",
            ], ["stateHash"], false
        ),
        (
            ["lookup", Town.bob, "--explain"],
            [
                "age", "checks", "compared", "devices", "epoch", "firstContact", "handle", "outcome",
                "outsideWitnesses", "stateHash", "unproven", "usable", "version",
            ], [], false
        ),
        (["lookup", Town.bob, "--ecall"], ["devices", "handle", "outcome", "unproven"], [], false),
        (["log", "show"], ["origin", "size"], ["note", "root"], true),
        (
            ["log", "verify"], ["age", "devices", "epochs", "keys", "others", "size", "states"], ["root"], false
        ),
        (
            ["monitor"],
            ["accepted", "alarms", "entries", "epoch", "first", "handle", "milestones", "resubmitted", "version"], [],
            true
        ),
        (["evidence", "list"], ["evidence", "metForks"], [], true),
        (["evidence", "export", "evidence"], ["files"], [], true),
    ]

    @Test func everyCommandPrintsOneObjectWithTheDocumentedMembers() async throws {
        try await Town.withServer { town, _ in
            for (command, members, keys, isSteady) in Self.questions {
                let exits = [
                    try await town.signet(command + ["--json", "--home", "alice"]),
                    try await town.signet(["--home", "alice"] + command + ["--json"]),
                ]
                for exit in exits {
                    expect(0, exit, "\(command)")
                    #expect(try exit.keys() == members, "\(command)")
                    #expect(exit.errors.isEmpty, "\(command)")
                }
                if isSteady { #expect(exits[0].output == exits[1].output, "\(command)") }
                let all = try await town.signet(command + ["--json", "--advanced", "--home", "alice"])
                #expect(try all.keys() == (members + keys).sorted(), "\(command)")
            }
        }
    }

    @Test func everyCommandPrintsTextForPeople() async throws {
        try await Town.withServer { town, _ in
            for (command, _, _, _) in Self.questions {
                let exit = try await town.signet(command + ["--home", "alice"])
                expect(0, exit, "\(command)")
                #expect(!exit.output.isEmpty && !exit.output.contains("\u{1B}"), "no colour into a file: \(command)")
            }
        }
    }

    @Test func aHandleThatIsNotRegisteredIsProvedAbsent() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("alice", "lookup", "nobody@example.org", "--json")
            expect(4, exit)
            #expect(try exit.keys() == ["age", "checks", "epoch", "handle", "outcome", "outsideWitnesses", "usable"])
            #expect(try exit.object()["outcome"] as? String == "absent")
            #expect(try exit.checks().allSatisfy { $0.result == "passed" })
            #expect(exit.complaint.hasPrefix("No one has registered nobody@example.org: proved absent in epoch"))
            let page = try await town.signet("alice", "lookup", "nobody@example.org", "--explain")
            #expect(page.output.contains("proved absent in epoch"))
        }
    }

    /// The eCall guide's client, as a command.
    @Test func anECallLookupListsWhatItDoesNotProve() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("alice", "lookup", Town.bob, "--ecall", "--json", "--advanced")
            expect(0, exit)
            let devices = try #require(exit.object()["devices"] as? [[String: Any]])
            #expect(devices.count == 2 && devices.allSatisfy { $0.keys.sorted() == ["label", "publicKey", "size"] })
            let unproven = try #require(exit.object()["unproven"] as? [String])
            #expect(unproven.count == 5 && unproven.contains("label-belongs-to-the-person"))
            let page = try await town.signet("alice", "lookup", Town.bob, "--ecall")
            #expect(page.output.contains("that these devices are this person's: the directory says so"))
            let nobody = try await town.signet("alice", "lookup", "nobody@example.org", "--ecall")
            expect(1, nobody)
            #expect(nobody.complaint == "The directory names no device of nobody@example.org, which proves nothing.")
            let other = "WGZm" + String(repeating: "ZmZm", count: 9) + "ZmY="
            expect(1, try await town.signet("alice", "lookup", Town.bob, "--ecall", "--log-key", other))
            expect(64, try await town.signet("alice", "lookup", Town.bob, "--ecall", "--log-key", "short"))
            expect(64, try await town.signet("alice", "lookup", Town.bob, "--log-key", other))
        }
    }

    @Test func simulateRunsACallByTheGuideAsWritten() async throws {
        try await Town.with { town in
            let exit = try await town.signet(["call", "simulate", "--legacy", "--rotations", "2", "--json"])
            expect(0, exit)
            #expect(try exit.object()["policy"] as? String == "guide as written")
            expect(64, try await town.signet(["call", "simulate", "--legacy", "--events"]))
        }
    }

    /// One size, one loss rate and two seeds of the table in `Documentation/calls.md`; all of it would take a while.
    @Test func simulatePrintsTheTableOfCallEvents() async throws {
        try await Town.with { town in
            let command = ["call", "simulate", "--events", "--participants", "3", "--loss", "0.05", "--seeds", "1-2"]
            let table = try await town.signet(command)
            expect(0, table)
            #expect(table.lines.first?.hasPrefix("| Devices | Event | Loss | Lost of a million |") == true)
            #expect(
                table.lines.dropFirst(2).map { $0.split(separator: " | ")[1] } == [
                    "25 rotations", "a leave", "the host leaves", "a join", "the host crashes", "6 s apart, 1 and 2",
                ])
            let events = try #require(
                try await town.signet(command + ["--json"]).object()["events"] as? [[String: Any]])
            #expect(
                events.count == 6 && events.allSatisfy { $0["devices"] as? Int == 3 && $0["lossPercent"] as? Int == 5 })
            #expect(events.allSatisfy { ($0["missed"] as? [String])?.isEmpty == true })
            for wrong in [["--participants", "2"], ["--split", "1/2"], ["--compare"]] {
                expect(64, try await town.signet(["call", "simulate", "--events"] + wrong))
            }
        }
    }

    @Test func anErasedAccountIsProvedClosed() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("erase", Town.bob, "--yes", "--data", "server"))
            try await town.serving { _ in
                let exit = try await town.signet("alice", "lookup", Town.bob, "--json")
                expect(4, exit)
                #expect(try exit.object()["outcome"] as? String == "closed")
                #expect(try exit.object()["version"] as? Int == 3)
                let own = try await town.signet("bob", "monitor", "--json")
                expect(5, own)
                let alarms = try #require(own.object()["alarms"] as? [[String: Any]])
                #expect(alarms.map { $0["alarm"] as? String } == ["closed"])
            }
        }
    }

    @Test func aLookupListsItsThirteenChecksInOrder() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("alice", "lookup", Town.bob, "--json", "--explain")
            let checks = try exit.checks()
            #expect(
                checks.map(\.name) == [
                    "envelope", "vrf", "account-state", "checkpoint-text", "origin", "log-signature",
                    "cosignatures", "freshness", "epoch", "index", "history", "inclusion", "consistency",
                ])
            #expect(checks.allSatisfy { $0.result == "passed" })
            #expect(try exit.object()["usable"] as? Bool == true)
            #expect((try exit.object()["devices"] as? [Any])?.count == 2)
        }
    }

    @Test func theDevicesOfAnAccountAreListedAndThisOneMarked() async throws {
        try await Town.withServer { town, _ in
            for (home, own) in [("bob", 1), ("phone", 2)] {
                let exit = try await town.signet(home, "devices", "list", "--json")
                let devices = try #require(exit.object()["devices"] as? [[String: Any]])
                #expect(
                    devices.map { $0.keys.sorted() } == Array(repeating: ["addedAt", "number", "thisDevice"], count: 2))
                let all = try await town.signet(home, "devices", "list", "--json", "--advanced").object()
                #expect((all["devices"] as? [[String: Any]])?.allSatisfy { $0["key"] is String } == true)
                #expect(devices.filter { $0["thisDevice"] as? Bool == true }.map { $0["number"] as? Int } == [own])
            }
        }
    }

    @Test func logTailPrintsOneObjectForEachEntry_andAgreesWithLogVerify() async throws {
        try await Town.withServer { town, _ in
            let verified = try await town.signet("alice", "log", "verify", "--json").object()
            let size = try #require(verified["size"] as? Int)
            #expect(verified["others"] as? Int == 0)
            let all = try await town.signet("alice", "log", "tail", "--count", "10000", "--json")
            let entries = try all.lines.map { try Exit.object($0) }
            #expect(entries.map { $0["index"] as? Int } == Array(0..<size))
            #expect(entries.allSatisfy { $0.keys.sorted() == ["index", "kind"] })
            let bytes = try await town.signet("alice", "log", "tail", "--count", "1", "--json", "--advanced")
            #expect(try bytes.keys() == ["entry", "index", "kind"])
            #expect(entries.filter { $0["kind"] as? String == "device" }.count == verified["devices"] as? Int)
            #expect(entries.filter { $0["kind"] as? String == "state" }.count == verified["states"] as? Int)
            let last = try await town.signet("alice", "log", "tail", "--count", "1", "--json")
            #expect(last.lines == [all.lines[size - 1]])
            expect(64, try await town.signet("alice", "log", "tail", "--count", "0"))
        }
    }

    @Test func aRefusalIsOneObjectWithARemedy() async throws {
        try await Town.withServer { town, _ in
            let cases: [(Int32, [String])] = [
                (64, ["lookup", "nobody"]), (64, ["devices", "revoke", "9"]),
                (64, ["devices", "revoke", "1"]), (65, ["devices", "add", "no.card"]),
                (64, ["people", "add", Town.alice]), (1, ["people", "add", "nobody@example.org"]),
                (64, ["people", "trust", "stranger@"]), (64, ["people", "show", "nobody@example.org"]),
                (64, ["account", "create", "alice", "--directory", "server/directory.signet"]),
                (64, ["account", "create", Town.alice, "--directory", "server/directory.signet"]),
                (64, ["account", "create", Town.bob, "--directory", "server/directory.signet"]),
                (65, ["account", "create", Town.alice, "--directory", "nothing"]),
                (65, ["evidence", "export", "server/directory.signet"]),
            ]
            for (status, command) in cases {
                let exit = try await town.signet(command + ["--home", "alice", "--json"])
                expect(status, exit, "\(command)")
                #expect(try exit.keys() == ["failure", "remedy", "status"], "\(command)")
                let object = try exit.object()
                #expect(object["status"] as? Int == Int(status), "\(command)")
                #expect(object["failure"] as? String == exit.complaint, "\(command)")
            }
        }
    }

    @Test(arguments: [
        "", "bob", "@example.org", "bob@", "bob @example.org", "b\u{F6}b@example.org", "a@b@c", "../bob@x",
    ])
    func anInvalidHandleIsAUsageError(handle: String) async throws {
        try await Town.with { town in
            let exit = try await town.signet(["--home", "alice", "lookup", "--", handle])
            expect(64, exit, handle)
            #expect(exit.complaint.hasSuffix("is not a handle."))
            #expect(exit.complaint.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }

    @Test func withoutAnAccountNoFolderIsMade_andTheRemedyNamesTheCommand() async throws {
        try await Town.with { town in
            for command in [["lookup", Town.bob], ["account", "show"], ["people", "list"], ["log", "verify"]] {
                let exit = try await town.signet(command + ["--home", "nowhere"])
                expect(64, exit, "\(command)")
                #expect(exit.errors.contains("signet account create HANDLE --directory FILE"))
            }
            #expect(!town.exists("nowhere"))
        }
    }

    @Test func anUnknownCommandOrOptionIsAUsageError() async throws {
        try await Town.with { town in
            for command in [["look"], ["lookup"], ["lookup", Town.bob, "--jsn"], ["devices", "revoke", "70000"]] {
                expect(64, try await town.signet(command + ["--home", "alice"]), "\(command)")
            }
            expect(0, try await town.signet(["--help"]))
            #expect(try await town.signet(["--help"]).output.contains("Exit status: 0 done and proven"))
        }
    }

    @Test func withoutANetworkTheExitStatusIsTemporaryFailure() async throws {
        try await Town.with { town in
            try town.point(to: 1)
            for command in [["lookup", Town.bob], ["account", "show"], ["log", "verify"], ["people", "list"]] {
                expect(3, try await town.signet(command + ["--home", "alice"]), "\(command)")
            }
            for command in [["account", "show", "--offline"], ["people", "list", "--offline"], ["log", "show"]] {
                expect(0, try await town.signet(command + ["--home", "alice"]), "\(command)")
            }
        }
    }
}

extension Exit {
    struct Check: Hashable {
        let name: String
        let result: String
    }

    /// The page of checks in a lookup's answer.
    func checks(_ location: SourceLocation = #_sourceLocation) throws -> [Check] {
        let checks = try #require(object(location)["checks"] as? [[String: Any]], sourceLocation: location)
        return checks.map { Check(name: $0["check"] as? String ?? "", result: $0["result"] as? String ?? "") }
    }
}
