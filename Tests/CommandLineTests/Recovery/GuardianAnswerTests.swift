// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The exact reports of the guardian commands.
@Suite struct GuardianAnswerTests {
    /// A linked device does not know the guardians that another one chose; after its removal it no longer belongs to
    /// the account.
    @Test func aLinkedDeviceReportsThatGuardiansWereChosenOnAnother() async throws {
        try await Circle.with { circle in
            try await circle.setGuardians()
            try await circle.run("ming", "guardians")
            let alone = try await circle.attempt("ming", "guardians", "remind")
            expect(64, alone)
            #expect(alone.complaint == "There is no one to remind: everyone you asked has answered.")
            try await circle.town.link("phone", to: "ming", code: circle.town.makeCard("phone", Circle.ming))
            for command in ["refresh", "check", "rehearse", "remind", "paper"] {
                let exit = try await circle.attempt("phone", "guardians", command)
                expect(64, exit, command)
                #expect(
                    exit.complaint
                        == "Your guardians were chosen on another device of yours; this one knows nothing about them.",
                    "\(command)")
                #expect(exit.errors.contains("on the device that holds your identity"))
            }
            try await circle.run("ming", "devices", "revoke", "2")
            for options in [[], ["--out", "objection"]] {
                let exit = try await circle.town.signet(["recover", "stop", "--home", "phone"] + options)
                expect(2, exit)
                #expect(exit.complaint.hasPrefix("The account no longer lists this device"))
                #expect(!exit.errors.contains("Tell your guardians yourself"))
            }
            #expect(!circle.town.exists("objection"), "no guardian would accept it")
        }
    }

    /// A directory with a frozen view can hide a request for the maximum age of its answers.
    @Test func aWaitThatAFrozenViewCanHideCausesAWarning() async throws {
        try await Circle.with { circle in
            try circle.town.edit("ming/directory") {
                $0.replacing("\nmaximum-age 86400\n", with: "\nmaximum-age 21600\n")
            }
            for (wait, sentence) in [
                ("6h", "may be 6 hours old, so it could hide a whole wait of 6 hours"),
                ("75m", "Friends cannot tell a wait of 75 minutes from none: choose more than 75 minutes."),
                ("76m", "so it could hide a whole wait of 76 minutes"), ("361m", nil),
            ] {
                let handles = Circle.guardians.map(Circle.handle)
                let exit = try await circle.town.signet(
                    ["guardians", "add"] + handles + ["--wait", wait, "--home", "ming"])
                expect(0, exit, wait)
                #expect(exit.output.contains("  ! ") == (sentence != nil), "\(exit.output)")
                if let sentence { #expect(exit.output.contains(sentence), "\(exit.output)") }
                try await circle.run("ming", "guardians", "withdraw")
            }
        }
    }

    /// A damaged file is named, with its purpose and a remedy.
    @Test func theDamagedFileIsNamed() async throws {
        try await Circle.with { circle in
            try await circle.setGuardians()
            try await circle.run("ming", "guardians")
            try circle.makeNewDevice("new")
            let start = ["recover", "start", Circle.ming, "--directory", circle.town.profile.path(), "--home", "new"]
            expect(0, try await circle.town.signet(start))
            for path in [
                "new/recovery", "new/recovery-copy", "ana/guardian-duties", "ben/guardian-cases", "ming/guardians",
            ] {
                try circle.town.write([], to: path)
            }
            for (home, command, path) in [
                ("new", ["recover"], "new/recovery"), ("new", ["recover", "finish"], "new/recovery"),
                ("ana", ["guardian"], "ana/guardian-duties"), ("ben", ["guardian"], "ben/guardian-cases"),
                ("ming", ["guardians"], "ming/guardians"),
            ] {
                let exit = try await circle.town.signet(command + ["--home", home])
                expect(65, exit, "\(command)")
                #expect(exit.complaint.hasPrefix("\(path) is damaged"), "\(command)")
                #expect(exit.errors.contains("Restore it from a copy of the folder"))
            }
            #expect(try await circle.attempt("new", "recover").errors.contains("signet recover start"))
            expect(0, try await circle.town.signet(start), "it continues")
            try circle.town.write(circle.town.bytes("eva/store.sqlite").prefix(3000), to: "eva/notes.sqlite")
            let notes = try await circle.attempt("eva", "guardians", "add", Circle.ming, "--json")
            expect(65, notes)
            #expect(
                notes.complaint.hasPrefix("notes.sqlite is damaged or belongs to another program. It holds your notes"))
        }
    }

    /// A refused start leaves the folder unchanged, even repeatedly; in a linked device's home the refusal says so.
    @Test func aRefusedStartLeavesTheFolderUnchanged() async throws {
        try await Town.withServer { town, _ in
            let start = { (handle: String, home: String) in
                try await town.signet(home, "recover", "start", handle, "--directory", town.profile.path())
            }
            for _ in 0..<3 { expect(4, try await start("nobody@example.org", "typo")) }
            #expect(!town.exists("typo/keystore"))
            #expect(!town.exists("typo/store-earlier-1.sqlite"))
            let linked = try await start(Town.bob, "phone")
            expect(64, linked)
            #expect(
                linked.complaint
                    == "phone holds a device that was linked to bob@example.org, or is waiting to be linked.")
            let join = try await town.signet(
                "pad", "account", "join", Town.bob, "--directory", town.profile.path(), "--card", "nowhere/card")
            #expect(join.status != 0 && town.exists("pad/keystore"))
            #expect(join.errors.contains("The keys have been made: run the same command again with another --card."))
        }
    }

    /// Enough guardians have answered for a new set while a recovery is pending: those in force stay, and are shown.
    @Test func whileARecoveryIsPendingTheGuardiansInForceAreShown() async throws {
        try await Circle.with { circle in
            try await circle.setGuardians()
            try await circle.run("ming", "guardians")
            let paper = try await circle.run("ming", "guardians", "paper")
            try circle.town.write(Array(paper.output.utf8), to: "paper")
            try await circle.run("ming", "guardians", "refresh")
            for name in Circle.guardians { try await circle.run(name, "guardian") }
            try circle.makeNewDevice("new")
            try await circle.run(
                "new", "recover", "start", Circle.ming, "--directory", circle.town.profile.path(), "--paper", "paper")
            let list = try await circle.attempt("ming", "guardians")
            expect(0, list)
            #expect(list.output.contains("Your guardians are in force: 5 of 5 kept"))
            #expect(list.output.contains("Asked, in force once 4 keep their part: 5 of 5 kept."))
            #expect(list.output.contains("ana@example.org  keeps their part"))
            #expect(list.output.contains("! Someone is asking for your identity. Your guardians cannot change until"))
            #expect(list.output.contains("signet recover stop"))
            let object = try await circle.attempt("ming", "guardians", "--json").object()
            #expect(object["refused"] as? String == "recovery-open")
            #expect(object["inForce"] as? Bool == false && object["kept"] as? Int == 5)
            try await circle.run("ming", "recover", "stop")
            let after = try await circle.run("ming", "guardians", "--json").object()
            #expect(after["inForce"] as? Bool == true && after["refused"] is NSNull)
        }
    }
}
