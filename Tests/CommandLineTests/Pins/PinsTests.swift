// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinScenarios
import Testing

/// `signet pins`
@Suite struct PinsTests {
    private static let vectors = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/key-pinning")

    /// A folder with a policy, a chain and roots of a scenario, and the scenario's server.
    private func withServer(
        _ row: String, _ body: (_ town: Town, _ port: Int, _ server: ScenarioServer) async throws -> Void
    ) async throws {
        let scenario = try #require(try PinScenario.all(at: Date()).first { $0.row == row })
        let server = try await ScenarioServer(scenario)
        try await Town.with { town in
            try town.write(try scenario.policy().encoded, to: "policy")
            try town.write(scenario.anchors.flatMap { PEMBlock.text($0) }, to: "roots.pem")
            try town.write(scenario.presented.flatMap { PEMBlock.text($0) }, to: "chain.pem")
            try await body(town, server.port, server)
        }
        await server.stop()
    }

    @Test func showPrintsThePinsThatOpenSSLPrints() async throws {
        try await Town.with { town in
            let table = try String(contentsOf: Self.vectors.appending(path: "pins.txt"), encoding: .utf8)
            for line in table.split(separator: "\n") {
                let parts = line.split(separator: " ")
                let exit = try await town.signet([
                    "pins", "show", Self.vectors.appending(path: "\(parts[0]).pem").path(),
                ])
                expect(0, exit)
                #expect(exit.output.contains("sha256/\(parts[1])"))
            }
        }
    }

    @Test func showPrintsALiveServersChain_andSendsNoRequest() async throws {
        try await withServer("01") { town, port, server in
            let exit = try await town.signet(["pins", "show", "localhost:\(port)", "--roots", "roots.pem"])
            expect(0, exit)
            for word in ["presented", "validated", "leaf", "intermediate", "root", "CN=Root A"] {
                #expect(exit.output.contains(word), "\(word)")
            }
            #expect(exit.errors.contains("trust on first use"))
            #expect(server.plaintextByteCount == 0)
        }
    }

    @Test func showNamesTheByteOfAMalformedCertificate() async throws {
        try await Town.with { town in
            try town.write("-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n".utf8, to: "bad.pem")
            let exit = try await town.signet(["pins", "show", "bad.pem"])
            expect(65, exit)
            #expect(exit.complaint.contains("at byte"))
        }
    }

    @Test func checkReportsWhichFutureChangesLockDevicesOut() async throws {
        try await withServer("05") { town, port, _ in
            let server = "localhost:\(port)"
            let exit = try await town.signet(["pins", "check", "policy", server, "--roots", "roots.pem"])
            expect(2, exit)
            #expect(exit.output.contains("locked out  devices stop trusting CN=Root A"))
            #expect(exit.output.contains("through     the server's certificate is renewed"))
            let offline = try await town.signet([
                "pins", "check", "policy", "localhost", "--roots", "roots.pem", "--chain", "chain.pem",
            ])
            expect(2, offline)
            #expect(offline.output == exit.output)
        }
        try await withServer("06") { town, port, _ in
            expect(1, try await town.signet(["pins", "check", "policy", "localhost:\(port)", "--roots", "roots.pem"]))
            expect(1, try await town.signet(["pins", "check", "policy", "elsewhere.test", "--roots", "roots.pem"]))
        }
    }

    @Test func tryReachesTheGenuineServerAndRefusesAnother() async throws {
        try await withServer("01") { town, port, server in
            let base = ["pins", "try", "policy", "localhost:\(port)", "--roots", "roots.pem", "--bearer", "x"]
            expect(0, try await town.signet(base))
            expect(0, try await town.signet(base + ["--websocket", "hello", "--subprotocol", "v12.stomp"]))
            #expect(server.sightings.map(\.authorization) == ["Bearer x", "Bearer x"])
        }
        try await withServer("22") { town, port, server in
            let exit = try await town.signet(["pins", "try", "policy", "localhost:\(port)", "--roots", "roots.pem"])
            expect(1, exit)
            #expect(exit.complaint.contains("not with a key that you expect"))
            #expect(server.plaintextByteCount == 0)
        }
    }

    @Test func lintReportsWrongLinesAndRiskyPins() async throws {
        try await withServer("10") { town, _, _ in
            let exit = try await town.signet(["pins", "lint", "policy"])
            expect(2, exit)
            #expect(exit.output.contains("only the server's own keys are pinned"))
            try town.edit("policy") { $0.replacing("mode enforce", with: "mode off") }
            let broken = try await town.signet(["pins", "lint", "policy"])
            expect(65, broken)
            #expect(broken.complaint.contains("Line 7"))
        }
        try await withServer("01") { town, _, _ in
            expect(0, try await town.signet(["pins", "lint", "policy", "--chain", "chain.pem"]))
            try town.edit("policy") {
                $0.replacing("\npin ", with: "\nx ").replacing("\nbackup ", with: "\npin ").replacing(
                    "\nx ", with: "\nbackup ")
            }
            let exit = try await town.signet(["pins", "lint", "policy", "--chain", "chain.pem"])
            expect(2, exit)
            #expect(exit.output.contains("in the server's chain"))
        }
    }

    @Test func aBackupIsAKeyARequestAndAPin() async throws {
        try await Town.with { town in
            let exit = try await town.signet(["pins", "backup", "api.example.org", "127.0.0.1", "--out", "spare"])
            expect(0, exit)
            let openssl =
                "openssl req -in spare.csr -noout -verify -pubkey 2>/dev/null | openssl pkey -pubin -outform der"
            let pin = try await Exit.of(
                URL(filePath: "/bin/sh"), ["-c", openssl + " | openssl dgst -sha256 -binary | base64"],
                in: town.folder)
            #expect(exit.output == "backup leaf sha256/" + pin.output)
            let mode = try FileManager.default.attributesOfItem(atPath: town["spare.key"].path())[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
            expect(65, try await town.signet(["pins", "backup", "api.example.org", "--out", "spare"]))
        }
    }

    @Test func convertReadsBackEveryFormat() async throws {
        try await withServer("01") { town, _, _ in
            for format in ["okhttp", "android", "trustkit", "pinned-domains"] {
                let there = try await town.signet(["pins", "convert", "policy", "--from", "signet", "--to", format])
                expect(0, there)
                #expect(there.errors.contains("lost: localhost: where in the certificate path each key may stand"))
                try town.write(there.output.utf8, to: "other")
                let back = try await town.signet(["pins", "convert", "other", "--from", format])
                expect(0, back)
                let (old, new) = (
                    try PinPolicy(decoding: try town.bytes("policy")), try PinPolicy(decoding: Array(back.output.utf8))
                )
                #expect(new.rules.map { $0.pins.map(\.key) } == old.rules.map { $0.pins.map(\.key) })
            }
            expect(64, try await town.signet(["pins", "convert", "policy", "--from", "signet", "--to", "raw-hex"]))
        }
    }

    @Test func aRefusalIsReportedOnceADay() async throws {
        try await Town.withServer { town, _ in
            // Another directory file names other keys: to this client the server is an interceptor.
            try town.edit("alice/directory") { text in
                text.replacing(
                    /\ntls-pin [^\n]*/, with: "\ntls-pin leaf sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=")
            }
            for _ in 0..<2 { expect(1, try await town.signet("alice", "lookup", Town.bob)) }
            let exit = try await town.signet("alice", "pins", "reports")
            expect(0, exit)
            let lines = exit.output.split(separator: "\n")
            #expect(lines.count == 1)
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8)) as? [String: Any])
            #expect(report["hostname"] as? String == "localhost")
            #expect((report["validated-certificate-chain"] as? [String])?.count == 2)
            expect(0, try await town.signet("alice", "pins", "reports", "--clear"))
            #expect(try await town.signet("alice", "pins", "reports").output.isEmpty)
        }
    }

    @Test func thirtyTestServersRun_andAPinnedClientSendsThemNoRequest() async throws {
        try await Town.with { town in
            let script = """
                \(Program.lyingServer.file.path()) certificates --out lab > attack.out 2>&1 & attack=$!
                for _ in $(seq 600); do grep -q '^ready$' attack.out && break; sleep 0.1; done
                port=$(awk -F '\\t' '$1 == "22" { print $2 }' attack.out)
                \(Program.signet.file.path()) pins try lab/22/policy.pins localhost:$port --roots lab/22/roots.pem
                echo "status $?"
                sed -e 's/^mode enforce$/mode trust-only/' -e '/^pin /d' -e '/^backup /d' lab/22/policy.pins > open.pins
                \(Program.signet.file.path()) pins try open.pins localhost:$port --roots lab/22/roots.pem
                kill $attack; wait $attack; cat attack.out
                """
            let exit = try await Exit.of(URL(filePath: "/bin/bash"), ["-c", script], in: town.folder)
            #expect(exit.output.contains("status 1"))
            #expect(exit.output.contains("LEAK\t22\tGET /"))
            #expect(exit.output.split(separator: "\n").count { $0.contains("\t22\t") } == 1)
            #expect(exit.output.matches(of: /\n[0-9]{2}[b-d]?\t/).count >= 29)
        }
    }
}
