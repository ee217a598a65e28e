// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetTesting
import Testing

/// A person rings, and the other's devices are notified; each device is its own process.
struct RingProcessTests {
    /// Bob's two devices ring; he answers on the telephone, and the other stops. They talk.
    @Test(.timeLimit(.minutes(3))) func oneDeviceAnswers_theOtherStopsRinging_andFramesArrive() async throws {
        try await Town.withServer { town, _ in
            let hook =
                "echo \"$SIGNET_RING $SIGNET_CALLER ${#SIGNET_CALL} $SIGNET_SECONDS $(env | grep -c passphrase)\" >>told"
            let bob = try await CallProcess.wait(town, "bob", "--on-ring", hook)
            try await expect(0, town.signet("phone", "people", "add", Town.alice))
            let phone = try await CallProcess.wait(town, "phone")
            let alice = try CallProcess.ring(town, "alice", ["bob"])
            defer { for process in [alice, bob, phone] { process.kill() } }
            try await bob.rings("ringing")
            try await phone.rings("ringing")
            phone.type("accept")
            try await alice.rung("bob", "accepted")
            try await bob.rings("answeredElsewhere")
            _ = try await alice.first { status in
                status.participants.contains { $0["frames"] as? Int ?? 0 > 50 } ? true : nil
            }
            _ = try await phone.first { status in
                status.participants.contains { $0["frames"] as? Int ?? 0 > 50 } ? true : nil
            }
            #expect(try await alice.leave()["undecryptable"] as? Int == 0)
            #expect(await alice.exitStatus() == 0)
            let told = String(decoding: try town.bytes("told"), as: UTF8.self).split(separator: "\n")
            #expect(told == ["ringing alice@example.org 32 45 0", "stopped alice@example.org 32 45 0"])
        }
    }

    /// What `kill` and systemd send ends the call in good order, and then the process as if there had been no call.
    @Test(.timeLimit(.minutes(3))) func sigtermEndsAnAnsweredCallAndTheWait() async throws {
        try await Town.withServer { town, _ in
            let bob = try await CallProcess.wait(town, "bob")
            let alice = try CallProcess.ring(town, "alice", ["bob"])
            defer { for process in [alice, bob] { process.kill() } }
            try await bob.rings("ringing")
            bob.type("accept")
            _ = try await bob.first { status in
                status.participants.contains { $0["frames"] as? Int ?? 0 > 50 } ? true : nil
            }
            bob.terminate()
            _ = try await bob.end()
            #expect(await bob.exitStatus() == SIGTERM, "by the signal")
            _ = try await alice.leave()
        }
    }

    /// Ctrl-C ends the call alone. The wait that goes on ends at SIGTERM, as one does before any call.
    @Test(.timeLimit(.minutes(3))) func sigtermEndsTheWaitAfterACall() async throws {
        try await Town.withServer { town, _ in
            let bob = try await CallProcess.wait(town, "bob")
            let alice = try CallProcess.ring(town, "alice", ["bob"])
            defer { for process in [alice, bob] { process.kill() } }
            try await bob.rings("ringing")
            bob.type("accept")
            _ = try await bob.first { status in
                status.participants.contains { $0["frames"] as? Int ?? 0 > 50 } ? true : nil
            }
            bob.interrupt()
            _ = try await bob.first { $0["isOver"] as? Bool == true ? true : nil }
            _ = try await bob.first { $0["waiting"] as? Bool == true ? true : nil }
            bob.terminate()
            #expect(await bob.exitStatus() == SIGTERM)
            _ = try await alice.leave()
        }
    }

    @Test(.timeLimit(.minutes(3))) func oneDeviceDeclines_andAllDevicesStopRinging() async throws {
        try await Town.withServer { town, _ in
            let bob = try await CallProcess.wait(town, "bob", "--once")
            try await expect(0, town.signet("phone", "people", "add", Town.alice))
            let phone = try await CallProcess.wait(town, "phone", "--once")
            let alice = try CallProcess.ring(town, "alice", ["bob"])
            defer { for process in [alice, bob, phone] { process.kill() } }
            try await phone.rings("ringing")
            try await bob.rings("ringing")
            bob.type("decline")
            try await alice.rung("bob", "declined")
            try await phone.rings("answeredElsewhere")
            #expect(await [alice.exitStatus(), bob.exitStatus(), phone.exitStatus()] == [1, 0, 0])
        }
    }

    /// A device that connects during the ring rings; a device that connects later reports a missed call once.
    @Test(.timeLimit(.minutes(3))) func aLateDeviceStillRings_andALaterOneReportsAMissedCall() async throws {
        try await Town.withServer { town, _ in
            let alice = try CallProcess.ring(town, "alice", ["bob"], for: 120)
            defer { alice.kill() }
            _ = try await alice.first { $0["sent"] as? Int ?? 0 > 0 ? true : nil }
            let bob = try await CallProcess.wait(town, "bob", "--once")
            defer { bob.kill() }
            try await bob.rings("ringing")
            alice.interrupt()
            try await bob.rings("missed")
            #expect(await [bob.exitStatus(), alice.exitStatus()] == [0, 1])
            try await expect(0, town.signet("phone", "people", "add", Town.alice))
            let phone = try await CallProcess.wait(town, "phone", "--once")
            defer { phone.kill() }
            // It may ring for a moment: the caller's cancellation follows directly.
            try await phone.rings("missed")
            #expect(await phone.exitStatus() == 0)
            let again = try await CallProcess.wait(town, "phone")
            let next = try CallProcess.ring(town, "alice", ["bob"], for: 120)
            defer { for process in [again, next] { process.kill() } }
            let first = try await again.first { $0["ring"] as? String }
            #expect(first == "ringing", "the missed call is not reported again")
        }
    }

    /// Carol has added Bob, who has not accepted her: her ring is not shown, and she only learns that it was missed.
    @Test(.timeLimit(.minutes(3))) func aStrangersRingIsNotShown() async throws {
        try await Town.withServer { town, _ in
            try town.prepareHome("carol", "carol@example.org", withIdentity: true)
            let create = ["account", "create", "carol@example.org", "--directory", "server/directory.signet"]
            try await expect(0, town.signet(create + ["--home", "carol"]))
            try await expect(0, town.signet("carol", "people", "add", Town.bob))
            let bob = try await CallProcess.wait(town, "bob")
            defer { bob.kill() }
            let carol = try CallProcess.ring(town, "carol", ["bob"], for: 5)
            try await carol.rung("bob", "missed")
            #expect(await carol.exitStatus() == 1)
            let alice = try CallProcess.ring(town, "alice", ["bob"])
            defer { alice.kill() }
            let first = try await bob.first { $0["caller"] as? String }
            #expect(first == Town.alice)
        }
    }

    /// A device in a call does not ring and answers that it is busy. The caller learns it at once, because Bob's other
    /// device is offline.
    @Test(.timeLimit(.minutes(3))) func aPersonInACallIsReportedBusy() async throws {
        try await Town.withServer { town, _ in
            try await town.befriendCarol()
            let bob = try await CallProcess.start(town, "bob", with: ["alice"])
            defer { bob.kill() }
            _ = try await bob.first { $0["call"] as? String }
            let carol = try CallProcess.ring(town, "carol", ["bob"], for: 120)
            defer { carol.kill() }
            try await carol.rung("bob", "busy")
            #expect(await carol.exitStatus() == 1)
        }
    }
}

/// The user decides about changed keys before a call command rings.
@Suite(.serialized, .enabled(if: Terminal.isAvailable, "python3 gives the terminal"))
struct CallTrustTests {
    private static let passphrase = (text: "Passphrase: ", keys: "\(Program.passphrase)\r")
    private static let commands = [
        ["call", "start", "--with", Town.bob], ["call", "ring", Town.bob, "--ring-time", "60"],
    ]

    @Test(.timeLimit(.minutes(3)), arguments: commands) func aChangedPeerIsShownWithTheRisk_andDecliningEndsTheCall(
        _ command: [String]
    ) async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            for answer in ["end\r", "\r", "yes\r"] {
                let seen = try await Terminal.run(
                    ["--home", "alice"] + command, in: town, [Self.passphrase, ("accept and continue:", answer)])
                #expect(seen.status == 2 && seen.text.contains("no one was told of it"), "\(seen.text)")
                #expect(seen.text.contains("Identity keys changed.") && seen.text.contains("device 2 was removed"))
                #expect(seen.text.contains("Someone may be listening"))
                #expect(!seen.text.contains("call ") || !seen.text.contains("others join with"))
            }
            expect(2, try await town.signet("alice", "lookup", Town.bob))
            // Without a terminal the user cannot be asked.
            expect(2, try await town.signet(command + ["--home", "alice"]))
        }
    }

    @Test func acceptAndContinue_continuesInTheSameCommand() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            let bob = try await CallProcess.wait(town, "bob", "--once")
            defer { bob.kill() }
            async let exit = Terminal.run(
                ["--home", "alice"] + Self.commands[1], in: town,
                [Self.passphrase, ("accept and continue:", "accept\r")])
            try await bob.rings("ringing")
            bob.type("decline")
            let seen = try await exit
            #expect(seen.status == 1 && seen.text.contains("\(Town.bob) declined"), "\(seen.text)")
            expect(0, try await town.signet("alice", "lookup", Town.bob))
        }
    }

    /// On a terminal the members and the thirty digits are redrawn in place; elsewhere each status is a line.
    @Test func theScreenIsRedrawnInPlaceOnATerminalOnly() async throws {
        try await Town.withServer { town, _ in
            let command = ["--home", "alice", "call", "start", "--with", Town.bob, "--for", "4"]
            let seen = try await Terminal.run(command, in: town, [Self.passphrase])
            #expect(seen.status == 0 && seen.text.contains("\u{1B}[2A\r\u{1B}[J  code "), "\(seen.text)")
            let piped = try await town.signet(command)
            #expect(piped.status == 0 && !piped.output.contains("\u{1B}") && piped.lines.count > 4)
        }
    }

    /// Against a lying directory there is no question, no call and no ring.
    @Test(arguments: [Attack.swappedKey, .otherLogKey], [0, 1])
    func aRefusedLookupBlocksTheCall_andNoDeviceRings(_ attack: Attack, _ number: Int) async throws {
        try await Town.with { town in
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                let seen = try await Terminal.run(
                    ["--home", "alice"] + Self.commands[number], in: town, [Self.passphrase])
                #expect(seen.status == 1, "\(seen.text)")
                #expect(!seen.text.contains("accept and continue") && !seen.text.contains("others join with"))
            }
        }
    }

    /// The operator added a device to Bob's account in the log itself: that is a change, and the user is asked.
    @Test(arguments: Attack.allCases.filter { $0.stop == .changedKeys })
    func anInjectedDeviceNeedsTheUsersConsent(_ attack: Attack) async throws {
        try await Town.with { town in
            try await town.serving(.lyingServer, ["--attack", attack.rawValue, "--port", "0"]) { _ in
                let seen = try await Terminal.run(
                    ["--home", "alice"] + Self.commands[1], in: town,
                    [Self.passphrase, ("accept and continue:", "end\r")])
                #expect(seen.status == 2 && seen.text.contains("Someone may be listening"), "\(seen.text)")
            }
        }
    }
}
