// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Testing

@testable import LocalWeb

/// The pages by which a person answers a site that asks for a card. With a site, they are walked in Chromium by Scripts/site-cards.
@Suite struct CardPagesTests {
    @Test func whatIsNoLinkOfASiteIsGivenBackAsItWasTyped() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            for link in ["", "https://shop.example", "openid4vp://?client_id=<b>x</b>", "openid4vp://?a=b&a=c"] {
                let page = try await browser.post("cards", [("link", link)])
                #expect(page.status == 422)
                #expect(page.text(of: "link") == link)
                #expect(page.shown.contains("This is not a link with which a site asks for a card."))
                #expect(!page.body.contains("<b>x"))
            }
            let nothing = try await browser.get("cards/show")
            #expect(nothing.status == 303, "there is no request")
        }
    }

    @Test func aLockedAccountAnswersNothing_andKeepsTheLink() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let token = try await browser.token(on: "cards")
            await (try await stage.app.account()).lock()
            let locked = try await browser.send("cards", [("link", "openid4vp://?typed")], token: token)
            #expect(locked.status == 303)
            #expect(locked.field("location")?.contains("unlock?to=cards") == true)
            #expect(try await browser.get("cards/show").field("location")?.contains("unlock") == true)
        }
    }

    /// An address comes from a site: it is a link only if nothing in it could end the attribute or be script.
    @Test func onlyAnAddressOfASiteBecomesALink() {
        #expect(
            SiteAddress("https://shop.example/finish#response_code=a")?.text
                == "https://shop.example/finish#response_code=a")
        for text in [
            "javascript:alert(1)", "http://shop.example/", "https://shop.example/\"><script>",
            "https://shop.example/ x", "https://ä.example",
            "//shop.example", "",
        ] {
            #expect(SiteAddress(text) == nil, "\(text)")
        }
    }
}
