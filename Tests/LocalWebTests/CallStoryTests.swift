// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import KeyTransparency
import Signet
import SignetCalls
import SignetTesting
import Testing

@testable import LocalWeb

/// Calls in the app, over a real server with its relays: alice has the pages, bob is a device of his own.
@Suite struct CallStoryTests {
    /// Sends one piece of sound every 20 ms, another one while it is muted, and hears all.
    private struct TestVoice: CallVoice {
        var shortcoming: String? { nil }

        func talk(
            in call: GroupCall, isMuted: @escaping @Sendable () -> Bool,
            telling tell: @escaping @Sendable (String?) -> Void
        ) async {
            tell("Nothing comes from your microphone: no one hears you.")
            while (try? await Task.sleep(for: .milliseconds(20))) != nil { await call.send(isMuted() ? [0] : [7]) }
        }

        func ring() async {}
    }

    private static func run(
        attack: Attack? = nil, now: @escaping @Sendable () -> UInt64 = Surroundings.system.now,
        _ body: @Sendable @escaping (Stage, Browser) async throws -> Void
    ) async throws {
        try await Stage.run(attack: attack, with: WebEquipment(voice: TestVoice()), now: now) { stage in
            try await body(stage, try await stage.befriended())
        }
    }

    /// The next call that rings at bob's device.
    private static func ring(_ listener: RingListener) async throws -> IncomingCall {
        for await event in listener.events { if case .ringing(let call) = event { return call } }
        throw NoAnswer(text: "nothing rings")
    }

    @Test(.timeLimit(.minutes(5))) func aCallRings_hasTheSameDigitsForBoth_isMutedAndLeft() async throws {
        try await Self.run { stage, browser in
            let listener = try await stage.bob.incomingCalls()
            #expect(try await browser.get("people/\(Stage.bob)").body.contains("/calls?who=bob@example.org"))
            let ringing = try await browser.act("calls/new", [("who", Stage.bob)], from: "calls")
            #expect(ringing.shown.contains("bob@example.org") && ringing.shown.contains("Ringing …"))
            let answered = try await stage.bob.accept(try await Self.ring(listener), from: listener)
            // Bob hears alice; alice's page says that she does not hear him, for he sends nothing.
            var heard = answered.sound.makeAsyncIterator()
            #expect(try await #require(heard.next()).frame.sound == [7])
            let silent = try await browser.wait(for: "You do not hear bob@example.org", on: "calls/now")
            #expect(silent.shown.contains("Nothing of theirs has arrived"))
            #expect(silent.shown.contains("Nothing comes from your microphone"), "what the program says of its sound")
            #expect(silent.body.contains("<title>In call with bob@example.org · Signet</title>"))
            let speech = Task {
                while (try? await Task.sleep(for: .milliseconds(20))) != nil { await answered.send([1]) }
            }
            let page = try await browser.wait(for: "You hear them", on: "calls/now")
            #expect(!page.shown.contains("You do not hear"))
            var digits: [UInt8]?
            for await notice in answered.notices {
                guard case .code(let code) = notice else { continue }
                digits = code
                break
            }
            let groups = page.body.split(separator: "<li>").dropFirst().map { $0.prefix(5) }.filter {
                $0.allSatisfy(\.isNumber)
            }
            #expect(groups.joined() == String(decoding: try #require(digits), as: UTF8.self), "bob has the same digits")
            _ = try await browser.act("calls/now/steer", [("act", "mute")], from: "calls/now")
            while try await #require(heard.next()).frame.sound != [0] {}
            _ = try await browser.act("calls/now/steer", [("act", "unmute")], from: "calls/now")
            while try await #require(heard.next()).frame.sound != [7] {}
            await answered.leave()
            let alone = try await browser.wait(for: "Left", on: "calls/now")
            #expect(!alone.shown.contains("Are these the same"), "there is no one to compare digits with")
            let left = try await browser.act("calls/now/steer", [("act", "leave")], from: "calls/now")
            #expect(left.shown.contains("You left the call."))
            #expect(try await browser.wait(for: "You left, today", on: "calls").shown.contains("Whom to call"))
            #expect(try await browser.get("calls/now").field("location") == browser.path("calls"))
            speech.cancel()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aCallThatRingsIsOnEveryLivePage_andIsAnswered() async throws {
        try await Self.run { stage, browser in
            let people = try await stage.bob.peopleForCall([Handle(Stage.alice)])
            let outgoing = try await stage.bob.call(people)
            let page = try await browser.wait(for: "bob@example.org is calling", on: "calls")
            #expect(page.body.contains("<title>(1) bob@example.org is calling · Signet</title>"))
            #expect(page.shown.contains("the devices are the ones you accepted"))
            let notes = try await browser.get("notes/new")
            #expect(notes.body.contains("<title>(1) bob@example.org is calling · Signet</title>"), "every page says so")
            let home = try await browser.get("")
            #expect(home.shown.contains("bob@example.org is calling") && home.shown.contains("One thing needs you."))
            let call = try #require(page.value(of: "call"))
            let inCall = try await browser.act("calls/answer", [("call", call), ("answer", "accept")], from: "calls")
            // Pressed twice, or in another window: the same call.
            let again = try await browser.post("calls/answer", [("call", call), ("answer", "accept")], from: "calls")
            #expect(again.field("location") == browser.path("calls/now"))
            let other = try await browser.post("calls/new", [("who", Stage.bob)], from: "calls")
            #expect(other.field("location") == browser.path("calls/now"), "one call at a time")
            #expect(inCall.shown.contains("Are these the same for everybody?") || inCall.shown.contains("Mute"))
            for await notice in outgoing.notices {
                guard case .rung(_, let outcome) = notice else { continue }
                #expect(outcome == .accepted(try #require(people.devices.first)))
                break
            }
            await outgoing.leave()
        }
    }

    /// Carol has the keys of the call, and a relay that helps her: bob signs what he sent, and alice's page says what that means.
    @Test(.timeLimit(.minutes(5))) func whoSpeaksInTheNameOfAnotherIsNamedOnThePage() async throws {
        try await Stage.run(isRelayConniving: true, with: WebEquipment(voice: TestVoice())) { stage in
            let browser = try await stage.befriended()
            let carol = try await Stage.account("carol@example.org", "carol", stage.server.profile, stage.folder)
            _ = try await browser.act("people/add", [("handle", "carol@example.org")], from: "people")
            _ = try await carol.accept(try Handle(Stage.alice))
            _ = try await stage.bob.add(carol.handle)
            _ = try await carol.accept(stage.bob.handle)
            let listeners = (try await stage.bob.incomingCalls(), try await carol.incomingCalls())
            _ = try await browser.act(
                "calls/new", [("who", Stage.bob), ("who", "carol@example.org")], from: "calls")
            let bob = try await stage.bob.accept(try await Self.ring(listeners.0), from: listeners.0)
            let forger = try await carol.accept(try await Self.ring(listeners.1), from: listeners.1)
            let speech = Task {
                while (try? await Task.sleep(for: .milliseconds(20))) != nil { await bob.send([1]) }
            }
            let forging = Task {
                var number: UInt64 = 500
                while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                    let people = await forger.people
                    guard let victim = people.devices.first(where: { people[$0]?.handle == stage.bob.handle }),
                        await forger.members.contains(victim)
                    else { continue }
                    if await forger.forge([6, 6, 6], as: victim, number: number) { number += 1 }
                }
            }
            let page = try await browser.wait(
                for: "Somebody in this call speaks in the name of another.", on: "calls/now")
            #expect(page.shown.contains("Forged in the name of bob@example.org"), "\(page.notices)")
            #expect(page.shown.contains("By carol@example.org and the relay"))
            #expect(page.body.contains("notice-alarm"))
            speech.cancel()
            forging.cancel()
            await bob.leave()
            await forger.leave()
            await carol.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func aCallIsDeclined_andAnotherMissed() async throws {
        try await Self.run { stage, browser in
            let people = try await stage.bob.peopleForCall([Handle(Stage.alice)])
            let declined = try await stage.bob.call(people)
            let page = try await browser.wait(for: "bob@example.org is calling", on: "calls")
            let call = try #require(page.value(of: "call"))
            let after = try await browser.act("calls/answer", [("call", call), ("answer", "decline")], from: "calls")
            #expect(after.shown.contains("You declined, today") && !after.shown.contains("is calling"))
            for await notice in declined.notices {
                guard case .rung(_, let outcome) = notice else { continue }
                #expect(outcome == .declined)
                break
            }
            await declined.leave()
            let late = try await browser.send(
                "calls/answer", [("call", call), ("answer", "accept")], token: try await browser.token(on: "calls"))
            #expect(late.status == 422 && late.shown.contains("That call rings no more."))

            let missed = try await stage.bob.call(people)
            _ = try await browser.wait(for: "bob@example.org is calling", on: "calls")
            await missed.leave()
            let past = try await browser.wait(for: "You missed a call from bob@example.org", on: "calls")
            #expect(!past.shown.contains("is calling"))
        }
    }

    /// A thief, or the directory, has added a device to bob's account: alice is asked before anyone is rung, the safe way first.
    @Test(.timeLimit(.minutes(5))) func aChangeStopsTheCallUntilThisVeryChangeIsAccepted() async throws {
        try await Self.run { stage, browser in
            let token = try await browser.token(on: "calls")
            try await stage.addDeviceOfBob()
            let call = [("who", Stage.bob)]
            let blocked = try await browser.send("calls/new", call, token: token)
            #expect(blocked.status == 409 && blocked.shown.contains("Identity keys changed"))
            #expect(blocked.shown.contains("No one has been rung or answered."))
            let safe = try #require(blocked.body.firstRange(of: "End call"))
            let risky = try #require(blocked.body.firstRange(of: "Accept and continue"))
            #expect(safe.lowerBound < risky.lowerBound && blocked.body.contains("autofocus"))
            let state = try #require(blocked.value(of: "state"))
            let accepting = call + [("changed", Stage.bob), ("state", state)]
            #expect(
                try await browser.send("calls/new", accepting, token: token).shown.contains(
                    "You did not say that you asked"))
            let other = call + [("changed", Stage.bob), ("state", String(state.reversed())), ("asked", "yes")]
            #expect(
                try await browser.send("calls/new", other, token: token).status == 422, "another state than was shown")
            #expect(try await browser.get("calls/now").field("location") == browser.path("calls"), "no call yet")
            let accepted = try await browser.send("calls/new", accepting + [("asked", "yes")], token: token)
            #expect(accepted.field("location") == browser.path("calls/now"))
            #expect(try await browser.get("calls/now").shown.contains("Ringing …"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aDirectoryThatLiesAboutAPersonStopsTheCall_withNoWayAroundIt() async throws {
        try await Self.run(attack: .replacedAccount) { stage, browser in
            let token = try await browser.token(on: "calls")
            stage.server.startLying()
            let refused = try await browser.send("calls/new", [("who", Stage.bob)], token: token)
            #expect(refused.status == 422 && refused.body.contains("notice-alarm"), "\(refused.notices)")
            #expect(
                !refused.shown.contains("Accept") && refused.shown.contains("No one was rung, and nothing was sent."))
            #expect(try await browser.get("calls/now").field("location") == browser.path("calls"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aPersonWhomTheUserHasNotAddedIsNotCalled() async throws {
        try await Self.run { stage, browser in
            let token = try await browser.token(on: "calls")
            let carol = try await Stage.account("carol@example.org", "carol", stage.server.profile, stage.folder)
            let refused = try await browser.send("calls/new", [("who", "carol@example.org")], token: token)
            #expect(refused.status == 422 && refused.shown.contains("You have not added carol@example.org"))
            for nobody in [[], [("who", Stage.alice)], [("who", "<b>")]] {
                #expect(try await browser.send("calls/new", nobody, token: token).shown.contains("No one is chosen."))
            }
            await carol.close()
        }
    }

    /// A page that asks for itself every two seconds is no use of the account, and a call is.
    @Test(.timeLimit(.minutes(5))) func watchingDoesNotKeepTheAccountOpen_andACallDoes() async throws {
        let clock = MovedClock()
        try await Self.run(now: clock.now) { stage, browser in
            func watch() async throws -> RawExchange {
                try await RawExchange.send(
                    "GET", browser.path("calls"), to: browser.port, browser.fields + [("X-Signet-Watch", "1")])
            }
            _ = try await browser.act("calls/new", [("who", Stage.bob)], from: "calls")
            clock.move(by: WebAccount.openSeconds)
            #expect(try await watch().status == 200, "the call is a use")
            _ = try await browser.act("calls/now/steer", [("act", "leave")], from: "calls/now")
            _ = try await browser.wait(for: "You left, today", on: "calls")
            clock.move(by: WebAccount.openSeconds - 1)
            #expect(try await watch().status == 200)
            clock.move(by: 1)
            #expect(try await watch().field("location") == browser.path("unlock?to=calls"))
        }
    }

    /// The inbox of a device is read by one process: by that which is in a call.
    @Test(.timeLimit(.minutes(5))) func aCallOfAnotherProgramIsNotDisturbed() async throws {
        try await Self.run { stage, browser in
            let token = try await browser.token(on: "calls")
            let held = try #require(CallMark.running(in: stage.home).hold())
            _ = try await browser.wait(for: "Another program waits for calls of this account", on: "calls")
            let refused = try await browser.send("calls/new", [("who", Stage.bob)], token: token)
            #expect(refused.status == 422 && refused.shown.contains("Another program is in a call with this account."))
            withExtendedLifetime(held) {}
        }
    }

    /// `signet call leave` ends the call of a command by a signal; to the pages' process it would be the end of all pages.
    @Test(.timeLimit(.minutes(5))) func noOtherProgramInterruptsAProcessThatHasPages() async throws {
        try await Self.run { stage, browser in
            _ = try await browser.act("calls/new", [("who", Stage.bob)], from: "calls")
            let mark = CallMark.running(in: stage.home)
            #expect(mark.isHeld && !mark.interrupt())
            #expect(try await browser.get("calls/now").status == 200)
        }
    }

    /// The account is locked while the people of a call are looked up, or while it is entered.
    @Test(.timeLimit(.minutes(5))) func aCallThatIsEnteredWhileTheAccountIsLockedIsLeft() async throws {
        try await Self.run { stage, browser in
            let desk = try await stage.app.account().calls()
            let entering = Task { try await desk.ring([Handle(Stage.bob)]) }
            await desk.close()
            await #expect(throws: (any Error).self) { try await entering.value }
            #expect(await desk.running == nil && !CallMark.running(in: stage.home).isHeld)
            await desk.begin()
            #expect(await desk.ringing.isEmpty && !CallMark.waiting(in: stage.home).isHeld, "it hears nothing any more")
        }
    }

    @Test(.timeLimit(.minutes(5))) func lockingLeavesTheCall() async throws {
        try await Self.run { stage, browser in
            let listener = try await stage.bob.incomingCalls()
            _ = try await browser.act("calls/new", [("who", Stage.bob)], from: "calls")
            let answered = try await stage.bob.accept(try await Self.ring(listener), from: listener)
            var heard = answered.sound.makeAsyncIterator()
            _ = try #require(await heard.next())
            _ = try await browser.act("lock", from: "calls/now")
            while CallMark.running(in: stage.home).isHeld { try await Task.sleep(for: .milliseconds(20)) }
            while await answered.members.count > 1 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await browser.get("calls").field("location") == browser.path("unlock?to=calls"))
            await answered.leave()
        }
    }
}
