// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
package import DurableStorage
import STOMP
import Synchronization

/// Where the bytes for a connection go. Neither function may wait, or call the hub before it returns.
public protocol SignalSink: Sendable {
    /// Sends bytes, in order. ``SignalHub/noteWritten(_:on:)`` is to be told when they are written.
    func send(_ delivery: BrokerDelivery)
    /// Closes the connection once everything has been sent.
    func close()
    /// Closes the connection at once.
    func cut()
}

/// A ``Broker`` among connections, a disk and a clock. Safe to call from any thread.
///
/// A RECEIPT leaves when all that its frame changed is on the disk. Messages do not wait for it.
public final class SignalHub: Sendable {
    private struct State {
        var broker: Broker
        var sinks: [SessionID: any SignalSink] = [:]
        var departure: (@Sendable (CallDevice, CallID) -> Void)?
        /// Not yet on the disk.
        var writes: [BrokerAction] = []
        /// How many writes there ever were, and how many are on the disk.
        var writeCount: UInt64 = 0
        var durableCount: UInt64 = 0
        /// What waits for so many writes to be on the disk.
        var held: [(writeCount: UInt64, action: BrokerAction)] = []
    }

    /// What devices may take.
    public let limits: BrokerLimits
    private let state: Mutex<State>
    /// What has arrived and is not a frame yet; a lock for each connection.
    private let readers = Mutex<[SessionID: ConnectionReader]>([:])
    private let store: (any SignalStoring)?
    private let reserve: DiskReserve
    private let clock: @Sendable () -> BrokerTime
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// A hub that goes on from what its store holds.
    ///
    /// - Parameters:
    ///   - store: where inboxes and calls outlive the process; nil for nowhere.
    ///   - clock: the time.
    /// - Throws: ``SignalStoreError``: the operator has to act.
    public convenience init(
        _ limits: BrokerLimits = BrokerLimits(), remembering store: SignalStore?,
        clock: @escaping @Sendable () -> BrokerTime
    ) throws(SignalStoreError) {
        let reserve = store.map { DiskReserve(besideFileAt: $0.path) } ?? DiskReserve(use: { .none })
        try self.init(limits, remembering: store, reserve: reserve, clock: clock)
    }

    /// With another store, or a disk of one's own.
    package init(
        _ limits: BrokerLimits = BrokerLimits(), remembering store: (any SignalStoring)?, reserve: DiskReserve,
        clock: @escaping @Sendable () -> BrokerTime
    ) throws(SignalStoreError) {
        let (kept, calls) = try store?.read() ?? ([], [])
        state = Mutex(State(broker: Broker(limits, kept: kept, calls: calls, at: clock())))
        self.limits = limits
        self.store = store
        self.reserve = reserve
        self.clock = clock
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        lookAtDisk()
    }

    /// From now on `body` is told of each device that is in a call no more. It must not wait, or call the hub before it returns.
    public func onDeparture(_ body: @escaping @Sendable (CallDevice, CallID) -> Void) {
        state.withLock { $0.departure = body }
    }

    /// Connections, signals that wait in inboxes, and calls, as they are now.
    public var counts: (sessions: Int, kept: Int, calls: Int) {
        state.withLock { ($0.broker.sessionCount, $0.broker.keptCount, $0.broker.callCount) }
    }

    /// Whether anything more is kept; not in the directory's share of the disk.
    package var mayKeep: Bool { state.withLock { $0.broker.mayKeep } }

    /// Whether a device is in a call.
    public func isMember(_ device: CallDevice, of call: CallID) -> Bool {
        state.withLock { $0.broker.isMember(device, of: call) }
    }

    /// Bytes that wait in inboxes, and bytes held for connections, as they are now.
    public var byteCounts: (kept: Int, held: Int) { state.withLock { $0.broker.byteCounts } }

    /// A device of an account, which has proved to be one, has connected.
    public func open(_ device: CallDevice, of account: Int64, to sink: any SignalSink) -> SessionID {
        let id = state.withLock { state in
            let (id, actions) = state.broker.open(device, of: account, at: clock())
            state.sinks[id] = sink
            carryOut(actions, &state)
            return id
        }
        readers.withLock { $0[id] = ConnectionReader(limits) }
        return id
    }

    /// Bytes have arrived on a connection.
    ///
    /// What takes time, frames and signatures, is done before the lock of all connections is taken.
    public func receive(_ bytes: some Collection<UInt8>, on id: SessionID) {
        guard let reader = readers.withLock({ $0[id] }) else { return }
        state.withLock { $0.broker.noteReceived(on: id, at: clock()) }
        reader.frames.withLock { frames in
            frames.append(bytes)
            while let frame = next(&frames, on: id), charge(id) {
                let judged = JudgedFrame(frame)
                state.withLock { carryOut($0.broker.receive(judged, on: id, at: clock()), &$0) }
            }
        }
    }

    private func next(_ frames: inout FrameReader, on id: SessionID) -> StompFrame? {
        do throws(RelayFault) { return try frames.next() } catch {
            refuse(id, error)
            return nil
        }
    }

    /// Charges the account of a connection for a frame, or for a WebSocket's ping, before anything is done about it.
    ///
    /// - Returns: whether it may be done; if not, the connection ends.
    public func charge(_ id: SessionID) -> Bool {
        state.withLock { state in
            guard let actions = state.broker.charge(id, at: clock()) else { return true }
            carryOut(actions, &state)
            return false
        }
    }

    /// A connection has written so many bytes.
    public func noteWritten(_ byteCount: Int, on id: SessionID) {
        state.withLock { carryOut($0.broker.noteWritten(byteCount, on: id, at: clock()), &$0) }
    }

    /// A connection says and hears nothing more; what was sent may still be on its way.
    public func close(_ id: SessionID) {
        readers.withLock { $0[id] = nil }
        state.withLock { carryOut($0.broker.close(id, at: clock()), &$0) }
    }

    /// A connection is gone, and what was on its way.
    public func drop(_ id: SessionID) {
        readers.withLock { $0[id] = nil }
        state.withLock { state in
            state.sinks[id] = nil
            carryOut(state.broker.drop(id, at: clock()), &state)
        }
    }

    /// Ends a connection for a reason of its carrier's.
    public func refuse(_ id: SessionID, _ fault: RelayFault) {
        state.withLock { carryOut($0.broker.refuse(id, fault, at: clock()), &$0) }
    }

    /// Writes what is to be written, and keeps time, until the task is cancelled; then ends every connection, writes
    /// the rest and closes the store. To be called once.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await _ in wakes { await write() }
            }
            group.addTask { [self] in
                while (try? await Task.sleep(for: .milliseconds(250))) != nil {
                    tick()
                    wake.yield()
                }
            }
            await group.waitForAll()
        }
        refuseAll()
        // A task that was cancelled cannot wait for the disk; another one can.
        await Task.detached { [self] in await write() }.value
        store?.close()
    }

    /// Keeps time, and leaves the directory its share of the disk. To be called a few times a second.
    package func tick() {
        lookAtDisk()
        state.withLock { carryOut($0.broker.tick(at: clock()), &$0) }
    }

    /// Empties the inboxes of keys that no device has.
    ///
    /// - Parameters:
    ///   - known: those that were found to be devices before; brought up to date.
    ///   - isDevice: whether a key is an active device's.
    package func forgetStrangers(
        _ known: inout Set<CallDevice>, unless isDevice: @Sendable (CallDevice) async -> Bool
    ) async {
        let absent = state.withLock { $0.broker.absentRecipients }
        known.formIntersection(absent)
        for recipient in absent.subtracting(known) {
            if await isDevice(recipient) {
                known.insert(recipient)
            } else {
                state.withLock { carryOut($0.broker.forget(recipient: recipient), &$0) }
            }
        }
    }

    /// Ends connections of keys that no longer belong to a device: a few are looked at each time, in turn.
    ///
    /// - Parameters:
    ///   - last: where the last look ended; brought up to date.
    ///   - isDevice: whether a key is an active device's.
    package func endRevoked(
        after last: inout SessionID?, atMost count: Int = 256, unless isDevice: @Sendable (CallDevice) async -> Bool
    ) async {
        let next = state.withLock { [last] in $0.broker.connections(after: last, atMost: count) }
        last = next.count < count ? nil : next.last?.id
        for (id, device) in next {
            let isKnown = await isDevice(device)
            if !isKnown { refuse(id, .tooOld) }
        }
    }

    private func lookAtDisk() {
        let mayKeep = !reserve.isReached
        state.withLock { $0.broker.mayKeep = mayKeep }
    }

    private func refuseAll() {
        state.withLock { state in
            for id in state.sinks.keys { carryOut(state.broker.refuse(id, .unavailable, at: clock()), &state) }
        }
    }

    /// Writes all there is to write in one go, and lets go of what waited for it.
    private func write() async {
        let batch = state.withLock { state in
            defer { state.writes = [] }
            return state.writes
        }
        guard !batch.isEmpty else { return }
        do throws(SignalStoreError) {
            try await store?.write(batch)
            state.withLock { state in
                state.durableCount += UInt64(batch.count)
                letGo(&state)
            }
        } catch {
            // Tried again at the next tick. Who waits is told that nothing is certain.
            state.withLock { state in
                state.writes = batch + state.writes
                let waiting = state.held.map(\.action)
                state.held = []
                for case .confirm(let id, _) in waiting {
                    carryOut(state.broker.refuse(id, .unavailable, at: clock()), &state)
                }
                for case .close(let id) in waiting { state.sinks[id]?.close() }
            }
        }
    }

    private func carryOut(_ actions: [BrokerAction], _ state: inout State) {
        for action in actions {
            switch action {
            case .send(let id, let delivery): state.sinks[id]?.send(delivery)
            case .departed(let device, let call): state.departure?(device, call)
            case .cut(let id): state.sinks.removeValue(forKey: id)?.cut()
            case .confirm(let id, _), .close(let id):
                let isBehind = state.held.contains { $0.action.session == id }
                let mustWait = action.isConfirmation && state.durableCount < state.writeCount
                if mustWait || isBehind {
                    state.held.append((state.writeCount, action))
                } else {
                    Self.carryOut(action, &state)
                }
            case .keep, .drop, .record, .forget:
                guard store != nil else { continue }
                state.writes.append(action)
                state.writeCount += 1
                wake.yield()
            }
        }
    }

    private func letGo(_ state: inout State) {
        let count = state.held.firstIndex { $0.writeCount > state.durableCount } ?? state.held.count
        for (_, action) in state.held.prefix(count) { Self.carryOut(action, &state) }
        state.held.removeFirst(count)
    }

    private static func carryOut(_ action: BrokerAction, _ state: inout State) {
        switch action {
        case .confirm(let id, let delivery): state.sinks[id]?.send(delivery)
        case .close(let id): state.sinks[id]?.close()
        default: return
        }
    }
}

/// The bytes of a connection that are not a frame yet.
private final class ConnectionReader: Sendable {
    let frames: Mutex<FrameReader>

    init(_ limits: BrokerLimits) { frames = Mutex(FrameReader(limits)) }
}

extension BrokerAction {
    fileprivate var isConfirmation: Bool {
        if case .confirm = self { true } else { false }
    }

    fileprivate var session: SessionID? {
        switch self {
        case .send(let id, _), .confirm(let id, _), .close(let id), .cut(let id): id
        case .keep, .drop, .record, .forget, .departed: nil
        }
    }
}
