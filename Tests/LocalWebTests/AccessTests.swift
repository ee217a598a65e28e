// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Signet
import Testing

@testable import LocalWeb

/// Who gets no page: other users and pages of the machine, other sites, and links, cookies and forms that are not good, over real sockets. In
/// each test one thing is wrong, and nothing else.
@Suite struct AccessTests {
    private static let handle = "alice@example.org"

    @Test func aBrowserWithALinkSeesTheApp() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let home = try await browser.get("")
            #expect(home.status == 200 && home.body.contains(Self.handle))
        }
    }

    @Test func withoutTheCookieNothingIsShown() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let reply = try await RawExchange.send(
                "GET", browser.path(""), to: app.port, [("Host", browser.host), ("Sec-Fetch-Site", "none")])
            #expect(reply.status == 403 && reply.body.contains("This browser is not let in"))
            #expect(!reply.body.contains(Self.handle), "nothing of the person")
        }
    }

    @Test func aCookieWithoutTheSecretPathShowsNothing() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            for path in ["/", "/people", "/00000000000000000000000000000000/people"] {
                let reply = try await RawExchange.send("GET", path, to: app.port, browser.fields)
                #expect(reply.status == 403 && !reply.body.contains(Self.handle), "\(path)")
            }
        }
    }

    @Test func aCookieOfAnotherProcessOpensNothing() async throws {
        try await Served.alone { first in
            try await Served.alone { second in
                let (own, other) = (try await first.browser(), try await second.browser())
                let value = try #require(other.cookie.split(separator: "=").last)
                let stolen = "signet-\(first.port)=\(value)"
                let reply = try await RawExchange.send(
                    "GET", own.path(""), to: first.port, [("Host", own.host), ("Cookie", stolen)])
                #expect(reply.status == 403 && !reply.body.contains(Self.handle))
            }
        }
    }

    @Test func aLinkOpensOneBrowser() async throws {
        try await Served.alone { app in
            let link = app.service.makeLink(port: app.port)
            _ = try await Browser(link, port: app.port)
            let again = try await Self.open(link, app)
            #expect(again.status == 403 && again.field("set-cookie") == nil)
            #expect(again.body.contains("This link was used before") && again.body.contains("press Enter"))
        }
    }

    @Test func aLinkIsGoodForFiveMinutes() async throws {
        let clock = MovedClock()
        try await Served.alone(now: clock.now) { app in
            let link = app.service.makeLink(port: app.port)
            clock.move(by: AccessLedger.linkSeconds)
            let late = try await Self.open(link, app)
            #expect(late.status == 403 && late.field("set-cookie") == nil && late.body.contains("too old"))
        }
    }

    @Test func aMadeUpLinkOpensNothing() async throws {
        try await Served.alone { app in
            let made = try await Self.open("http://x/link/\(SecretToken().text)", app)
            #expect(made.status == 403 && made.field("set-cookie") == nil)
            #expect(made.body.contains("not one of this program’s"))
        }
    }

    /// A program that only looks whether the link is there does not use it up.
    @Test func onlyAGetOpensALink() async throws {
        try await Served.alone { app in
            let link = app.service.makeLink(port: app.port)
            let path = String(link[try #require(link.firstRange(of: "/link/")).lowerBound...])
            for method in ["HEAD", "OPTIONS", "POST"] {
                let reply = try await RawExchange.send(method, path, to: app.port, [("Host", "127.0.0.1:\(app.port)")])
                #expect(reply.status == 405 && reply.field("set-cookie") == nil, "\(method)")
            }
            _ = try await Browser(link, port: app.port)
        }
    }

    @Test func aSessionEndsAfterTwelveHours() async throws {
        let clock = MovedClock()
        try await Served.alone(now: clock.now) { app in
            let browser = try await app.browser()
            clock.move(by: AccessLedger.sessionSeconds - 1)
            #expect(try await browser.get("").status == 200)
            clock.move(by: 1)
            #expect(try await browser.get("").status == 403)
        }
    }

    @Test func theOldestSessionMakesRoom() async throws {
        let clock = MovedClock()
        try await Served.alone(now: clock.now) { app in
            let first = try await app.browser()
            for _ in 0..<AccessLedger.maximumSessionCount {
                clock.move(by: 1)
                _ = try await app.browser()
            }
            #expect(try await first.get("").status == 403)
        }
    }

    /// What an attacker's name server leads here (DNS rebinding) has the attacker's name.
    @Test func aNameOfAnotherHostIsRefused() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let names = [
                "attacker.example:\(app.port)", "127.0.0.1", "127.0.0.1:\(app.port + 1)", "localhost.attacker.example",
            ]
            for name in names {
                let reply = try await RawExchange.send(
                    "GET", browser.path(""), to: app.port, [("Host", name), ("Cookie", browser.cookie)])
                #expect(reply.status == 421 && !reply.body.contains(Self.handle), "\(name)")
            }
            for name in ["127.0.0.1", "localhost", "[::1]"] {
                let reply = try await RawExchange.send(
                    "GET", browser.path(""), to: app.port,
                    [("Host", "\(name):\(app.port)"), ("Cookie", browser.cookie)])
                #expect(reply.status == 200, "\(name)")
            }
        }
    }

    @Test(arguments: ["cross-site", "same-site", "", "same-origin, cross-site"])
    func aPageOfAnotherSiteOrPortGetsNothing(_ site: String) async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let reply = try await RawExchange.send(
                "GET", browser.path("people"), to: app.port,
                [("Host", browser.host), ("Cookie", browser.cookie), ("Sec-Fetch-Site", site)])
            #expect(reply.status == 403 && reply.body.contains("Another page asked for this"))
            #expect(!reply.body.contains(Self.handle))
        }
    }

    @Test func severalSitesOfOneRequestAreRefusedIfOneIsAnother() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let reply = try await RawExchange.send(
                "GET", browser.path("people"), to: app.port,
                [
                    ("Host", browser.host), ("Cookie", browser.cookie), ("Sec-Fetch-Site", "same-origin"),
                    ("Sec-Fetch-Site", "cross-site"),
                ])
            #expect(reply.status == 403 && reply.body.contains("Another page asked for this"))
        }
    }

    @Test(arguments: ["null", "http://attacker.example", "http://127.0.0.1:1", "https://127.0.0.1", nil])
    func aFormOfAnotherOriginIsRefused(_ origin: String?) async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let token = try await browser.token(on: "unlock")
            let fields = browser.fields + (origin.map { [("Origin", $0)] } ?? [])
            let reply = try await RawExchange.send(
                "POST", browser.path("unlock"), to: app.port, fields,
                body: Browser.encoded([("form-token", token), ("passphrase", Served.passphrase)]))
            #expect(reply.status == 403 && reply.body.contains("Another page asked for this"))
            #expect(try await browser.get("").body.contains("Unlock"), "nothing was opened")
        }
    }

    @Test func aFormWithoutItsSessionsTokenIsRefused() async throws {
        try await Served.alone { app in
            let (browser, other) = (try await app.browser(), try await app.browser())
            let wrong = [nil, "", String(repeating: "0", count: 64), try await other.token(on: "unlock")]
            for token in wrong {
                let reply = try await browser.send("unlock", [("passphrase", Served.passphrase)], token: token)
                #expect(reply.status == 403 && reply.body.contains("not of this session"), "\(token ?? "none")")
            }
            #expect(try await browser.get("").body.contains("Locked"), "nothing was opened")
            #expect(try await browser.post("unlock", [("passphrase", Served.passphrase)]).status == 303)
        }
    }

    @Test func everyAnswerForbidsFramesScriptsAndCopies() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let unnamed = [("Host", browser.host)]
            let answers = [
                try await browser.get(""), try await browser.get("nothing/here"),
                try await Self.open("http://x/link/x", app),
                try await RawExchange.send("GET", "/", to: app.port, unnamed),
                try await RawExchange.send("GET", "/assets/\(WebAssets.version)/signet.css", to: app.port, unnamed),
                try await browser.send("unlock", [], token: nil),
            ]
            for answer in answers {
                let policy = answer.field("content-security-policy") ?? ""
                #expect(policy.hasPrefix("default-src 'none';") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.replacing("script-src 'self'; connect-src 'self'; ", with: "").contains("script-src"))
                #expect(!policy.contains("unsafe") && policy.contains("trusted-types 'none'"))
                #expect(answer.field("x-frame-options") == "DENY")
                #expect(answer.field("x-content-type-options") == "nosniff")
                #expect(answer.field("referrer-policy") == "same-origin")
                #expect(answer.field("cross-origin-opener-policy") == "same-origin")
                #expect(answer.field("cross-origin-resource-policy") == "same-origin")
            }
            #expect(try await browser.get("").field("cache-control") == "no-store")
        }
    }

    @Test func theCookieIsKeptFromScriptsOtherSitesAndOtherPorts() async throws {
        try await Served.alone { app in
            let reply = try await Self.open(app.service.makeLink(port: app.port), app)
            let parts = try #require(reply.field("set-cookie")).split(separator: ";").map { $0.drop { $0 == " " } }
            #expect(parts[0].hasPrefix("signet-\(app.port)=") && parts[0].count > 64)
            #expect(parts.contains("HttpOnly") && parts.contains("SameSite=Strict"))
            let path = try #require(parts.first { $0.hasPrefix("Path=/") })
            #expect(path.dropFirst(6).count == 33, "a path that no page of another port knows")
        }
    }

    @Test func theStylesheetAndEachOfItsPicturesAreServedToEverybody() async throws {
        try await Served.alone { app in
            let fields = [("Host", "127.0.0.1:\(app.port)")]
            let sheet = try await RawExchange.send(
                "GET", "/assets/\(WebAssets.version)/signet.css", to: app.port, fields)
            #expect(sheet.status == 200 && sheet.field("content-type") == "text/css; charset=utf-8")
            #expect(sheet.body.utf8.count < 30_000, "the budget of the design")
            let pictures = sheet.body.split(separator: "url(").dropFirst().map { $0.prefix { $0 != ")" } }
            #expect(pictures.count > 20)
            for picture in pictures {
                let reply = try await RawExchange.send(
                    "GET", "/assets/\(WebAssets.version)/\(picture)", to: app.port, fields)
                #expect(reply.status == 200 && reply.field("content-type") == "image/svg+xml", "\(picture)")
            }
            let other = try await RawExchange.send("GET", "/assets/0000000000000000/signet.css", to: app.port, fields)
            #expect(other.status == 404)
        }
    }

    @Test func aFormThatIsTooLongOrNoFormIsRefused() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            let token = try await browser.token(on: "unlock")
            let long = try await browser.send(
                "unlock", [("passphrase", String(repeating: "x", count: FormBody.maximumByteCount))], token: token)
            #expect(long.status == 413)
            let reply = try await RawExchange.send(
                "POST", browser.path("unlock"), to: app.port, browser.fields + [("Origin", "http://\(browser.host)")],
                body: "form-token=\(token)&passphrase=%FF")
            #expect(reply.status == 413, "not UTF-8")
        }
    }

    /// Another user of the machine can connect, too: they use up the connections of a while, not this process's files.
    @Test func connectionsThatAskNothingAreCounted() async throws {
        try await Served.alone { app in
            let browser = try await app.browser()
            var isRefused = false
            // On a busy machine the time that each has to begin a request may be over before all are there.
            for _ in 0..<5 where !isRefused {
                let connecting = (0..<WebChannel.maximumConnectionCount).map { _ in
                    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: "127.0.0.1", port: app.port)
                }
                var held: [any Channel] = []
                for connection in connecting { held.append(try await connection.get()) }
                isRefused = await (try? browser.get("")) == nil
                for channel in held { try? await channel.close() }
            }
            #expect(isRefused)
            // The server hears of their ends one by one.
            while (try? await browser.get("").status) != 200 { await Task.yield() }
        }
    }

    /// Another program at the same port of the other loopback address would get what the person types there.
    @Test func aPortThatIsTakenAtOneAddressIsNotServedAtTheOther() async throws {
        guard
            let taken = try? await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "::1", port: 0).get()
        else { return }
        let port = try #require(taken.localAddress?.port)
        await #expect(throws: WebServiceError.cannotListen) { try await LoopbackPlace.find(port) }
        try await taken.close()
        #expect(try await LoopbackPlace.find(port).hosts == ["127.0.0.1", "::1"])
    }

    private static func open(_ link: String, _ app: Served) async throws -> RawExchange {
        let path = String(link[try #require(link.firstRange(of: "/link/")).lowerBound...])
        return try await RawExchange.send("GET", path, to: app.port, [("Host", "127.0.0.1:\(app.port)")])
    }
}
