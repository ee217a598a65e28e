// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TransparencyLog

/// `signet policy` on files that an operator wrote.
struct PolicyFileTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "policy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func key(_ name: String, _ algorithm: VerifierKey.Algorithm, _ seed: UInt8) throws -> String {
        let signer = try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: [UInt8](repeating: seed, count: 32))
        return String(decoding: signer.verifierKey.encoded, as: UTF8.self)
    }

    /// A log, three witnesses of which two have addresses, and the rules.
    private func signet(_ verb: String, _ rules: String, _ options: String...) async throws -> Exit {
        let text = try """
        log \(key("log.example/one", .ed25519, 1)) https://log.example
        witness w0 \(key("witness.example/0", .cosignatureV1, 2)) https://witness.example/0
        witness w1 \(key("witness.example/1", .cosignatureV1, 3)) https://witness.example/1
        witness w2 \(key("witness.example/2", .cosignatureV1, 4))
        \(rules)

        """
        try Data(text.utf8).write(to: folder.appending(path: "policy"))
        return try await Program.signet.run(["policy", verb, "policy"] + options, in: folder)
    }

    /// The documented example for `signetd init --witnesses` is valid.
    @Test func theDocumentedWitnessLinesAreAValidPolicy() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Documentation/witness.md"), encoding: .utf8)
        let lines = try #require(page.split(separator: "```\n").first { $0.hasSuffix("quorum outside\n") })
        let log = try key("example.org/log", .ed25519, 1)
        let policy = try Policy(decoding: Array("log \(log)\n\(lines)".utf8))
        #expect(policy.verifiableWitnesses.count == 3)
        #expect(policy.witnesses.allSatisfy { $0.url?.starts(with: "https://".utf8) ?? false })
        let names = policy.witnesses.map(\.name)
        #expect(policy.isQuorumMet(by: Set(names.prefix(2))) && !policy.isQuorumMet(by: Set(names.prefix(1))))
    }

    @Test func aPolicyIsExplained() async throws {
        let exit = try await signet("show", "group g 2 w0 w1\ngroup all-of-it any g\nquorum all-of-it")
        expect(0, exit)
        #expect(exit.output.contains("all of (w0, w1) cosigned it"))
        #expect(exit.output.contains("without w0  the log stops"))
        #expect(exit.output.contains("! w2 does not count"))
        #expect(exit.output.contains("! w2 has no address"))
        let other = try await signet("show", "group g 2 w0 w1 w2\nquorum g")
        #expect(other.output.contains("2 of (w0, w1, w2)"))
        #expect(other.output.contains("without w2  the log continues"))
    }

    @Test func showGivesTheSameFactsAsJSON() async throws {
        let exit = try await signet("show", "group g 2 w0 w1 w2\nquorum g", "--json")
        expect(0, exit)
        let object = try exit.object()
        #expect(object["fewestToMeet"] as? Int == 2)
        #expect(object["fewestToStop"] as? Int == 2)
        #expect(object["sound"] as? Bool == true)
        #expect((object["witnesses"] as? [[String: Any]])?.map { $0["stopsTheLog"] as? Bool } == [false, false, false])
    }

    @Test func aQuorumThatOneKeyCanMeetIsNotSound() async throws {
        expect(0, try await signet("check", "group g 2 w0 w1 w2\nquorum g"))
        for rules in ["quorum none", "quorum w0", "group g any w0 w1 w2\nquorum g"] {
            let exit = try await signet("check", rules)
            expect(1, exit, rules)
            #expect(exit.complaint.contains("One key is enough"))
        }
    }

    /// What `signetd rotate witnesses` reads names the server's own witness, and defines neither that nor the log.
    @Test func theWitnessesOfADirectoryAreCheckedWithItsClock() async throws {
        let directory = try """
        log \(key("log.example/one", .ed25519, 1))
        witness clock \(key("log.example/one/clock", .cosignatureV1, 2))
        witness former \(key("witness.example/0", .cosignatureV1, 3)) https://witness.example/0
        group all-of-it all clock former
        quorum all-of-it

        """
        try Data(directory.utf8).write(to: folder.appending(path: "directory"))
        func check(_ rules: String, _ options: String...) async throws -> Exit {
            let witness = try "witness w1 \(key("witness.example/1", .cosignatureV1, 4)) https://witness.example/1\n"
            try Data((witness + rules + "\n").utf8).write(to: folder.appending(path: "policy"))
            return try await Program.signet.run(["policy", "check", "policy"] + options, in: folder)
        }
        let alone = try await check("group both all clock w1\nquorum both")
        expect(65, alone)
        #expect(alone.complaint.contains("line 2: a name that no earlier line defines; where it is `clock`"))
        let checked = try await check("group both all clock w1\nquorum both", "--directory", "directory")
        expect(0, checked)
        #expect(checked.output.contains("2 witnesses of 2 can be enough"), "\(checked.output)")
        expect(1, try await check("quorum w1", "--directory", "directory"), "one key is enough")
        let former = try await check("group both all clock former\nquorum both", "--directory", "directory")
        expect(65, former, "the witnesses of before are no longer there")
        #expect(former.complaint.contains("line 2: a name that no earlier line defines"), "\(former.complaint)")
    }

    @Test(
        arguments: [
            ("group g 2 w0 w9\nquorum g", "line 5: a name that no earlier line defines"),
            ("quorum w0\nquorum w1", "line 6: a second quorum line"), ("", "it has no quorum line"),
            ("group g 4 w0 w1 w2\nquorum g", "line 5: the threshold"), ("\nwitnes w3", "line 6: it begins with none"),
            ("witness w3 nokey", "line 5: not a verifier key"), ("log a b c", "line 5: 4 words"),
        ])
    func aWrongPolicyIsReportedWithItsLine(rules: String, words: String) async throws {
        for verb in ["show", "check"] {
            let exit = try await signet(verb, rules)
            expect(65, exit, rules)
            #expect(exit.complaint.contains(words), "\(exit.complaint)")
        }
        #expect(try await signet("check", rules, "--json").object()["status"] as? Int == 65)
    }
}
