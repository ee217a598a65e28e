// SPDX-License-Identifier: Apache-2.0

import STOMP
public import SignetClient

/// A device's way to the signals of its calls: connects, stays connected, subscribes again and sends again what was not
/// confirmed.
///
/// A signal may arrive twice when a connection is lost; its sequence number tells.
public actor RelayClient {
    /// What happens to the connection.
    public enum Event: Hashable, Sendable {
        /// There is one; everything is subscribed and sent again.
        case connected
        /// There is none; another try follows.
        case disconnected(RelayClientError)
        /// There will be none.
        case gaveUp(RelayClientError)
    }

    /// How long to wait before another try.
    public struct Backoff: Hashable, Sendable {
        /// Before the first.
        public let first: Duration
        /// At most; each wait is twice the one before, and between half and all of it by chance.
        public let longest: Duration

        /// Waits.
        public init(first: Duration = .milliseconds(100), longest: Duration = .seconds(10)) {
            self.first = first
            self.longest = longest
        }
    }

    struct Pending {
        let name: [UInt8]
        let frame: StompFrame
        let confirmation: CheckedContinuation<Result<Void, RelayClientError>, Never>
    }

    /// What happens to the connection, for one reader.
    public nonisolated let events: AsyncStream<Event>
    let endpoint: RelayEndpoint
    private let heartBeat: HeartBeat
    private let backoff: Backoff
    private let surroundings: Surroundings
    private let report: AsyncStream<Event>.Continuation
    var connection: StompConnection?
    var connectionNumber: UInt64 = 0
    var lastName: UInt64 = 0
    /// Not confirmed, in order.
    var pending: [Pending] = []
    var subscriptions: [[UInt8]: KeptSubscription] = [:]
    private var end: RelayClientError?
    private var loop: Task<Void, Never>?
    private var farewell: CheckedContinuation<Void, Never>?

    /// A client that begins to connect at once.
    ///
    /// - Parameter heartBeat: how often it sends something and wants to hear something, in milliseconds.
    public init(
        to endpoint: RelayEndpoint, heartBeat: UInt64 = 5000, backoff: Backoff = Backoff(),
        in surroundings: Surroundings = .system
    ) {
        self.endpoint = endpoint
        self.heartBeat = HeartBeat(canSend: heartBeat, wants: heartBeat)
        self.backoff = backoff
        self.surroundings = surroundings
        (events, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        Task { await self.start() }
    }

    /// Whether there is a connection.
    public var isConnected: Bool { connection != nil }

    /// Says farewell, waits a little for what is under way to be confirmed, and closes. What is not confirmed then
    /// ends with ``RelayClientError/closed``.
    public func close() async {
        guard end == nil else { return }
        if let connection, let bye = try? StompFrame(.disconnect, [StompHeader(.receipt, nextName())]) {
            end = .closed
            connection.send(bye)
            let alarm = Task { [surroundings] in
                await surroundings.wait(.seconds(2))
                await connection.close()
            }
            await withCheckedContinuation { farewell = $0 }
            alarm.cancel()
        }
        finish(.closed)
        loop?.cancel()
        await connection?.close()
    }

    private func start() {
        guard end == nil, loop == nil else { return }
        loop = Task { await self.run() }
    }

    private func run() async {
        var pause = backoff.first
        while end == nil {
            do throws(RelayClientError) {
                let connection = try await endpoint.connect(heartBeat: heartBeat)
                guard end == nil else { return await connection.close() }
                begin(connection)
                pause = backoff.first
                try await read(connection)
            } catch {
                // Not waited for: an engine that has said ERROR may take its time to close.
                if let connection { Task { await connection.close() } }
                connection = nil
                guard end == nil else { break }
                guard error.isPassing else {
                    report.yield(.gaveUp(error))
                    return finish(error)
                }
                report.yield(.disconnected(error))
                await surroundings.wait(Self.jittered(pause))
                pause = min(pause * 2, backoff.longest)
            }
        }
        farewell?.resume()
        farewell = nil
    }

    /// Subscribes again and sends again, in the order of old.
    private func begin(_ connection: StompConnection) {
        self.connection = connection
        connectionNumber += 1
        let isWaiting = Set(pending.map(\.name))
        for name in subscriptions.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where !isWaiting.contains(name)
        {
            if let frame = try? subscriptions[name]?.frame(name) { connection.send(frame) }
        }
        for item in pending { connection.send(item.frame) }
        report.yield(.connected)
    }

    private func read(_ connection: StompConnection) async throws(RelayClientError) {
        while true {
            let frame: StompFrame?
            do { frame = try await connection.receive() } catch { throw .connection(error) }
            guard let frame else { throw .connection(.closed) }
            switch frame.command {
            case .receipt: settle(frame.value(of: .receiptID) ?? [], .success(()))
            case .message: deliver(frame)
            case .error:
                let fault = RelayClientError(frame)
                if let name = frame.value(of: .receiptID) { settle(name, .failure(fault)) }
                throw fault
            default: throw .connection(.notConnected)
            }
        }
    }

    private func finish(_ reason: RelayClientError) {
        end = reason
        for item in pending { item.confirmation.resume(returning: .failure(reason)) }
        pending = []
        for subscription in subscriptions.values {
            subscription.deliveries.finish(throwing: reason == .closed ? nil : reason)
        }
        subscriptions = [:]
        report.finish()
    }

    /// Why nothing can be sent any more; nil if it can.
    var closure: RelayClientError? { end }

    private static func jittered(_ pause: Duration) -> Duration { pause / 2 + pause / 2 * Double.random(in: 0...1) }
}
