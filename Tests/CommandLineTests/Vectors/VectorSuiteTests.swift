// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProtocolTesting
import Testing

@testable import signet_vectors

/// The vector runner on published sets, on sets with wrong verdicts, and on malformed sets.
struct VectorSuiteTests {
    static let shared =
        ProcessInfo.processInfo.environment["SIGNET_VECTORS"].map { URL(filePath: $0) }
        ?? URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/vectors")
    static let present = FileManager.default.fileExists(atPath: shared.path())

    static let suites: [any VectorSuite.Type] = [
        MerkleSuite.self, Ed25519Suite.self, VRFSuite.self, TlogProofSuite.self,
        CosignedCheckpointsSuite.self,
        TilesLogSuite.self,
        DIDKeySuite.self,
        SFrameSuite.self,
        WitnessSuite.self,
        ThemisSuite.self,
        OPAQUESuite.self,
        SLIP39Suite.self,
        FROSTShareSuite.self,
        LookupSuite.self,
        HPKESuite.self,
        CallDigestSuite.self, PinsSuite.self,
        PresentationSuite.self, StatusListSuite.self, RequestObjectSuite.self, ResponseSuite.self,
        MobileDocumentSuite.self,
    ]
    static let ours = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")

    private func run(_ suite: any VectorSuite.Type, _ path: String) throws -> VectorReport {
        try suite.report(on: path)
    }

    private func temporaryFile(_ text: String) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        try Data(text.utf8).write(to: file)
        return file.path()
    }

    @Test(.enabled(if: present, "the outside vectors are not here"))
    func everyPublishedSetPasses() throws {
        let sets: [(any VectorSuite.Type, String, Int)] = [
            (MerkleSuite.self, "merkle", 196), (MerkleSuite.self, "merkle/inclusion.json", 98),
            (TilesLogSuite.self, "tiles-log", 91), (Ed25519Suite.self, "wycheproof/ed25519_test.json", 151),
            (VRFSuite.self, "vrf-r255/vrf-r255.json", 60), (TlogProofSuite.self, "tlog-proof", 70),
            (TlogProofSuite.self, "tlog-proof/index.json", 70),
            (CosignedCheckpointsSuite.self, "cosigned-checkpoints/cosigned-checkpoints.json", 30),
            (DIDKeySuite.self, "did-key/nist-curves.json", 7),
            (SFrameSuite.self, "sframe/rfc9605.json", 300),
            (WitnessSuite.self, "witness", 14), (WitnessSuite.self, "witness/litewitness.txt", 10),
            (OPAQUESuite.self, "opaque/vectors.json", 19),
            (SLIP39Suite.self, "slip39/vectors.json", 45),
            (FROSTShareSuite.self, "frost-p256", 3 + 257 + 2 + 6 + 1),
            (PresentationSuite.self, "credentials/sd-jwt-vc.json", 168),
            (StatusListSuite.self, "credentials/status-list.json", 54),
            (RequestObjectSuite.self, "credentials/request-objects.json", 80),
            (ResponseSuite.self, "credentials/responses.json", 34),
            (MobileDocumentSuite.self, "credentials/mdoc.json", 39),
        ]
        for (suite, path, count) in sets {
            let report = try run(suite, Self.shared.appending(path: path).path())
            #expect(report.passed == count && report.failed == 0, "\(path)")
        }
    }

    /// All records except those that stretch passphrases, which take minutes unoptimized: one of them stays.
    @Test func theThemisSetPassesAndWithOppositeVerdictsItsEdgeCasesFail() throws {
        let file = Self.ours.appending(path: "themis/themis.json")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let first = lines.firstIndex { $0.contains("\"iterations\"") }
        let quick = lines.indices.filter {
            $0 == first || !(lines[$0].contains("\"iterations\"") || lines[$0].contains("unseal_passphrase"))
        }
        let text = quick.map { String(lines[$0]) }.joined(separator: "\n").replacing(",\n]", with: "\n]")
        let report = try run(ThemisSuite.self, temporaryFile(text))
        #expect(report.passed == 475 && report.failed == 0)
        #expect(report.lines.allSatisfy { $0.hasPrefix("note: ") && $0.contains("refused by choice") })
        let opposite = text.replacing("\"accepted\": true", with: "\"accepted\": false")
        let failures = try run(ThemisSuite.self, temporaryFile(opposite)).failed
        // Twice what Themis accepts, less the 9 that the strict reading and the 5 that both readings refuse.
        #expect(failures == text.ranges(of: "\"accepted\": true").count * 2 - 9 - 5 * 2)
    }

    @Test func theHPKEVectorsPass() throws {
        let report = try run(HPKESuite.self, Self.ours.appending(path: "hpke/hpke.json").path())
        #expect(report.passed == 18 && report.failed == 0)
    }

    @Test(.enabled(if: present, "the outside vectors are not here"))
    func aSetWithOppositeVerdictsFailsThroughout() throws {
        func opposite(_ path: String, _ swaps: [(String, String)]) throws -> String {
            var text = try String(contentsOf: Self.shared.appending(path: path), encoding: .utf8)
            for (word, other) in swaps {
                text = text.replacing(word, with: "\u{1}").replacing(other, with: word).replacing(
                    "\u{1}", with: other)
            }
            return try temporaryFile(text)
        }
        let merkle = try opposite("merkle/inclusion.json", [("\"wantErr\": true", "\"wantErr\": false")])
        #expect(try run(MerkleSuite.self, merkle).failed == 98)
        let signatures = try opposite(
            "wycheproof/ed25519_test.json", [("\"result\": \"valid\"", "\"result\": \"invalid\"")])
        #expect(try run(Ed25519Suite.self, signatures).failed == 151)
        let checkpoints = try opposite(
            "cosigned-checkpoints/cosigned-checkpoints.json", [("\"valid\": true", "\"valid\": false")])
        #expect(try run(CosignedCheckpointsSuite.self, checkpoints).failed == 30)
        let verdicts = [("\"valid\": true", "\"valid\": false")]
        #expect(try run(PresentationSuite.self, opposite("credentials/sd-jwt-vc.json", verdicts)).failed == 168)
        #expect(try run(StatusListSuite.self, opposite("credentials/status-list.json", verdicts)).failed == 54)
        #expect(
            try run(RequestObjectSuite.self, opposite("credentials/request-objects.json", verdicts)).failed == 80)
        #expect(try run(ResponseSuite.self, opposite("credentials/responses.json", verdicts)).failed == 34)
        #expect(try run(MobileDocumentSuite.self, opposite("credentials/mdoc.json", verdicts)).failed == 39)
        let transcript = try opposite(
            "witness/litewitness.txt", [("HTTP 200", "HTTP 422"), ("HTTP 409", "HTTP 403"), ("size\":5", "size\":6")])
        #expect(try run(WitnessSuite.self, transcript).failed == 10)
    }

    @Test(arguments: [
        "", "garbage", "[]", "{}", "[{}]", "[1]", "null", "\u{0}", "{\"valid\":[],\"invalid\":[]}",
    ])
    func aMalformedSetIsAnError(text: String) throws {
        let path = try temporaryFile(text)
        for suite in Self.suites {
            #expect(throws: VectorFileError.self, "\(suite)") { try run(suite, path) }
        }
    }

    @Test(arguments: [("lookup", 85), ("milestones", 27), ("recovery-delay", 44)])
    func lookupSetsPass_andFailWithOppositeVerdicts(name: String, count: Int) throws {
        let file = Self.ours.appending(path: "lookup/\(name).json")
        let report = try run(LookupSuite.self, file.path())
        #expect(report.passed == count && report.failed == 0)
        let opposite = try String(contentsOf: file, encoding: .utf8)
            .replacing("\"outcome\":\"", with: "\"outcome\":\"not ")
        #expect(try run(LookupSuite.self, temporaryFile(opposite)).failed == count)
    }

    @Test func aFolderOfLookupsIsRunFileByFile() throws {
        let report = try run(LookupSuite.self, Self.ours.appending(path: "lookup").path())
        #expect(report.passed == 156 && report.failed == 0)
    }

    @Test func anUnknownKindOfCasesIsNamed() throws {
        let path = try temporaryFile("[{\"kind\":\"handover\"}]")
        #expect {
            try run(LookupSuite.self, path)
        } throws: { error in
            (error as? VectorFileError)?.message.contains("cases of kind \"handover\" are not known here") == true
        }
    }

    @Test func aMissingSetIsAnError() throws {
        for suite in Self.suites {
            #expect(throws: VectorFileError.self, "\(suite)") { try run(suite, "/nonexistent/folder") }
        }
    }

    @Test func aMissingFieldIsNamed() throws {
        let path = try temporaryFile("[{\"leafIdx\": 1, \"proof\": null}]")
        #expect {
            try run(MerkleSuite.self, path)
        } throws: { error in
            (error as? VectorFileError)?.message.contains("\"treeSize\" is missing at [0]") == true
        }
    }

    @Test func numbersBeyondDoublesAreReadExactly() throws {
        let hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        func file(_ size: String) throws -> String {
            try temporaryFile(
                """
                {"leafIdx": 9007199254740992, "treeSize": \(size), "root": "\(hash)", "leafHash": "\(hash)",
                 "proof": [], "wantErr": true, "unknown": {}}
                """)
        }
        #expect(try run(MerkleSuite.self, file("9007199254740993")).passed == 1)
        let tests: MerkleCases = try VectorFile(file("18446744073709551615")).json()
        guard case .inclusion(let test) = try #require(tests.all.first) else { return #expect(Bool(false)) }
        #expect(test.leafIdx == 9_007_199_254_740_992 && test.treeSize == .max)
    }

    @Test func subtreeCasesAreSkippedWithoutFailing() throws {
        let path = try temporaryFile("[{\"start\": 0, \"end\": 1}]")
        let report = try run(MerkleSuite.self, path)
        #expect(report.passed == 0 && report.failed == 0)
    }
}

/// The published pins of a directory's server.
struct PinsVectorTests {
    @Test func theSetIsTheGenerators_andEachCaseHasItsVerdict() throws {
        let file = VectorSuiteTests.ours.appending(path: "pins/pins.json")
        #expect(try Data(LookupVectorSet.pinsFile()) == Data(contentsOf: file))
        let report = try PinsSuite.report(on: file.path())
        #expect(report.passed == 42 && report.failed == 0, "\(report.lines)")
        #expect(Set(try LookupVectorSet.pins().map(\.name)).count == 42)
    }

    /// Each check by which pins are refused has its cases.
    @Test func everyCheckHasCases() throws {
        let checks = Set(try LookupVectorSet.pins().compactMap(\.verdict.check))
        #expect(
            checks == [
                "form", "note", "signature", "text", "origin", "index", "history", "version", "older", "replaced",
                "known", "noRecoveryKey",
            ])
    }

    @Test func withOppositeVerdictsEachCaseFails() throws {
        let text = String(decoding: try LookupVectorSet.pinsFile(), as: UTF8.self)
        let turned = text.replacing("\"outcome\":\"taken\"", with: "\"outcome\":\"later\"")
            .replacing("\"outcome\":\"refused\"", with: "\"outcome\":\"taken\"")
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        try Data(turned.utf8).write(to: file)
        // The case whose verdict was "later" before passes.
        let report = try PinsSuite.report(on: file.path())
        #expect(report.failed == 41 && report.passed == 1)
    }
}

/// The published digests of a call's frames.
struct CallDigestVectorTests {
    @Test func theSetIsTheGenerators_andEachCaseHasItsVerdict() throws {
        let file = VectorSuiteTests.ours.appending(path: "call-digests/digests.json")
        #expect(try CallDigestSet.file() == Data(contentsOf: file))
        let report = try CallDigestSuite.report(on: file.path())
        #expect(report.passed == 47 && report.failed == 0, "\(report.lines)")
        #expect(Set(try CallDigestSet.cases().map(\.name)).count == 47)
    }

    @Test func withOppositeVerdictsEachCaseFails() throws {
        let cases = try CallDigestSet.cases().map { test in
            var verdict = test.verdict
            (verdict.refused, verdict.unconfirmed) = (
                verdict.refused == nil ? "malformed" : nil, verdict.unconfirmed + 1
            )
            return CallDigestVector(
                name: test.name, why: test.why, call: test.call, receiver: test.receiver, events: test.events,
                verdict: verdict)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        try JSONEncoder().encode(cases).write(to: file)
        #expect(try CallDigestSuite.report(on: file.path()).failed == 47)
    }
}
