// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SignetClient
import SignetTesting
import Testing
import TransparencyLog

/// Every attack of the lying server against a person who knows the other one and has seen the log.
@Suite(.serialized) struct AttackTests {
    /// The checks by the names that programs rely on.
    private static let checkNames: [LookupCheck: String] = [
        .envelope: "envelope", .vrf: "vrf", .accountState: "account-state", .epoch: "epoch", .index: "index",
        .history: "history", .checkpointText: "checkpoint-text", .origin: "origin", .logSignature: "log-signature",
        .cosignatures: "cosignatures", .inclusion: "inclusion", .freshness: "freshness", .consistency: "consistency",
    ]

    /// How a lookup by a friend ends.
    private static func status(_ attack: Attack) -> Int32 {
        switch attack.stop {
        case .monitor: 0
        case .changedKeys: 2
        case .check, .transport: [.futureCheckpoint, .futureEpoch].contains(attack) ? 3 : 1
        }
    }

    @Test func theListNamesEveryAttack() async throws {
        try await Town.with { town in
            let exit = try await Program.lyingServer.run(["list"], in: town.folder)
            expect(0, exit)
            #expect(exit.lines == Attack.allCases.map { "\($0.rawValue)\t\($0.summary)" })
            #expect(exit.lines.count == 30)
        }
    }

    @Test(arguments: Attack.allCases.filter { $0.stop != .monitor })
    func anAttackIsBlockedAndTheAnswerNamesTheCheck(attack: Attack) async throws {
        try await Town.with { town in
            let before = try town.bytes("alice/keystore")
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                let exit = try await town.signet("alice", "lookup", Town.bob, "--json")
                expect(Self.status(attack), exit, attack.rawValue)
                try Self.compare(exit, attack)
                #expect(!exit.complaint.isEmpty)
                let page = try await town.signet("alice", "lookup", Town.bob)
                #expect(page.status == exit.status && !page.output.contains("pinned now"))
                #expect(page.output.contains("✗") || attack.stop == .transport)
            }
            #expect(try town.bytes("alice/keystore") == before)
            let evidence = try await town.signet("alice", "evidence", "list", "--json").object()["evidence"] as? [Any]
            let isKept = attack.stop == .check(.consistency)
            #expect(evidence?.isEmpty == !isKept, "only a log that contradicts itself leaves evidence")
        }
    }

    /// A new client has no view that the old log could contradict: only the age of its last epoch stops it.
    @Test func aFrozenViewIsStoppedByItsAgeAtTheFirstVisit() async throws {
        try await Town.with { town in
            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            try await town.serving(.lyingServer, ["--attack", Attack.frozenView.rawValue, "--port", "0"]) { _ in
                let exit = try await town.signet("carol", "lookup", Town.bob, "--json")
                expect(1, exit)
                let checks = try exit.checks()
                #expect(checks.first { $0.result == "failed" }?.name == "epoch")
                #expect(exit.complaint.contains("hour"), "\(exit.complaint)")
            }
        }
    }

    /// A device is logged in bob's name, and the server answers no request that would show it. Only the daily check
    /// fails, which is reported after a day.
    @Test func aServerThatAnswersNoHistoryIsReportedAfterADay() async throws {
        try await Town.with { town in
            let options = ["--attack", Attack.hiddenDevice.rawValue, "--no-history", "--port", "0"]
            try await town.serving(.lyingServer, options) { _ in
                let store = try SQLiteStore.open(at: town["bob/store.sqlite"].path())
                let now = UInt64(Date().timeIntervalSince1970)
                for (age, isNamed) in [(UInt64(80_000), false), (86_400, true)] {
                    try await store.setLastCheck(now - age)
                    let exit = try await town.signet("bob", "lookup", Town.alice)
                    expect(0, exit)
                    let words = "your own account has not been checked since"
                    #expect(exit.complaint.contains(words) == isNamed, "\(exit.complaint)")
                }
                try store.close()
            }
        }
    }

    @Test(arguments: Attack.allCases.filter { $0.stop == .monitor })
    func attacksThatFriendsCannotSeeAreReportedByTheOwnersMonitor(attack: Attack) async throws {
        try await Town.with { town in
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                expect(0, try await town.signet("alice", "lookup", Town.bob), "a lookup does not show it")
                let told = ["--notify", "echo \"$SIGNET_ALARM\" >>told"]
                let exit = try await town.signet(["monitor", "--json", "--home", "bob"] + told)
                expect(5, exit)
                #expect(
                    try exit.keys() == [
                        "accepted", "alarms", "entries", "epoch", "first", "handle", "milestones", "resubmitted",
                        "version",
                    ])
                let alarms = try #require(exit.object()["alarms"] as? [[String: Any]])
                #expect(alarms.allSatisfy { $0.keys.sorted() == ["accepted", "alarm", "remedy", "what"] })
                let names = alarms.compactMap { $0["alarm"] as? String }
                #expect(names.contains("wrong-step") && names.count > 1)
                #expect(names.contains("unknown-device") == (attack != .wrongStep))
                #expect(
                    String(decoding: try town.bytes("told"), as: UTF8.self).split(separator: "\n").map(String.init)
                        == names)
                let page = try await town.signet("bob", "monitor")
                expect(5, page, "an alarm stays until it is accepted")
                #expect(page.output.contains("✗ alarm"))
                expect(0, try await town.signet("bob", "monitor", "--accept"))
                expect(0, try await town.signet("bob", "monitor"))
            }
        }
    }

    private static func compare(_ exit: Exit, _ attack: Attack) throws {
        let object = try exit.object()
        #expect(object["devices"] == nil, "a program must not find keys")
        switch attack.stop {
        case .transport: #expect(try exit.keys() == ["failure", "remedy", "status"])
        case .changedKeys: #expect(object["outcome"] as? String == "changed")
        case .monitor: Issue.record("no lookup stops it")
        case .check(let expected):
            let checks = try exit.checks()
            let failed = try #require(checks.firstIndex { $0.result == "failed" })
            #expect(checkNames[expected] == checks[failed].name)
            // Two contradicting heads are refused before all other checks that follow the cosignatures.
            let isSeenEarly = [.rollback, .forkedWitness, .frozenView].contains(attack)
            let reached = isSeenEarly ? try #require(checks.firstIndex { $0.name == "freshness" }) : failed
            #expect(checks[..<reached].allSatisfy { $0.result == "passed" })
            #expect(checks[reached..<failed].allSatisfy { $0.result == "not reached" })
            #expect(checks[(failed + 1)...].allSatisfy { $0.result == "not reached" })
            #expect(object["outcome"] as? String == "refused")
        }
        if attack.stop != .transport { #expect(object["usable"] as? Bool == false) }
    }

    @Test(arguments: [Attack.rollback, .splitView, .forkedWitness])
    func theEvidenceIsTwoStatementsThatTheDirectorySigned(attack: Attack) async throws {
        try await Town.with { town in
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                expect(1, try await town.signet("alice", "lookup", Town.bob))
            }
            let list = try await town.signet("alice", "evidence", "list", "--json", "--advanced")
            let kept = try #require(list.object()["evidence"] as? [[String: Any]])
            #expect(kept.map { $0.keys.sorted() } == [["fault", "known", "origin", "received"]])
            let fault = try #require(kept.first?["fault"] as? String)
            let expected = [Attack.rollback: "rollback", .splitView: "inconsistent", .forkedWitness: "fork"]
            #expect(fault == expected[attack])

            let exit = try await town.signet("alice", "evidence", "export", "evidence", "--json")
            let names = ["policy", "1-\(fault)-known.note", "1-\(fault)-received.note", "1-\(fault).evidence"]
            #expect(try exit.object()["files"] as? [String] == names)
            let policy = try Policy(decoding: town.bytes("evidence/policy"))
            let heads = try names[1...2].map { name in
                try policy.verify(SignedNote(decoding: town.bytes("evidence/\(name)"))).checkpoint.head
            }
            #expect(heads[0] != heads[1])
            let known = String(decoding: try town.bytes("evidence/\(names[1])"), as: UTF8.self)
            #expect(kept[0]["known"] as? String == known)
        }
    }

    @Test func aServerThatRestoredAnOldBackupIsDetected() async throws {
        try await Town.with { town in
            let copy = try await Exit.of(URL(filePath: "/bin/cp"), ["-a", "server", "backup"], in: town.folder)
            #expect(copy.status == 0)
            try await town.serving { _ in
                try await town.addDeviceOfBob("tablet")
                expect(2, try await town.signet("alice", "lookup", Town.bob))
            }
            try await town.serving(data: "backup") { _ in
                let exit = try await town.signet("alice", "log", "verify", "--json")
                expect(1, exit)
                #expect(exit.complaint.hasPrefix("The log is shorter than when you last looked"))
                expect(1, try await town.signet("alice", "lookup", Town.bob))
            }
            let list = try await town.signet("alice", "evidence", "list", "--json").object()["evidence"] as? [Any]
            #expect(list?.isEmpty == false)
            try await town.serving { _ in expect(0, try await town.signet("alice", "log", "verify")) }
        }
    }
}
