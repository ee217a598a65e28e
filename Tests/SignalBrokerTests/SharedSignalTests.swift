// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import EngineLab
import STOMP
import Synchronization
import Testing

@testable import SignalBroker

/// Signals of devices at several front ends, one of which carries those of all.
@Suite(.enabled(if: LabEngine.present == [.sqlite] || PostgresLab.isPresent, "There is no PostgreSQL 15 here."))
struct SharedSignalTests {
    let town: FrontEndTown
    let alice, bob: Actor
    let call: CallID

    init() throws {
        town = try FrontEndTown()
        (alice, bob) = (try Actor(1), try Actor(2))
        call = try #require(CallID([UInt8](repeating: 9, count: 16)))
    }

    /// Both are in a call and hear it, and their inboxes.
    private func meet(_ one: Phone, at first: SharedSignals, _ other: Phone, at second: SharedSignals) async throws {
        try one.connect(to: first)
        try one.say(.start(call, inviting: [other.actor.device]), receipt: "start")
        await town.settle([one, other]) { one.has(receipt: "start") }
        try other.connect(to: second)
        try other.say(.join(call), receipt: "join")
        await town.settle([one, other]) { other.has(receipt: "join") }
        for phone in [one, other] {
            try phone.subscribe(.topic(call), receipt: "topic")
            try phone.subscribe(.inbox(phone.actor.device), receipt: "inbox")
        }
        await town.settle([one, other]) { [one, other].allSatisfy { $0.has(receipt: "inbox") } }
    }

    /// The mishap that this is for: each was alone in a call of that name. The first front end carries the signals.
    @Test(arguments: [[0, 1], [1, 0], [1, 2], [1, 1]])
    func devicesAtTwoFrontEndsAreInOneCallAndHearEachOther(places: [Int]) async throws {
        let fronts = try await town.fronts(3)
        let (one, other) = (Phone(alice), Phone(bob))
        try await meet(one, at: fronts[places[0]], other, at: fronts[places[1]])
        let (topic, letter) = (try alice.signal(1, in: call), try bob.signal(2, in: call, to: alice.device))
        try one.say(signal: topic, to: .topic(call), receipt: "said")
        try other.say(signal: letter, to: .inbox(alice.device), receipt: "sent")
        await town.settle([one, other]) { one.messages.count == 2 && other.messages.count == 1 }
        #expect(Set(one.messages) == [topic, letter] && other.messages == [topic])
        for front in fronts {
            #expect(await front.membership(of: alice.device, in: call) == true)
            #expect(await front.membership(of: try Actor(3).device, in: call) == false)
        }
        await town.end(fronts)
    }

    // MARK: What is lost

    /// What was confirmed is there when the front end that carried it is not, and the call too.
    @Test func aConfirmedSignalIsDeliveredByTheFrontEndThatTakesOver() async throws {
        let fronts = try await town.fronts(2)
        let one = Phone(alice)
        try one.connect(to: fronts[1])
        try one.say(.start(call, inviting: [bob.device]), receipt: "start")
        let letter = try alice.signal(3, in: call, to: bob.device)
        try one.say(signal: letter, to: .inbox(bob.device), receipt: "sent")
        await town.settle([one]) { one.has(receipt: "sent") }
        town.kill(fronts[0])
        await town.pass(4001, [fronts[1]])
        #expect(one.hasEnded && one.fault == .unavailable)
        let (again, other) = (Phone(alice), Phone(bob))
        try again.connect(to: fronts[1])
        try again.subscribe(.topic(call), receipt: "topic")
        try other.connect(to: fronts[1])
        try other.subscribe(.inbox(bob.device), receipt: "inbox")
        await town.settle([again, other]) { other.messages.count == 1 && again.has(receipt: "topic") }
        #expect(other.messages == [letter])
        await town.end(fronts)
    }

    @Test func whoLeavesLetsAnotherGoOnAtOnce() async throws {
        let fronts = try await town.fronts(2)
        let one = Phone(alice)
        try one.connect(to: fronts[1])
        await town.settle([one]) { !one.frames.isEmpty }
        await fronts[0].leave()
        await town.settle([one]) { one.hasEnded }
        await fronts[1].step()
        let again = Phone(alice)
        try again.connect(to: fronts[1])
        await town.settle([again]) { again.frames.first?.command == .connected }
        await town.end([fronts[1]])
    }

    // MARK: Who carries

    /// The attack of time: a front end stands still, another one takes over, and the first one wakes up in the middle of a write.
    @Test func whatAFrontEndWritesAfterAnotherTookOverIsNotWritten() async throws {
        let store = try town.store()
        let names = [UInt8(1), 2].map { [UInt8](repeating: $0, count: 16) }
        let first = try #require(try await store.take(as: names[0]))
        #expect(try await store.take(as: names[1]) == nil)
        let old = try await store.term(first)
        try await old.write([.forget(call)])
        await town.pass(3001, [])
        let second = try #require(try await store.take(as: names[1]))
        #expect(second == first + 1)
        await #expect(throws: SignalStoreError.unavailable) { try await old.write([.forget(self.call)]) }
        #expect(try await !store.renew(first))
        #expect(try await store.renew(second))
        store.close()
    }

    /// The database's clock was an hour ahead when the one before took it over, and died.
    @Test func aLeaseThatEndsLaterThanAnyCouldIsOver() async throws {
        let store = try town.store()
        let names = [UInt8(1), 2].map { [UInt8](repeating: $0, count: 16) }
        await town.pass(3_600_000, [])
        let first = try #require(try await store.take(as: names[0]))
        town.setBack(by: 3000)
        #expect(try await store.carrier()?.isOver == false, "a clock that was set a little is waited for")
        #expect(try await store.take(as: names[1]) == nil)
        town.setBack(by: 1)
        #expect(try await store.carrier()?.isOver == true)
        #expect(try await store.take(as: names[1]) == first + 1)
        store.close()
    }

    @Test func whoCannotRenewStopsBeforeAnotherMayBegin() async throws {
        let front = try town.front()
        await front.step()
        let one = Phone(alice)
        try one.connect(to: front)
        #expect(one.frames.first?.command == .connected)
        await town.pass(1999, [])
        front.tick()
        #expect(!one.hasEnded)
        await town.pass(1, [])
        front.tick()
        await town.settle([one]) { one.hasEnded }
        #expect(one.fault == .unavailable)
        let late = Phone(alice)
        try late.connect(to: front)
        #expect(late.fault == .unavailable)
        #expect(SharedSignals.grace < UInt64(SharedSignalStore.lease))
        await town.end([front])
    }

    @Test func whoHasNoBusDoesNotCarryForLong() async throws {
        let fronts = try await town.fronts(2)
        fronts[0].busChanged(false)
        for _ in 0..<4 { await town.pass(1400, [fronts[0]]) }
        let one = Phone(alice)
        try one.connect(to: fronts[0])
        #expect(one.fault == .unavailable)
        await town.pass(3001, fronts)
        await town.pass(500, fronts)
        let other = Phone(bob)
        try other.connect(to: fronts[1])
        await town.settle([other]) { other.frames.first?.command == .connected }
        await town.end(fronts)
    }

    @Test func aBrokenBusEndsTheConnectionsThatNeedIt() async throws {
        let fronts = try await town.fronts(2)
        let (one, other) = (Phone(alice), Phone(bob))
        try one.connect(to: fronts[0])
        try other.connect(to: fronts[1])
        await town.settle([one, other]) { !other.frames.isEmpty }
        fronts[1].busChanged(false)
        #expect(other.hasEnded && other.fault == .unavailable && !one.hasEnded)
        await town.end(fronts)
    }

    // MARK: The two sides of a channel

    @Test func theConnectionsOfAFrontEndThatIsGoneEnd() async throws {
        let fronts = try await town.fronts(2)
        let (one, other) = (Phone(alice), Phone(bob))
        try await meet(one, at: fronts[0], other, at: fronts[1])
        town.kill(fronts[1])
        #expect(fronts[0].carriedCount == 2)
        for _ in 0..<5 { await town.pass(1000, [fronts[0]]) }
        #expect(fronts[0].carriedCount == 1)
        let again = Phone(bob)
        try again.connect(to: fronts[0])
        try again.subscribe(.inbox(bob.device), receipt: "inbox")
        try one.say(signal: alice.signal(5, in: call, to: bob.device), to: .inbox(bob.device), receipt: "sent")
        await town.settle([one, again]) { again.messages.count == 1 }
        await town.end(fronts)
    }

    /// Limits count over all front ends: who connects at each of them has not more connections.
    @Test func aDeviceHasItsConnectionsAtAllFrontEndsTogether() async throws {
        let fronts = try await town.fronts(3)
        let phones = (0...BrokerLimits().sessionsPerDevice).map { _ in Phone(alice) }
        for (index, phone) in phones.enumerated() {
            try phone.connect(to: fronts[index % 3])
            await town.settle(phones) { !phone.frames.isEmpty }
        }
        await town.settle(phones) { phones[0].hasEnded }
        #expect(phones[0].fault == .tooManyConnections && phones.dropFirst().allSatisfy { !$0.hasEnded })
        await town.end(fronts)
    }

    /// The relays of all front ends have to put it out.
    @Test func everyFrontEndIsToldOfADeviceThatLeft() async throws {
        let fronts = try await town.fronts(3)
        let (one, other) = (Phone(alice), Phone(bob))
        try await meet(one, at: fronts[0], other, at: fronts[1])
        try other.say(.leave(call), receipt: "left")
        await town.settle([one, other]) { other.has(receipt: "left") }
        for front in fronts { #expect(town.departures(at: front) == [bob.device]) }
        #expect(await fronts[2].membership(of: bob.device, in: call) == false)
        await town.end(fronts)
    }

    // MARK: Floods

    /// The front end that carries does not keep up. Who sends most of what waits pays for it; others are refused nothing.
    @Test func whoSendsMoreThanIsDealtWithIsEnded() async throws {
        var limits = BrokerLimits()
        (limits.heldPerSession, limits.heldPerAccount, limits.heldAltogether) = (1000, 1500, 2500)
        let fronts = try await town.fronts(2, limits)
        let (one, second, other) = (Phone(alice), Phone(alice), Phone(bob))
        for phone in [one, second, other] {
            try phone.connect(to: fronts[1])
            await town.settle([one, second, other]) { !phone.frames.isEmpty }
        }
        for _ in 0..<9 { one.say(bytes: [UInt8](repeating: 10, count: 100)) }
        #expect(!one.hasEnded)
        for _ in 0..<5 { second.say(bytes: [UInt8](repeating: 10, count: 100)) }
        #expect(!second.hasEnded)
        for _ in 0..<2 { second.say(bytes: [UInt8](repeating: 10, count: 100)) }
        #expect(second.hasEnded && second.fault == .tooFast && !one.hasEnded)
        for _ in 0..<2 { one.say(bytes: [UInt8](repeating: 10, count: 100)) }
        #expect(one.hasEnded && one.fault == .tooFast)
        other.say(bytes: [10])
        #expect(!other.hasEnded)
        await town.settle([other]) { town.letters.isEmpty }
        // What was dealt with counts no more.
        for _ in 0..<20 {
            other.say(bytes: [UInt8](repeating: 10, count: 900))
            town.deliver()
        }
        #expect(!other.hasEnded)
        await town.end(fronts)
    }

    @Test func whoPingsMoreThanIsDealtWithIsEnded() async throws {
        var limits = BrokerLimits()
        limits.heldPerSession = FrontEndLink.pingByteCount * 8
        let fronts = try await town.fronts(2, limits)
        let one = Phone(alice)
        try one.connect(to: fronts[1])
        await town.settle([one]) { !one.frames.isEmpty }
        for _ in 0..<20 {
            #expect((0..<8).allSatisfy { _ in one.ping() })
            town.deliver()
        }
        #expect((0..<8).allSatisfy { _ in one.ping() })
        #expect(!one.ping() && one.hasEnded && one.fault == .tooFast)
        await town.end(fronts)
    }

    @Test func whenAllIsTakenTheAccountWithMostIsCutOff() async throws {
        var limits = BrokerLimits()
        (limits.heldPerSession, limits.heldPerAccount, limits.heldAltogether) = (1000, 1000, 1500)
        let fronts = try await town.fronts(2, limits)
        let (one, other) = (Phone(alice), Phone(bob))
        for phone in [one, other] {
            try phone.connect(to: fronts[1])
            await town.settle([one, other]) { !phone.frames.isEmpty }
        }
        one.say(bytes: [UInt8](repeating: 10, count: 900))
        for _ in 0..<7 { other.say(bytes: [UInt8](repeating: 10, count: 100)) }
        #expect(one.hasEnded && !other.hasEnded)
        await town.end(fronts)
    }

    /// Otherwise it would keep the piece of a frame that the device had sent, until the channel ends.
    @Test func whatTheCarrierCutsOffItIsToldToForget() throws {
        let bus = Recording()
        let names = [UInt8(1), 2, 3].map { [UInt8](repeating: $0, count: 16) }
        let (id, one, other) = (names[0], names[1], names[2])
        let link = FrontEndLink(
            FrontEndChannel(id, between: one, and: other, under: FrontEndTown.key, hasBegun: true), to: other,
            over: bus, BrokerLimits(), at: 0
        ) { _, _ in }
        var carrier = FrontEndChannel(id, between: other, and: one, under: FrontEndTown.key, hasBegun: false)
        let phone = Phone(alice)
        _ = link.open(alice.device, of: alice.account, to: phone)
        let sealed = carrier.seal(.cut(1))
        let envelope = try #require(sealed.flatMap { FrontEndEnvelope(decoding: $0) })
        link.receive(envelope.box, at: 1)
        #expect(phone.hasEnded && link.counts.connections == 0)
        let said = try bus.sent.map { carrier.open(try #require(FrontEndEnvelope(decoding: $0)).box) }
        #expect(said == [.hello, .open(1, alice.device, alice.account), .drop(1)])
    }

    /// What a front end says.
    private final class Recording: SignalBus {
        private let letters = Mutex<[[UInt8]]>([])
        var sent: [[UInt8]] { letters.withLock(\.self) }

        func send(_ bytes: [UInt8], to name: [UInt8]) { letters.withLock { $0.append(bytes) } }

        func run(
            as name: [UInt8], receive: @escaping @Sendable ([UInt8]) -> Void,
            onChange: @escaping @Sendable (Bool) -> Void
        ) async {}
    }
}
