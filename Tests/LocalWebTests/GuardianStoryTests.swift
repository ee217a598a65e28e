// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SignetAPI
import SignetTesting
import Testing

@testable import LocalWeb

/// Guardians in the app, over a real server: chosen, asked for help by the person and by an impostor, and a recovery that is stopped.
@Suite struct GuardianStoryTests {
    private static let script = "<script>alert(1)</script>"
    private static let wrong = "no passphrase of hers"
    private static let page = "guardian/\(Stage.bob)"

    /// Alice, whose app it is, bob, carol and dora.
    private struct Circle: Sendable {
        let stage: Stage
        let browser: Browser
        let carol: Account
        let dora: Account
        var bob: Account { stage.bob }

        static func run(_ body: @Sendable @escaping (Circle) async throws -> Void) async throws {
            try await Stage.run { stage in
                let carol = try await Stage.account("carol@example.org", "carol", stage.server.profile, stage.folder)
                let dora = try await Stage.account("dora@example.org", "dora", stage.server.profile, stage.folder)
                try await body(
                    Circle(stage: stage, browser: try await stage.befriended(), carol: carol, dora: dora))
                await carol.close()
                await dora.close()
            }
        }

        static func approval(_ account: Account, _ action: PresenceAction) async throws -> Approval {
            try await account.approval(of: action) { _ in Stage.secret }
        }

        /// Bob chooses alice, carol and dora, who keep their parts; alice by looking at her page.
        func guardBob() async throws {
            for friend in [carol, dora] {
                _ = try await bob.add(friend.handle)
                _ = try await friend.accept(bob.handle)
            }
            _ = try await bob.chooseGuardians(
                [try Handle(Stage.alice), carol.handle, dora.handle], threshold: 2, wait: .seconds(86_400),
                try await Self.approval(bob, .setUpGuardians))
            #expect(try await browser.get("guardians").shown.contains("You are a guardian of"))
            for friend in [carol, dora] { _ = try await friend.guarding() }
            let made = try await bob.guardians(try await Self.approval(bob, .setUpGuardians))
            try #require(made.current?.keptCount == 3)
        }

        /// A new device asks for an identity.
        func begin(_ handle: String, naming guardians: [Handle]) async throws -> (AccountRecovery, RequestNumber) {
            let home = HomeFolder(path: stage.folder + "/new")
            try Served.prepare(home, handle, at: stage.server.profile)
            let (recovery, progress) = try await AccountRecovery.begin(
                Handle(handle), at: stage.server.profile, in: home, passphrase: Stage.secret,
                calling: GuardianStoryTests.script, naming: guardians, surroundings: Served.surroundings())
            return (recovery, progress.number)
        }

        /// Bob is said to ask; alice looks at the request by its number, and the new device shows a code for her.
        func asked() async throws -> (recovery: AccountRecovery, code: String) {
            let alice = try Handle(Stage.alice)
            let (recovery, number) = try await begin(Stage.bob, naming: [alice, carol.handle, dora.handle])
            _ = try await browser.act(GuardianStoryTests.page, [("number", "\(number.digits)")])
            return (recovery, try #require(try await recovery.progress().codes[alice]))
        }
    }

    @Test func aGuardianConfirmsThisVeryRequestWithCodeAndPassphrase() async throws {
        try await Circle.run { circle in
            try await circle.guardBob()
            let browser = circle.browser
            let typo = try await browser.post(Self.page, [("number", "12 <34")])
            #expect(typo.status == 422 && typo.value(of: "number") == "12 <34", "\(typo.notices)")
            #expect(try await browser.get("guardian/carol@example.org").status == 422, "she keeps nothing for carol")

            let (recovery, code) = try await circle.asked()
            let page = try await browser.get(Self.page)
            #expect(page.shown.contains("Social recovery request"), "\(page.notices)")
            #expect(page.shown.contains("bob@example.org is asking you to help recover their identity"))
            #expect(page.shown.contains("You and bob@example.org have never compared keys"))
            #expect(page.shown.contains("“\(Self.script)” (claimed, not proven)") && !page.body.contains("<script"))
            let decline = try #require(page.body.firstRange(of: ">Decline<"))
            let confirm = try #require(page.body.firstRange(of: "Confirm with passphrase"))
            #expect(decline.lowerBound < confirm.lowerBound, "the safe button is the first, so Enter presses it")
            let state = try #require(page.value(of: "state"))

            func send(
                _ code: String, state: String, passphrase: String, _ act: String = "confirm"
            ) async throws
                -> RawExchange
            {
                try await browser.post(
                    Self.page, [("state", state), ("code", code), ("passphrase", passphrase), ("do", act)])
            }
            let other = try await send(
                code, state: String(repeating: "0", count: 64), passphrase: Served.passphrase)
            #expect(other.status == 409 && other.shown.contains("another request than the one that you looked at"))
            #expect(other.value(of: "code") == code)
            let half = try await send("only <two", state: state, passphrase: Served.passphrase)
            #expect(half.status == 422 && half.value(of: "code") == "only <two", "a typing error is no try")
            let stranger = try await send(code, state: state, passphrase: Self.wrong)
            #expect(stranger.status == 422 && stranger.value(of: "code") == code, "\(stranger.notices)")
            #expect(!stranger.body.contains(Self.wrong), "a passphrase is never given back")
            let entered = try await send(code, state: state, passphrase: Served.passphrase, "decline")
            #expect(entered.field("location") == browser.path("guardian/bob@example.org/decline"))
            let back = try await browser.get(Self.page)
            #expect(back.value(of: "code") == code && !back.body.contains(Served.passphrase), "nothing is lost")
            #expect(try await recovery.progress().start == nil, "no one has confirmed so far")

            let helped = try await browser.follow(
                try await send(code, state: state, passphrase: Served.passphrase))
            #expect(helped.shown.contains("You help bob@example.org") && helped.shown.contains("Confirmed"))
            #expect(try await recovery.progress().start != nil, "the log shows everyone that a recovery began")
        }
    }

    @Test func aWrongCodeEndsTheRequestForThisGuardian() async throws {
        try await Circle.run { circle in
            try await circle.guardBob()
            let (recovery, code) = try await circle.asked()
            let browser = circle.browser
            let state = try #require(try await browser.get(Self.page).value(of: "state"))
            let digits = try #require(UInt8(code.suffix(2)))
            let other = code.dropLast(2) + (digits == 42 ? "43" : "42")
            func send(_ code: String) async throws -> RawExchange {
                try await browser.post(
                    Self.page,
                    [("state", state), ("code", code), ("passphrase", Served.passphrase), ("do", "confirm")])
            }
            let wrong = try await send(String(other))
            #expect(wrong.status == 422 && wrong.shown.contains("That is not the code"), "\(wrong.notices)")
            let late = try await send(code)
            #expect(late.status == 422 && late.shown.contains("You are not helping with this request"))
            #expect(try await recovery.progress().start == nil)
        }
    }

    @Test func anImpostorIsReportedForTheRequestThatWasShown() async throws {
        try await Circle.run { circle in
            try await circle.guardBob()
            _ = try await circle.asked()
            let browser = circle.browser
            let home = try await browser.get("")
            #expect(home.shown.contains("One thing needs you"), "\(home.notices)")
            #expect(home.shown.contains("Asks you to help recover their identity"))
            let path = Self.page + "/decline"
            let moved = try await browser.post(
                path, [("state", String(repeating: "0", count: 64)), ("do", "report")])
            #expect(moved.status == 409 && moved.shown.contains("Nothing was confirmed or declined"))
            let state = try #require(moved.value(of: "state"))
            let reported = try await browser.act(path, [("state", state), ("do", "report")])
            #expect(reported.shown.contains("You reported that someone is pretending to be bob@example.org"))
            #expect(try await browser.get("").shown.contains("Nothing needs you"))
        }
    }

    /// An owner can state any meeting when they choose guardians, and so can a thief of their device.
    @Test func aMeetingThatThisDeviceDidNotSeeIsAClaim() async throws {
        try await Circle.run { circle in
            let (bob, browser) = (circle.bob, circle.browser)
            let bobs = try await bob.identities(with: try Handle(Stage.alice))
            let digits = String(decoding: bobs.number.lastGroups, as: UTF8.self)
            try await bob.keep(try bobs.matched(typed: digits), metOn: 20_162)
            try await circle.guardBob()
            _ = try await circle.asked()
            let claimed = try await browser.get(Self.page)
            #expect(claimed.shown.contains("You met in person on 2025-03-15"), "\(claimed.notices)")
            #expect(claimed.shown.contains("Stated by them when they chose you (claimed, not proven)"))
            #expect(!claimed.shown.contains("Checked by this device"))
            _ = try await browser.act("people/bob@example.org/compare", [("digits", digits)])
            let checked = try await browser.get(Self.page)
            #expect(checked.shown.contains("Checked by this device") && !checked.shown.contains("Stated by them"))
            #expect(checked.body.contains("badge is-compared"))
        }
    }

    @Test func aPersonWhoHasChangedCannotBeChosen() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            #expect(try await browser.get("guardians").shown.contains("You have no guardians yet"))
            #expect(try await browser.get("guardians/choose").body.contains("value=\"bob@example.org\""))
            try await stage.addDeviceOfBob()
            _ = try await browser.get("people/bob@example.org")
            let choice = try await browser.get("guardians/choose")
            #expect(choice.shown.contains("Decide about them first"), "\(choice.notices)")
            #expect(!choice.body.contains("value=\"bob@example.org\""))
        }
    }

    @Test func guardiansAreAskedRehearsedAndGivenNewParts_eachWithThePassphrase() async throws {
        try await Circle.run { circle in
            let (bob, browser, care) = (circle.bob, circle.browser, "guardians/care")
            #expect(try await browser.get(care).field("location") == browser.path("guardians"), "there are none")
            for friend in [circle.carol, circle.dora] {
                _ = try await browser.act("people/add", [("handle", friend.handle.description)], from: "people")
                _ = try await friend.accept(try Handle(Stage.alice))
            }
            let plan =
                ["bob", "carol", "dora"].map { ("who", "\($0)@example.org") } + [("needed", "2"), ("wait", "604800")]
            let ask = "guardians/ask"
            func act(_ act: String, _ passphrase: String = Served.passphrase) async throws -> RawExchange {
                try await browser.post(care, [("act", act), ("passphrase", passphrase)])
            }
            _ = try await browser.act(
                ask, plan + [("passphrase", Served.passphrase)], from: ask + "?" + Browser.encoded(plan))
            #expect(try await browser.get(care).body.contains("value=\"withdraw\""))
            #expect(try await browser.follow(try await act("remind")).shown.contains("are asked again"))
            for friend in [bob, circle.carol, circle.dora] { _ = try await friend.guarding() }
            _ = try await browser.act("guardians", [("passphrase", Served.passphrase)])

            let page = try await browser.get(care)
            #expect(!page.body.contains("value=\"withdraw\"") && !page.body.contains("value=\"remind\""))
            let unasked = try await act("rehearse")
            #expect(unasked.status == 422 && unasked.shown.contains("No one has been asked yet."))
            let asked = try await browser.act("guardians/all", from: care)
            #expect(asked.shown.contains("They are asked."))
            for friend in [bob, circle.carol] { _ = try await friend.guarding() }
            for (name, passphrase) in [("rehearse", Self.wrong), ("paper", Self.wrong), ("refresh", ""), ("dance", "")]
            {
                let refused = try await act(name, passphrase)
                #expect(refused.status == 422 && !refused.body.contains("code class=\"break\""), "\(refused.notices)")
            }
            let rehearsed = try await act("rehearse")
            #expect(rehearsed.shown.contains("2 of 3 kept: rehearsed, but none more may fail."), "\(rehearsed.notices)")
            #expect(rehearsed.shown.contains("dora@example.org has not shown that they keep their part"))
            #expect(rehearsed.body.contains("notice-alarm"))
            _ = try await circle.dora.guarding()
            let whole = try await act("rehearse")
            #expect(whole.shown.contains("3 of 3 kept: rehearsed; one more may fail."), "\(whole.notices)")
            #expect(!whole.shown.contains("has not shown"))

            let paper = try await act("paper")
            #expect(paper.status == 200 && paper.body.contains("code class=\"break\""), "\(paper.notices)")
            let refreshed = try await browser.follow(try await act("refresh"))
            #expect(
                refreshed.shown.contains("They get new parts.") && refreshed.shown.contains("0 of 3 keep their part"))
            #expect(try await browser.follow(try await act("withdraw")).shown.contains("asked no longer"))
            #expect(try await browser.get("guardians").shown.contains("Your guardians are in force"))
        }
    }

    @Test func aRecoveryThatTheUserDidNotStartIsShownAndStopped() async throws {
        try await Circle.run { circle in
            let (bob, browser) = (circle.bob, circle.browser)
            for friend in [circle.carol, circle.dora] {
                _ = try await browser.act("people/add", [("handle", friend.handle.description)], from: "people")
                _ = try await friend.accept(try Handle(Stage.alice))
            }
            let few = try await browser.get("guardians/ask?who=bob%40example.org&needed=2&wait=604800")
            #expect(few.status == 422 && few.shown.contains("Choose at least 3"), "\(few.notices)")
            #expect(few.body.contains("value=\"bob@example.org\" checked") && few.value(of: "needed") == "2")
            #expect(few.body.contains("value=\"604800\" selected"), "what was chosen is still there")
            let who = ["bob", "carol", "dora"].map { ("who", "\($0)@example.org") }
            let plan = who + [("needed", "2"), ("wait", "604800")]
            let ask = "guardians/ask"
            let question = ask + "?" + Browser.encoded(plan)
            #expect(try await browser.get(question).shown.contains("any 2 of these 3"))
            let wrong = try await browser.post(ask, plan + [("passphrase", Self.wrong)], from: question)
            #expect(wrong.status == 422 && wrong.body.contains("value=\"dora@example.org\""), "\(wrong.notices)")
            #expect(!wrong.body.contains(Self.wrong))
            #expect(try await bob.guarding().duties.isEmpty, "no one was asked")
            let asked = try await browser.act(ask, plan + [("passphrase", Served.passphrase)], from: question)
            #expect(asked.shown.contains("These people are asked") && asked.shown.contains("0 of 3 keep their part"))
            for friend in [bob, circle.carol, circle.dora] { _ = try await friend.guarding() }
            let settled = try await browser.act("guardians", [("passphrase", Served.passphrase)])
            #expect(settled.shown.contains("Your guardians are in force"), "\(settled.notices)")
            #expect(settled.shown.contains("3 of 3 keep their part") && settled.shown.contains("7 days"))
            #expect(try await browser.get("recovery").shown.contains("The log shows no request for your identity"))
            #expect(try await browser.get("").shown.contains("Nothing needs you"))

            let (thief, number) = try await circle.begin(Stage.alice, naming: [bob.handle])
            let alice = try Handle(Stage.alice)
            _ = try await bob.look(at: number, for: alice)
            let code = try #require(try await thief.progress().codes[bob.handle])
            _ = try await bob.confirmRecovery(
                of: alice, number: number, code: code,
                try await Circle.approval(bob, .confirmRecovery(of: alice)))
            #expect(try await thief.progress().start != nil)

            let page = try await browser.get("recovery")
            #expect(page.shown.contains("Someone asks your guardians for your identity"), "\(page.notices)")
            #expect(try await browser.get("").body.contains("role=\"alert\""))
            let stranger = try await browser.post("recovery", [("passphrase", Self.wrong)])
            #expect(stranger.status == 422 && !stranger.body.contains(Self.wrong))
            #expect(try await browser.get("recovery").shown.contains("Was this you?"), "it is still under way")
            let stopped = try await browser.act("recovery", [("passphrase", Served.passphrase)])
            #expect(stopped.shown.contains("Stopped, and the log proves it"), "\(stopped.notices)")
            #expect(stopped.shown.contains("Nothing needs you"), "\(stopped.notices)")
            #expect(try await bob.guarding().requests.map(\.guardianCase.stage) == [.stopped])
            let again = try await browser.post("recovery", [("passphrase", Served.passphrase)], from: "")
            #expect(again.status == 422 && again.shown.contains("The log shows no request for your identity"))
        }
    }
}

extension RequestNumber {
    /// As the new device shows it.
    fileprivate var digits: String {
        let text = String(value)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}
