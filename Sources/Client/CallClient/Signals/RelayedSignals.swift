// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import STOMP
public import SignalClient

/// Signals through the relay of a directory, over STOMP.
public final class RelayedSignals: CallSignals {
    /// What the topic of the call and the inbox deliver. For one reader. It ends five seconds after the relay has ended one
    /// of them: this device was removed, or no connection can come again.
    public let incoming: AsyncStream<[UInt8]>
    /// Rings of other calls, which are answered with "busy". For one reader.
    let otherRings: AsyncStream<RingEvent>
    private let client: RelayClient
    private let callID: CallID
    private let outbox: AsyncStream<Signal>.Continuation
    private let sending: Task<Void, Never>
    private let reading: [Task<Void, Never>]

    /// Opens or joins a call at the relay, and listens to it and to the device's inbox.
    ///
    /// - Parameters:
    ///   - act: `CallAct/start(_:inviting:)` or `CallAct/join(_:)`.
    ///   - judge: judges rings of other calls meanwhile; nil to ignore them.
    ///   - checkpoint: the newest that this device has verified, as a card, which goes with answers to those; empty for none.
    /// - Throws: `RelayClientError`.
    public convenience init(
        through client: RelayClient, _ act: CallAct, as identity: CallIdentity, judging judge: RingJudge? = nil,
        telling checkpoint: [UInt8] = []
    ) async throws(RelayClientError) {
        try await self.init(through: client, act, as: identity, judging: judge, telling: checkpoint) {
            try? await Task.sleep(for: .seconds(5))
        }
    }

    /// - Parameter lastWord: returns when the word of the host that this device is removed has had the time to come: the relay
    ///   refuses the call before.
    init(
        through client: RelayClient, _ act: CallAct, as identity: CallIdentity, judging judge: RingJudge? = nil,
        telling checkpoint: [UInt8] = [], waitingFor lastWord: @escaping @Sendable () async -> Void
    ) async throws(RelayClientError) {
        let device = identity.device
        self.client = client
        callID = act.callID
        try await client.carryOut(act)
        let inbox = try await client.subscribe(to: .inbox(device), mode: .individual)
        let topic = try await client.subscribe(to: .topic(act.callID))
        let (incoming, arrived) = AsyncStream.makeStream(of: [UInt8].self)
        self.incoming = incoming
        let (otherRings, rang) = AsyncStream.makeStream(
            of: RingEvent.self, bufferingPolicy: .bufferingNewest(256))
        self.otherRings = otherRings
        reading = [inbox, topic].map { subscription in
            Task {
                await Self.read(subscription, of: act.callID, client, into: arrived, lastWord) { signal in
                    guard let event = await judge?.judge(signal) else { return }
                    rang.yield(event)
                    guard case .busy(_, let ring) = event,
                        let answer = identity.answer(.busy, to: ring, telling: checkpoint)
                    else { return }
                    try? await client.send(answer, within: .seconds(5))
                }
            }
        }
        let (signals, outbox) = AsyncStream.makeStream(of: Signal.self)
        self.outbox = outbox
        sending = Task { await Self.send(signals, client) }
    }

    /// Hands a signal to the relay, in order.
    public func send(_ signal: Signal) { outbox.yield(signal) }

    /// Lets further devices into the call at the relay.
    public func invite(_ devices: [CallDevice]) async { try? await client.carryOut(.invite(callID, devices)) }

    /// Takes devices out of the call at the relay.
    public func remove(_ devices: [CallDevice]) async { try? await client.carryOut(.remove(callID, devices)) }

    /// Sends what waits, leaves the call at the relay, and closes the connection.
    public func close() async {
        outbox.finish()
        await sending.value
        try? await client.carryOut(.leave(callID), within: .seconds(1))
        for task in reading { task.cancel() }
        await client.close()
    }

    /// An inbox outlives calls: what is of another is dealt with by not being of this one.
    private static func read(
        _ subscription: SignalSubscription, of callID: CallID, _ client: RelayClient,
        into arrived: AsyncStream<[UInt8]>.Continuation, _ lastWord: @Sendable () async -> Void,
        _ hearOther: @Sendable (Signal) async -> Void
    ) async {
        do {
            for try await delivery in subscription {
                if let signal = try? Signal(decoding: delivery.body) {
                    if signal.content.callID == callID { arrived.yield(delivery.body) } else { await hearOther(signal) }
                }
                await client.acknowledge(delivery)
            }
        } catch {}
        await lastWord()
        arrived.finish()
    }

    /// Sends in the order of coming, without waiting for each to be confirmed.
    private static func send(_ signals: AsyncStream<Signal>, _ client: RelayClient) async {
        await withDiscardingTaskGroup { group in
            for await signal in signals {
                group.addTask { try? await client.send(signal, lifetime: signal.lifetime, within: .seconds(5)) }
            }
        }
    }
}

extension Signal {
    /// A signal that could not be delivered for so long is of no use any more, in milliseconds. A ring is: it becomes a missed call.
    fileprivate var lifetime: UInt64? {
        switch content.body {
        case .ring, .ringEnd: nil
        default: 30_000
        }
    }
}
