// SPDX-License-Identifier: Apache-2.0

package import CallSignalling
import Crypto
import DurableStorage
import Synchronization

/// The signals of a directory with several front ends: one of them carries those of all devices, as a server that is alone does, and the others
/// hand it what their connections say, over a bus.
///
/// Which one is decided in the database that they share: by a lease, and by a generation that each write of inboxes and calls compares. When it
/// is gone, another one goes on with what was written; all connections end then, and clients connect again.
///
/// Security: front ends trust each other with their devices, as parts of one server. Everybody else is outside: see ``FrontEndChannel`` for
/// who runs the bus, and ``SignalTerm`` for a front end that stood still.
package final class SharedSignals: SignalExchange {
    /// What there is to say to the operator.
    package enum Remark: Hashable, Sendable {
        /// This front end carries the signals of all.
        case carries(generation: Int64)
        /// It does no more.
        case carriesNoMore
        /// The bus is connected, or is not.
        case bus(isConnected: Bool)
    }

    /// How long this front end carries signals without having renewed that, in milliseconds: less than the lease.
    static let grace: UInt64 = 2000
    /// How long it does so without the bus.
    static let busPatience: UInt64 = 5000

    private enum Role {
        case none
        case carrier(Carrier)
        case linked(FrontEndLink)
    }

    private final class Carrier: Sendable {
        let hub: SignalHub
        let generation: Int64
        let guests = Mutex<[[UInt8]: FrontEndGuest]>([:])
        let renewedAt: Mutex<UInt64>
        let task = Mutex<Task<Void, Never>?>(nil)

        init(_ hub: SignalHub, _ generation: Int64, at uptime: UInt64) {
            self.hub = hub
            self.generation = generation
            renewedAt = Mutex(uptime)
        }
    }

    private struct State {
        var role = Role.none
        var departure: (@Sendable (CallDevice, CallID) -> Void)?
        var isDevice: @Sendable (CallDevice) async -> Bool = { _ in true }
        /// Channels that were accepted once, and never are again: their keys would be used twice.
        var channels: Set<[UInt8]> = []
        /// Since when the bus is as it is.
        var bus: (isConnected: Bool, since: UInt64) = (false, 0)
        var ended: [Task<Void, Never>] = []
    }

    package let limits: BrokerLimits
    /// Under which others reach this front end: random for each process.
    let name: [UInt8]
    private let store: SharedSignalStore
    private let bus: any SignalBus
    private let keys: FrontEndKeys
    private let clock: @Sendable () -> BrokerTime
    private let report: @Sendable (Remark) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - store: what front ends know together.
    ///   - keys: of all front ends of the directory.
    ///   - report: told what the operator may want to know.
    package init(
        _ limits: BrokerLimits = BrokerLimits(), knowing store: SharedSignalStore, over bus: any SignalBus,
        under keys: FrontEndKeys, clock: @escaping @Sendable () -> BrokerTime,
        report: @escaping @Sendable (Remark) -> Void = { _ in }
    ) {
        (self.limits, self.store, self.bus, self.keys, self.clock) = (limits, store, bus, keys, clock)
        self.report = report
        name = Self.random()
    }

    private static func random() -> [UInt8] { (0..<FrontEndEnvelope.nameByteCount).map { _ in .random(in: 0...255) } }

    // MARK: Connections

    package func onDeparture(_ body: @escaping @Sendable (CallDevice, CallID) -> Void) {
        state.withLock { $0.departure = body }
    }

    package func connect(_ device: CallDevice, of account: Int64, to sink: any SignalSink) -> any SignalLine {
        switch state.withLock({ $0.role }) {
        case .carrier(let carrier): return carrier.hub.connect(device, of: account, to: sink)
        case .linked(let link): return link.open(device, of: account, to: sink)
        case .none:
            FrontEndLink.end(sink, .unavailable)
            return RefusedLine()
        }
    }

    package func membership(of device: CallDevice, in call: CallID) async -> Bool? {
        do { return try await store.isMember(device, of: call) } catch { return nil }
    }

    /// The connections that this front end carries, those of others among them; nil: it carries none.
    var carriedCount: Int? {
        if case .carrier(let carrier) = state.withLock({ $0.role }) { carrier.hub.counts.sessions } else { nil }
    }

    // MARK: Messages

    /// Something has arrived from the bus. One at a time.
    func receive(_ bytes: [UInt8]) {
        guard let envelope = FrontEndEnvelope(decoding: bytes) else { return }
        let now = clock().uptime
        switch state.withLock({ $0.role }) {
        case .none: return
        case .linked(let link):
            if envelope.channel == link.id, envelope.sender == link.other { link.receive(envelope.box, at: now) }
        case .carrier(let carrier):
            if let guest = carrier.guests.withLock({ $0[envelope.channel] }) {
                guest.receive(envelope.box, at: now)
            } else {
                welcome(envelope, carrier, at: now)
            }
        }
    }

    private func welcome(_ envelope: FrontEndEnvelope, _ carrier: Carrier, at now: UInt64) {
        for key in keys.accepted() {
            var channel = FrontEndChannel(
                envelope.channel, between: name, and: envelope.sender, under: key, hasBegun: false)
            guard channel.open(envelope.box) == .hello else { continue }
            guard state.withLock({ $0.channels.insert(envelope.channel).inserted }) else { return }
            let guest = FrontEndGuest(channel, of: envelope.sender, over: bus, carrier.hub, at: now)
            carrier.guests.withLock { $0[envelope.channel] = guest }
            return
        }
    }

    /// The bus has connected, or has lost its connection.
    func busChanged(_ isConnected: Bool) {
        let uptime = clock().uptime
        state.withLock { $0.bus = (isConnected, uptime) }
        report(.bus(isConnected: isConnected))
        guard !isConnected else { return }
        switch state.withLock({ $0.role }) {
        case .none: return
        case .linked(let link): link.finish()
        case .carrier(let carrier): for guest in carrier.guests.withLock({ Array($0.values) }) { guest.finish() }
        }
    }

    // MARK: Who carries

    package func run(asking isDevice: @escaping @Sendable (CallDevice) async -> Bool) async {
        state.withLock { $0.isDevice = isDevice }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                await bus.run(as: name, receive: { [self] in receive($0) }, onChange: { [self] in busChanged($0) })
            }
            group.addTask { [self] in
                repeat { await step() } while (try? await Task.sleep(for: .milliseconds(500))) != nil
            }
            group.addTask { [self] in
                while (try? await Task.sleep(for: .milliseconds(250))) != nil { tick() }
            }
            await group.waitForAll()
        }
        // What was cancelled cannot wait; another task can.
        await Task.detached { [self] in await leave() }.value
    }

    /// Ends every connection, and lets another front end go on at once.
    func leave() async {
        let generation: Int64? =
            if case .carrier(let carrier) = state.withLock({ $0.role }) { carrier.generation } else { nil }
        resign()
        for task in state.withLock({ $0.ended }) { await task.value }
        if let generation { try? await store.release(generation) }
        store.close()
    }

    /// Looks who carries signals, and takes part in that. To be called twice a second.
    func step() async {
        let began = clock().uptime
        do {
            switch state.withLock({ $0.role }) {
            case .carrier(let carrier):
                guard try await store.renew(carrier.generation) else { return resign() }
                carrier.renewedAt.withLock { $0 = began }
            case .none, .linked: try await look()
            }
        } catch {
            // The database is away: what there is goes on, until its time is over.
        }
    }

    private func look() async throws {
        guard state.withLock({ $0.bus.isConnected }) else { return resign() }
        let carrier = try await store.carrier()
        if let carrier, !carrier.isOver, carrier.name != name { return link(to: carrier.name) }
        let began = clock().uptime
        guard let generation = try await store.take(as: name) else { return }
        let hub: SignalHub
        do {
            hub = try SignalHub(
                limits, remembering: try await store.term(generation), reserve: DiskReserve(use: { .none }),
                clock: clock)
        } catch {
            try await store.release(generation)
            throw error
        }
        begin(Carrier(hub, generation, at: began))
    }

    private func link(to other: [UInt8]) {
        if case .linked(let link) = state.withLock({ $0.role }), link.other == other, !link.isOver { return }
        resign()
        let id = Self.random()
        let channel = FrontEndChannel(id, between: name, and: other, under: keys.sealing, hasBegun: true)
        let link = FrontEndLink(channel, to: other, over: bus, limits, at: clock().uptime) { [self] device, call in
            state.withLock { $0.departure }?(device, call)
        }
        state.withLock { $0.role = .linked(link) }
    }

    private func begin(_ carrier: Carrier) {
        resign()
        carrier.hub.onDeparture { [self, weak carrier] device, call in
            state.withLock { $0.departure }?(device, call)
            for guest in carrier?.guests.withLock({ Array($0.values) }) ?? [] { guest.say(.departed(device, call)) }
        }
        let isDevice = state.withLock { $0.isDevice }
        carrier.task.withLock { $0 = Task { await carrier.hub.run(asking: isDevice) } }
        state.withLock { $0.role = .carrier(carrier) }
        report(.carries(generation: carrier.generation))
    }

    /// Time has passed. To be called a few times a second.
    func tick() {
        let now = clock().uptime
        let (role, bus) = state.withLock { ($0.role, $0.bus) }
        switch role {
        case .none: return
        case .linked(let link): link.tick(at: now)
        case .carrier(let carrier):
            let isLost = now >= carrier.renewedAt.withLock { $0 } + Self.grace
            let isAlone = !bus.isConnected && now >= bus.since + Self.busPatience
            guard !isLost, !isAlone else { return resign() }
            for guest in carrier.guests.withLock({ Array($0.values) }) { guest.tick(at: now) }
            carrier.guests.withLock { guests in guests = guests.filter { !$0.value.isOver } }
        }
    }

    /// Ends every connection, and whatever this front end was.
    private func resign() {
        let role = state.withLock { state in
            defer { state.role = .none }
            return state.role
        }
        switch role {
        case .none: return
        case .linked(let link): link.finish()
        case .carrier(let carrier):
            guard let task = carrier.task.withLock({ $0 }) else { return }
            task.cancel()
            let ended = Task {
                // The hub tells its connections, those of other front ends among them.
                await task.value
                for guest in carrier.guests.withLock({ Array($0.values) }) { guest.finish() }
            }
            state.withLock { $0.ended = $0.ended.suffix(8) + [ended] }
            report(.carriesNoMore)
        }
    }
}

/// A connection that was told that nothing carries signals.
private struct RefusedLine: SignalLine {
    func receive(_ bytes: [UInt8]) {}
    func charge() -> Bool { false }
    func noteWritten(_ byteCount: Int) {}
    func close() {}
    func drop() {}
    func refuse(_ fault: RelayFault) {}
}
