// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A person at a terminal: prompts, output, and the terminal's state afterwards.
@Suite(.serialized, .enabled(if: Terminal.isAvailable, "python3 gives the terminal"))
struct TerminalTests {
    private static let create = ["--home", "erin", "account", "create", "erin@example.org", "--directory"]

    @Test func twoDifferentPassphrasesMakeNoKeystore() async throws {
        try await Town.with { town in
            let seen = try await Terminal.run(
                Self.create + [town.profile.path()], in: town,
                [("New passphrase: ", "first one\r"), ("The same again: ", "second one\r")])
            #expect(seen.status == 64)
            #expect(seen.text.contains("The two passphrases differ."))
            #expect(!seen.text.contains("first one") && !seen.text.contains("second one"), "nothing is echoed")
            #expect(seen.isEchoing)
            #expect(!town.exists("erin/keystore") && !town.exists("erin/directory"))
        }
    }

    @Test(arguments: ["\u{3}", "\u{4}", "half a passphr\u{3}"])
    func interruptingThePromptRestoresTheTerminal(keys: String) async throws {
        try await Town.with { town in
            let seen = try await Terminal.run(
                Self.create + [town.profile.path()], in: town, [("New passphrase: ", keys)])
            #expect(seen.status == 130)
            #expect(seen.text.contains("Interrupted."))
            #expect(seen.isEchoing && !seen.text.contains("half"))
            #expect(!town.exists("erin/keystore"))
        }
    }

    @Test func aPassphraseIsTypedWithoutEchoAndCanBeCorrected() async throws {
        try await Town.withServer { town, _ in
            let list = ["--home", "alice", "people", "list"]
            let typed = try await Terminal.run(list, in: town, [("Passphrase: ", "\(Program.passphrase)\r")])
            #expect(typed.status == 0 && typed.isEchoing && !typed.text.contains(Program.passphrase))
            #expect(typed.text.contains(Town.bob))
            let corrected = try await Terminal.run(
                list, in: town, [("Passphrase: ", "no\u{15}\(Program.passphrase)\u{F6}\u{7F}\r")])
            #expect(corrected.status == 0, "a line that was taken back, and one character of two bytes")
            let wrong = try await Terminal.run(list, in: town, [("Passphrase: ", "wrong\r")])
            #expect(wrong.status == 65 && wrong.isEchoing)
        }
    }

    /// The passphrase for the list does not approve new keys for a site.
    @Test func thePromptNamesEachUseOfAKey() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                let (list, keys) = ("Passphrase, to show your sites: ", "Passphrase, to give localhost")
                let seen = try await Terminal.run(
                    ["--home", "alice", "sites", "re-register", "--all", "--roots", sites[0].roots], in: town,
                    [(list, "\(Program.passphrase)\r"), (keys, "\(Program.passphrase)\r")])
                #expect(seen.status == 0 && seen.text.contains(list) && seen.text.contains(keys), "\(seen.text)")
            }
        }
    }

    /// Gap 5: each act over an identity has a prompt with its name, and wrong answers cause a growing wait.
    @Test func promptsNameEachActOverAnIdentity_andWrongAnswersCauseAWait() async throws {
        let guardians = "Passphrase, to change your guardians: "
        let acts: [([String], String)] = [
            (
                ["guardian", "confirm", Town.bob, "--code", "academic acid acne 00"],
                "Passphrase, to help \(Town.bob) recover: "
            ),
            (["guardians", "add", Town.bob], guardians), (["guardians", "refresh"], guardians),
            (["guardians", "replace", Town.bob], guardians), (["guardians", "remind"], guardians),
            (["guardians", "withdraw"], guardians),
            (["guardians", "paper"], "Passphrase, to show what you keep on paper: "),
            (["recover", "finish"], "Passphrase, to make your identity yours again: "),
            (["recover", "stop"], "Passphrase, to stop a recovery of your identity: "),
        ]
        try await Town.withServer { town, _ in
            for (act, prompt) in acts {
                // The state after forty wrong answers in a row: the next one causes a wait of an hour.
                try town.write(
                    Array("signet-presence/v1\n".utf8) + [0, 0, 0, 40] + [UInt8](repeating: 0, count: 8),
                    to: "alice/presence")
                let seen = try await Terminal.run(["--home", "alice"] + act, in: town, [(prompt, "wrong\r")])
                #expect(seen.status == 65 && seen.text.contains("Wait until"), "\(act): \(seen.text)")
                let next = try await town.signet(act + ["--home", "alice"])
                expect(65, next, "\(act)")
                #expect(next.complaint.hasPrefix("There were too many wrong passphrases."), "\(next.errors)")
            }
        }
    }

    /// Gap 5: showing guardians puts those in force who were asked and have answered. While some are being asked, the
    /// prompt names that change.
    @Test func showingGuardiansThatMayComeIntoForceIsPromptedAsAChange() async throws {
        try await Town.withServer { town, _ in
            for (isAsking, purpose) in [(false, "to update your account"), (true, "to change your guardians")] {
                if isAsking { try town.write([0], to: "alice/guardians-next") }
                try town.write(
                    Array("signet-presence/v1\n".utf8) + [0, 0, 0, 40] + [UInt8](repeating: 0, count: 8),
                    to: "alice/presence")
                let prompt = "Passphrase, \(purpose): "
                let seen = try await Terminal.run(["--home", "alice", "guardians"], in: town, [(prompt, "wrong\r")])
                #expect(seen.status == 65 && seen.text.contains(prompt), "\(seen.text)")
            }
        }
    }

    @Test func atEightyColumnsNoLineIsLonger_andNoWordIsBroken() async throws {
        try await Town.withServer { town, _ in
            for arguments in [
                ["notes", "share", "--help"], ["--home", "alice", "lookup", Town.bob], ["lookup", "--hlep"],
            ] {
                let seen = try await Terminal.run(arguments, in: town, columns: 80, [])
                let lines = seen.text.replacing("\r\n", with: "\n").replacing(/\u{1B}\[[0-9;]*m/, with: "").split(
                    separator: "\n")
                #expect(lines.count > 1 && lines.allSatisfy { $0.count <= 80 }, "\(arguments): \(seen.text)")
                let wide = try await Terminal.run(arguments, in: town, columns: 500, [])
                let words = { (text: String) in
                    Set(
                        text.replacing(/\u{1B}\[[0-9;]*m/, with: "").split(whereSeparator: \.isWhitespace)
                            .filter { !$0.contains(/[0-9]/) })
                }
                #expect(words(seen.text) == words(wide.text))
            }
        }
    }

    /// A code with broken lines cannot be read. The short one of a comparison fits any usual window.
    @Test func aCodeThatIsTooWideForTheWindowIsNotDrawn() async throws {
        try await Town.withServer { town, _ in
            let card = ["--home", "alice", "people", "card"]
            let password = [("Passphrase: ", "\(Program.passphrase)\r")]
            let narrow = try await Terminal.run(card, in: town, columns: 70, password)
            #expect(narrow.status == 0 && !narrow.text.contains("\u{2588}"), "\(narrow.text)")
            let said = narrow.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(said.contains("this window has 70.") && said.contains("--picture FILE"), "\(said)")
            let wide = try await Terminal.run(card, in: town, columns: 200, password)
            #expect(wide.text.contains("\u{2588}"))
            let compared = try await Terminal.run(
                ["--home", "alice", "people", "verify", Town.bob], in: town, columns: 80,
                [("Compare every group.", "\r")])
            #expect(compared.text.contains("\u{2588}"), "\(compared.text)")
        }
    }

    @Test func aChangeIsShown_andOnlyYesAcceptsIt() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("bob", "devices", "revoke", "2"))
            let trust = ["--home", "alice", "people", "trust", Town.bob]
            for answer in ["n\r", "\r", "what?\r"] {
                let seen = try await Terminal.run(trust, in: town, [("[y/N]", answer)])
                #expect(seen.status == 2 && seen.text.contains("Nothing was accepted."), "\(answer)")
                #expect(seen.text.contains("device 2 was removed"))
            }
            let seen = try await Terminal.run(trust, in: town, [("[y/N]", "y\r")])
            #expect(seen.status == 0 && seen.text.contains("You accepted"))
            expect(0, try await town.signet("alice", "lookup", Town.bob))
        }
    }
}

/// A terminal in which a program ran.
struct Terminal {
    let status: Int32
    /// Everything on the screen.
    let text: String
    /// Whether keys are shown again after the program's end.
    let isEchoing: Bool

    private static let python = URL(filePath: "/usr/bin/python3")
    static let isAvailable = FileManager.default.isExecutableFile(atPath: python.path())

    /// Runs `signet` at a terminal: waits for each text, then types its keys.
    ///
    /// - Parameter columns: the terminal's width; 0 for one that does not say.
    static func run(
        _ arguments: [String], in town: Town, columns: Int = 0, _ dialogue: [(text: String, keys: String)]
    ) async throws -> Terminal {
        let steps = dialogue.flatMap { [$0.text, $0.keys] }
        let exit = try await Exit.of(
            python, ["-c", script, "\(columns)", "\(steps.count)"] + steps + [Program.signet.file.path()] + arguments,
            in: town.folder, environment: ["SIGNET_PASSPHRASE": ""])
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(exit.output.utf8)) as? [String: Any], "\(exit.errors)")
        let shown = Exit(status: 0, output: object["text"] as? String ?? "", errors: "")
        ShownKeys.expectNone(shown, of: arguments, in: town.folder)
        return Terminal(
            status: try #require((object["status"] as? NSNumber)?.int32Value),
            text: try #require(object["text"] as? String), isEchoing: object["echo"] as? Bool == true)
    }

    private static let script = """
        import fcntl, json, os, pty, select, struct, sys, termios
        count = int(sys.argv[2])
        steps, command = sys.argv[3:3 + count], sys.argv[3 + count:]
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
        child = os.fork()
        if child == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for stream in range(3):
                os.dup2(slave, stream)
            os.close(master)
            os.execv(command[0], command)
        seen, text, status = b"", b"", None
        while status is None:
            ended, code = os.waitpid(child, os.WNOHANG)
            if ended:
                status = os.waitstatus_to_exitcode(code)
            while select.select([master], [], [], 0 if status is not None else 0.05)[0]:
                part = os.read(master, 65536)
                seen, text = seen + part, text + part
                if steps and steps[0].encode() in seen:
                    os.write(master, steps[1].encode())
                    seen, steps = b"", steps[2:]
        echo = bool(termios.tcgetattr(slave)[3] & termios.ECHO)
        print(json.dumps({"status": status, "text": text.decode(errors="replace"), "echo": echo}))
        """
}
