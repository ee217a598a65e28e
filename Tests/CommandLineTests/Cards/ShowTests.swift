// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Cards shown to sites: real sites with TLS and databases, and people each in their own process.
@Suite(.timeLimit(.minutes(5))) struct ShowTests {
    /// The link with which a site asks a person who has signed in.
    private func link(_ site: RunningSite, _ home: String = "alice") async throws -> String? {
        try await site.signet(home, "signin", "--cards", "--json").object()["link"] as? String
    }

    private func show(
        _ town: Town, _ link: String, _ site: RunningSite, _ options: [String] = ["--only", "member"],
        home: String = "alice"
    ) async throws -> Exit {
        try await town.signet(["show", link, "--roots", site.roots] + options + ["--home", home])
    }

    /// Runs `body` with sites that ask for a card, an issuer, and alice, who is known at all sites.
    private func with(
        _ names: [String] = ["shop"], copies: Int = 2, asking question: String = "member",
        _ body: (Town, [RunningSite], TestIssuer) async throws -> Void
    ) async throws {
        try await Town.with { town in
            let issuer = try TestIssuer(in: town)
            try await RunningSite.with(names, in: town, options: issuer.asking(question)) { sites in
                for site in sites { try await expect(0, site.signet("alice", "register")) }
                try await issuer.give("alice", copies: copies)
                try await body(town, sites, issuer)
            }
        }
    }

    /// How often a site got an answer.
    private func answers(_ town: Town, _ site: RunningSite) throws -> Int {
        String(decoding: try town.bytes("\(site.name).record"), as: UTF8.self)
            .split(separator: "\n").count { $0.hasPrefix("POST /.well-known/signet/cards/response/") }
    }

    @Test func aMemberIsAskedOnceAndShowsOnlyWhatIsAsked() async throws {
        try await with { town, sites, _ in
            let link = try #require(try await link(sites[0]))
            let shown = try await show(town, link, sites[0], ["--only", "member", "--json"])
            expect(0, shown)
            #expect(try shown.object()["shown"] as? [String] == ["member"])
            #expect(try await self.link(sites[0]) == nil, "the site has seen it")
            let card = try #require(
                (try await town.signet("alice", "cards", "list", "--json").object()["cards"] as? [[String: Any]])?.first
            )
            #expect(card["sites"] as? [String] == [sites[0].host] && card["unused"] as? Int == 1)
            // What the site holds: the answer is encrypted on the way, and the database has no part of the card.
            try await sites[0].stop()
            let database = try town.bytes("shop.members")
            #expect(database.firstRange(of: Array("Alice Lee".utf8)) == nil)
            try await sites[0].start()
            #expect(try await self.link(sites[0]) == nil, "also after a restart")
        }
    }

    @Test func nothingIsSentUnlessThePersonAgrees() async throws {
        try await with { town, sites, _ in
            let first = try #require(try await link(sites[0]))
            let unasked = try await show(town, first, sites[0], [])
            expect(64, unasked)
            #expect(unasked.complaint.contains("there is no terminal on which to ask"))
            let second = try #require(try await link(sites[0]))
            let other = try await show(town, second, sites[0], ["--only", "age_over_18"])
            expect(1, other)
            #expect(other.complaint.contains("asks for more than you named: member"))
            #expect(try answers(town, sites[0]) == 0)
        }
    }

    @Test func aPersonWithoutTheCardShowsNothing() async throws {
        try await with(asking: "over18") { town, sites, _ in
            let link = try #require(try await link(sites[0]))
            let exit = try await show(town, link, sites[0], ["--only", "age_over_18"])
            expect(64, exit)
            #expect(exit.complaint.contains("You carry no valid card that has what the site asks for"))
            #expect(try answers(town, sites[0]) == 0)
        }
    }

    /// The second site would get the copy that the first one has.
    @Test func aCopyIsNotShownAtASecondSite_andAnotherCopyIs() async throws {
        try await with(["shop", "bank"], copies: 1) { town, sites, issuer in
            try await expect(0, show(town, try #require(try await link(sites[0])), sites[0]))
            let refused = try await show(town, try #require(try await link(sites[1])), sites[1])
            expect(64, refused)
            #expect(refused.complaint.contains("Every copy of the card belongs to another site"))
            #expect(try answers(town, sites[1]) == 0)
            try await issuer.give("alice", copies: 1, first: 8)
            try await expect(0, show(town, try #require(try await link(sites[1])), sites[1]))
        }
    }

    /// Two sites put together what they see of a person's cards, which the example site writes down once it has opened them.
    @Test func colludingSitesFindNothingEqualInTheCardsThatOnePersonShows() async throws {
        try await with(["shop", "bank"]) { town, sites, issuer in
            for site in sites { try await expect(0, site.signet("bob", "register")) }
            try await issuer.give("bob", copies: 2, first: 8)
            var held: [[Holdings]] = []
            for home in ["bob", "alice"] {
                for site in sites {
                    let link = try #require(try await link(site, home))
                    try await expect(0, show(town, link, site, home: home))
                }
                held.append(try sites.map { try $0.cards() })
            }
            let (bob, alice) = (
                held[0], zip(held[0], held[1]).map { Holdings(fields: Array($1.fields.dropFirst($0.fields.count))) }
            )
            let everyones = Holdings.linking([bob[0]], [bob[1]])
            let linked = Holdings.linking([alice[0]], [alice[1]]).subtracting(everyones)
            #expect(linked.isEmpty, "both have \(linked.map(Array.init).prefix(5))")
            // The method finds equal values: each site has seen one of the two copies that the issuer made, and nothing of the other.
            let copies = try town.bytes("alice.cards").split(separator: UInt8(ascii: "\n")).map { text in
                var copy = Holdings()
                try copy.add(presentation: Array(text))
                return copy
            }
            let common = alice.map { site in
                copies.map { site.runs.intersection($0.runs).subtracting(everyones).count }
            }
            #expect(copies.count == 2 && common[0].max() ?? 0 > 200 && common[1].max() ?? 0 > 200, "\(common)")
            #expect(common[0].firstIndex(of: common[0].max() ?? 0) != common[1].firstIndex(of: common[1].max() ?? 0))
        }
    }

    @Test func aWithdrawnCardIsRefused() async throws {
        try await with { town, sites, issuer in
            try issuer.publish(withdrawn: 0..<2)
            let exit = try await show(town, try #require(try await link(sites[0])), sites[0])
            expect(1, exit)
            #expect(exit.complaint.contains("The issuer has withdrawn this card"))
            try FileManager.default.removeItem(at: town[issuer.list])
            let unknown = try await show(town, try #require(try await link(sites[0])), sites[0])
            expect(1, unknown)
            #expect(unknown.complaint.contains("cannot find out whether the issuer has withdrawn"))
            try issuer.publish()
            try await expect(0, show(town, try #require(try await link(sites[0])), sites[0]))
        }
    }

    /// Bob has the site ask him, and sends alice the link.
    @Test func anAnswerInAnotherPersonsSessionIsWorthNothing() async throws {
        try await with { town, sites, _ in
            try await expect(0, sites[0].signet("bob", "register"))
            let exit = try await show(town, try #require(try await link(sites[0], "bob")), sites[0])
            expect(1, exit)
            #expect(exit.complaint.contains("did not ask you, but the person who began this request"))
            #expect(try await link(sites[0], "bob") != nil, "bob has proved nothing")
            #expect(try await link(sites[0]) != nil, "nor has alice")
        }
    }

    @Test func aStrangerToTheSiteShowsNothing() async throws {
        try await with { town, sites, issuer in
            try await issuer.give("bob", copies: 1, first: 8)
            let exit = try await show(town, try #require(try await link(sites[0])), sites[0], home: "bob")
            expect(64, exit)
            #expect(exit.complaint.contains("does not know you"))
            #expect(try answers(town, sites[0]) == 0)
        }
    }

    @Test func aLinkIsGoodOnce() async throws {
        try await with { town, sites, _ in
            let link = try #require(try await link(sites[0]))
            try await expect(0, show(town, link, sites[0]))
            let again = try await show(town, link, sites[0])
            expect(1, again)
            #expect(again.complaint.contains("knows no such request"))
            #expect(try answers(town, sites[0]) == 1)
        }
    }

    /// The link names a host that the certificate of the request does not.
    @Test func aRequestInTheNameOfAnotherHostIsRefused() async throws {
        try await with { town, sites, _ in
            let link = try #require(try await link(sites[0]))
            let other = link.replacing("x509_san_dns%3Alocalhost", with: "x509_san_dns%3Abank.example")
            try #require(other != link)
            let exit = try await show(town, other, sites[0])
            expect(1, exit)
            #expect(exit.complaint.contains("names another site than the link"))
            #expect(try answers(town, sites[0]) == 0)
        }
    }

    /// Another server, with a certificate for the same name, passes on the request of a site, whose answer goes elsewhere.
    @Test func aRequestThatAnotherServerPassesOnIsRefused() async throws {
        try await with { town, sites, _ in
            try FileManager.default.createDirectory(at: town["relay/tls"], withIntermediateDirectories: true)
            try town.write(town.bytes("shop.pem"), to: "relay/tls/server.pem")
            try town.write(town.bytes("shop.key"), to: "relay/tls/server.key")
            let relay = try await CapturingRelay(to: sites[0].port, data: town["relay"])
            let link = try #require(try await link(sites[0]))
            let exit = try await show(
                town, link.replacing("%3A\(sites[0].port)%2F", with: "%3A\(relay.port)%2F"), sites[0])
            expect(1, exit)
            #expect(exit.complaint.contains("in the name of another site than the one that sent it"))
            #expect(!relay.application.isEmpty)
            await relay.stop()
            #expect(try answers(town, sites[0]) == 0)
        }
    }

    @Test func aSiteOfAnUntrustedAuthorityIsNotAsked() async throws {
        try await with { town, sites, issuer in
            let link = try #require(try await link(sites[0]))
            let exit = try await town.signet(
                "alice", "show", link, "--roots", issuer.roots, "--only", "member")
            expect(1, exit)
            #expect(exit.complaint.contains("No authority that you trust has certified"))
            try await expect(0, show(town, link, sites[0]), "the request was not fetched")
        }
    }

    @Test func otherLinksAreRefused() async throws {
        try await Town.with { town in
            for link in [
                "https://shop.example", "openid4vp://?client_id=x509_san_dns%3Alocalhost",
                "openid4vp://?client_id=x509_san_dns%3Alocalhost&request_uri=https%3A%2F%2Flocalhost%2Fa",
            ] {
                let exit = try await town.signet("alice", "show", link, "--only", "member")
                expect(1, exit)
                #expect(exit.complaint.contains("not a link with which a site asks for a card"))
            }
        }
    }

    @Test func aSiteThatAsksNeedsAnIssuer() async throws {
        try await Town.with { town in
            try await RunningSite.with(["shop"], in: town) { sites in
                try await sites[0].stop()
                for options in [
                    ["--ask", "member"], ["--ask", "age", "--issuers", "shop.roots"],
                    ["--ask", "member", "--issuer", "did:key:zQ"], ["--issuers", "shop.roots"],
                    ["--issuer", "did:key:zQ"], ["--status-list", "shop.list"],
                ] {
                    let exit = try await Program.site.run(
                        [
                            "--port", "\(sites[0].port)", "--certificate", "shop.pem", "--key", "shop.key", "--members",
                            "shop.members",
                        ] + options, in: town.folder)
                    expect(64, exit)
                    #expect(exit.errors.contains("--ask"))
                }
            }
        }
    }
}
