// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import Testing

@testable import SignetServer

/// Limits that change while the server runs.
struct LimitChangeTests {
    private static let second: UInt64 = 1_000_000_000
    private let client = ClientAddress(try? .init(ipAddress: "192.0.2.1", port: 1))
    private let other = ClientAddress(try? .init(ipAddress: "192.0.2.2", port: 1))

    /// A configuration in which only one request, and one connection, are free; then another one.
    private func changed(_ change: (inout HTTPSServer.Configuration) -> Void) -> LimitsInForce {
        var configuration = HTTPSServer.Configuration()
        configuration.limits.connections = 1
        configuration.limits.connectionsPerAddress = 1
        let one = RequestRate(perSecond: 1, burst: 1)
        (configuration.limits.connectionRate, configuration.limits.addressRate, configuration.limits.accountRate) = (
            one, one, one
        )
        let limits = LimitsInForce(configuration)
        change(&configuration)
        limits.change(to: configuration)
        return limits
    }

    private func takesTwo<Key>(_ limiter: RateLimiter<Key>, of key: Key) -> Bool {
        _ = limiter.take(of: key, at: Self.second)
        return limiter.take(of: key, at: Self.second) == nil
    }

    @Test func eachRateIsTheNewOne() {
        let two = RequestRate(perSecond: 1, burst: 2)
        let connections = changed { $0.limits.connectionRate = two }
        #expect(takesTwo(connections.connectionRate, of: client))
        #expect(!takesTwo(connections.addressRate, of: client) && !takesTwo(connections.accountRate, of: 7))
        let requests = changed { $0.limits.addressRate = two }
        #expect(takesTwo(requests.addressRate, of: client))
        #expect(!takesTwo(requests.connectionRate, of: client) && !takesTwo(requests.accountRate, of: 7))
        let accounts = changed { $0.limits.accountRate = two }
        #expect(takesTwo(accounts.accountRate, of: 7))
        #expect(!takesTwo(accounts.connectionRate, of: client) && !takesTwo(accounts.addressRate, of: client))
    }

    @Test func anotherRateGivesNoTokensBack() {
        let limiter = RateLimiter<Int>(perSecond: 1, burst: 2, remembering: 4)
        #expect(takesTwo(limiter, of: 7))
        limiter.change(perSecond: 1, burst: 2)
        #expect(limiter.take(of: 7, at: Self.second) == Self.second)
        limiter.change(perSecond: 0, burst: 0)
        #expect(limiter.take(of: 7, at: Self.second) == nil, "any number")
        limiter.change(perSecond: 1, burst: 2)
        #expect(limiter.take(of: 7, at: Self.second) == Self.second, "what was free was not counted either")
    }

    @Test func theNumberOfConnectionsIsTheNewOne_andOpenOnesStay() {
        let more = changed { ($0.limits.connections, $0.limits.connectionsPerAddress) = (3, 2) }.ledger
        #expect(more.open(client) == nil && more.open(client) == nil)
        #expect(more.open(client) == .connectionsPerAddress)
        #expect(more.open(other) == nil)
        #expect(more.open(other) == .connections)
        more.change(total: 1, perAddress: 1)
        #expect(more.openCount == 3, "they stay open")
        more.close(client)
        more.close(client)
        #expect(more.open(client) == .connections, "one is open, which is enough now")
        more.close(other)
        #expect(more.open(client) == nil)
    }

    @Test func theRuleOfRegistrationIsTheNewOne() {
        #expect(changed { $0.registersByInvitation = true }.registersByInvitation)
        #expect(!changed { _ in }.registersByInvitation)
    }
}
