// SPDX-License-Identifier: Apache-2.0

import Credentials
import Foundation
import KeyTransparency
import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// People in the app, over a real server: added, looked up, compared, changed, replaced.
@Suite struct PeopleStoryTests {
    @Test func aWrongPassphraseOpensNothingAndIsCounted() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            #expect(try await browser.get("notes").status == 303, "notes need the passphrase")
            let wrong = try await browser.post("unlock", [("passphrase", "wrong"), ("to", "notes")])
            #expect(wrong.status == 422 && wrong.body.contains("The passphrase is wrong"))
            #expect(wrong.value(of: "to") == "notes" && !wrong.body.contains("\"wrong\" value"))
            #expect(!wrong.body.contains("value=\"wrong\""), "a passphrase is never given back")
            for _ in 0..<5 { _ = try await browser.post("unlock", [("passphrase", "wrong")]) }
            let waiting = try await browser.post("unlock", [("passphrase", Served.passphrase)])
            #expect(waiting.status == 422 && waiting.body.contains("Wait until"), "\(waiting.notices)")
        }
    }

    @Test func whereUnlockingLeadsIsAPageOfTheApp() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let reply = try await browser.post(
                "unlock", [("passphrase", Served.passphrase), ("to", "//attacker.example/x")])
            #expect(reply.field("location") == browser.path(""))
        }
    }

    @Test func theAccountLocksAfterAQuarterOfAnHourAndOnDemand() async throws {
        let clock = MovedClock()
        try await Served.alone(now: clock.now) { app in
            let browser = try await app.browser()
            let open = try await browser.act("unlock", [("passphrase", Served.passphrase)])
            #expect(open.body.contains("Lock now"))
            clock.move(by: WebAccount.openSeconds)
            #expect(try await browser.get("").body.contains(">Unlock<"))
            _ = try await browser.act("unlock", [("passphrase", Served.passphrase)])
            let locked = try await browser.act("lock", from: "")
            #expect(locked.body.contains("out of memory") && locked.body.contains(">Unlock<"))
        }
    }

    /// Whoever gives a card chooses its words.
    @Test func aCardThatSomebodyGaveWhenTheyMetIsOnTheirPage_asText() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            #expect(!(try await browser.get("people/bob@example.org")).shown.contains("Their card"))
            try await stage.meet(bobGives: [.name: "Bob <script>alert(1)</script>", .telephone: "+382 1"])
            let page = try await browser.get("people/bob@example.org")
            #expect(page.shown.contains("Their card") && page.shown.contains("Only they say that it is true"))
            #expect(page.body.contains("Bob &lt;script&gt;alert(1)&lt;/script&gt;") && !page.body.contains("<script>"))
            #expect(page.shown.contains("Phone") && page.shown.contains("+382 1"))
            _ = try await browser.act("lock", from: "")
            #expect(!(try await browser.get("people/bob@example.org")).shown.contains("Their card"), "it is sealed")
        }
    }

    @Test func aPersonIsAddedLookedUpAndCompared() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let typo = try await browser.post("people/add", [("handle", "<b>bob")], from: "people")
            #expect(typo.status == 422 && typo.value(of: "handle") == "<b>bob", "what was typed is still there")
            let unknown = try await browser.post("people/add", [("handle", "fen@example.org")], from: "people")
            #expect(unknown.status == 422 && unknown.value(of: "handle") == "fen@example.org", "\(unknown.notices)")
            #expect(unknown.shown.contains("The directory knows nothing by that name"), "\(unknown.notices)")

            let added = try await browser.act("people/add", [("handle", Stage.bob)], from: "people")
            #expect(added.shown.contains("You added bob@example.org") && added.body.contains("badge is-new"))
            #expect(try await stage.bob.requests() == [try Handle(Stage.alice)])
            _ = try await stage.bob.accept(try Handle(Stage.alice))

            let checks = try await browser.get("people/bob@example.org/checks")
            #expect(checks.status == 200 && checks.shown.contains("13 checks, all held"), "\(checks.notices)")
            #expect(checks.body.components(separatedBy: "class=\"pass\"").count == 14)
            #expect(checks.shown.contains("It is about this handle and no other"))
            #expect(checks.shown.contains("What this does not prove"))

            let bobs = try await stage.bob.identities(with: try Handle(Stage.alice))
            let wrong = try await browser.post(
                "people/bob@example.org/compare", [("digits", String(repeating: "0", count: 20)), ("met", "yes")])
            #expect(wrong.status == 422 && wrong.body.contains("notice-alarm"))
            #expect(wrong.value(of: "digits") == String(repeating: "0", count: 20) && wrong.body.contains("checked"))
            let same = try await browser.act(
                "people/bob@example.org/compare",
                [("digits", String(decoding: bobs.number.lastGroups, as: UTF8.self)), ("met", "yes")])
            #expect(
                same.body.contains("badge is-compared") && same.shown.contains("You and bob@example.org have compared"))
            let home = try await browser.get("")
            #expect(home.shown.contains("Nothing needs you") && home.shown.contains("1 compared"))
        }
    }

    @Test func aRequestIsDeclined() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            _ = try await stage.bob.add(try Handle(Stage.alice))
            let home = try await browser.get("")
            #expect(home.shown.contains("One thing needs you") && home.shown.contains("Would like to be on your list"))
            _ = try await browser.act("people/bob@example.org/block", from: "people")
            #expect(try await browser.get("").shown.contains("Nothing needs you"))
        }
    }

    @Test func aRequestIsAccepted() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            _ = try await stage.bob.add(try Handle(Stage.alice))
            let accepted = try await browser.act("people/bob@example.org/accept", from: "people")
            #expect(accepted.shown.contains("is on your list") && accepted.shown.contains("Both of you agreed"))
        }
    }

    @Test func aChangeStopsThePersonUntilThisVeryChangeIsAccepted() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            try await stage.addDeviceOfBob()
            let person = try await browser.get("people/bob@example.org")
            #expect(person.body.contains("badge is-changed") && person.shown.contains("device 2 was added"))
            #expect(!person.body.contains("/compare\""), "nothing goes on before the decision")
            let page = try await browser.get("people/bob@example.org/change")
            #expect(page.shown.contains("Identity keys changed") && page.shown.contains("Device 2 was added"))
            let state = try #require(page.value(of: "state"))
            let token = try #require(page.value(of: "form-token"))

            let other = try await browser.send(
                "people/bob@example.org/change", [("state", String(repeating: "0", count: 64)), ("asked", "yes")],
                token: token)
            #expect(other.status == 409 && other.shown.contains("It has changed again since you looked"))
            let unasked = try await browser.send("people/bob@example.org/change", [("state", state)], token: token)
            #expect(unasked.status == 409 && unasked.shown.contains("Nothing was accepted"))
            #expect(try await browser.get("").shown.contains("One thing needs you"))

            let accepted = try await browser.send(
                "people/bob@example.org/change", [("state", state), ("asked", "yes")], token: token)
            #expect(accepted.status == 303)
            let after = try await browser.follow(accepted)
            #expect(after.shown.contains("You accepted bob@example.org") && !after.body.contains("badge is-changed"))
        }
    }

    @Test func anotherIdentityIsAnAlarmWithNoWayAroundIt() async throws {
        try await Stage.run(attack: .replacedAccount) { stage in
            let browser = try await stage.befriended()
            stage.server.startLying()
            let person = try await browser.get("people/bob@example.org")
            #expect(
                person.body.contains("badge is-alarm") && person.body.contains("role=\"alert\""), "\(person.notices)")
            let page = try await browser.get("people/bob@example.org/change")
            #expect(!page.body.contains("Accept and go on"))
            let finding = try await stage.app.account().seen[try Handle(Stage.bob)]?.finding
            guard case .changed(let change) = finding else {
                Issue.record("no change was seen: \(String(describing: finding))")
                return
            }
            let forced = try await browser.post(
                "people/bob@example.org/change",
                [("state", StateDigits.of(change)), ("asked", "yes")], from: "people/bob@example.org")
            #expect(forced.status == 200 && !forced.body.contains("Accept and go on"))
            #expect(try await browser.get("people/bob@example.org").body.contains("badge is-alarm"))
        }
    }

    @Test func anAnswerThatIsNotTrueIsShownWithItsCheck() async throws {
        try await Stage.run(attack: .editedRoot) { stage in
            let browser = try await stage.befriended()
            stage.server.startLying()
            let checks = try await browser.get("people/bob@example.org/checks")
            #expect(checks.body.contains("class=\"fail\"") && checks.body.contains("class=\"idle\""))
            #expect(
                checks.shown.contains("The directory’s signature") || checks.shown.contains("The directory's signature")
            )
            #expect(try await browser.get("people/bob@example.org").body.contains("badge is-alarm"))
        }
    }
}
