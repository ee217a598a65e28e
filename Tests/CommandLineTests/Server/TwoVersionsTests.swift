// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import SignetAPI
import Testing

/// Two files of a server's pins under one version, of which the log has one, in real processes.
@Suite(.timeLimit(.minutes(3))) struct TwoVersionsTests {
    /// The files of a change were handed out and then put back, and another change was made under the same number.
    @Test func whoHasTheLostOneOfTwoVersionsTakesTheLogsOne() async throws {
        try await Town.with { town in
            func shell(_ script: String) async throws {
                let done = try await Exit.of(URL(filePath: "/bin/sh"), ["-c", script], in: town.folder)
                try #require(done.status == 0, "\(done.errors)")
            }
            try await shell("cp -a server/tls before && cp -p server/directory.signet before.signet")
            let made = try await town.signetd("rotate", "tls", "--data", "server", "--now")
            expect(0, made)
            #expect(made.output.contains("once the log has version 2"), "\(made.output)")
            let lost = try DirectoryProfile(decoding: town.bytes("server/directory.signet"))
            try await shell("rm -r server/tls && mv before server/tls && mv before.signet server/directory.signet")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve"))
            try await town.serving(.signetd, TLSRotationTests.options) { _ in
                try await TLSRotationTests.learn(2, town, "alice")
                let given = try DirectoryProfile(decoding: town.bytes("server/directory.signet"))
                let trust = try TLSRotationTests.profile(town, "bob").trust
                let bobs = DirectoryProfile(url: given.url, server: lost.server, mark: lost.mark, trust: trust)
                try town.write(bobs.encoded, to: "bob/directory")
                let refused = try await town.signet("bob", "lookup", Town.alice)
                expect(1, refused)
                #expect(refused.errors.contains("'signet pins accept FILE'"), "\(refused.errors)")
                for home in ["alice", "bob"] { try await Self.offerUnlogged(town, to: home) }
                try await Self.offerAnotherDirectory(town, to: "bob")
                let taken = try await town.signet("bob", "pins", "accept", "server/directory.signet")
                expect(0, taken)
                #expect(try TLSRotationTests.profile(town, "bob").mark == given.mark)
                #expect(try TLSRotationTests.profile(town, "bob").server == given.server)
                expect(0, try await town.signet("bob", "lookup", Town.alice))
            }
        }
    }

    /// Pins of the log's version by which the real server is reached, with a key of somebody else.
    private static func offerUnlogged(_ town: Town, to home: String) async throws {
        let given = try DirectoryProfile(decoding: town.bytes("server/directory.signet"))
        let newest = try DirectoryPins(decoding: town.bytes("server/tls/pins"))
        let own = Pin(SPKIPin(hashing: [66]), tier: .leaf, isBackup: true)
        let forged = DirectoryPins(
            origin: newest.origin, version: newest.version, time: newest.time,
            server: ServerTrust(root: newest.server.root, pins: newest.server.pins + [own]))
        try town.write(given.following(forged).encoded, to: "forged.signet")
        let before = try town.bytes("\(home)/directory")
        let refused = try await town.signet(home, "pins", "accept", "forged.signet")
        expect(1, refused, home)
        #expect(
            refused.complaint.contains("does not have version 2 of its server's pins as the file has it"),
            "\(refused.errors)")
        #expect(try town.bytes("\(home)/directory") == before)
    }

    /// A directory of the same name and with the same number of changes, where that of the person was.
    private static func offerAnotherDirectory(
        _ town: Town, to home: String
    ) async throws {
        expect(
            0,
            try await town.signetd(
                "init", "--data", "false", "--origin", "example.org/signet", "--url", "https://localhost:1"))
        expect(0, try await town.signetd("rotate", "tls", "--data", "false", "--now"))
        let server = try await RunningServer.start(
            .signetd, ["run", "--data", "false"] + TLSRotationTests.options, in: town.folder)
        let own = try town.bytes("\(home)/directory")
        let now = try TLSRotationTests.profile(town, home)
        let pointed = DirectoryProfile(
            url: "https://localhost:\(server.port)", server: now.server, mark: now.mark, trust: now.trust
        ).encoded
        try town.write(pointed, to: "\(home)/directory")
        let refused = try await town.signet(home, "pins", "accept", "false/directory.signet")
        try await server.stop()
        expect(1, refused, "its log is another")
        #expect(try town.bytes("\(home)/directory") == pointed)
        try town.write(own, to: "\(home)/directory")
    }
}
