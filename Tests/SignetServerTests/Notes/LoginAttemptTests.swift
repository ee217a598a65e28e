// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import KeyTransparency
import NIOCore
import Testing

@testable import SignetServer

/// How often a client may try a password, and that other clients cannot use up the owner's attempts. One second is one
/// attempt.
@Suite struct LoginAttemptTests {
    private let alice: Handle
    private let bob: Handle
    private let second: UInt64 = 1_000_000_000

    init() throws {
        alice = try Handle(typed: Array("alice@example.org".utf8))
        bob = try Handle(typed: Array("bob@example.org".utf8))
    }

    private func attempts(address: UInt64 = 0, place: UInt64 = 0, strangers: UInt64 = 0) -> LoginAttempts {
        var limits = LoginLimits()
        limits.address = .init(burst: address, secondsPerAttempt: 1)
        limits.account = .init(burst: place, secondsPerAttempt: 1)
        limits.strangers = .init(burst: strangers, secondsPerAttempt: 1)
        return LoginAttempts(limits)
    }

    private func place(_ handle: Handle, at number: Int) throws -> LoginAttempts.Place {
        let address = try SocketAddress(ipAddress: "10.0.\(number / 256).\(number % 256)", port: 1)
        return LoginAttempts.Place(handle: handle, client: ClientAddress(address))
    }

    @Test func guessesFromOneAddressDoNotLockOutAnother() throws {
        let attempts = attempts(place: 2, strangers: 100)
        for _ in 0..<10 { _ = attempts.take(try place(alice, at: 9), at: second) }
        #expect(attempts.take(try place(alice, at: 9), at: second) == nil)
        #expect(attempts.take(try place(alice, at: 10), at: second) != nil)
    }

    @Test func unknownAddressesShareOneLimitOfAttempts() throws {
        let attempts = attempts(strangers: 5)
        let taken = try (1...300).filter { attempts.take(try place(alice, at: $0), at: second) != nil }
        #expect(taken.count == 5)
        #expect(attempts.take(try place(bob, at: 1), at: second) != nil)
        #expect(attempts.take(try place(alice, at: 1), at: 2 * second) != nil)
    }

    @Test func unknownAddressesDoNotLockOutARememberedAddress() throws {
        let attempts = attempts(place: 3, strangers: 5)
        attempts.remember(try place(alice, at: 1))
        for number in 2...300 { _ = attempts.take(try place(alice, at: number), at: second) }
        #expect(attempts.take(try place(alice, at: 301), at: second) == nil)
        #expect(attempts.take(try place(alice, at: 1), at: second) != nil)
        #expect(attempts.take(try place(bob, at: 1), at: second) != nil)
    }

    @Test func aSuccessfulLoginRemembersItsAddress() throws {
        let attempts = attempts(strangers: 1)
        let first = try #require(attempts.take(try place(alice, at: 1), at: second))
        attempts.giveBack(first)
        #expect(attempts.take(try place(alice, at: 2), at: second) != nil)
        #expect(attempts.take(try place(alice, at: 3), at: second) == nil)
        #expect(attempts.take(try place(alice, at: 1), at: second) != nil)
    }

    @Test func theLastEightAddressesOfAnAccountAreRemembered() throws {
        let attempts = attempts(strangers: 1)
        for number in 1...9 { attempts.remember(try place(alice, at: number)) }
        _ = attempts.take(try place(alice, at: 100), at: second)
        #expect(attempts.take(try place(alice, at: 1), at: second) == nil)
        #expect(attempts.take(try place(alice, at: 2), at: second) != nil)
        #expect(attempts.take(try place(alice, at: 9), at: second) != nil)
    }

    @Test func anAttemptRefusedForTheAccountDoesNotCountForItsAddress() throws {
        let attempts = attempts(address: 2, place: 1)
        for _ in 0..<10 { _ = attempts.take(try place(alice, at: 1), at: second) }
        #expect(attempts.take(try place(bob, at: 1), at: second) != nil)
    }

    @Test func anAttemptRefusedForUnknownAddressesDoesNotCountElsewhere() throws {
        let attempts = attempts(address: 2, place: 2, strangers: 1)
        _ = attempts.take(try place(alice, at: 2), at: second)
        for _ in 0..<10 { _ = attempts.take(try place(alice, at: 1), at: second) }
        attempts.remember(try place(alice, at: 1))
        #expect(attempts.take(try place(alice, at: 1), at: second) != nil)
        #expect(attempts.take(try place(alice, at: 1), at: second) != nil)
    }
}
