// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Meeting
import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// Two people meet in person: alice has the pages, bob a device of his own, on loopback.
@Suite struct MeetingStoryTests {
    private static let loopback = MeetingAddress.version4([127, 0, 0, 1])

    private static func run(_ body: @Sendable @escaping (Stage, Browser) async throws -> Void) async throws {
        var equipment = WebEquipment()
        equipment.meetingAddresses = [loopback]
        try await Stage.run(with: equipment) { stage in try await body(stage, try await stage.unlocked()) }
    }

    private static func link(on page: RawExchange) throws -> MeetingInvitation {
        let start = try #require(page.body.firstRange(of: "signet-meet:"))
        return try MeetingInvitation(link: Array(page.body[start.lowerBound...].prefix { $0 != "<" }.utf8))
    }

    /// The words that a page shows: three words and two digits.
    private static func words(on page: RawExchange) throws -> String {
        let start = try #require(page.body.firstRange(of: "<p class=\"code-field\"><b>"))
        return String(page.body[start.upperBound...].prefix { $0 != "<" })
    }

    /// Alice's page after bob has come.
    private static func proved(_ stage: Stage, _ browser: Browser) async throws -> (RawExchange, UnconfirmedMeeting) {
        let shown = try await browser.act("meet/show", from: "meet")
        let meeting = try await stage.bob.join(try link(on: shown))
        return (try await browser.wait(for: "The other device belongs to bob@example.org", on: "meet"), meeting)
    }

    @Test(.timeLimit(.minutes(5))) func theHostsPageGoesOnByItself_andBothKeepTheMeeting() async throws {
        try await Self.run { stage, browser in
            let (page, bobs) = try await Self.proved(stage, browser)
            #expect(bobs.peer.handle.description == Stage.alice)
            let partial = try await browser.post("meet/words", [("words", "kettle 42")], from: "meet")
            #expect(partial.status == 422 && partial.shown.contains("Those are not three words and two digits"))
            #expect(partial.value(of: "words") == "kettle 42", "that is no try")
            let alices = try Self.words(on: page)
            let waiting = try await browser.act("meet/words", [("words", bobs.words)], from: "meet")
            #expect(waiting.shown.contains("Waiting for bob@example.org") || waiting.shown.contains("You met"))
            _ = try await bobs.confirm(typed: alices)
            _ = try await browser.wait(for: "You met bob@example.org in person.", on: "meet")
            let records = try await stage.bob.meetingRecord(of: Handle(Stage.alice))
            #expect(records?.peerHandle.description == Stage.alice)
            #expect(try await browser.act("meet/end", from: "meet").shown.contains("Show your code"))
            #expect(try await browser.get("people/\(Stage.bob)").body.contains("badge is-compared"))
        }
    }

    /// A receipt exists if both asked for one; then the page saves what bob has too.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func aReceiptIsSavedIfBothAskForOne(
        isAsked: Bool
    ) async throws {
        try await Self.run { stage, browser in
            let shown = try await browser.act("meet/show", [("receipt", "yes")], from: "meet")
            let bobs = try await stage.bob.join(try Self.link(on: shown))
            let page = try await browser.wait(for: "The other device belongs to bob@example.org", on: "meet")
            async let confirmed = bobs.confirm(typed: try Self.words(on: page), wantsReceipt: isAsked)
            _ = try await browser.act("meet/words", [("words", bobs.words)], from: "meet")
            let met = try await browser.wait(for: "You met bob@example.org in person.", on: "meet")
            let receipt = try await confirmed.receipt
            #expect(met.shown.contains("The receipt that you both signed") == isAsked)
            #expect(met.shown.contains("There is no receipt: bob@example.org did not ask for one.") == !isAsked)
            let saved = try await browser.get("meet/receipt")
            #expect(saved.content == receipt?.encoded ?? saved.content)
            #expect((saved.status == 200) == isAsked && (receipt != nil) == isAsked)
            _ = try await browser.act("meet/end", from: "meet")
            #expect(try await browser.get("meet/receipt").field("location") == browser.path("meet"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func theGuestReadsALink_andWhatIsNoneIsGivenBack() async throws {
        try await Self.run { stage, browser in
            for link in ["", "signet-meet:", "https://a.example", "signet-meet:<b>"] {
                let refused = try await browser.post("meet/join", [("link", link)], from: "meet")
                #expect(refused.status == 422 && refused.text(of: "link") == link, "\(refused.notices)")
            }
            let open = try await stage.bob.invite(at: [Self.loopback])
            async let arrived = open.wait()
            let page = try await browser.act("meet/join", [("link", open.link)], from: "meet")
            #expect(page.shown.contains("The other device belongs to bob@example.org"))
            let bobs = try await arrived
            async let confirmed = bobs.confirm(typed: try Self.words(on: page))
            _ = try await browser.act("meet/words", [("words", bobs.words)], from: "meet")
            _ = try await browser.wait(for: "You met bob@example.org in person.", on: "meet")
            #expect(try await confirmed.record.peerHandle.description == Stage.alice)
        }
    }

    /// Somebody between the two devices makes two meetings of one: the words differ.
    @Test(.timeLimit(.minutes(5))) func otherWordsAreAnAlarm_andNothingIsKept() async throws {
        try await Self.run { stage, browser in
            let (page, bobs) = try await Self.proved(stage, browser)
            let wrong = try Self.words(on: page)
            _ = try await browser.act("meet/words", [("words", wrong)], from: "meet")
            let alarm = try await browser.wait(for: "ALARM: these are not the words", on: "meet")
            #expect(alarm.body.contains("notice-alarm") && alarm.shown.contains("Nothing was recorded."))
            await #expect(throws: SignetError.self) { try await bobs.confirm(typed: wrong) }
            #expect(try await stage.bob.meetingRecord(of: Handle(Stage.alice)) == nil)
            #expect(try await stage.app.account().needed().meetingRecord(of: Handle(Stage.bob)) == nil)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aPersonWhoIsNotTheOneIsDeclined_andACodeIsTakenBack() async throws {
        try await Self.run { stage, browser in
            let (page, bobs) = try await Self.proved(stage, browser)
            #expect(try await browser.act("meet/end", from: "meet").shown.contains("Show your code"))
            let typed = try Self.words(on: page)
            await #expect(throws: SignetError.self) { try await bobs.confirm(typed: typed) }
            let invitation = try Self.link(on: try await browser.act("meet/show", from: "meet"))
            _ = try await browser.act("meet/end", from: "meet")
            await #expect(throws: SignetError.self) { try await stage.bob.join(invitation) }
            // Locking takes it back too.
            let other = try Self.link(on: try await browser.act("meet/show", from: "meet"))
            _ = try await browser.act("lock", from: "meet")
            await #expect(throws: SignetError.self) { try await stage.bob.join(other) }
            #expect(try await browser.get("meet").field("location") == browser.path("unlock?to=meet"))
        }
    }
}
