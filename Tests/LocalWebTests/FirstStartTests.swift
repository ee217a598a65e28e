// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyTransparency
import Signet
import SignetAPI
import SignetTesting
import Testing

@testable import LocalWeb

/// A home without an account, over a real server: a new identity, and another device of an existing one.
@Suite struct FirstStartTests {
    private static let keys = [
        ("passphrase", Served.passphrase), ("again", Served.passphrase), ("keystore", "file"),
    ]

    /// A server, and a home folder that is not there yet.
    private static func run(
        _ body: @Sendable @escaping (TestServer, HomeFolder, String) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            try await withFolder { folder in
                try await body(server, HomeFolder(path: folder + "/new"), folder)
            }
        }
    }

    private static func directory(_ server: TestServer) -> (field: String, name: String, content: [UInt8]) {
        ("directory-file", "directory.signet", server.profile.encoded)
    }

    @Test func aHomeWithoutAnAccountOffersThreeWaysAndShowsNothingElse() async throws {
        try await withFolder { folder in
            try await Served.run(at: HomeFolder(path: folder + "/new")) { app in
                let browser = try await app.browser()
                for path in ["", "people", "notes", "unlock", "start/confirm", "start/finish", "no/such/page"] {
                    let reply = try await browser.get(path)
                    #expect(reply.status == 303 && reply.field("location") == browser.path("start"), "\(path)")
                }
                let start = try await browser.get("start")
                for step in ["new", "join", "recover"] {
                    #expect(start.body.contains("\(browser.path("start/\(step)"))\""))
                    #expect(try await browser.get("start/\(step)").status == 200)
                }
                #expect(!start.body.contains("Lock now"))
            }
        }
    }

    @Test func aNewIdentityIsMadeAndTheBrowserGoesOnInIt() async throws {
        try await Self.run { server, home, _ in
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let sent = try await browser.post(
                    "start/new", [("handle", " Ming@example.org "), ("directory", ""), ("invitation", "")] + Self.keys,
                    files: [Self.directory(server)])
                #expect(sent.status == 303, "\(sent.notices)")
                let first = try await browser.follow(sent)
                #expect(first.shown.contains("ming@example.org is yours, and the log proves it"))
                #expect(first.body.contains("Lock now"), "the account is open")
                #expect(try await browser.get("devices").shown.contains("Device 1: this one"))
                #expect(try await browser.get("start/new").field("location") == browser.path(""), "not made twice")
                // The passphrase that was typed opens it again, and no other.
                _ = try await browser.act("lock", from: "people")
                #expect(try await browser.post("unlock", [("passphrase", "another one")]).status == 422)
                _ = try await browser.act("unlock", [("passphrase", Served.passphrase), ("to", "people")])
            }
        }
    }

    @Test func theTextOfADirectoryFileIsAsGoodAsTheFile() async throws {
        try await Self.run { server, home, _ in
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let text = String(decoding: server.profile.encoded, as: UTF8.self).replacing("\n", with: "\r\n")
                let values = [("handle", "ming@example.org"), ("directory", "  " + text)] + Self.keys
                let sent = try await browser.post("start/new", values, files: [("directory-file", "", [])])
                #expect(sent.status == 303, "\(sent.notices)")
            }
        }
    }

    /// Each field is wrong once. Nothing that was typed is lost but the passphrases, which are in no page.
    @Test func whatIsWrongIsSaidAndNothingTypedIsLost() async throws {
        try await Self.run { server, home, _ in
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let text = String(decoding: server.profile.encoded, as: UTF8.self)
                let good = [
                    "handle": "ming@example.org", "directory": text, "passphrase": Served.passphrase,
                    "again": Served.passphrase, "keystore": "file", "invitation": "",
                ]
                for (field, wrong, sentence) in [
                    ("handle", "<b>", "That is not a handle"), ("directory", "", "No directory file was chosen"),
                    ("directory", "<script>alert(1)</script>", "is not a directory file"),
                    ("again", "another one", "The two passphrases differ"), ("keystore", "cloud", "no place for keys"),
                    ("invitation", "12", "not an invitation"),
                ] {
                    let values = good.merging([field: wrong]) { $1 }
                    let reply = try await browser.post("start/new", values.map { ($0, $1) }, files: [])
                    #expect(reply.status == 422 && reply.shown.contains(sentence), "\(field): \(reply.notices)")
                    #expect(reply.value(of: "handle") == values["handle"], "\(field)")
                    #expect(reply.text(of: "directory") == values["directory"], "\(field)")
                    #expect(!reply.body.contains(Served.passphrase) && !reply.body.contains("<script"))
                }
                let weak = try await browser.post(
                    "start/new", good.merging(["passphrase": "ming", "again": "ming"]) { $1 }.map { ($0, $1) },
                    files: [])
                #expect(weak.status == 422 && weak.text(of: "directory") == text, "\(weak.notices)")
                #expect(!home.keystore.exists, "nothing was made")
            }
        }
    }

    /// The directory is not reached when the keys have been made; later it is, by a process that was started again.
    @Test func aNewIdentityThatWasInterruptedIsFoundAgainWithItsKeys() async throws {
        try await Self.run { server, home, _ in
            let lost = try #require(
                try? DirectoryProfile(
                    decoding: Array(
                        String(decoding: server.profile.encoded, as: UTF8.self)
                            .replacing(server.profile.url, with: "https://localhost:1").utf8)))
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let sent = try await browser.post(
                    "start/new", [("handle", "ming@example.org")] + Self.keys,
                    files: [("directory-file", "d", lost.encoded)])
                #expect(sent.status == 422 && sent.shown.contains("Its keys are in this folder"), "\(sent.notices)")
            }
            try home.directory.replace(with: server.profile.encoded)
            let keys = try OpenHome.keystore(in: home)?.keys
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                #expect(try await browser.get("start").shown.contains("no account has them yet"))
                #expect(try await browser.get("start/join").status == 303, "the keys are of a first device")
                let wrong = try await browser.post("start/new", [("passphrase", "another one")], files: [])
                #expect(wrong.status == 422)
                let sent = try await browser.post("start/new", [("passphrase", Served.passphrase)], files: [])
                #expect(sent.status == 303, "\(sent.notices)")
                #expect(try OpenHome.keystore(in: home)?.keys == keys)
            }
        }
    }

    // MARK: Another device

    /// Digits of a page, behind what it says before them.
    private static func digits(_ page: RawExchange) throws -> String {
        let list = try #require(page.body.firstRange(of: "<ol class=\"digits\""), "\(page.notices)")
        let rest = page.body[list.upperBound...].drop { $0 != ">" }
        return rest[..<(try #require(rest.firstRange(of: "</ol>")).lowerBound)].filter(\.isNumber)
    }

    @Test func aDeviceJoinsWithTheDigitsOfBothSidesAlsoAfterABreak() async throws {
        try await Self.run { server, home, folder in
            let alice = try await Stage.account(Stage.alice, "alice", server.profile, folder)
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let sent = try await browser.post(
                    "start/join", [("handle", Stage.alice)] + Self.keys, files: [Self.directory(server)])
                #expect(try await browser.follow(sent).body.contains("<svg class=\"qr qr-dense\""), "\(sent.notices)")
            }
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let page = try await browser.follow(try await browser.get(""))
                #expect(page.shown.contains("Add this device on the one that you have"), "found again")
                let card = try Base64.decode(Array(try #require(page.text(of: "card")).utf8))
                #expect(!page.body.contains(Served.passphrase))

                let early = try await browser.post(
                    "start/confirm", [("code", "1"), ("passphrase", Served.passphrase)], from: "start/join")
                #expect(early.status == 422, "the other device has not added it")
                let linked = try await alice.link(
                    try alice.card(card, typed: try Self.digits(page)),
                    try await alice.approval(of: .linkDevice) { _ in Stage.secret })
                let wrong = try await browser.post(
                    "start/confirm", [("code", "1111 2222 3333"), ("passphrase", Served.passphrase)],
                    from: "start/join")
                #expect(wrong.status == 422 && wrong.shown.contains("ALARM"), "\(wrong.notices)")
                #expect(wrong.value(of: "code") == "1111 2222 3333")
                let closed = try await browser.post(
                    "start/confirm", [("code", linked.confirmation), ("passphrase", "another one")],
                    from: "start/join")
                #expect(closed.status == 422, "\(closed.notices)")
                let joined = try await browser.act(
                    "start/confirm", [("code", linked.confirmation), ("passphrase", Served.passphrase)],
                    from: "start/join")
                #expect(joined.shown.contains("This device is yours now"))
                #expect(try await browser.get("devices").shown.contains("Device 2: this one"))
            }
            await alice.close()
        }
    }

    @Test func theCardIsSavedAsAFileAndAnotherOneReplacesIt() async throws {
        try await Self.run { server, home, folder in
            let alice = try await Stage.account(Stage.alice, "alice", server.profile, folder)
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                _ = try await browser.post(
                    "start/join", [("handle", Stage.alice)] + Self.keys, files: [Self.directory(server)])
                let file = try await browser.get("start/card")
                #expect(file.field("content-disposition")?.contains("device.card") == true)
                let first = try await browser.get("start/join")
                let wrong = try await browser.post("start/remake", [("passphrase", "x")], from: "start/join")
                #expect(wrong.status == 422)
                #expect(try await browser.get("start/join").text(of: "card") == first.text(of: "card"))
                let second = try await browser.act(
                    "start/remake", [("passphrase", Served.passphrase)], from: "start/join")
                #expect(second.text(of: "card") != first.text(of: "card"))
            }
            await alice.close()
        }
    }

    // MARK: Other programs

    @Test func anAccountThatAnotherProgramMadeMeanwhileIsFound() async throws {
        try await Self.run { server, home, folder in
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                _ = try await browser.get("start")
                let made = try await Stage.account(Stage.alice, "new", server.profile, folder)
                await made.close()
                #expect(try await browser.get("").shown.contains(Stage.alice))
                #expect(try await browser.get("unlock").status == 200)
            }
        }
    }

    @Test func aKeystoreThatCannotBeReadIsSaidAndNotReplaced() async throws {
        try await Self.run { server, home, _ in
            try home.prepare()
            try home.directory.replace(with: server.profile.encoded)
            try home.keystore.replace(with: Array("rubbish".utf8))
            try await Served.run(at: home) { app in
                let browser = try await app.browser()
                let page = try await browser.get("start")
                #expect(page.status == 422 && page.shown.contains("is not a keystore"), "\(page.notices)")
                #expect(try home.keystore.read(maximumByteCount: 99) == Array("rubbish".utf8))
            }
        }
    }
}
