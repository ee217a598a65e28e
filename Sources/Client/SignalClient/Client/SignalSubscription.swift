// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
public import STOMP

/// What a relay delivers: bytes that claim to be a signal.
///
/// Security: nothing is verified. `Signal(decoding:)` and `verify(for:in:)` do that.
public struct Delivery: Hashable, Sendable {
    /// The signal's wire form, perhaps.
    public let body: [UInt8]
    /// Whether the relay says that it delivered this before.
    public let isRedelivered: Bool
    /// The MESSAGE frame.
    public let frame: StompFrame
    /// Which of the client's connections it came on: acknowledgments are good there only.
    let connection: UInt64

    init(_ frame: StompFrame, _ connection: UInt64) {
        self.frame = frame
        self.connection = connection
        body = frame.body
        isRedelivered = frame.value(of: "redelivered") == Array("true".utf8)
    }
}

/// What comes from a call or an inbox, across lost connections.
///
/// What a relay sends while there is no connection is lost to a call and waits in an inbox. An inbox delivers at least once:
/// again what was not acknowledged.
public struct SignalSubscription: AsyncSequence, Sendable {
    /// Whose signals.
    public let route: RelayRoute
    let name: [UInt8]
    let stream: AsyncThrowingStream<Delivery, any Error>

    /// How many deliveries wait to be read at most.
    static let capacity = 4096

    /// Goes through deliveries.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Delivery, any Error>.Iterator

        /// The next delivery; nil after the subscription or the client was closed.
        ///
        /// - Throws: ``RelayClientError``: the relay has ended the subscription, or ours cannot keep up.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(RelayClientError) -> Delivery? {
            do { return try await base.next(isolation: actor) } catch {
                throw error as? RelayClientError ?? .closed
            }
        }
    }

    /// Goes through deliveries; for one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }
}

/// A subscription as the client keeps it.
struct KeptSubscription {
    let route: RelayRoute
    let mode: AcknowledgmentMode
    let deliveries: AsyncThrowingStream<Delivery, any Error>.Continuation

    func frame(_ name: [UInt8]) throws(StompFrameError) -> StompFrame {
        try StompFrame(
            .subscribe,
            [
                StompHeader(.destination, route.destination), StompHeader(.id, name), StompHeader(.ack, mode.bytes),
                StompHeader(.receipt, name),
            ])
    }
}
