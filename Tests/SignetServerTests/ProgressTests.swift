// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore
import Testing

@testable import SignetServer

/// The waits of a connection and the buckets of clients, as values, without a socket or a clock.
struct ProgressTests {
    private static let times = ConnectionProgress.Times(
        handshake: 10, firstHead: 20, idle: 30, body: 40, answer: 50)

    @Test func eachStageOfARequestHasItsOwnDeadline() {
        var progress = ConnectionProgress(Self.times, at: 1000)
        func expect(_ limit: Limit, at deadline: UInt64) {
            #expect(progress.brokenLimit(at: deadline - 1) == nil)
            #expect(progress.brokenLimit(at: deadline) == limit)
        }
        expect(.handshakeTime, at: 1010)
        progress.note(.handshakeCompleted, at: 1005)
        expect(.headTime, at: 1025)
        progress.note(.headRead, at: 1020)
        expect(.bodyTime, at: 1060)
        progress.note(.requestRead, at: 1030)
        expect(.answerTime, at: 1080)
        progress.note(.answerTaken, at: 1040)
        expect(.idleTime, at: 1070)
    }

    @Test func anEarlyAnswerDoesNotEndTheWaitForTheBody() {
        var progress = ConnectionProgress(Self.times, at: 0)
        progress.note(.handshakeCompleted, at: 0)
        progress.note(.headRead, at: 0)
        progress.note(.answerTaken, at: 10)
        #expect(progress.brokenLimit(at: 40) == .bodyTime)
        progress.note(.requestRead, at: 20)
        #expect(progress.brokenLimit(at: 50) == .idleTime)
    }

    @Test func theWaitForAnswersLastsUntilEachPipelinedRequestIsAnswered() {
        var progress = ConnectionProgress(Self.times, at: 0)
        for _ in 0..<2 {
            progress.note(.headRead, at: 0)
            progress.note(.requestRead, at: 0)
        }
        progress.note(.answerTaken, at: 10)
        #expect(progress.brokenLimit(at: 60) == .answerTime)
        progress.note(.answerTaken, at: 20)
        #expect(progress.brokenLimit(at: 50) == .idleTime)
    }

    @Test func aBucketGivesItsBurstAtOnceAndThenOneTokenEachInterval() {
        let limiter = RateLimiter<Int>(RequestRate(perSecond: 10, burst: 3), remembering: 8)
        let start: UInt64 = 5_000_000_000
        for _ in 0..<3 { #expect(limiter.take(of: 1, at: start) == nil) }
        #expect(limiter.take(of: 1, at: start) == 100_000_000)
        #expect(limiter.take(of: 2, at: start) == nil)
        #expect(limiter.take(of: 1, at: start + 99_999_999) == 1)
        #expect(limiter.take(of: 1, at: start + 100_000_000) == nil)
        #expect(limiter.take(of: 1, at: start + 100_000_000) == 100_000_000)
    }

    @Test func aRefusedRequestCostsNoToken() {
        let limiter = RateLimiter<Int>(RequestRate(perSecond: 1, burst: 1), remembering: 8)
        #expect(limiter.take(of: 1, at: 0) == nil)
        for _ in 0..<100 { #expect(limiter.take(of: 1, at: 0) == 1_000_000_000) }
        #expect(limiter.take(of: 1, at: 1_000_000_000) == nil)
    }

    @Test func aFullTableForgetsTheClientUnseenForLongest() {
        let limiter = RateLimiter<Int>(RequestRate(perSecond: 1, burst: 1), remembering: 3)
        for client in 1...3 { #expect(limiter.take(of: client, at: 0) == nil) }
        #expect(limiter.take(of: 1, at: 0) != nil)
        #expect(limiter.take(of: 4, at: 0) == nil)
        #expect(limiter.count == 3)
        #expect(limiter.take(of: 1, at: 0) != nil)
        #expect(limiter.take(of: 2, at: 0) == nil)
        for client in 100..<10_000 { _ = limiter.take(of: client, at: 0) }
        #expect(limiter.count == 3)
    }

    @Test func aRequestThatCostsMoreThanTheBurstIsServedFromAFullBucket() {
        let limiter = RateLimiter<Int>(RequestRate(perSecond: 1, burst: 2), remembering: 3)
        #expect(limiter.take(10, of: 1, at: 0) == nil)
        #expect(limiter.take(1, of: 1, at: 0) == 1_000_000_000)
    }

    @Test func theLedgerLimitsConnectionsOfEachAddressAndOfAll() {
        let ledger = ConnectionLedger(total: 2, perAddress: 1)
        let (first, second) = (ClientAddress(nil), ClientAddress(try? .init(ipAddress: "192.0.2.1", port: 1)))
        let third = ClientAddress(try? .init(ipAddress: "192.0.2.2", port: 1))
        #expect(ledger.open(first) == nil)
        #expect(ledger.open(first) == .connectionsPerAddress)
        #expect(ledger.open(second) == nil)
        #expect(ledger.open(third) == .connections)
        ledger.close(first)
        #expect(ledger.openCount == 1)
        #expect(ledger.open(third) == nil)
    }

    @Test func aConnectionWithoutAnAddressCountsAmongAllOfThemOnly_untilItHasOne() {
        let ledger = ConnectionLedger(total: 3, perAddress: 1)
        let client = ClientAddress(nil)
        #expect(ledger.open(nil) == nil)
        #expect(ledger.open(nil) == nil)
        #expect(ledger.name(client) == nil)
        #expect(ledger.name(client) == .connectionsPerAddress)
        ledger.close(client)
        #expect(ledger.openCount == 1)
        #expect(ledger.name(client) == nil)
        ledger.close(client)
        #expect(ledger.openCount == 0)
        ledger.close(client)
        #expect(ledger.openCount == 0)
    }

    @Test func aRequestOnASharedConnectionCountsForItsAddressUntilItIsOver() {
        let ledger = ConnectionLedger(total: 1, perAddress: 1)
        let client = ClientAddress(nil)
        #expect(ledger.open(nil) == nil)
        #expect(ledger.name(client) == nil)
        #expect(ledger.name(client) == .connectionsPerAddress)
        ledger.unname(client)
        #expect(ledger.openCount == 1)
        #expect(ledger.name(client) == nil)
    }

    @Test func addressesOfOneIPv6NetworkCountAsOneClient() throws {
        func client(_ address: String) throws -> ClientAddress {
            ClientAddress(try .init(ipAddress: address, port: 1))
        }
        #expect(try client("2001:db8::1") == client("2001:db8::2"))
        #expect(try client("2001:db8:0:1::1") != client("2001:db8::1"))
        #expect(try client("::ffff:192.0.2.1") == client("192.0.2.1"))
        #expect(try client("192.0.2.1") != client("192.0.2.2"))
        #expect(try client("127.0.0.1").isLoopback && client("::1").isLoopback)
        #expect(try !client("192.0.2.1").isLoopback && !client("2001:db8::1").isLoopback)
    }
}
