// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SecretMemory
import Signet
import SignetAPI
import SignetTesting
import Testing

@testable import LocalWeb

/// A user who lost every device, in the app of a new one, over a real server and with real guardians.
@Suite struct OwnRecoveryTests {
    /// Ming, whose devices are gone, and her guardians.
    private struct Circle: Sendable {
        let server: TestServer
        let folder: String
        let ming: Handle
        let friends: [Account]

        var home: HomeFolder { HomeFolder(path: folder + "/new") }

        static func run(_ body: @Sendable @escaping (Circle) async throws -> Void) async throws {
            try await TestServer.run { server in
                try await withFolder { folder in
                    let ming = try await Stage.account("ming@example.org", "ming", server.profile, folder)
                    var friends: [Account] = []
                    for name in ["ana", "ben", "cleo"] {
                        let friend = try await Stage.account("\(name)@example.org", name, server.profile, folder)
                        _ = try await ming.add(friend.handle)
                        _ = try await friend.accept(ming.handle)
                        friends.append(friend)
                    }
                    _ = try await ming.notes { book throws(NotesError) in
                        _ = try await book.create(title: Array("cake".utf8), body: Array("cellar".utf8))
                        _ = try await book.sync()
                    }
                    _ = try await ming.chooseGuardians(
                        friends.map(\.handle), threshold: 2, wait: .seconds(1),
                        try await approval(ming, .setUpGuardians))
                    for friend in friends { _ = try await friend.guarding() }
                    let made = try await ming.guardians(try await approval(ming, .setUpGuardians))
                    try #require(made.current?.keptCount == 3)
                    await ming.close()
                    try await body(Circle(server: server, folder: folder, ming: ming.handle, friends: friends))
                    for friend in friends { await friend.close() }
                }
            }
        }

        static func approval(_ account: Account, _ action: PresenceAction) async throws -> Approval {
            try await account.approval(of: action) { _ in Stage.secret }
        }

        func form(naming names: String = "ana@example.org\nben@example.org\n") -> [(String, String)] {
            [
                ("handle", ming.description), ("name", "<b>Ming's phone</b>"), ("guardians", names), ("paper", ""),
                ("passphrase", Served.passphrase), ("again", Served.passphrase), ("keystore", "file"),
            ]
        }

        func ask(_ browser: Browser) async throws -> RawExchange {
            let sent = try await browser.post(
                "start/recover", form(), files: [("directory-file", "directory.signet", server.profile.encoded)])
            try #require(sent.status == 303, "\(sent.notices)")
            return try await browser.follow(sent)
        }

        /// A guardian looks at the request, by its number if they are the first, and types the code that the page shows for them.
        func confirm(_ index: Int, number: String? = nil, _ browser: Browser) async throws {
            let friend = friends[index]
            if let number {
                _ = try await friend.look(at: try #require(RequestNumber(typed: Array(number.utf8))), for: ming)
            } else {
                _ = try await friend.guarding()
            }
            let page = try await browser.get("start/recover")
            let code = try #require(OwnRecoveryTests.code(for: friend.handle, page), "\(page.notices)")
            if number == nil { _ = try await friend.guarding() }
            _ = try await friend.confirmRecovery(
                of: ming, number: number.flatMap { RequestNumber(typed: Array($0.utf8)) }, code: code,
                try await Self.approval(friend, .confirmRecovery(of: ming)))
        }

        /// The log takes another account.
        func grow() async throws {
            let name = "p\(UInt32.random(in: 0 ... .max))"
            await (try await Stage.account("\(name)@example.org", name, server.profile, folder)).close()
        }

        /// Repeats a question until it is answered with true, without sleeping: each goes over the network.
        func until(_ isSo: () async throws -> Bool) async throws {
            for _ in 0..<500 {
                if try await isSo() { return }
            }
            Issue.record("it did not come about")
        }
    }

    /// The code that a page shows for a guardian.
    private static func code(for guardian: Handle, _ page: RawExchange) -> String? {
        guard let heading = page.body.firstRange(of: "Read this to \(guardian.description)"),
            let start = page.body[heading.upperBound...].firstRange(of: "code-field strong\">")
        else { return nil }
        return String(page.body[start.upperBound...].prefix { $0 != "<" })
    }

    /// The number of the request, as the page shows it.
    private static func number(_ page: RawExchange) throws -> String {
        let start = try #require(page.body.firstRange(of: "<b class=\"code-field\">"), "\(page.notices)")
        return String(page.body[start.upperBound...].prefix { $0 != "<" })
    }

    @Test func aLostIdentityComesBackStepByStepAlsoAfterABreak() async throws {
        try await Circle.run { circle in
            try await Served.run(at: circle.home) { app in
                let browser = try await app.browser()
                let page = try await circle.ask(browser)
                #expect(
                    page.shown.contains("Nothing has begun yet") && page.shown.contains("No guardian has confirmed"))
                #expect(!page.body.contains(Served.passphrase))
                try await circle.confirm(0, number: try Self.number(page), browser)
            }
            // The program was ended, and is started again.
            try await Served.run(at: circle.home) { app in
                let browser = try await app.browser()
                let closed = try await browser.follow(try await browser.get(""))
                #expect(closed.shown.contains("Go on recovering your identity"), "\(closed.notices)")
                let wrong = try await browser.post("start/resume", [("passphrase", "another")], from: "start/recover")
                #expect(wrong.status == 422)
                let page = try await browser.act(
                    "start/resume", [("passphrase", Served.passphrase)], from: "start/recover")
                #expect(page.shown.contains("1 helped") || page.shown.contains("0 helped"), "\(page.notices)")
                try await circle.confirm(1, browser)
                try await circle.until {
                    try await circle.grow()
                    for friend in circle.friends.prefix(2) { _ = try await friend.guarding() }
                    return try await browser.get("start/recover").shown.contains("Make the identity yours again")
                }
                let early = try await browser.post("start/finish", [("passphrase", "another")], from: "start/recover")
                #expect(early.status == 422 && early.shown.contains("Make the identity yours again"))
                let done = try await browser.act(
                    "start/finish", [("passphrase", Served.passphrase)], from: "start/recover")
                #expect(done.shown.contains("ming@example.org is yours again, on this device alone"), "\(done.notices)")
                #expect(done.shown.contains("people, 3; notes, 1"))
                #expect(try await browser.get("notes").shown.contains("cake"))
                #expect(try await browser.get("devices").shown.split(separator: "Since ").count == 2, "one device")
            }
        }
    }

    @Test func whatAGuardianCannotBeAskedIsSaidAndNothingTypedIsLost() async throws {
        try await Circle.run { circle in
            try await Served.run(at: circle.home) { app in
                let browser = try await app.browser()
                let file = [(field: "directory-file", name: "d", content: circle.server.profile.encoded)]
                let text = String(decoding: circle.server.profile.encoded, as: UTF8.self)
                for (field, wrong, sentence) in [
                    ("guardians", "ana@example.org\n<b>", "not a handle"), ("name", "", "empty or too long"),
                    ("paper", "ask me", "is not what"), ("again", "x", "differ"),
                ] {
                    let values = circle.form().map { $0.0 == field ? (field, wrong) : $0 }
                    let reply = try await browser.post("start/recover", values, files: file)
                    #expect(reply.status == 422 && reply.shown.contains(sentence), "\(field): \(reply.notices)")
                    #expect(reply.text(of: "directory") == text && !reply.body.contains(Served.passphrase))
                    #expect(reply.text(of: "guardians") == values.first { $0.0 == "guardians" }?.1)
                }
                // Nobody's handle: the log proves that there is no such account, and the folder is free again.
                let values = circle.form().map { $0.0 == "handle" ? ("handle", "mong@example.org") : $0 }
                let reply = try await browser.post("start/recover", values, files: file)
                #expect(reply.status == 422 && reply.value(of: "handle") == "mong@example.org", "\(reply.notices)")
                #expect(!circle.home.keystore.exists)
                _ = try await circle.ask(browser)
            }
        }
    }

    /// Another device of the account says that it was not the user.
    @Test func aRecoveryThatWasStoppedIsSaidWithAWayToAskAgain() async throws {
        try await Circle.run { circle in
            try await Served.run(at: circle.home) { app in
                let browser = try await app.browser()
                try await circle.confirm(0, number: try Self.number(try await circle.ask(browser)), browser)
                _ = try await browser.get("start/recover")
                let ming = try await Account.open(
                    in: HomeFolder(path: circle.folder + "/ming"), passphrase: Stage.secret,
                    surroundings: Served.surroundings())
                try await ming.stopRecovery(try await Circle.approval(ming, .cancelRecovery))
                await ming.close()
                let page = try await browser.get("start/recover")
                #expect(page.status == 422 && page.shown.contains("Ask again"), "\(page.notices)")
                let again = try await browser.post("start/recover", circle.form(), files: [])
                #expect(again.status == 422, "nothing new can begin for a day: \(again.notices)")
            }
        }
    }

    @Test func theKeysOfARecoveryCloseAfterAQuarterOfAnHour() async throws {
        let clock = MovedClock()
        try await Circle.run { circle in
            try await Served.run(at: circle.home, in: Served.surroundings(clock.now)) { app in
                let browser = try await app.browser()
                _ = try await circle.ask(browser)
                #expect(try await browser.get("start/recover").shown.contains("Call your guardians"))
                clock.move(by: WebAccount.openSeconds)
                let page = try await browser.get("start/recover")
                #expect(page.shown.contains("Go on recovering your identity"), "\(page.notices)")
            }
        }
    }
}
