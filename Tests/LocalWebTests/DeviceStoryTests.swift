// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SecretMemory
import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// The user's devices in the app, over a real server: a new one is added by its card and the digits that it shows, and is removed again.
@Suite struct DeviceStoryTests {
    private static func phone(of stage: Stage, named name: String = "phone") -> HomeFolder {
        HomeFolder(path: stage.folder + "/" + name)
    }

    private static func card(_ stage: Stage, named name: String = "phone") async throws -> MadeCard {
        try await Account.makeCard(
            for: Handle(Stage.alice), at: stage.server.profile, in: phone(of: stage, named: name),
            passphrase: Stage.secret, surroundings: Served.surroundings())
    }

    private static func text(_ card: MadeCard) -> String {
        String(decoding: Base64.encode(card.bytes), as: UTF8.self)
    }

    private static func form(_ card: MadeCard, code: String? = nil, passphrase: String) -> [(String, String)] {
        [("card", text(card)), ("code", code ?? card.code), ("passphrase", passphrase)]
    }

    /// The digits that the page shows for the new device.
    private static func digits(_ page: RawExchange) throws -> String {
        let list = try #require(page.body.firstRange(of: "<ol class=\"digits\""), "\(page.notices)")
        let items = page.body[list.upperBound...].drop { $0 != ">" }.prefix(
            upTo: try #require(
                page.body[list.upperBound...].firstRange(of: "</ol>")
            ).lowerBound)
        return items.filter(\.isNumber)
    }

    @Test func aDeviceIsAddedByItsCardAndDigitsAndRemovedAgain() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let card = try await Self.card(stage)
            let devices = try await browser.act("devices/add", Self.form(card, passphrase: Served.passphrase))
            #expect(devices.shown.contains("Type these digits on device 2"))
            let phone = try await Account.join(
                in: Self.phone(of: stage), passphrase: Stage.secret, typed: try Self.digits(devices),
                surroundings: Served.surroundings())
            #expect(try await phone.devices().devices.count == 2)
            #expect(try await browser.get("devices").shown.contains("Type these digits"), "the page is found again")

            let asked = try await browser.get("devices/2/remove")
            #expect(asked.shown.contains("Remove device 2?") && asked.shown.contains("keeps"))
            let refused = try await browser.post("devices/2/remove", [("passphrase", "not the right one")])
            #expect(refused.status == 422)
            #expect(try await stage.devicesOfAlice(browser) == 2)
            let removed = try await browser.act("devices/2/remove", [("passphrase", Served.passphrase)])
            #expect(removed.shown.contains("Device 2 is no longer yours") && !removed.shown.contains("Remove device 2"))
            await #expect(throws: SignetError.self, "the removed device acts for the account no more") {
                _ = try await phone.add(Handle(Stage.bob))
            }
            await phone.close()
        }
    }

    /// The server, or whoever carries the card, puts a card of their own in its place.
    @Test func aCardThatWasExchangedOnItsWayIsNotAdded() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let own = try await Self.card(stage)
            let thief = try await Self.card(stage, named: "thief")
            let refused = try await browser.post(
                "devices/add", Self.form(thief, code: own.code, passphrase: Served.passphrase))
            #expect(refused.status == 422)
            #expect(refused.shown.contains("This card is not the one that your new device made"))
            #expect(
                refused.text(of: "card") == Self.text(thief) && refused.value(of: "code") == own.code, "nothing is lost"
            )
            #expect(!refused.body.contains(Served.passphrase))
            let noCard = try await browser.post(
                "devices/add", [("card", "<script>alert(1)</script>"), ("code", own.code), ("passphrase", "x")])
            #expect(noCard.status == 422 && noCard.shown.contains("That is not a device card"))
            #expect(!noCard.body.contains("<script"))
            #expect(try await stage.devicesOfAlice(browser) == 1)
        }
    }

    @Test func withoutThePassphraseNoDeviceIsAdded() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let card = try await Self.card(stage)
            let refused = try await browser.post("devices/add", Self.form(card, passphrase: "not the right one"))
            #expect(refused.status == 422 && refused.text(of: "card") == Self.text(card))
            #expect(try await stage.devicesOfAlice(browser) == 1)
        }
    }

    @Test func thisDeviceAndUnknownNumbersAreNotRemoved() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let token = try await browser.token(on: "devices/add")
            for number in ["1", "7"] {
                #expect(try await browser.get("devices/\(number)/remove").status == 404)
                let sent = try await browser.send(
                    "devices/\(number)/remove", [("passphrase", Served.passphrase)], token: token)
                #expect(sent.status == 404 && sent.shown.contains("no other device of yours"))
            }
            for number in ["01", "-1", "65536", "x"] {
                #expect(try await browser.get("devices/\(number)/remove").shown.contains("There is no such page"))
            }
            #expect(try await stage.devicesOfAlice(browser) == 1)
        }
    }

    @Test func theCardIsThereAgainAfterTheAccountLocked() async throws {
        let clock = MovedClock()
        try await Stage.run(now: clock.now) { stage in
            let browser = try await stage.unlocked()
            let token = try await browser.token(on: "devices/add")
            clock.move(by: WebAccount.openSeconds)
            let sent = try await browser.send(
                "devices/add", [("card", "typed"), ("code", "1234"), ("passphrase", Served.passphrase)], token: token)
            #expect(sent.status == 303)
            let again = try await browser.act("unlock", [("passphrase", Served.passphrase), ("to", "devices/add")])
            #expect(again.text(of: "card") == "typed" && again.value(of: "code") == "1234")
            #expect(!again.body.contains(Served.passphrase))
        }
    }
}

extension Stage {
    /// How many devices the page shows for the account.
    fileprivate func devicesOfAlice(_ browser: Browser) async throws -> Int {
        try await browser.get("devices").shown.split(separator: "Since ").count - 1
    }
}
