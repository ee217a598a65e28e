// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import SignetAPI
import StrictJSON
import Synchronization
import Testing

@testable import SignetServer

/// Registrations at a server with a policy, over the wire.
@Suite struct RegistrationDeskTests {
    private static let policy = """
        register example.org token
        register mail.example mail
        register club.example invitation
        register town.example open
        token-issuer https://login.example.org
        token-keys -
        mail-program PROGRAM
        """

    private let issuer: TokenIssuer

    init() throws { issuer = try TokenIssuer() }

    /// A server, and the folder into which its mail program writes: one file for each mail, named by its number.
    private func withDesk(
        mail script: String = "cat >\"$D/$(ls \"$D\" | wc -l).mail\"",
        codes: MailCodes = MailCodes(),
        _ body: @escaping @Sendable (TestClient, StoredDirectory, URL) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "mail-\(UUID().uuidString)")
        let mails = folder.appending(component: "mails")
        try FileManager.default.createDirectory(at: mails, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appending(component: "program")
        try Data("#!/bin/sh\nD='\(mails.path)'\n\(script)\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let policy = try RegistrationPolicy(
            decoding: Array(Self.policy.replacing("PROGRAM", with: program.path).utf8))
        let desk = RegistrationDesk(
            policy, keys: try await issuer.keys(), origin: Array("example.org/signet".utf8), codes: codes,
            logger: silent)
        try await withServer {
            $0.registration = desk
        } _: { client, stored in
            try await body(client, stored, mails)
        }
    }

    private static func token(
        _ issuer: TokenIssuer, for person: TestPerson, key: [UInt8]? = nil,
        _ change: (JSONObject) -> JSONObject = { $0 }
    ) throws -> RegistrationProof {
        let claims = TokenIssuer.claims(for: person.handle, key ?? person.keys.signing, at: TestPerson.now)
        return .token(try #require(RegistrationToken(bytes: try issuer.token(change(claims)))))
    }

    private static func refusal(_ code: ErrorCode) -> String { "{\"error\":\"\(code.rawValue)\"}" }

    /// What a program was given.
    private static func mail(_ number: Int, in folder: URL) throws -> [String] {
        let text = try String(contentsOf: folder.appending(component: "\(number).mail"), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func code(_ number: Int, in folder: URL) throws -> MailCode {
        let line = try mail(number, in: folder)[1]
        return try #require(MailCode(typed: String(line.dropFirst("code ".count))))
    }

    // MARK: Tokens

    @Test func aPersonRegistersWithATokenForThemAndTheirKey() async throws {
        try await withDesk { [issuer] client, stored, _ in
            let alice = try TestPerson("alice@example.org")
            #expect(try await alice.register(client)?.text == Self.refusal(.tokenNeeded))
            try await expectStatus(200, of: alice.register(client, showing: Self.token(issuer, for: alice)))
            let account = try await stored.directory.account(alice.handle)
            #expect(account.version == 1)
        }
    }

    @Test func aTokenForSomebodyElseOrAnotherKeyRegistersNobody() async throws {
        try await withDesk { [issuer] client, stored, _ in
            let (alice, bob) = (try TestPerson("alice@example.org"), try TestPerson("bob@example.org"))
            let refused = Self.refusal(.tokenRefused)
            #expect(try await alice.register(client, showing: Self.token(issuer, for: bob))?.text == refused)
            let stolen = try Self.token(issuer, for: alice, key: bob.keys.signing)
            #expect(try await alice.register(client, showing: stolen)?.text == refused)
            let old = try Self.token(issuer, for: alice) { $0.with("iat", .integer(Int64(TestPerson.now) - 901)) }
            #expect(try await alice.register(client, showing: old)?.text == refused)
            await #expect(throws: DirectoryError.self) { try await stored.directory.account(alice.handle) }
        }
    }

    /// A token is not remembered, and yet of no use twice: a handle is registered once, and the token is for one handle and one key.
    @Test func aTokenThatWasUsedRegistersNothingElse() async throws {
        try await withDesk { [issuer] client, stored, _ in
            let alice = try TestPerson("alice@example.org")
            let token = try Self.token(issuer, for: alice)
            try await expectStatus(200, of: alice.register(client, showing: token))
            let thief = try TestPerson("alice@example.org")
            #expect(try await thief.register(client, showing: token)?.text == Self.refusal(.handleTaken))
            let bob = try TestPerson("bob@example.org")
            #expect(try await bob.register(client, showing: token)?.text == Self.refusal(.tokenRefused))
            let later = try TestPerson("carol@example.org")
            #expect(try await later.register(client, showing: token)?.text == Self.refusal(.tokenRefused))
            let invitation = try #require(Invitation(code: [UInt8](repeating: 1, count: 16)))
            _ = try await stored.directory.release(alice.handle, to: invitation)
            #expect(try await alice.register(client, showing: token)?.status != 200, "a release needs its code")
        }
    }

    @Test func aTokenIsNoProofForADomainThatAsksForSomethingElse() async throws {
        try await withDesk { [issuer] client, _, folder in
            let club = try TestPerson("alice@club.example")
            #expect(
                try await club.register(client, showing: Self.token(issuer, for: club))?.text
                    == Self.refusal(.notInvited))
            let other = try TestPerson("alice@elsewhere.example")
            #expect(
                try await other.register(client, showing: Self.token(issuer, for: other))?.text
                    == Self.refusal(.domainClosed))
            let mail = try TestPerson("alice@mail.example")
            #expect(
                try await mail.register(client, showing: Self.token(issuer, for: mail))?.text == Self.refusal(.codeSent)
            )
            try await expectStatus(200, of: TestPerson("alice@town.example").register(client))
        }
    }

    @Test func anInvitationIsEnoughForEveryHandle_andOneForAnotherIsNot() async throws {
        try await withDesk { client, stored, _ in
            for (number, name) in ["a@example.org", "a@club.example", "a@elsewhere.example", "a@mail.example"]
                .enumerated()
            {
                let person = try TestPerson(name)
                let invitation = try #require(Invitation(code: [UInt8](repeating: UInt8(number), count: 16)))
                let wrong = try await person.register(client, showing: .invitation(invitation))
                #expect(wrong?.text == Self.refusal(.notInvited), "\(name)")
                _ = try await stored.directory.invite(person.handle, with: invitation)
                try await expectStatus(200, of: person.register(client, showing: .invitation(invitation)))
            }
        }
    }

    // MARK: Codes by mail

    @Test func aPersonRegistersWithTheCodeThatTheProgramWasGiven() async throws {
        try await withDesk { client, stored, folder in
            let alice = try TestPerson("alice@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.codeSent))
            let mail = try Self.mail(0, in: folder)
            #expect(mail.count == 3 && mail[0] == "address alice@mail.example" && mail[2].isEmpty, "\(mail)")
            let code = try Self.code(0, in: folder)
            try await expectStatus(200, of: alice.register(client, showing: .code(code)))
            #expect(try await stored.directory.account(alice.handle).version == 1)
        }
    }

    @Test func aCodeIsForOneHandleAndOneKey_andIsUsedOnce() async throws {
        try await withDesk { client, _, folder in
            let alice = try TestPerson("alice@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.codeSent))
            let code = RegistrationProof.code(try Self.code(0, in: folder))
            let refused = Self.refusal(.codeRefused)
            let (bob, thief) = (try TestPerson("bob@mail.example"), try TestPerson("alice@mail.example"))
            #expect(try await bob.register(client, showing: code)?.text == refused)
            #expect(try await thief.register(client, showing: code)?.text == refused)
            try await expectStatus(200, of: alice.register(client, showing: code))
            #expect(try await thief.register(client, showing: code)?.text == Self.refusal(.handleTaken))
            let mallory = try TestPerson("mallory@mail.example")
            #expect(try await mallory.register(client, showing: code)?.text == refused)
        }
    }

    @Test func aCodeIsForgottenWhenItHasDoneItsWork() async throws {
        let codes = MailCodes()
        try await withDesk(codes: codes) { client, _, folder in
            let alice = try TestPerson("alice@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.codeSent))
            let code = try Self.code(0, in: folder)
            try await expectStatus(200, of: alice.register(client, showing: .code(code)))
            let subject = MailCodes.Subject(handle: alice.handle, deviceKey: alice.keys.signing)
            #expect(!codes.isRight(code, for: subject, at: ServerClock.system.uptime()))
        }
    }

    @Test func aGuesserHasThreeTriesForEachOfThreeCodes() async throws {
        let next = Atomic<UInt32>(100)
        let codes = MailCodes(random: { MailCode(number: next.wrappingAdd(1, ordering: .relaxed).newValue) })
        try await withDesk(codes: codes) { client, _, folder in
            let alice = try TestPerson("alice@mail.example")
            for round in 0..<3 {
                let thief = try TestPerson("alice@mail.example")
                #expect(try await thief.register(client)?.text == Self.refusal(.codeSent))
                for guess in 0..<3 {
                    let code = RegistrationProof.code(MailCode(number: UInt32(guess)))
                    #expect(try await thief.register(client, showing: code)?.text == Self.refusal(.codeRefused))
                }
                let right = RegistrationProof.code(try Self.code(round, in: folder))
                #expect(try await thief.register(client, showing: right)?.text == Self.refusal(.codeRefused))
            }
            #expect(
                try await alice.register(client)?.text == Self.refusal(.tooManyRequests), "no flood of mails either")
            let mails = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(mails.count == 3)
        }
    }

    @Test func aRegistrationThatIsRefusedAnywaySendsNoMail() async throws {
        try await withDesk { client, _, folder in
            let alice = try TestPerson("alice@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.codeSent))
            let code = RegistrationProof.code(try Self.code(0, in: folder))
            try await expectStatus(200, of: alice.register(client, showing: code))
            let second = try TestPerson("alice@mail.example")
            #expect(try await second.register(client)?.text == Self.refusal(.handleTaken))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        }
    }

    @Test func aProgramThatFailsIsNoMail() async throws {
        try await withDesk(mail: "exit 1") { client, _, _ in
            let alice = try TestPerson("alice@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.unavailable))
        }
        try await withDesk(mail: "kill -9 $$") { client, _, _ in
            let alice = try TestPerson("alice@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.unavailable))
        }
    }

    /// The address is an address, whatever it looks like to a shell.
    @Test func theProgramIsNoShellCommand_andHasNoArguments() async throws {
        try await withDesk(mail: "echo \"$#\" >\"$D/arguments\"; env | cut -d= -f1 | sort >\"$D/names\"") {
            client, _, folder in
            let alice = try TestPerson("-a.+b@mail.example")
            #expect(try await alice.register(client)?.text == Self.refusal(.codeSent))
            let arguments = try String(contentsOf: folder.appending(component: "arguments"), encoding: .utf8)
            #expect(arguments == "0\n")
            let names = try String(contentsOf: folder.appending(component: "names"), encoding: .utf8)
            #expect(
                Set(names.split(separator: "\n")).isSubset(of: ["PATH", "PWD", "SHLVL", "OLDPWD", "_"]), "\(names)")
        }
    }

    @Test func aProofThatCannotBeReadCountsAsNone() async throws {
        #expect(RegistrationProof(typed: "a.b") == nil && RegistrationProof(typed: "") == nil)
        #expect(RegistrationProof(typed: " e30.e30.AA\n") == RegistrationToken(typed: "e30.e30.AA").map { .token($0) })
        #expect(RegistrationProof(typed: "123 456") == .code(MailCode(number: 123_456)))
        #expect(RegistrationToken(bytes: Array("a.b.c\r\nX: y".utf8)) == nil)
        #expect(RegistrationToken(bytes: [UInt8](repeating: 0x61, count: 8200)) == nil)
    }
}
