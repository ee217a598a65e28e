// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import PinnedHTTP
import SeededRandomness
import Testing

/// Cards from a real issuer: a process with TLS and a database, its operator's commands, and members each in their own process.
@Suite struct IssuerTests {
    private func with(_ body: (Town, RunningIssuer) async throws -> Void) async throws {
        try await Town.with { town in
            try await RunningIssuer.with(town) { issuer in try await body(town, issuer) }
        }
    }

    private func cards(_ town: Town, _ home: String = "alice") async throws -> [[String: Any]] {
        try #require(try await town.signet(home, "cards", "list", "--json").object()["cards"] as? [[String: Any]])
    }

    // MARK: The story

    @Test func aMemberGetsACard_showsIt_andIsRefusedOnceItIsWithdrawn() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            let got = try await issuer.get(offer, copies: 3)
            expect(0, got)
            #expect(got.output.contains("Got from localhost:\(issuer.port) as card 1"))
            #expect(got.output.contains("name: Alice Lee") && got.output.contains("3 copies for further sites"))
            #expect(try await issuer.state(of: offer) == "3 copies")
            try await issuer.publishStatusList(to: "club.status")
            try await RunningSite.with(["shop", "bank"], in: town, options: issuer.asking(statusList: "club.status")) {
                sites in
                for site in sites { try await expect(0, site.signet("alice", "register")) }
                try await expect(0, show(town, sites[0]))
                try await expect(0, issuer.operate("withdraw", offer.number))
                #expect(try await issuer.state(of: offer) == "withdrawn")
                try await issuer.publishStatusList(to: "club.status")
                let refused = try await show(town, sites[1])
                expect(1, refused)
                #expect(refused.complaint.contains("The issuer has withdrawn this card"))
            }
        }
    }

    private func show(_ town: Town, _ site: RunningSite) async throws -> Exit {
        let asked = try await site.signet("alice", "signin", "--cards", "--json").object()
        let link = try #require(asked["link"] as? String)
        return try await town.signet("alice", "show", link, "--roots", site.roots, "--only", "member")
    }

    /// Nobody who watches the list learns how many cards there are, and which copies are of one card.
    @Test func theStatusListHasDecoys_andCopiesHaveEntriesAtRandom() async throws {
        try await with { town, issuer in
            func size() async throws -> Int {
                try await issuer.publishStatusList(to: "club.status")
                return try town.bytes("club.status").count
            }
            #expect(try await size() > 1000, "entries are withdrawn although no card was made")
            let offer = try await issuer.offer()
            expect(0, try await issuer.get(offer, copies: 5))
            let withdrawn = try await issuer.operate("withdraw", offer.number)
            #expect(withdrawn.output == "withdrawn: 5 copies of Alice Lee\n")
            let again = try await issuer.operate("withdraw", offer.number)
            #expect(again.output == "withdrawn: 0 copies of Alice Lee\n")
        }
    }

    @Test func withoutATerminalNothingIsSentUnlessThePersonHasAgreed() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            let exit = try await town.signet("alice", "cards", "get", offer.link, "--roots", issuer.roots)
            expect(64, exit)
            #expect(exit.complaint.contains("asks before it goes on"))
            let withoutCode = try await town.signet(
                "alice", "cards", "get", offer.link, "--roots", issuer.roots, "--yes")
            expect(64, withoutCode)
            #expect(withoutCode.complaint.contains("told you a code"))
            let short = try await issuer.get(offer, code: "12345")
            expect(64, short)
            #expect(short.complaint.contains("The code has 6 digits"))
            #expect(try await issuer.state(of: offer) == "open")
            expect(0, try await issuer.get(offer))
            let open = try await issuer.offer("Bob", "--no-code")
            #expect(open.code == nil)
            let unasked = try await issuer.get(open, "bob", code: "123456")
            expect(64, unasked)
            #expect(unasked.complaint.contains("asks for no code"))
            expect(0, try await issuer.get(open, "bob"))
        }
    }

    // MARK: Offers

    /// Bob has seen the link, and overheard the code.
    @Test func anOfferIsGoodForOneWallet() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            expect(0, try await issuer.get(offer))
            for home in ["bob", "alice"] {
                let again = try await issuer.get(offer, home)
                expect(1, again)
                #expect(again.complaint.contains("it was used, has expired or was withdrawn"))
            }
            #expect(try await cards(town).count == 1)
            #expect(try await cards(town, "bob").isEmpty)
            #expect(try await issuer.state(of: offer) == "2 copies")
        }
    }

    @Test func wrongCodesLockAnOffer_butNotBeforeTheFifth() async throws {
        try await with { town, issuer in
            func wrong(_ offer: RunningIssuer.Offer) -> String { offer.code == "000000" ? "000001" : "000000" }
            let (locked, open) = (try await issuer.offer(), try await issuer.offer())
            for _ in 0..<4 {
                for offer in [locked, open] { expect(1, try await issuer.get(offer, code: wrong(offer))) }
            }
            expect(0, try await issuer.get(open))
            expect(1, try await issuer.get(locked, code: wrong(locked)))
            expect(1, try await issuer.get(locked))
            #expect(try await issuer.state(of: locked) == "locked")
            #expect(try await cards(town).count == 1)
        }
    }

    @Test func expiredAndWithdrawnOffersAreRefused() async throws {
        try await with { town, issuer in
            let (expired, withdrawn) = (try await issuer.offer("Alice Lee", "--hours", "0"), try await issuer.offer())
            #expect(try await issuer.state(of: expired) == "expired")
            try await expect(0, issuer.operate("withdraw", withdrawn.number))
            for offer in [expired, withdrawn] { expect(1, try await issuer.get(offer)) }
            #expect(try await cards(town).isEmpty)
        }
    }

    @Test func anIssuerOfAnUntrustedAuthorityIsNotAsked() async throws {
        try await with { town, issuer in
            let other = try TestIssuer("other", in: town)
            let offer = try await issuer.offer()
            let exit = try await town.signet(
                "alice", "cards", "get", offer.link, "--roots", other.roots, "--code", offer.code ?? "", "--yes")
            expect(1, exit)
            #expect(exit.complaint.contains("No authority that you trust has certified"))
            #expect(try await issuer.state(of: offer) == "open")
        }
    }

    @Test func otherLinksAreNoOffers() async throws {
        try await Town.with { town in
            for link in [
                "https://club.example", "openid-credential-offer://?credential_offer=%7B%7D", "openid4vp://?a=b",
            ] {
                let exit = try await town.signet("alice", "cards", "get", link, "--yes")
                expect(1, exit)
                #expect(exit.complaint.contains("not an offer of a card"))
            }
        }
    }

    // MARK: Requests that no wallet sends

    @Test func malformedOversizedAndMisplacedRequestsAreRefused_andTheIssuerGoesOn() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            #expect(try await issuer.status(of: "GET", "/token") == 405)
            #expect(try await issuer.status(of: "POST", "/status/1") == 405)
            #expect(try await issuer.status(of: "GET", "/") == 404)
            #expect(try await issuer.status(of: "GET", "/.well-known/openid-credential-issuer/x") == 404)
            #expect(try await issuer.status(of: "POST", "/token", [UInt8](repeating: 0x61, count: 4097)) == 413)
            #expect(try await issuer.status(of: "POST", "/nonce", [0x61]) == 413)
            #expect(try await issuer.status(of: "POST", "/token") == 400)
            #expect(try await issuer.status(of: "POST", "/credential") == 401)
            let token = [
                UInt8
            ]("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Apre-authorized_code&pre-authorized_code=a".utf8)
            #expect(try await issuer.status(of: "POST", "/token", token) == 400, "without a proof of the sender")
            var generator = SeededGenerator(seed: 19)
            for _ in 0..<40 {
                let body = generator.mutant(of: token)
                #expect(try await issuer.status(of: "POST", "/token", body) == 400)
                let fields = [("authorization", "DPoP abc"), ("dpop", "a.b.c")]
                    .map { TransportRequest.Field(name: $0.0, value: $0.1) }
                #expect(try await issuer.status(of: "POST", "/credential", body, fields) == 401)
            }
            expect(0, try await issuer.get(offer))
        }
    }

    // MARK: Interruptions

    /// The disk of the issuer fills up between two requests.
    @Test func anIssuerWithoutRoomMakesNoCard_andTheSameOfferIsGoodAfterwards() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            try await issuer.stop()
            // No file may become larger than it is: a journal cannot be written.
            try await issuer.start(after: "ulimit -f 0; trap '' XFSZ")
            let full = try await issuer.get(offer)
            #expect(full.status != 0 && full.complaint.contains("cannot answer now"), "\(full.errors)")
            #expect(try await cards(town).isEmpty)
            try await issuer.stop()
            try await issuer.start()
            expect(0, try await issuer.get(offer))
            #expect(try await cards(town).count == 1)
        }
    }

    /// The disk of the member is full when the card comes.
    @Test func aMemberWithoutRoomKeepsNothing_andTheSameOfferIsGoodAfterwards() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            let arguments = [
                "cards", "get", offer.link, "--copies", "20", "--roots", issuer.roots, "--yes", "--home", "alice",
                "--code", offer.code ?? "",
            ]
            // The keys fit, and the copies do not.
            let full = try await Exit.of(
                URL(filePath: "/bin/sh"),
                ["-c", "trap '' XFSZ; ulimit -f 40; exec \"$@\"", "sh", Program.signet.file.path()] + arguments,
                in: town.folder)
            #expect(full.status != 0, "\(full.output)")
            #expect(try await cards(town).isEmpty)
            #expect(try await issuer.state(of: offer) == "20 copies", "the card was made, and did not fit")
            expect(0, try await town.signet(arguments))
            #expect(try await cards(town).first?["unused"] as? Int == 20)
            #expect(try await issuer.state(of: offer) == "20 copies", "it was made again for the same keys")
        }
    }

    @Test func offersAndCardsAreKeptAcrossARestartOfTheIssuer() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            try await issuer.stop()
            try await issuer.start()
            expect(0, try await issuer.get(offer))
        }
    }

    // MARK: The operator

    @Test func badUsesAreRefusedWithASentence() async throws {
        try await with { town, issuer in
            for (arguments, words) in [
                (["init", "--database", "club.db", "--host", "localhost"], "is there already"),
                (["init", "--database", "x.db", "--host", "Club.example"], "a name in lower case"),
                (["init", "--database", "x.db", "--host", "club.example", "--port", "0"], "not port 0"),
                (["list", "--database", "x.db"], "there is no such file"),
                (["list", "--database", "club.pem"], "not an issuer's database"),
                (["withdraw", "7", "--database", "club.db"], "no offer has this number"),
                (["offer", "--database", "club.db", "--member", ""], "--member"),
                (["offer", "--database", "club.db", "--member", "a\nb"], "--member"),
                (["offer", "--database", "club.db", "--member", "Ming", "--hours", "721"], "--hours"),
                (["offer", "--database", "club.db", "--member", "Ming", "--days", "0"], "--days"),
                (issuer.arguments, "cannot listen"),
                (issuer.arguments.map { $0 == "club.key" ? "club.pem" : $0 }, "do not belong together"),
                (issuer.arguments.map { $0 == "club.key" ? "no.key" : $0 }, "cannot be read"),
            ] {
                let exit = try await Program.issuer.run(arguments, in: town.folder)
                expect(64, exit, arguments.joined(separator: " "))
                #expect(exit.errors.contains(words), "\(exit.errors)")
            }
            #expect(!town.exists("x.db"))
            let mode = try FileManager.default.attributesOfItem(atPath: town["club.db"].path())[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
        }
    }

    /// A copy of the issuer's database is worth no card.
    @Test func theDatabaseHasNoCodes() async throws {
        try await with { town, issuer in
            let offer = try await issuer.offer()
            let code = try #require(offer.link.firstMatch(of: /pre-authorized_code%22%3A%22([A-Za-z0-9]{32})%22/)).1
            let database = try town.bytes("club.db")
            #expect(database.firstRange(of: Array("Alice Lee".utf8)) != nil)
            #expect(database.firstRange(of: Array(code.utf8)) == nil)
        }
    }
}
