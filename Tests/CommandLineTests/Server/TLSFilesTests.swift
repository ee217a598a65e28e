// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Files that the operator puts there: a certificate of their own, and the key of the server's authority.
@Suite(.serialized) struct TLSFilesTests {
    /// As an ACME client does that writes where `--tls-cert` points.
    @Test(.timeLimit(.minutes(3))) func aRenewedCertificateInTheOperatorsOwnFilesIsServed() async throws {
        try await Town.with { town in
            for name in ["server.pem", "server.key"] {
                try FileManager.default.copyItem(at: town["server/tls/\(name)"], to: town[name])
            }
            let own = ["--tls-cert", "server.pem", "--tls-key", "server.key"]
            try await town.serving(.signetd, TLSRotationTests.options + own) { server in
                let first = try await TLSRotationTests.serial(server, town)
                try await TLSRotationTests.renew(town, serial: 4711)
                try town.write(town.bytes("renewed.pem"), to: "server.pem")
                while try await TLSRotationTests.serial(server, town) == first { try Task.checkCancellation() }
                #expect(try await TLSRotationTests.serial(server, town) == "serial=1267")
                func wait(for words: String) async throws {
                    while try !server.errors.contains(words) {
                        try Task.checkCancellation()
                        await Task.yield()
                    }
                    #expect(try await TLSRotationTests.serial(server, town) == "serial=1267", "that of before stays")
                }
                try await TLSRotationTests.renew(town, serial: 4712, name: "elsewhere.example")
                try town.write(town.bytes("renewed.pem"), to: "server.pem")
                try await wait(for: "clients would refuse the certificate of --tls-cert; the former one stays in use")
                #expect(try !server.errors.contains("clients refuse the certificate"))
                try FileManager.default.removeItem(at: town["server.pem"])
                try await wait(for: "the files of --tls-cert and --tls-key cannot be used")
                expect(0, try await town.signet("alice", "lookup", Town.bob))
            }
        }
    }

    /// The change is made in the files of the data directory, and the operator's own stay as they are.
    @Test(.timeLimit(.minutes(3))) func aServerWithFilesOfItsOwnSaysThatTheKeyWasChanged() async throws {
        try await Town.with { town in
            for name in ["server.pem", "server.key"] {
                try FileManager.default.copyItem(at: town["server/tls/\(name)"], to: town[name])
            }
            let own = ["--tls-cert", "server.pem", "--tls-key", "server.key"]
            let server = try await town.start(.signetd, TLSRotationTests.options + own)
            #expect(try await TLSRotationTests.ready(server, town) == "ready\n")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now"))
            while try !server.errors.contains("clients refuse the certificate of --tls-cert") {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await TLSRotationTests.ready(server, town).contains("cannot be used"))
            try await server.stop()
            let again = try await Program.signetd.run(
                ["run", "--data", "server"] + TLSRotationTests.options + own, in: town.folder)
            expect(65, again)
            #expect(again.complaint.contains("a key that no client accepts"), "\(again.errors)")
            try town.write("data = server\ntls-cert = server.pem\ntls-key = server.key\n".utf8, to: "signetd.conf")
            let checked = try await town.signetd("config", "check", "--config", "signetd.conf")
            expect(78, checked)
            #expect(checked.output.contains("a key that no client accepts"), "\(checked.output)")
        }
    }

    /// The key for which it would be is the one in use: no other key is needed, and no certificate for one.
    @Test func whatIsMissingForARenewalIsNamed() async throws {
        try await Town.with { town in
            try FileManager.default.removeItem(at: town["server/tls/ca.key"])
            let before = try town.contents("server")
            let exit = try await town.signetd("rotate", "tls", "--data", "server", "--renew")
            expect(65, exit)
            #expect(exit.complaint.contains("tls/ca.key is not here"), "\(exit.errors)")
            #expect(!exit.complaint.contains("reserve") && !exit.complaint.contains("--certificate"), "\(exit.errors)")
            #expect(try town.contents("server") == before)
        }
    }
}
