// SPDX-License-Identifier: Apache-2.0

import Credentials
import KeyTransparency
import SecretMemory
import SelectiveDisclosure
import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// Two people with accounts at a real server; the app is alice's.
struct Stage: Sendable {
    static let alice = "alice@example.org"
    static let bob = "bob@example.org"

    let server: TestServer
    let folder: String
    let app: Served
    let bob: Account

    var home: HomeFolder { HomeFolder(path: folder + "/alice") }

    static var secret: SecretBytes { SecretBytes(copying: Served.passphrase.utf8) }

    static func run(
        attack: Attack? = nil, isRelayConniving: Bool = false, with equipment: WebEquipment = WebEquipment(),
        now: @escaping @Sendable () -> UInt64 = Surroundings.system.now,
        _ body: @Sendable @escaping (Stage) async throws -> Void
    ) async throws {
        try await TestServer.run(attack: attack, isRelayConniving: isRelayConniving) { server in
            try await withFolder { folder in
                let alice = try await account(alice, "alice", server.profile, folder)
                await alice.close()
                let bob = try await account(bob, "bob", server.profile, folder)
                let home = HomeFolder(path: folder + "/alice")
                try await Served.run(home, with: equipment, in: Served.surroundings(now)) { app in
                    try await body(Stage(server: server, folder: folder, app: app, bob: bob))
                }
                await bob.close()
            }
        }
    }

    static func account(
        _ handle: String, _ name: String, _ profile: DirectoryProfile, _ folder: String
    ) async throws -> Account {
        let home = HomeFolder(path: folder + "/" + name)
        try Served.prepare(home, handle, at: profile)
        return try await Account.create(
            Handle(handle), at: profile, in: home, passphrase: secret, surroundings: Served.surroundings())
    }

    /// A browser in which the account is open.
    func unlocked() async throws -> Browser {
        let browser = try await app.browser()
        _ = try await browser.act("unlock", [("passphrase", Served.passphrase), ("to", "people")])
        return browser
    }

    /// The same, where alice and bob know each other.
    func befriended() async throws -> Browser {
        let browser = try await unlocked()
        _ = try await browser.act("people/add", [("handle", Self.bob)], from: "people")
        _ = try await bob.accept(try Handle(Self.alice))
        return browser
    }

    /// The name of the only note of the app's list.
    func onlyNote(_ browser: Browser) async throws -> String {
        let list = try await browser.get("notes")
        let start = try #require(list.body.firstRange(of: "<ul class=\"list\">"), "\(list.notices)")
        let link = try #require(list.body[start.upperBound...].firstRange(of: "/notes/"))
        return String(list.body[link.upperBound...].prefix { $0 != "\"" })
    }

    /// Alice, on her device in another program, and bob meet; bob gives a card.
    func meet(bobGives fields: [BusinessCard.Field: String]) async throws {
        let alice = try await Account.open(in: home, passphrase: Self.secret, surroundings: Served.surroundings())
        let key = try #require(bob.secrets.identityKey)
        var generator = SystemRandomNumberGenerator()
        let draft = try BusinessCard(fields).draft(for: key, until: Int64(Surroundings.system.now()) + 86_400)
        let card = try HeldCredential(
            decoding: try draft.issued(using: &generator) { try? bob.secrets.signAsIdentity($0) })
        let open = try await alice.invite(at: [.version4([127, 0, 0, 1])])
        async let arrived = open.wait()
        let guest = try await bob.join(open.invitation)
        let host = try await arrived
        async let kept = guest.confirm(typed: host.words, giving: MeetingOffer(card: card))
        _ = try await host.confirm(typed: guest.words)
        _ = try await kept
        await alice.close()
    }

    /// Another device of bob's, added to his account.
    func addDeviceOfBob() async throws {
        let made = try await Account.makeCard(
            for: bob.handle, at: server.profile, in: HomeFolder(path: folder + "/phone"), passphrase: Self.secret,
            surroundings: Served.surroundings())
        let card = try await bob.card(made.bytes, typed: made.code)
        let approval = try await bob.approval(of: .linkDevice) { _ in Self.secret }
        _ = try await bob.link(card, approval)
    }
}
