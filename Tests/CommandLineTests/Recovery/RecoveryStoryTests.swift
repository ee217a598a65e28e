// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The recovery after a lost phone, in real processes: a person, five guardians and a friend.
@Suite struct RecoveryStoryTests {
    /// Ming's phone is destroyed; one guardian is dead and one lies. The identity is recovered, and with it the people,
    /// the notes and the accounts at two sites, which share no common value before or after, even if they collude.
    @Test func threeGuardiansRecoverDespiteOneDeadAndOneLyingGuardian() async throws {
        let heard = Transcript()
        try await Circle.with { circle in
            try await RunningSite.with(["shop", "bank"], in: circle.town) { sites in
                try await lose(everythingOf: Belongings(circle, sites), heard)
            }
        }
        try await scan(heard)
    }

    private func lose(everythingOf belongings: Belongings, _ heard: Transcript) async throws {
        let circle = belongings.circle
        try await belongings.register(at: 0, heard: heard)
        try await circle.setGuardians(heard: heard)
        let list = try await circle.run("ming", "guardians", heard: heard)
        #expect(list.output.contains("5 of 5 kept"))
        #expect(list.output.contains("compared in person") && list.output.contains("not compared"))
        #expect(list.output.contains("your notes, 1 site and 6 people"))
        // Later entries are guarded as well, without asking a guardian.
        try await belongings.register(at: 1, heard: heard)
        try await belongings.write(heard: heard)
        #expect(try await circle.run("ming", "guardians").output.contains("your notes, 2 sites and 6 people"))
        try await circle.run("ming", "guardians", "check", heard: heard)
        for name in Circle.guardians { try await circle.run(name, "guardian", heard: heard) }
        #expect(try await circle.run("ming", "guardians", "rehearse", heard: heard).output.contains("5 of 5 kept"))

        try FileManager.default.moveItem(at: circle.town["ming"], to: circle.town["ashes"])
        try await begin(circle, heard)
        try await circle.send("ana", heard: heard)
        try await confirm("ben", circle, heard)
        try await circle.lie("dan")
        let standing = try await circle.run("new", "recover", "--json", heard: heard).object()
        #expect(standing["wrong"] as? [String] == ["dan@example.org"])
        #expect(standing["right"] as? [String] == ["ana@example.org", "ben@example.org"])
        #expect(
            try await circle.run("new", "recover", heard: heard).output.contains(
                "What dan@example.org sent is damaged or false"))
        let early = try await circle.attempt("new", "recover", "finish", heard: heard)
        expect(64, early)
        #expect(early.complaint == "1 more guardian has to help.")
        expect(0, try await circle.attempt("friend", "lookup", Circle.ming))

        try await confirm("cleo", circle, heard)
        let over = try await circle.run("new", "recover", heard: heard).output
        #expect(over.contains("The wait is over; until") && over.contains("  Finish: signet recover finish"))
        #expect(!over.contains("when the wait is over"))
        let done = try await circle.run("new", "recover", "finish", heard: heard)
        #expect(done.output.contains("friend@example.org") && done.output.contains("Notes:   1, under new keys"))
        for site in belongings.sites { #expect(done.output.contains(site.host)) }
        // The command is repeated, as after an interruption.
        let again = try await circle.run("new", "recover", "finish", "--json", heard: heard).object()
        #expect(again["notes"] as? Int == 1 && (again["sites"] as? [String])?.count == 2)
        try await colours(circle, heard)
        try await belongings.giveNewKeys(from: "new", heard: heard)
        try await belongings.expectSitesFindNothingEqual(before: "ashes", after: "new")
        try await belongings.expectNotesGoOn(from: "new", heard: heard)
        try await rearm(circle, heard)
    }

    /// The server shows a friend a forged identity under ming's handle, without a recovery: an alarm.
    @Test func aChangeWithoutARecoveryIsAnAlarm() async throws {
        try await Circle.withoutServer { circle in
            let attack = ["--attack", "replaced-account", "--port", "0"]
            try await circle.town.serving(.lyingServer, attack) { _ in
                let seen = try await circle.attempt("friend", "lookup", Circle.ming)
                expect(2, seen)
                #expect(seen.output.contains("✗ blocked") && !seen.output.contains("! recovered"))
                #expect(seen.complaint.hasPrefix("ALARM: ming@example.org has another identity, and no recovery"))
                let facts = try await circle.attempt("friend", "lookup", Circle.ming, "--json")
                #expect(try facts.object()["identity"] as? String == "unexplained")
                #expect(try facts.object()["usable"] as? Bool == false)
            }
        }
    }

    /// Enough guardians, with modified programs, collude with the server: a request that claims to be older than the
    /// wait is followed directly by the takeover. Every step keeps the rules, except the times that the log shows.
    @Test func aRecoveryRushedByGuardiansAndServerIsAnAlarm() async throws {
        try await Circle.withoutServer { circle in
            try await circle.town.serving(.signetd, Circle.server) { _ in
                try await circle.setGuardians(wait: "2d")
                try await circle.run("ming", "guardians")
                // Both have seen that no recovery is pending.
                expect(0, try await circle.attempt("friend", "lookup", Circle.ming))
                expect(0, try await circle.attempt("ming", "monitor"))
            }
            let helping = Circle.guardians.prefix(3).flatMap { ["--guardian", circle.town[$0].path()] }
            let attack = ["--attack", "replaced-account", "--port", "0"] + helping
            try await circle.town.serving(.lyingServer, attack) { _ in
                let seen = try await circle.attempt("friend", "lookup", Circle.ming)
                expect(2, seen)
                #expect(seen.complaint.hasPrefix("ALARM: guardians gave the identity of ming@example.org to another"))
                let facts = try await circle.attempt("friend", "lookup", Circle.ming, "--json").object()
                #expect(facts["identity"] as? String == "rushed" && facts["usable"] as? Bool == false)
                // A friend who has not looked for longer than the delay detects it only by the times that the quorum
                // cosigned.
                try await circle.setBackLook(of: "friend", at: Circle.ming, by: 4 * 86_400)
                let late = try await circle.attempt("friend", "lookup", Circle.ming, "--json").object()
                #expect(late["identity"] as? String == "rushed" && late["usable"] as? Bool == false)
                let alarm = try await circle.attempt("ming", "monitor")
                expect(5, alarm)
                #expect(alarm.output.contains("without the delay in which you could object"))
            }
        }
    }

    /// A stranger requests a recovery before the person does.
    @Test func aStrangersEarlierRequestDoesNotBlockARecovery() async throws {
        let heard = Transcript()
        try await Circle.with { circle in
            try await circle.setGuardians()
            try await circle.run("ming", "guardians")
            let slip = try await circle.attempt(
                "typo", "recover", "start", "mign@example.org", "--directory", circle.town.profile.path())
            expect(4, slip)
            #expect(!circle.town.exists("typo/keystore"), "the folder is free for the right handle")
            try circle.makeNewDevice("stranger")
            for _ in 0..<3 {
                try await circle.run(
                    "stranger", "recover", "start", Circle.ming, "--directory", circle.town.profile.path())
            }
            // The log has no trace of it: no alarm, no change, no request at guardians, and no file to fetch.
            expect(0, try await circle.attempt("friend", "lookup", Circle.ming))
            expect(0, try await circle.attempt("ming", "monitor"))
            #expect(try await circle.run("ana", "guardian", "--json").object()["requests"] as? [String] == [])
            let early = try await circle.attempt("stranger", "recover", "finish")
            expect(64, early)

            try FileManager.default.moveItem(at: circle.town["ming"], to: circle.town["ashes"])
            try await begin(circle, heard)
            for name in ["ana", "ben", "cleo"] {
                if name == "ana" {
                    try await circle.send(name, heard: heard)
                } else {
                    try await confirm(name, circle, heard)
                }
            }
            #expect(try await circle.run("new", "recover", "finish").output.contains("friend@example.org"))
            expect(64, try await circle.attempt("stranger", "recover", "finish"))
        }
    }

    private func begin(_ circle: Circle, _ heard: Transcript) async throws {
        try circle.makeNewDevice("new")
        for _ in 0..<2 {  // The command is repeated, as after an interruption.
            try await circle.run(
                "new", "recover", "start", Circle.ming, "--directory", circle.town.profile.path(), "--name",
                "Ming's new phone", heard: heard)
        }
        let started = try await circle.run("new", "recover", heard: heard)
        #expect(started.output.contains("No guardian has confirmed yet."))
        #expect(try await circle.run("ana", "guardian", "--json").object()["requests"] as? [String] == [])
        let number = try await circle.number(on: "new")
        try await circle.run("ana", "guardian", "confirm", Circle.ming, "--request", number, heard: heard)
        for name in ["ana", "ben", "cleo", "dan"] {
            if name == "ben" { try await letIn(number, circle, heard) }
            let screen = try await circle.run(name, "guardian", heard: heard).output
            #expect(screen.contains("ming@example.org is asking you to help recover their identity."))
            #expect(!screen.contains("They added a device"), "the first device of an account is not added to it")
            #expect(screen.contains("If ming@example.org still has a working device, call them there first."))
            #expect(screen.contains(name == "ana" ? "You met in person on 2025-03-15." : "never compared keys"))
        }
    }

    /// The first guardian confirms, and the log takes the request.
    private func letIn(_ number: String, _ circle: Circle, _ heard: Transcript) async throws {
        let code = try await circle.code(for: "ana", on: "new")
        try await circle.run(
            "ana", "guardian", "confirm", Circle.ming, "--request", number, "--code", code, heard: heard)
        // The wait of a second may be over by now.
        #expect(try await circle.run("new", "recover", heard: heard).output.contains("it can be finished."))
    }

    private func confirm(_ name: String, _ circle: Circle, _ heard: Transcript) async throws {
        let code = try await circle.code(for: name, on: "new")
        try await circle.run(name, "guardian", "confirm", Circle.ming, "--code", code, heard: heard)
        try await circle.send(name, heard: heard)
    }

    /// The friend sees a recovered identity and may accept it; the former device gets an alarm.
    private func colours(_ circle: Circle, _ heard: Transcript) async throws {
        let seen = try await circle.attempt("friend", "lookup", Circle.ming)
        expect(2, seen)
        #expect(seen.output.contains("! recovered"))
        #expect(seen.complaint.contains("recovered their identity on"))
        let facts = try await circle.attempt("friend", "lookup", Circle.ming, "--json")
        #expect(try facts.object()["identity"] as? String == "recovered")
        try await circle.run("friend", "people", "trust", Circle.ming, "--yes")
        expect(0, try await circle.attempt("friend", "lookup", Circle.ming))
        let old = try await circle.attempt("ashes", "monitor")
        expect(5, old)
        #expect(old.output.contains("your guardians gave your identity to another device"))
        expect(0, try await circle.attempt("new", "monitor"))
    }

    private func rearm(_ circle: Circle, _ heard: Transcript) async throws {
        #expect(try await circle.run("new", "recover", heard: heard).output.contains("Choose guardians"))
        for name in Circle.guardians { try await circle.run(name, "people", "trust", Circle.ming, "--yes") }
        try await circle.setGuardians(of: "new", heard: heard)
        let list = try await circle.run("new", "guardians", heard: heard).output
        #expect(list.contains("in force: 5 of 5 kept") && list.contains("your notes, 2 sites and 6 people"))
        #expect(try await circle.run("new", "recover", heard: heard).output.contains("and guarded"))
        try await circle.run("new", "guardians", "refresh", heard: heard)
        let withdrawn = try await circle.run("new", "guardians", "withdraw", heard: heard).output
        #expect(withdrawn.contains("Withdrawn: ana@example.org"))
        expect(64, try await circle.attempt("new", "guardians", "withdraw", heard: heard))
        try await circle.run("new", "guardians", "refresh", heard: heard)
        for name in Circle.guardians { try await circle.run(name, "guardian", heard: heard) }
        let turned = try await circle.run("new", "guardians", "--json", heard: heard).object()
        #expect(turned["notesTurned"] as? Bool == true, "former parts open no new entries")
        #expect((turned["sitesToTurn"] as? [String])?.count == 2, "each site at its own time")
        let fresh = try await circle.run("new", "guardians", heard: heard).output
        #expect(fresh.contains("in force: 5 of 5 kept") && fresh.contains("your notes, 2 sites and 6 people"))
    }

    /// The phone was not lost: a thief has found the line on paper that begins a recovery.
    @Test func aRemainingDeviceStopsARecovery() async throws {
        let heard = Transcript()
        try await Circle.with { circle in
            try await circle.setGuardians(heard: heard)
            try await circle.run("ming", "guardians", heard: heard)
            let written = try await circle.run("ming", "recover", "stop", "--out", "any", heard: heard)
            #expect(written.output.contains("any is an objection to any request."))
            let paper = try await circle.run("ming", "guardians", "paper")
            try circle.town.write(Array(paper.output.utf8), to: "paper")
            try circle.makeNewDevice("new")
            let begun = try await circle.run(
                "new", "recover", "start", Circle.ming, "--directory", circle.town.profile.path(), "--paper", "paper",
                heard: heard)
            #expect(begun.output.contains("The log shows that you ask for ming@example.org back."))
            for name in ["ben", "cleo"] { try await circle.run(name, "guardian", heard: heard) }
            let code = try await circle.code(for: "ben", on: "new")
            let alarm = try await circle.attempt("ming", "monitor")
            expect(5, alarm)
            #expect(alarm.output.contains("signet recover stop"))
            try await circle.run("ming", "recover", "stop", "--out", "objection", heard: heard)
            expect(64, try await circle.attempt("ming", "recover", "stop", heard: heard))
            let over = try await circle.attempt("ming", "monitor")
            expect(5, over)
            #expect(over.output.contains("it is over") && !over.output.contains("stop it now"))
            let own = try await circle.attempt(
                "ming", "recover", "start", Circle.ming, "--directory", circle.town.profile.path(), heard: heard)
            expect(64, own)
            #expect(own.complaint.hasPrefix("This device belongs to the account"))
            // A guardian who does not see it in the log is given the file.
            let told = try await circle.run("cleo", "guardian", "objection", "objection", heard: heard)
            #expect(told.output.contains("ming@example.org did not make it"))
            var bytes = try circle.town.bytes("objection")
            bytes[bytes.count - 1] ^= 1
            try circle.town.write(bytes, to: "altered")
            let altered = try await circle.attempt("ben", "guardian", "objection", "altered", heard: heard)
            expect(64, altered)
            #expect(altered.complaint == "That is not an objection from one of their devices.")

            for slip in ["", "\(code) 1", "no such words 42"] {
                let exit = try await circle.attempt("ben", "guardian", "confirm", Circle.ming, "--code", slip)
                expect(64, exit)
                #expect(exit.complaint.hasPrefix("That is not a code"), "\(slip)")
            }
            let refused = try await circle.attempt(
                "ben", "guardian", "confirm", Circle.ming, "--code", code, heard: heard)
            expect(64, refused)
            #expect(refused.complaint == "No one is asking for the identity of ming@example.org.")
            expect(1, try await circle.attempt("new", "recover", heard: heard))
            expect(1, try await circle.attempt("new", "recover", "finish", heard: heard))
            expect(0, try await circle.attempt("friend", "lookup", Circle.ming))
            try circle.makeNewDevice("again")
            let frozen = try await circle.attempt(
                "again", "recover", "start", Circle.ming, "--directory", circle.town.profile.path(), heard: heard)
            expect(1, frozen)
            #expect(frozen.complaint.hasPrefix("Device 1 of the account stopped a recovery."))
        }
        try await scan(heard)
    }

    @Test func aWrongCodeEndsAGuardiansHelp() async throws {
        let heard = Transcript()
        try await Circle.with { circle in
            try await circle.setGuardians(heard: heard)
            try await circle.run("ming", "guardians", heard: heard)
            try await begin(circle, heard)
            // A named guardian gets a code, besides those who answered first.
            try await circle.run("new", "recover", "--guardian", "ben@example.org", heard: heard)
            _ = try await circle.code(for: "ben", on: "new")
            for (status, complaint) in [
                (Int32(1), "That is not the code."), (64, "You are no longer helping with this request."),
            ] {
                let exit = try await circle.attempt(
                    "ben", "guardian", "confirm", Circle.ming, "--code", "academic acid acne 00", heard: heard)
                expect(status, exit)
                #expect(exit.complaint.hasPrefix(complaint))
            }
        }
        try await scan(heard)
    }

    /// No key, no DID, no similar text, and no technical terms.
    private func scan(_ heard: Transcript) async throws {
        // The words of a spoken code are any of a list, in which "bundle" is.
        let text = await heard.text.replacing(/[a-z]+ [a-z]+ [a-z]+ [0-9]{2}\b/, with: "")
        #expect(text.count > 2000)
        #expect(ShownKeys.find(in: text).isEmpty)
        for word in ["private key", "seed", "secret", "threshold", "epoch", "packet", "bundle", "share "] {
            #expect(!text.lowercased().contains(word), "\(word)")
        }
    }
}
