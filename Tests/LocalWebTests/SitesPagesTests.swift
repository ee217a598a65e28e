// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Testing

@testable import LocalWeb

/// The pages of sites, without a site. With one, they are walked in Chromium by Scripts/site-cards.
@Suite struct SitesPagesTests {
    @Test func whatIsNoSiteIsSaidInWordsAboutSites_andNothingTypedIsLost() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            for (host, words, status) in [
                ("", "That is not the address of a site.", 422), ("<b>x", "That is not the address of a site.", 422),
                ("localhost:1", "Nothing answers at localhost:1.", 503),
            ] {
                let refused = try await browser.post(
                    "sites", [("host", host), ("act", "register"), ("passphrase", Served.passphrase)])
                #expect(refused.status == status && refused.shown.contains(words), "\(host): \(refused.notices)")
                #expect(refused.value(of: "host") == host && !refused.body.contains("<b>x"))
                #expect(refused.body.contains("<option value=\"register\" selected>"))
                #expect(!refused.shown.contains("directory is running"))
            }
            let unknown = try await browser.post(
                "sites", [("host", "a.example"), ("act", "erase"), ("passphrase", "p")])
            #expect(unknown.status == 422, "no such act")
        }
    }

    @Test func theListIsOpenedByThePassphrase() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            let wrong = try await browser.post("sites/known", [("passphrase", "not it")], from: "sites")
            #expect(wrong.status == 422 && wrong.shown.contains("The passphrase is wrong"))
            let open = try await browser.post("sites/known", [("passphrase", Served.passphrase)], from: "sites")
            #expect(open.status == 200 && open.shown.contains("No site knows you yet."))
            #expect(try await browser.get("sites/known").status == 303)
            let cards = try await browser.post("cards/carried", [("passphrase", Served.passphrase)], from: "cards")
            #expect(cards.status == 200 && cards.shown.contains("You carry no cards."))
            let none = try await browser.post("cards/carried", [("passphrase", "not it")], from: "cards")
            #expect(none.status == 422)
        }
    }

    @Test func whatIsNoOfferIsGivenBackAsItWasTyped() async throws {
        try await Stage.run { stage in
            let browser = try await stage.unlocked()
            for link in ["openid-credential-offer://?x", "openid-credential-offer://?credential_offer=%7B%7D"] {
                let page = try await browser.post("cards", [("link", link)])
                #expect(page.status == 422 && page.text(of: "link") == link, "\(page.notices)")
            }
            #expect(
                try await browser.get("cards/offer").field("location") == browser.path("cards"), "nothing is offered")
        }
    }
}
