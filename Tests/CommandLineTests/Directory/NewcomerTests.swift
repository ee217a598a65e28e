// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// People who make an account with a directory file of before a change of the directory's keys.
@Suite(.serialized) struct NewcomerTests {
    private static let carol = "carol@example.org"

    /// A directory file for the server on this port.
    private func keep(_ file: [UInt8], as name: String, _ town: Town, _ port: Int) throws {
        try town.write(file, to: name)
        try town.edit(name) { $0.replacing(/\nurl .*\n/, with: "\nurl https://localhost:\(port)\n") }
    }

    private func create(_ town: Town, _ file: String) async throws -> Exit {
        try await town.signet("carol", "account", "create", Self.carol, "--directory", file)
    }

    private func isRegistered(_ town: Town, _ handle: String = carol) async throws -> Bool {
        try await town.signet("alice", "lookup", handle).status == 0
    }

    private func logLine(_ town: Town, _ file: String) throws -> Substring {
        let lines = String(decoding: try town.bytes(file), as: UTF8.self).split(separator: "\n")
        return try #require(lines.first { $0.hasPrefix("log ") })
    }

    @Test func aFileOfBeforeAChangeOfTheLogsKeyIsFollowed() async throws {
        try await Town.with { town in
            let before = try town.bytes("server/directory.signet")
            expect(0, try await town.signetd("rotate", "log-key", "--data", "server"))
            try await town.serving { server in
                try keep(before, as: "old.signet", town, server.port)
                let made = try await create(town, "old.signet")
                expect(0, made)
                #expect(made.complaint.contains("The directory has new keys"), "\(made.errors)")
                #expect(try logLine(town, "carol/directory") == logLine(town, "server/directory.signet"))
                #expect(try await isRegistered(town))
                expect(0, try await town.signet("carol", "account", "show"))
                expect(64, try await create(town, "old.signet"), "the account is there")
            }
        }
    }

    /// What the log does not prove is not followed, and nothing is registered that could not be verified.
    @Test func aFileThatDoesNotFitTheLogRegistersNothing_andThePresentOneGoesOnWithTheSameKeys() async throws {
        try await Town.with { town in
            for name in ["other", "another"] {
                let made = try await town.signetd(
                    "init", "--data", name, "--origin", "example.org/signet", "--url", "https://localhost:1")
                expect(0, made)
            }
            try await town.serving { server in
                try keep(town.bytes("server/directory.signet"), as: "present.signet", town, server.port)
                try keep(town.bytes("server/directory.signet"), as: "wrong.signet", town, server.port)
                let (own, foreign) = (
                    try logLine(town, "present.signet"), try logLine(town, "other/directory.signet")
                )
                try town.edit("wrong.signet") { $0.replacing(own, with: foreign) }
                for _ in 0..<2 {
                    let refused = try await create(town, "wrong.signet")
                    expect(1, refused)
                    #expect(refused.errors.contains("Nothing was sent."), "\(refused.errors)")
                    #expect(try await !isRegistered(town))
                }
                let (keys, file) = (try town.bytes("carol/keystore"), try town.bytes("carol/directory"))
                try keep(file, as: "other.signet", town, server.port)
                let third = try logLine(town, "another/directory.signet")
                try town.edit("other.signet") { $0.replacing(foreign, with: third) }
                expect(1, try await create(town, "other.signet"), "another file that does not fit")
                #expect(try town.bytes("carol/directory") == file)
                expect(0, try await create(town, "present.signet"))
                #expect(try town.bytes("carol/keystore") == keys)
                #expect(try town.bytes("carol/directory") == town.bytes("present.signet"))
                #expect(try await isRegistered(town))

                try town.prepareHome("dave", "dave@example.org", withIdentity: true)
                let dave = try await town.signet(
                    "dave", "account", "create", "dave@example.org", "--directory", "wrong.signet")
                expect(64, dave, "no change of keys leads from that file to the folder's own")
                #expect(try await !isRegistered(town, "dave@example.org"))
            }
        }
    }

    /// The directory takes the registration, and its answer does not verify.
    @Test func aRegistrationThatCouldNotBeVerifiedIsCompletedWithTheNextDirectoryFile() async throws {
        try await Town.with { town in
            try town.prepareHome("carol", Self.carol, withIdentity: true)
            let keys = try town.bytes("carol/keystore")
            try await town.serving(.lyingServer, ["--attack", "other-log-key", "--port", "0"]) { _ in
                let taken = try await create(town, "carol/directory")
                expect(1, taken)
                #expect(taken.complaint.contains("may be registered nevertheless"), "\(taken.errors)")
            }
            expect(0, try await town.signetd("rotate", "log-key", "--data", "server"))
            try await town.serving { server in
                #expect(try await isRegistered(town))
                try keep(town.bytes("server/directory.signet"), as: "present.signet", town, server.port)
                expect(0, try await create(town, "present.signet"))
                #expect(try town.bytes("carol/keystore") == keys)
                #expect(try logLine(town, "carol/directory") == logLine(town, "present.signet"))
                expect(0, try await town.signet("carol", "account", "show"))
            }
        }
    }

    /// `succeed` also makes a new key of the clock, the quorum's only witness: that is the user's to approve.
    @Test func otherWitnessesAreApprovedByTheDirectoryFileThatNamesThem() async throws {
        try await Town.with { town in
            try town.prepareHome("carol", Self.carol, withIdentity: true)
            let ended = try await town.signetd(
                "succeed", "--from", "server", "--data", "successor", "--origin", "example.org/next")
            expect(0, ended)
            try await town.serving(data: "successor") { server in
                expect(2, try await create(town, "carol/directory"))
                expect(0, try await town.signet("alice", "directory", "update", "--accept"))
                #expect(try await !isRegistered(town))
                try keep(town.bytes("successor/directory.signet"), as: "present.signet", town, server.port)
                expect(0, try await create(town, "present.signet"))
                #expect(try await isRegistered(town))
            }
        }
    }
}
