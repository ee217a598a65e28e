// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import SignetAPI
import SignetTesting
import Testing

/// A server that shows some clients its pins, and others different ones, in real processes.
@Suite(.serialized) struct PinsLieTests {
    /// Puts the next version of the server's pins into its data, with one more reserve key.
    private static func publish(_ town: Town) throws {
        let old = try DirectoryPins(decoding: town.bytes("server/tls/pins"))
        let pins = old.server.pins + [Pin(SPKIPin(hashing: [1]), tier: .leaf, isBackup: true)]
        let next = DirectoryPins(
            origin: old.origin, version: old.version + 1, time: old.time,
            server: ServerTrust(root: old.server.root, pins: pins))
        try town.write(old.text, to: "server/tls/pins.before")
        try town.write(next.text, to: "server/tls/pins")
    }

    private static func lying(_ town: Town, _ lie: PinsLie, _ body: () async throws -> Void) async throws {
        let server = try await RunningServer.start(
            .lyingServer, ["pins", "--data", "server", "--lie", lie.rawValue, "--port", "0"], in: town.folder)
        try town.point(to: server.port)
        do { try await body() } catch {
            try await server.stop(SIGKILL)
            throw error
        }
        try await server.stop()
    }

    private static func version(_ town: Town, _ home: String) throws -> UInt64? {
        try DirectoryProfile(decoding: town.bytes("\(home)/directory")).mark?.version
    }

    /// Repeats the update until the server, which has just started, has logged the second version.
    private static func learnSecond(_ town: Town, _ home: String) async throws {
        for _ in 0..<50 where try version(town, home) != 2 {
            expect(0, try await town.signet(home, "pins", "update"), home)
        }
        #expect(try version(town, home) == 2)
    }

    @Test func newPinsReachClientsWithoutACommand() async throws {
        try await Town.with { town in
            try Self.publish(town)
            try await town.serving { _ in
                try await Self.learnSecond(town, "bob")
                let carol = "carol@example.org"
                try town.prepareHome("carol", carol, withIdentity: true)
                #expect(try Self.version(town, "carol") == 1)
                let made = try await town.signet(
                    "carol", "account", "create", carol, "--directory", town.profile.path())
                expect(0, made)
                expect(0, try await town.signet("carol", "lookup", Town.bob), "any command, once a day")
                #expect(try Self.version(town, "carol") == 2)
                let asked = try await town.signet("alice", "pins", "update", "--json")
                expect(0, asked)
                #expect(try asked.object()["version"] as? Int == 2)
                #expect(try Self.version(town, "alice") == 2)
            }
        }
    }

    /// Bob has the newest pins; alice is shown the former ones or none, while the log has the newest.
    @Test(arguments: PinsLie.allCases) func aServerThatWithholdsNewPinsIsDetected(lie: PinsLie) async throws {
        try await Town.with { town in
            try Self.publish(town)
            try await town.serving { _ in try await Self.learnSecond(town, "bob") }
            try await Self.lying(town, lie) {
                for home in ["alice", "bob"] {
                    let before = try town.bytes("\(home)/directory")
                    let asked = try await town.signet(home, "pins", "update")
                    expect(1, asked, home)
                    let reason =
                        lie == .oldPins
                        ? "server pins that are not the newest in its log" : "does not show this device"
                    #expect(asked.complaint.contains(reason), "\(asked.errors)")
                    #expect(try town.bytes("\(home)/directory") == before)
                }
            }
        }
    }

    /// Pins that were made for one client are in no log. The server itself does not show them, and no client takes their absence for an answer.
    @Test func aServerWithUnloggedPinsIsDetected() async throws {
        try await Town.with { town in
            try await town.serving { _ in expect(0, try await town.signet("bob", "pins", "update")) }
            let old = try DirectoryPins(decoding: town.bytes("server/tls/pins"))
            let own = DirectoryPins(
                origin: old.origin, version: 1, time: old.time,
                server: ServerTrust(root: old.server.root, pins: old.server.pins.reversed()))
            try town.write(own.text, to: "server/tls/pins")
            try await town.serving { _ in
                let asked = try await town.signet("alice", "pins", "update")
                expect(1, asked)
                #expect(asked.complaint.contains("does not show this device"), "\(asked.errors)")
            }
        }
    }
}
