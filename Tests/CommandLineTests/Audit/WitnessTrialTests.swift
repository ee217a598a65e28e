// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A log that demands witnesses which are not there publishes nothing, and cannot be changed again without them. So they are asked
/// before the change.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WitnessTrialTests {
    /// The lines of the running policy, with another address for the third witness, and all three demanded.
    private func lines(_ town: Town, third address: String) throws -> String {
        String(decoding: try town.bytes("witnesses"), as: UTF8.self)
            .replacing(/(witness w2 [^ ]+) .*\n/) { "\($0.1) \(address)\n" }
            .replacing("group seen 2 w0", with: "group seen all w0")
    }

    private func rotate(_ federation: Federation, _ lines: String, _ more: String...) async throws -> Exit {
        try federation.town.write(lines.utf8, to: "others")
        return try await Program.signetd.run(
            ["rotate", "witnesses", "--data", "server", "others"] + more, in: federation.town.folder)
    }

    @Test func aWitnessAtAWrongAddressIsNoticedBeforeTheLogDependsOnIt() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            try await federation.stop("server")
            let before = try town.bytes("server/directory.signet")
            let lines = try lines(town, third: "http://127.0.0.1:\(try SilentListener.freePort())")
            let refused = try await rotate(federation, lines)
            expect(75, refused)
            #expect(refused.complaint.contains("w2 (unreachable)"), "\(refused.errors)")
            #expect(!refused.complaint.contains("w0"), "it answers")
            let unaddressed = try await rotate(federation, lines.replacing(/(witness w2 [^ ]+) .*\n/) { "\($0.1)\n" })
            expect(75, unaddressed)
            #expect(unaddressed.complaint.contains("w2 (not_addressed)"), "\(unaddressed.errors)")
            #expect(try town.bytes("server/directory.signet") == before)
            expect(0, try await rotate(federation, lines, "--untried"))
        }
    }

    @Test func aChangeOfTheLogsKeyThatWasNotAnnouncedSaysHow() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            try await federation.stop("server")
            let before = try town.bytes("server/directory.signet")
            let refused = try await town.signetd("rotate", "log-key", "--data", "server")
            expect(75, refused)
            #expect(refused.complaint.contains("signetd rotate log-key --announce"), "\(refused.errors)")
            #expect(try town.bytes("server/directory.signet") == before)
        }
    }

    @Test func aWitnessThatDoesNotKnowTheLogIsNoticed_andOneThatWasToldIsTaken() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            try await federation.stop("server")
            let made = try await town.signetd(
                "witness", "init", "--data", "w3", "--name", "witness.example/w3", "--plain-http")
            expect(0, made)
            let key = try #require(made.lines.first { $0.hasPrefix("witness ") }).split(separator: " ")[2]
            let options = ["witness", "run", "--data", "w3", "--plain-http", "--bind", "127.0.0.1:0", "--rate", "0"]
            var witness = try await RunningServer.start(.signetd, options, in: town.folder)
            let policy = { (port: Int) in
                String(decoding: try town.bytes("witnesses"), as: UTF8.self)
                    .replacing("group seen 2 w0 w1 w2", with: "group seen all w0 w1 w3")
                    .replacing(/witness w2 .*\n/, with: "witness w3 \(key) http://127.0.0.1:\(port)\n")
            }
            let refused = try await rotate(federation, try policy(witness.port))
            expect(75, refused)
            #expect(refused.complaint.contains("w3 (unknown_log)"), "\(refused.errors)")
            try await witness.stop()
            expect(0, try await town.signetd("witness", "add-log", "--data", "w3", try federation.logKey()))
            witness = try await RunningServer.start(.signetd, options, in: town.folder)
            expect(0, try await rotate(federation, try policy(witness.port)))
            try await federation.start("server")
            expect(0, try await federation.register("bob"))
            try await witness.stop()
        }
    }
}
