// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `signet doctor`: what is well, what could be better, and what is wrong, with what to do.
@Suite(.serialized) struct DoctorTests {
    /// The lines that begin with a mark.
    private func lines(_ exit: Exit, _ mark: String) -> [String] { exit.lines.filter { $0.hasPrefix(mark) } }

    @Test func aHealthyHomeHasNothingWrong_andSaysWhatCouldBeBetter() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("alice", "doctor")
            expect(0, exit)
            #expect(lines(exit, "✗").isEmpty)
            #expect(lines(exit, "✓").contains { $0.contains("every check of its answer held") })
            #expect(lines(exit, "✓").contains { $0.contains("version 1, 1 device.") })
            #expect(lines(exit, "✓").contains { $0.contains("Nothing was logged under your name") })
            #expect(lines(exit, "!").contains { $0.contains("No guardians") })
            #expect(lines(exit, "!").contains { $0.contains("every witness is its own") })
            let two = try await town.signet("bob", "doctor")
            #expect(lines(two, "✓").contains { $0.contains("2 devices") }, "\(two.output)")
        }
    }

    @Test func withoutTheServerItSaysSo_andStillShowsTheKeys() async throws {
        try await Town.with { town in
            let exit = try await town.signet("alice", "doctor")
            expect(3, exit)
            #expect(lines(exit, "✓").contains { $0.contains("sealed under your passphrase") })
            #expect(lines(exit, "✗").count == 1)
            let json = try await town.signet("alice", "doctor", "--json")
            expect(3, json)
            #expect(json.output.contains("\"well\":false"))
            #expect(json.output.contains("\"state\":\"wrong\""))
        }
    }

    @Test func aHomeWithoutAnAccountIsWrong() async throws {
        try await Town.with { town in
            let exit = try await town.signet("nowhere", "doctor")
            expect(64, exit)
            #expect(lines(exit, "✗").count == 1)
            #expect(exit.output.contains("signet account create"), "\(exit.output)")
        }
    }

    @Test func aSuspendedAccountIsWrong_inTheWordsOfOtherCommands() async throws {
        try await Town.withServer { town, _ in
            let before = try await town.signet("bob", "doctor")
            #expect(
                lines(before, "✓").contains { $0.contains("The directory serves your account") }, "\(before.output)")
            expect(0, try await town.signetd("accounts", "suspend", Town.bob, "--data", "server"))
            let refused = try await town.signet("bob", "call", "ring", Town.alice)
            let exit = try await town.signet("bob", "doctor")
            expect(1, exit)
            let words = "The directory's operator has suspended this account."
            #expect(refused.complaint.contains(words))
            #expect(lines(exit, "✗") == ["✗ " + words], "\(exit.output)")
            let other = try await town.signet("alice", "doctor")
            expect(0, other)

            let unasked = try await town.signet("bob", "doctor", environment: StatusTests.withoutPassphrase)
            expect(0, unasked)
            #expect(lines(unasked, "!").contains { $0.contains("was not asked whether its operator has suspended") })
            expect(0, try await town.signetd("accounts", "resume", Town.bob, "--data", "server"))
            expect(0, try await town.signet("bob", "doctor"))
        }
    }

    @Test func aHomeThatOthersCanReadIsWrong() async throws {
        try await Town.withServer { town, _ in
            try town.chmod("alice", 0o755)
            let exit = try await town.signet("alice", "doctor")
            #expect(exit.status != 0)
            #expect(lines(exit, "✗").count == 1, "\(exit.output)")
        }
    }

    @Test func aPassphraseThatOthersCanReadIsDoubtful() async throws {
        try await Town.withServer { town, _ in
            try town.write("secret words\n".utf8, to: "passphrase")
            try town.chmod("passphrase", 0o644)
            let exit = try await town.signet(
                "alice", "doctor", "--passphrase-file", "passphrase", environment: ["SIGNET_PASSPHRASE": "other words"])
            expect(0, exit)
            #expect(lines(exit, "!").contains { $0.contains("can read the passphrase file passphrase") })
            #expect(lines(exit, "!").contains { $0.contains("is in the environment") })
            try town.chmod("passphrase", 0o600)
            let private_ = try await town.signet("alice", "doctor", "--passphrase-file", "passphrase")
            #expect(!private_.output.contains("passphrase file"))
        }
    }

    @Test func aForeignDeviceUnderTheOwnNameIsAnAlarm() async throws {
        try await Town.with { town in
            try await town.serving { _ in expect(0, try await town.signet("bob", "monitor")) }
            try await town.serving(
                .lyingServer, ["--attack", "hidden-device", "--port", "0"]
            ) { _ in
                let exit = try await town.signet("bob", "doctor")
                expect(5, exit)
                #expect(!lines(exit, "✗").isEmpty)
            }
        }
    }
}
