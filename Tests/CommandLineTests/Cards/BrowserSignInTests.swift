// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Signing in at a site with a browser, for which a wallet answers. `curl` with a jar of cookies takes the browser's place; Scripts/site-cards goes the
/// same way with Chromium.
@Suite(.timeLimit(.minutes(5))) struct BrowserSignInTests {
    /// A browser with cookies of its own.
    private struct Browser {
        let name: String
        let town: Town
        let site: RunningSite

        private func curl(_ path: String, _ options: [String]) async throws -> Exit {
            let arguments =
                [
                    "--silent", "--cacert", site.roots, "--cookie", jar, "--cookie-jar", jar, "--write-out",
                    "\n%{http_code}",
                ]
                + options + ["https://\(site.host)\(path)"]
            return try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder)
        }

        private var jar: String { "\(name).cookies" }

        func page(_ path: String = "/") async throws -> String { try await curl(path, []).output }

        /// Sends a form, from a page of the site unless another is named.
        ///
        /// - Returns: the status.
        func send(_ path: String, _ form: String, from origin: String? = nil) async throws -> String {
            let header = "Origin: \(origin ?? "https://\(site.host)")"
            return try #require(try await curl(path, ["--data", form, "--header", header]).lines.last)
        }

        /// The value of the session's cookie; nil if there is none.
        var cookie: String? {
            (try? town.bytes(jar)).flatMap { bytes in
                String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                    .first { $0.contains("__Host-signet-") && !$0.hasSuffix("\t") }?.split(separator: "\t").last.map {
                        String($0)
                    }
            }
        }

        /// Comes with a cookie that was there before.
        func isSignedIn(with cookie: String) async throws -> Bool {
            let arguments = [
                "--silent", "--cacert", site.roots, "--header", "Cookie: __Host-signet-\(site.port)=\(cookie)",
                "https://\(site.host)/",
            ]
            return try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder)
                .output.contains("You are signed in")
        }

        var isSignedIn: Bool {
            get async throws { try await page().contains("You are signed in") }
        }

        /// Sends a form, and gets the page that answers it.
        func sent(_ path: String, _ form: String) async throws -> String {
            try await curl(path, ["--data", form, "--header", "Origin: https://\(site.host)"]).output
        }

        /// Begins a session with a wallet on the same device.
        func begin() async throws -> String {
            let page = try await sent("/begin", "device=this")
            let start = try #require(page.range(of: "id=\"open\" href=\"")?.upperBound)
            let end = try #require(page[start...].firstIndex(of: "\""))
            return String(page[start..<end]).replacingOccurrences(of: "&amp;", with: "&")
        }

        /// Begins a session with a wallet on another device, and reads the code that the page shows.
        func beginElsewhere() async throws -> (link: String, digits: String, page: String) {
            let page = try await sent("/begin", "device=other")
            let secret = try #require(page.firstMatch(of: /data-page="([A-Za-z0-9_-]+)"/)?.1)
            let digits = try #require(page.firstMatch(of: /id="digits">(\d\d)</)?.1)
            let picture = try #require(page.firstMatch(of: /base64,([A-Za-z0-9+\/=]+)"/)?.1)
            try town.write(try #require(Data(base64Encoded: String(picture))), to: "\(name).png")
            let read = try await Exit.of(
                URL(filePath: "/usr/bin/zbarimg"), ["--raw", "--oneshot", "-q", "\(name).png"], in: town.folder)
            return (try #require(read.lines.first), String(digits), String(secret))
        }
    }

    /// Runs `body` with a site that asks for a card, alice, whom it knows and who has one, and two browsers.
    private func with(_ body: (Town, RunningSite, Browser, Browser) async throws -> Void) async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            try await RunningSite.with(["shop"], in: town, options: issuer.asking("member")) { sites in
                try await expect(0, sites[0].signet("alice", "register"))
                try await issuer.give("alice", copies: 2)
                try await body(
                    town, sites[0], Browser(name: "own", town: town, site: sites[0]),
                    Browser(name: "other", town: town, site: sites[0]))
            }
        }
    }

    private func show(_ town: Town, _ link: String, _ site: RunningSite, _ options: String...) async throws -> Exit {
        try await town.signet(
            ["show", link, "--roots", site.roots, "--only", "member", "--home", "alice", "--json"] + options)
    }

    /// The response code of the address to which a wallet on the same device sends the browser.
    private func code(_ exit: Exit, _ site: RunningSite) throws -> String {
        let address = try #require(try exit.object()["browser"] as? String)
        let start = "https://\(site.host)/.well-known/signet/cards/finish#response_code="
        #expect(address.hasPrefix(start))
        return String(address.dropFirst(start.count))
    }

    @Test func theBrowserThatBeganIsSignedIn_andGetsAnotherCookie() async throws {
        try await with { town, site, browser, _ in
            #expect(try await browser.page().contains("This page is for members."))
            let link = try await browser.begin()
            let first = try #require(browser.cookie)
            let shown = try await show(town, link, site)
            expect(0, shown)
            #expect(try await !browser.isSignedIn, "the browser has not brought the response code")
            let code = try code(shown, site)
            try await #expect(browser.send("/finish", "code=\(code)") == "303")
            #expect(try await browser.isSignedIn)
            // Somebody saw, or set, the cookie of before.
            let second = try #require(browser.cookie)
            #expect(second != first)
            #expect(try await !browser.isSignedIn(with: first))
            try await #expect(browser.send("/sign-out", "") == "303")
            #expect(try await !browser.isSignedIn(with: second))
            try await #expect(browser.send("/finish", "code=\(code)") == "403", "a code is good once")
        }
    }

    /// Mallory begins, and sends alice the link. Her browser comes back to the site, and not Mallory's.
    @Test func anotherBrowserIsNotSignedInByALink() async throws {
        try await with { town, site, own, mallory in
            for hasSession in [false, true] {
                if hasSession { _ = try await own.begin() }
                let shown = try await show(town, mallory.begin(), site)
                let code = try code(shown, site)
                try await #expect(own.send("/finish", "code=\(code)") == "403")
                #expect(try await !own.isSignedIn)
                try await #expect(mallory.send("/finish", "code=\(code)") == "403", "the request is closed")
                #expect(try await !mallory.isSignedIn)
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zbarimg"), "no zbarimg here"))
    func aBrowserOnAnotherDeviceIsSignedInByItsDigits_andGetsAnotherCookie() async throws {
        try await with { town, site, browser, _ in
            let (link, digits, secret) = try await browser.beginElsewhere()
            let first = try #require(browser.cookie)
            let shown = try await show(town, link, site, "--digits", digits)
            expect(0, shown)
            #expect(try shown.object()["browser"] is NSNull)
            try await #expect(browser.send("/arrive", "page=\(secret)") == "303")
            #expect(try await browser.isSignedIn)
            #expect(try await !browser.isSignedIn(with: first))

            try await #expect(browser.send("/sign-out", "") == "303")
            let again = try await browser.beginElsewhere()
            let wrong = again.digits == "00" ? "01" : "00"
            let refused = try await show(town, again.link, site, "--digits", wrong)
            expect(1, refused)
            #expect(refused.complaint.contains("not the digits that the page of the site shows"))
            let page = try await browser.page()
            #expect(page.contains("The digits were not those of the page"), "the page does not wait in vain")
            #expect(try await !browser.isSignedIn)
        }
    }

    /// Somebody saw, or set, the cookie of a session before it is signed in. The page has a secret that they do not know.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zbarimg"), "no zbarimg here"))
    func aCookieAloneIsNotSignedIn_withoutThePage() async throws {
        try await with { town, site, browser, _ in
            let (link, digits, page) = try await browser.beginElsewhere()
            try await expect(0, show(town, link, site, "--digits", digits))
            #expect(try await !browser.isSignedIn, "with the cookie alone")
            try await #expect(browser.send("/arrive", "page=\(String(page.reversed()))") == "403")
            #expect(try await !browser.isSignedIn)
            try await #expect(browser.send("/arrive", "page=\(page)") == "303")
            #expect(try await browser.isSignedIn)
        }
    }

    /// What else browsers and people send.
    @Test func otherSpellingsOfTheSameLeadToTheSame() async throws {
        try await with { town, site, browser, _ in
            #expect(try await browser.page("/?utm=1").contains("This page is for members."))
            #expect(try await browser.page("/finish").contains("This page is for members."))
            let shown = try await show(town, browser.begin(), site)
            #expect(try await browser.page().contains("You have shown your card."))
            let code = try code(shown, site)
            try await #expect(browser.send("/finish", "code=response_code%3D\(code)+") == "303")
            try await #expect(browser.send("/finish", "code=\(code)") == "303", "a second click changes nothing")
            #expect(try await browser.isSignedIn)
        }
    }

    /// The digits are entered for a page that shows some, and for no other: nothing is sent otherwise.
    @Test func digitsThatNobodyAskedForAreNotSent() async throws {
        try await with { town, site, browser, _ in
            let refused = try await show(town, browser.begin(), site, "--digits", "47")
            expect(64, refused)
            #expect(refused.complaint.contains("only such a page has any"))
        }
    }

    /// Another site has the browser send a form.
    @Test func aFormOfAnotherSiteChangesNothing() async throws {
        try await with { town, site, browser, _ in
            let link = try await browser.begin()
            let (before, code) = (browser.cookie, try code(try await show(town, link, site), site))
            for origin in ["https://evil.example", "null", "http://\(site.host)", "https://localhost"] {
                for (path, form) in [("/begin", "device=this"), ("/finish", "code=\(code)"), ("/sign-out", "")] {
                    try await #expect(browser.send(path, form, from: origin) == "403", "\(path) from \(origin)")
                }
            }
            #expect(browser.cookie == before)
            #expect(try await !browser.isSignedIn)
            try await #expect(browser.send("/begin", "device=neither") == "400")
            try await #expect(browser.send("/finish", "code=\(code)") == "303", "the session is as it was")
        }
    }
}
