// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import RelyingParty
import Testing

@Suite struct SiteTests {
    let town: SiteTown
    init() throws { town = try SiteTown() }

    @Test func aRegisteredMemberSignsIn() async throws {
        let person = try Person()
        let account = try #require(try await town.register(person).account)
        #expect(account.count == SiteAnswer.accountByteCount)
        #expect(try await town.signIn(person.key) == .signedIn(account: account, recoveryDue: nil))
    }

    @Test func aRepeatedRegistrationHasTheSameAnswer() async throws {
        let person = try Person()
        let first = try await town.register(person)
        #expect(try await town.register(person) == first)
    }

    @Test func register_refusesAKeyOfAMember() async throws {
        let person = try Person()
        _ = try await town.register(person)
        #expect(try await town.register(Person(key: person.key)) == .keyInUse)
        #expect(try await town.register(Person(recovery: person.recovery)) == .keyInUse)
        #expect(try await town.register(Person(key: person.recovery)) == .keyInUse)
    }

    @Test func signIn_refusesAnUnknownKey() async throws {
        #expect(try await town.signIn(.init()) == .unknownKey)
    }

    @Test func aChallengeIsAcceptedOnce() async throws {
        let person = try Person()
        _ = try await town.register(person)
        let body = try await town.signInBody(person.key)
        #expect(try await town.ask(.signIn, body).account != nil)
        #expect(try await town.ask(.signIn, body) == .staleChallenge)
    }

    /// A browser's session is answered with another member's answer, which was for another session.
    @Test func anAnswerToAnotherChallengeIsRefused() async throws {
        let person = try Person()
        _ = try await town.register(person)
        let own = await town.site.challenge(at: SiteTown.now, random: bytes(12))
        let other = await town.site.challenge(at: SiteTown.now, random: bytes(12))
        let signed = try #require(SignedChallenge(decoding: town.signInBody(person.key, own)))
        let moved = try #require(SignedChallenge(answer: signed.answer, to: other))
        #expect(try await town.ask(.signIn, moved.encoded) == .refused)
        let kept = try #require(SignedChallenge(answer: signed.answer, to: own))
        #expect(kept == signed)
        #expect(try await town.ask(.signIn, kept.encoded).account != nil)
        for answer in [[], Array(signed.answer.dropLast()), signed.answer + [0]] {
            #expect(SignedChallenge(answer: answer, to: own) == nil, "\(answer.count) bytes")
        }
    }

    @Test func aFailedSignInDoesNotUseItsChallenge() async throws {
        let person = try Person()
        _ = try await town.register(person)
        var body = try await town.signInBody(person.key)
        body[128] ^= 1
        #expect(try await town.ask(.signIn, body) == .refused)
        body[128] ^= 1
        #expect(try await town.ask(.signIn, body).account != nil)
    }

    @Test func aChallengeExpiresAfterFiveMinutes() async throws {
        let person = try Person()
        _ = try await town.register(person)
        let late = try await town.signInBody(person.key)
        #expect(try await town.ask(.signIn, late, after: 300) == .staleChallenge)
        #expect(try await town.ask(.signIn, late, after: 299).account != nil)
        let early = try await town.signInBody(person.key)
        #expect(try await town.ask(.signIn, early, after: -1) == .staleChallenge)
    }

    @Test func aChallengeThatTheSiteDidNotMakeIsStale() async throws {
        let person = try Person()
        _ = try await town.register(person)
        for index in 0..<32 {
            var challenge = await town.site.challenge(at: SiteTown.now, random: bytes(12))
            challenge[index] ^= 1
            let body = try town.signInBody(person.key, challenge)
            #expect(try await town.ask(.signIn, body) == .staleChallenge, "byte \(index)")
        }
        #expect(try await town.ask(.signIn, try town.signInBody(person.key, bytes(32))) == .staleChallenge)
    }

    @Test func aStatementForAnotherSiteIsRefused() async throws {
        let person = try Person()
        _ = try await town.register(person)
        let other = try SiteTown(host: "bank.example")
        let challenge = await town.site.challenge(at: SiteTown.now, random: bytes(12))
        #expect(try await town.ask(.signIn, try other.signInBody(person.key, challenge)) == .refused)
        let stranger = try Person()
        let registration = try stranger.registration(other.site.host, challenge)
        #expect(try await town.ask(.register, registration) == .refused)
    }

    @Test(arguments: SiteRoute.allCases)
    func aBodyOfAnotherLengthIsRefused(_ route: SiteRoute) async throws {
        for count in [0, 1, route.byteCount - 1, route.byteCount + 1, 4096] where count >= 0 && count != route.byteCount
        {
            #expect(try await town.ask(route, [UInt8](repeating: 2, count: count)) == .refused)
        }
    }
}

@Suite struct SiteRecoveryTests {
    let town: SiteTown
    init() throws { town = try SiteTown(recoveryDelay: 1000) }

    @Test func newKeysAreAcceptedAfterTheDelay_andTheOldOnesNoLonger() async throws {
        let (old, new) = (try Person(), try Person())
        let account = try await town.register(old).account
        #expect(try await town.recover(old, new) == .recoveryWaits(until: SiteTown.now + 1000))
        #expect(try await town.signIn(new.key) == .recoveryWaits(until: SiteTown.now + 1000))
        let due = SiteTown.now + 1000
        #expect(try await town.signIn(old.key) == .signedIn(account: account ?? [], recoveryDue: due))
        #expect(try await town.signIn(new.key, after: 1000).account == account)
        #expect(try await town.signIn(old.key, after: 1001) == .unknownKey)
        #expect(try await town.recover(old, new, after: 1001).account == account, "the same request again")
        #expect(
            try await town.recover(old, Person(), after: 1001) == .unknownKey, "the old recovery key is no longer known"
        )
    }

    @Test func withoutADelayNewKeysAreAcceptedAtOnce() async throws {
        let town = try SiteTown(recoveryDelay: 0)
        let (old, new) = (try Person(), try Person())
        let account = try await town.register(old).account
        #expect(try await town.recover(old, new).account == account)
        #expect(try await town.signIn(new.key).account == account)
        #expect(try await town.signIn(old.key) == .unknownKey)
        let third = try Person()
        #expect(try await town.recover(new, third).account == account, "the new recovery key is in force")
    }

    @Test func anObjectionByTheOldKeyStopsARecovery() async throws {
        let (old, new) = (try Person(), try Person())
        let account = try await town.register(old).account
        _ = try await town.recover(old, new)
        #expect(try await town.object(new.key) == .unknownKey, "the new keys cannot object")
        #expect(try await town.object(old.key) == .objected)
        #expect(try await town.object(old.key) == .nothingWaits)
        #expect(try await town.signIn(new.key, after: 1000) == .unknownKey)
        #expect(try await town.signIn(old.key, after: 1000).account == account)
    }

    @Test func aSecondRecoveryDoesNotReplaceTheWaitingOne() async throws {
        let (old, new) = (try Person(), try Person())
        _ = try await town.register(old)
        _ = try await town.recover(old, new)
        #expect(try await town.recover(old, Person(), after: 10) == .recoveryWaits(until: SiteTown.now + 1000))
        #expect(try await town.recover(old, new, after: 20) == .recoveryWaits(until: SiteTown.now + 1000))
        #expect(try await town.signIn(new.key, after: 1000).account != nil)
    }

    @Test func recover_refusesAKeyThatIsNotTheRecoveryKey() async throws {
        let (old, new) = (try Person(), try Person())
        _ = try await town.register(old)
        #expect(try await town.recover(Person(recovery: old.key), new) == .unknownKey)
        #expect(try await town.recover(Person(), new) == .unknownKey)
        let challenge = await town.site.challenge(at: SiteTown.now, random: bytes(12))
        var body = try old.recovery(to: new, town.site.host, challenge)
        body[130] ^= 1
        #expect(try await town.ask(.recover, body) == .refused)
    }

    @Test func recover_refusesAKeyOfAnotherMember() async throws {
        let (old, other) = (try Person(), try Person())
        _ = try await town.register(old)
        _ = try await town.register(other)
        #expect(try await town.recover(old, Person(key: other.key)) == .keyInUse)
    }
}

@Suite struct SiteWireTests {
    @Test func everyAnswerReadsBack_andOtherBytesAreRefused() throws {
        let answers: [SiteAnswer] = [
            .registered(account: bytes(16)), .signedIn(account: bytes(16), recoveryDue: nil),
            .signedIn(account: bytes(16), recoveryDue: 7), .recovered(account: bytes(16)), .recoveryWaits(until: 9),
            .objected, .unknownKey, .keyInUse, .staleChallenge, .refused, .nothingWaits, .busy,
        ]
        for answer in answers {
            #expect(try SiteAnswer(decoding: answer.encoded) == answer)
            #expect(throws: (any Error).self) { try SiteAnswer(decoding: answer.encoded + [0]) }
            #expect(throws: (any Error).self) { try SiteAnswer(decoding: answer.encoded.dropLast()) }
        }
        for kind in UInt8.min...UInt8.max where !answers.contains(where: { $0.encoded[0] == kind }) {
            #expect(throws: (any Error).self) { try SiteAnswer(decoding: [kind]) }
        }
    }

    @Test func aMemberReadsBack_andTruncationsAreRefused() async throws {
        let town = try SiteTown(recoveryDelay: 1000)
        let person = try Person()
        _ = try await town.register(person)
        _ = try await town.recover(person, Person())
        let member = try #require(try await town.members.member(withKey: person.publicKey))
        #expect(member.waiting != nil)
        #expect(try SiteMember(decoding: member.encoded) == member)
        for count in 0..<member.encoded.count {
            #expect(throws: (any Error).self) { try SiteMember(decoding: Array(member.encoded.prefix(count))) }
        }
        #expect(throws: (any Error).self) { try SiteMember(decoding: member.encoded + [0]) }
    }
}
