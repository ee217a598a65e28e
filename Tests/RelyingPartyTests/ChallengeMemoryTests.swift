// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import RelyingParty
import Testing

/// A client that fills a site's memory of used challenges locks no member out, and a restart forgets no challenge.
@Suite struct ChallengeMemoryTests {
    private static let maximum = 3

    private func filled() async throws -> (SiteTown, member: Person) {
        let town = try SiteTown(maximumUsedCount: Self.maximum)
        let member = try Person()
        for person in [member, try Person(), try Person()] { #expect(try await town.register(person).account != nil) }
        return (town, member)
    }

    @Test func strangersWhoFillTheMemoryLockNoMemberOut() async throws {
        let (town, member) = try await filled()
        #expect(try await town.register(Person()) == .busy)
        #expect(try await town.recover(Person(), Person()) == .busy, "the old key belongs to no member")
        #expect(try await town.signIn(member.key).account != nil)
        #expect(try await town.recover(member, Person()) != .busy)
        #expect(try await town.object(member.key) == .objected)
    }

    @Test func aFullMemoryForgetsStaleChallenges() async throws {
        let (town, _) = try await filled()
        let late = try Person()
        #expect(try await town.register(late, after: 298) == .busy, "still good, so still remembered")
        #expect(try await town.register(late, after: 359).account != nil)
        #expect(try await town.signIn(late.key, after: 359).account != nil)
    }

    @Test func aMemberWhoFillsTheMemoryIsAnsweredAgainLater() async throws {
        let (town, member) = try await filled()
        for _ in 0..<Self.maximum { #expect(try await town.signIn(member.key).account != nil) }
        #expect(try await town.signIn(member.key) == .busy)
        #expect(try await town.object(member.key) == .busy)
        #expect(try await town.signIn(member.key, after: 30 * 86_400).account != nil)
    }

    @Test func anUnusedChallengeIsAcceptedAfterARestart_andAUsedOneIsNot() async throws {
        let town = try SiteTown()
        let person = try Person()
        _ = try await town.register(person)
        let (used, unused) = (try await town.signInBody(person.key), try await town.signInBody(person.key))
        #expect(try await town.ask(.signIn, used).account != nil)
        let next = SiteTown(after: town, memory: await town.site.challengeMemory(at: SiteTown.now))
        #expect(try await next.ask(.signIn, used) == .staleChallenge, "a used challenge stays used")
        #expect(try await next.ask(.signIn, unused).account != nil)
    }

    @Test func aSiteWithoutItsMemoryRefusesChallengesFromBeforeTheRestart() async throws {
        let town = try SiteTown()
        let person = try Person()
        _ = try await town.register(person)
        let body = try await town.signInBody(person.key)
        let memory = await town.site.challengeMemory(at: SiteTown.now)
        for bad in [nil, [], Array(memory.dropLast()), memory + [0], [UInt8](repeating: 0xFF, count: memory.count)] {
            let next = SiteTown(after: town, memory: bad)
            #expect(try await next.ask(.signIn, body) == .staleChallenge)
        }
    }

    @Test func aMemoryHoldsNoStaleChallenge() async throws {
        let (town, _) = try await filled()
        let all = await town.site.challengeMemory(at: SiteTown.now)
        let none = await town.site.challengeMemory(at: SiteTown.now + 359)
        #expect(all.count == none.count + Self.maximum * 32)
    }
}
