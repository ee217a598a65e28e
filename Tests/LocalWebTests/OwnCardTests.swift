// SPDX-License-Identifier: Apache-2.0

import Credentials
import KeyTransparency
import SelectiveDisclosure
import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// What a person hands over in the app: a business card as a link, and a contact card; and what they get from others as pictures.
@Suite struct OwnCardTests {
    /// A picture is this mark, and behind it what its code says.
    private struct TestPictures: PictureReader {
        static let mark = Array("picture:".utf8)

        func code(in picture: [UInt8]) throws(PictureRefusal) -> [UInt8] {
            guard picture.starts(with: Self.mark) else {
                throw PictureRefusal(Advice("There is no code in it.", "Take it again."))
            }
            return Array(picture.dropFirst(Self.mark.count))
        }
    }

    private static func picture(_ code: [UInt8]) -> (field: String, name: String, content: [UInt8]) {
        ("picture", "code.png", TestPictures.mark + code)
    }

    private static func run(_ body: @Sendable @escaping (Stage, Browser) async throws -> Void) async throws {
        try await Stage.run(with: WebEquipment(pictures: TestPictures())) { stage in
            try await body(stage, try await stage.unlocked())
        }
    }

    // MARK: The business card

    @Test func aCardIsMadeKept_andShowsTheChosenLinesAlone() async throws {
        try await Self.run { stage, browser in
            let made = try await browser.act(
                "cards/own", [("name", "Alice <b>"), ("email", "alice@example.org"), ("title", "Smith")])
            #expect(made.shown.contains("Your card is signed and kept on this device.") && !made.body.contains("<b>"))
            let shown = try await browser.post("cards/shown", [("line", "name"), ("line", "title")], from: "cards/own")
            #expect(shown.status == 200 && shown.body.contains("<svg class=\"qr qr-dense\""))
            let link = try #require(shown.text(of: "link"))
            #expect(link.hasPrefix("https://localhost:"))
            let card = ShownCardLink.card(in: Array(link.utf8))
            let now = Int64(clamping: Surroundings.system.now())
            let verified = try ShownCard.verify(
                card, types: [BusinessCard.type], trusting: IssuerTrust(acceptsSelfIssued: true), at: now)
            let lines = BusinessCard.fields(in: verified.claims)
            #expect(lines.map(\.text) == ["Alice <b>", "Smith"], "the address was not chosen")
            #expect(throws: PresentationFault.self, "it is for this moment") {
                try ShownCard.verify(
                    card, types: [BusinessCard.type], trusting: IssuerTrust(acceptsSelfIssued: true), at: now + 300)
            }
        }
    }

    @Test func aLineThatCannotBeOnACardIsGivenBack_andNoneIsShownThatIsNotThere() async throws {
        try await Self.run { stage, browser in
            for (fields, words) in [
                ([("name", ""), ("email", "a@b.example")], "A card needs a name."),
                ([("name", "Al\u{202E}ice")], "others that are not seen"),
                ([("name", String(repeating: "a", count: 201))], "longer than 200 bytes"),
            ] {
                let refused = try await browser.post("cards/own", fields)
                #expect(refused.status == 422 && refused.shown.contains(words), "\(refused.notices)")
                for (name, text) in fields { #expect(refused.value(of: name) == text) }
            }
            let none = try await browser.post("cards/shown", [("line", "name")], from: "cards/own")
            #expect(none.status == 422 && none.shown.contains("No line of the card is chosen"), "there is no card")
            _ = try await browser.act("cards/own", [("name", "Alice")])
            let other = try await browser.post("cards/shown", [("line", "email")], from: "cards/own")
            #expect(other.status == 422)
            #expect(try await browser.post("cards/shown", [], from: "cards/own").status == 422)
            let wrong = try await browser.post(
                "cards/wallet", [("line", "name"), ("passphrase", "not it")], from: "cards/own")
            #expect(wrong.status == 422 && wrong.shown.contains("The passphrase is wrong"))
        }
    }

    // MARK: The contact card

    @Test func aPersonIsAddedByTheirCard_asAFileOrAPicture_andNoOtherIs() async throws {
        try await Self.run { stage, browser in
            let card = try await stage.bob.contactCard()
            let carol = try await Stage.account("carol@example.org", "carol", stage.server.profile, stage.folder)
            func add(
                _ handle: String, _ file: (field: String, name: String, content: [UInt8])
            ) async throws -> RawExchange {
                try await browser.post("people/add", [("handle", handle)], files: [file], from: "people")
            }
            let wrong = try await add(Stage.bob, ("card", "c", try await carol.contactCard().encoded))
            #expect(wrong.status == 422 && wrong.shown.contains("The card is not that of bob@example.org."))
            let broken = try await add(Stage.bob, ("card", "c", Array(card.encoded.dropLast())))
            #expect(broken.status == 422 && broken.shown.contains("That is no contact card of this directory."))
            let blank = try await add(Stage.bob, ("picture", "c.png", [1, 2, 3]))
            #expect(blank.status == 422 && blank.shown.contains("There is no code in it."))
            #expect(blank.value(of: "handle") == Stage.bob)
            #expect(try await stage.bob.requests().isEmpty, "no one was asked")
            let added = try await add("", Self.picture(card.encoded))
            #expect(added.field("location") == browser.path("people/bob@example.org"), "the card names the person")
            #expect(try await stage.bob.requests() == [Handle(Stage.alice)])
            await carol.close()
        }
    }

    /// The directory shows another identity than the card has.
    @Test func aCardThatTheDirectoryContradictsIsNotBelieved() async throws {
        try await Stage.run(attack: .replacedAccount, with: WebEquipment(pictures: TestPictures())) { stage in
            let browser = try await stage.unlocked()
            let card = try await stage.bob.contactCard()
            stage.server.startLying()
            let refused = try await browser.post(
                "people/add", [("handle", Stage.bob)], files: [Self.picture(card.encoded)], from: "people")
            #expect(refused.status == 422, "\(refused.notices)")
            #expect(try await stage.bob.requests().isEmpty)
        }
    }

    @Test func onesOwnContactCardIsShownAndSaved() async throws {
        try await Self.run { stage, browser in
            #expect(try await browser.get("people/card").body.contains("<svg class=\"qr qr-dense\""))
            let saved = try await browser.get("people/card?save=yes")
            let policy = await stage.bob.home.profile.trust.policy
            #expect(try ContactCard(decoding: saved.content, policy: policy).handle == Handle(Stage.alice))
            #expect(saved.field("content-disposition") == "attachment; filename*=UTF-8''alice@example.org.card")
        }
    }

    // MARK: Comparing by a picture

    @Test func peopleCompareByAPictureOfTheOthersScreen_andAnotherPersonsCodeIsRefused() async throws {
        try await Stage.run(with: WebEquipment(pictures: TestPictures())) { stage in
            let browser = try await stage.befriended()
            let bobs = try await stage.bob.identities(with: Handle(Stage.alice))
            let mine = try await stage.app.account().identities(with: Handle(Stage.bob))
            let path = "people/\(Stage.bob)/compare"
            let own = try await browser.post(path, [], files: [Self.picture(mine.code.encoded)])
            #expect(own.status == 422, "the code of one's own screen: \(own.notices)")
            #expect(try await browser.get("people/\(Stage.bob)").shown.contains("Never. Only a comparison"))
            let done = try await browser.post(path, [("met", "yes")], files: [Self.picture(bobs.code.encoded)])
            #expect(done.status == 303, "\(done.notices)")
            #expect(try await browser.get("people/\(Stage.bob)").body.contains("badge is-compared"))
        }
    }

    @Test func withoutAReaderOfPicturesNoFieldAsksForOne() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            for page in ["people", "cards", "people/\(Stage.bob)/compare"] {
                #expect(try await !browser.get(page).body.contains("name=\"picture\""))
            }
            let sent = try await browser.post("people/\(Stage.bob)/compare", [], files: [Self.picture([1])])
            #expect(sent.status == 422 && sent.shown.contains("This program reads no pictures."))
        }
    }
}
