import Foundation
import KeyTransparency
import SignetTesting
import Testing
import TransparencyLog

/// Every attack of the lying server at a person who knows the other one and has seen the log.
@Suite(.serialized) struct AttackTests {
    /// The checks by the names that programs rely on.
    private static let checkNames: [LookupCheck: String] = [
        .envelope: "envelope", .vrf: "vrf", .accountState: "account-state", .leaves: "leaves",
        .checkpointText: "checkpoint-text", .origin: "origin", .logSignature: "log-signature",
        .cosignatures: "cosignatures", .inclusion: "inclusion", .freshness: "freshness", .consistency: "consistency",
    ]

    @Test func theListNamesSixteenAttacks() async throws {
        try await Town.with { town in
            let exit = try await Program.lyingServer.run(["list"], in: town.folder)
            expect(0, exit)
            #expect(exit.lines == Attack.allCases.map { "\($0.rawValue)\t\($0.summary)" })
            #expect(exit.lines.count == 16)
        }
    }

    @Test(arguments: Attack.allCases)
    func anAttackIsBlockedAndTheAnswerNamesTheCheck(attack: Attack) async throws {
        try await Town.with { town in
            let before = try town.bytes("alice/keystore")
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                let exit = try await town.signet("alice", "lookup", Town.bob, "--json")
                expect(attack == .replacedAccount ? 2 : 1, exit, attack.rawValue)
                try Self.compare(exit, attack)
                #expect(!exit.complaint.isEmpty)
                let page = try await town.signet("alice", "lookup", Town.bob)
                #expect(page.status == exit.status && !page.output.contains("pinned now"))
                #expect(page.output.contains("✗") || attack.stop == .transport)
            }
            #expect(try town.bytes("alice/keystore") == before)
            let evidence = try await town.signet("alice", "evidence", "list", "--json").object()["evidence"] as? [Any]
            let isKept = [Attack.rollback, .splitView].contains(attack)
            #expect(evidence?.isEmpty == !isKept, "kept of a log that contradicts itself, and of nothing else")
        }
    }

    private static func compare(_ exit: Exit, _ attack: Attack) throws {
        let object = try exit.object()
        #expect(object["devices"] == nil, "a program must not find keys")
        switch attack.stop {
        case .transport: #expect(try exit.keys() == ["failure", "remedy", "status"])
        case .changedKeys: #expect(object["outcome"] as? String == "changed")
        case .contradiction: #expect(object["outcome"] as? String == "contradicted")
        case .check(let allowed):
            let checks = try exit.checks()
            let failed = try #require(checks.firstIndex { $0.result == "failed" })
            #expect(allowed.compactMap { checkNames[$0] }.contains(checks[failed].name))
            // A smaller log is refused before inclusion and freshness are looked at: two that cannot be said to hold.
            let reached = attack == .rollback ? failed - 2 : failed
            #expect(checks[..<reached].allSatisfy { $0.result == "passed" })
            #expect(checks[reached..<failed].allSatisfy { $0.result == "not reached" })
            #expect(checks[(failed + 1)...].allSatisfy { $0.result == "not reached" })
            #expect(object["outcome"] as? String == "refused")
        }
        if attack.stop != .transport { #expect(object["usable"] as? Bool == false) }
    }

    @Test(arguments: [Attack.rollback, .splitView])
    func theEvidenceIsTwoStatementsThatTheDirectorySigned(attack: Attack) async throws {
        try await Town.with { town in
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                expect(1, try await town.signet("alice", "lookup", Town.bob))
            }
            let list = try await town.signet("alice", "evidence", "list", "--json")
            let kept = try #require(list.object()["evidence"] as? [[String: Any]])
            #expect(kept.map { $0.keys.sorted() } == [["fault", "known", "origin", "received"]])
            let fault = try #require(kept.first?["fault"] as? String)
            #expect(fault == "rollback" || attack == .splitView)

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

    @Test func aServerThatWentBackToAnOldBackupIsFoundOut() async throws {
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
