// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
public import STOMP

extension RelayClient {
    /// How many frames may wait to be confirmed.
    private static let pendingCapacity = 1024

    /// Sends a signal where it belongs, and returns when the relay has confirmed it: an inbox then has it on its disk.
    ///
    /// - Parameters:
    ///   - lifetime: how long it may wait in an inbox, in milliseconds; nil for as long as the relay lets it.
    ///   - time: how long to wait for the confirmation, lost connections included.
    /// - Throws: ``RelayClientError``.
    public func send(
        _ signal: Signal, lifetime: UInt64? = nil, within time: Duration = .seconds(30)
    ) async throws(RelayClientError) {
        let content = signal.content
        let route = content.recipient.map { RelayRoute.inbox($0) } ?? .topic(content.callID)
        let headers = endpoint.engine.sendHeaders(to: route, lifetime: lifetime)
        try await confirm(.send, [StompHeader(.destination, route.destination)] + headers, signal.encoded, within: time)
    }

    /// Tells the relay about a call, and returns when it has confirmed it.
    ///
    /// - Throws: ``RelayClientError``.
    public func carryOut(_ act: CallAct, within time: Duration = .seconds(30)) async throws(RelayClientError) {
        guard let destination = endpoint.engine.destination(of: act) else { return }
        try await confirm(.send, [StompHeader(.destination, destination)], act.body, within: time)
    }

    /// Subscribes, and returns when the relay has confirmed it. From then on the subscription outlives connections.
    ///
    /// - Parameters:
    ///   - route: a call that the device is in, or its own inbox.
    ///   - mode: what the relay takes for dealt with; individual is the choice for an inbox.
    /// - Throws: ``RelayClientError``.
    public func subscribe(
        to route: RelayRoute, mode: AcknowledgmentMode = .auto, within time: Duration = .seconds(30)
    ) async throws(RelayClientError) -> SignalSubscription {
        let name = nextName()
        let (stream, deliveries) = AsyncThrowingStream.makeStream(
            of: Delivery.self, throwing: (any Error).self,
            bufferingPolicy: .bufferingOldest(SignalSubscription.capacity))
        let subscription = KeptSubscription(route: route, mode: mode, deliveries: deliveries)
        let frame: StompFrame
        do { frame = try subscription.frame(name) } catch { throw .connection(.invalidFrame(error)) }
        if closure == nil { subscriptions[name] = subscription }
        do throws(RelayClientError) { try await confirm(frame, name, within: time) } catch {
            unsubscribe(name)
            throw error
        }
        return SignalSubscription(route: route, name: name, stream: stream)
    }

    /// Ends a subscription.
    public func unsubscribe(_ subscription: SignalSubscription) { unsubscribe(subscription.name) }

    /// Says that a delivery, and with mode ``STOMP/AcknowledgmentMode/cumulative`` all before it, has been dealt with.
    /// Without effect on a delivery of an earlier connection: that one comes again.
    public func acknowledge(_ delivery: Delivery) { answer(.ack, delivery) }

    /// Says that a delivery could not be dealt with: it comes again.
    public func sendBack(_ delivery: Delivery) { answer(.nack, delivery) }

    // MARK: Inside

    func nextName() -> [UInt8] {
        lastName += 1
        // Names sort in the order in which they were given.
        let digits = Decimal.encode(lastName)
        return [UInt8(ascii: "n")] + [UInt8](repeating: UInt8(ascii: "0"), count: 20 - digits.count) + digits
    }

    private func answer(_ command: StompCommand, _ delivery: Delivery) {
        guard delivery.connection == connectionNumber, let id = delivery.frame.value(of: .ack),
            let frame = try? StompFrame(command, [StompHeader(.id, id)])
        else { return }
        connection?.send(frame)
    }

    private func unsubscribe(_ name: [UInt8]) {
        guard let kept = subscriptions.removeValue(forKey: name) else { return }
        kept.deliveries.finish()
        if let frame = try? StompFrame(.unsubscribe, [StompHeader(.id, name)]) { connection?.send(frame) }
    }

    private func confirm(
        _ command: StompCommand, _ headers: [StompHeader], _ body: [UInt8], within time: Duration
    ) async throws(RelayClientError) {
        let name = nextName()
        let frame: StompFrame
        do { frame = try StompFrame(command, headers + [StompHeader(.receipt, name)], body: body) } catch {
            throw .connection(.invalidFrame(error))
        }
        try await confirm(frame, name, within: time)
    }

    private func confirm(
        _ frame: StompFrame, _ name: [UInt8], within time: Duration
    ) async throws(RelayClientError) {
        if let closure { throw closure }
        guard pending.count < Self.pendingCapacity else { throw .tooMuch }
        let alarm = Task { [weak self] in
            guard (try? await Task.sleep(for: time)) != nil else { return }
            await self?.settle(name, .failure(.timedOut))
        }
        defer { alarm.cancel() }
        let result = await withCheckedContinuation { confirmation in
            pending.append(Pending(name: name, frame: frame, confirmation: confirmation))
            connection?.send(frame)
        }
        try result.get()
    }

    /// A frame is confirmed or refused; a subscription that is refused ends.
    func settle(_ name: [UInt8], _ result: Result<Void, RelayClientError>) {
        if case .failure(let error) = result, error != .timedOut, let kept = subscriptions.removeValue(forKey: name) {
            kept.deliveries.finish(throwing: error)
        }
        guard let place = pending.firstIndex(where: { $0.name == name }) else { return }
        pending.remove(at: place).confirmation.resume(returning: result)
    }

    func deliver(_ frame: StompFrame) {
        guard let name = frame.value(of: .subscription), let kept = subscriptions[name] else { return }
        if case .dropped = kept.deliveries.yield(Delivery(frame, connectionNumber)) {
            kept.deliveries.finish(throwing: RelayClientError.tooMuch)
            unsubscribe(name)
        }
    }
}
