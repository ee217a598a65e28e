// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding
import STOMP

/// A message on its way.
struct RelayedSignal: Sendable {
    let number: UInt64
    let sender: CallDevice
    /// The sender's.
    let account: Int64
    /// In milliseconds since 1970.
    let expiresAt: UInt64
    let destination: [UInt8]
    /// The headers that the sender made up.
    let headers: [StompHeader]
    let body: [UInt8]
    /// How often it was sent to a subscription.
    var deliveries = 0

    init(
        _ frame: StompFrame, to destination: [UInt8], number: UInt64, sender: CallDevice, of account: Int64,
        expiresAt: UInt64
    ) {
        self.number = number
        self.account = account
        self.sender = sender
        self.expiresAt = expiresAt
        self.destination = destination
        headers = frame.headers.filter { !Self.ownHeaders.contains($0.name) }
        body = frame.body
    }

    /// A signal that waited on the disk; nil if it is none.
    init?(_ kept: KeptSignal, _ limits: StompLimits) {
        var decoder = StompDecoder(limits: limits)
        decoder.append(kept.frame)
        guard case .frame(let frame)? = try? decoder.next(), frame.command == .send,
            let destination = frame.value(of: .destination)
        else { return nil }
        self.init(
            frame, to: destination, number: kept.number, sender: kept.sender, of: kept.account,
            expiresAt: kept.expiresAt)
        deliveries = 1  // Perhaps: what was sent before the start is unknown.
    }

    /// How it is written.
    func kept(for recipient: CallDevice) -> KeptSignal? {
        let all = [StompHeader(.destination, destination)] + headers
        guard let frame = try? StompFrame(.send, all, body: body) else { return nil }
        return KeptSignal(
            number: number, recipient: recipient, sender: sender, of: account, expiresAt: expiresAt,
            frame: frame.encoded)
    }

    /// The MESSAGE frame for a subscription.
    ///
    /// - Parameter acknowledgment: its name in ACK; nil if it needs none.
    func message(for subscription: [UInt8], acknowledgment: UInt64?) -> BrokerDelivery {
        var own = [
            StompHeader(.destination, destination), StompHeader(.messageID, Decimal.encode(number)),
            StompHeader(.subscription, subscription),
        ]
        if let acknowledgment { own.append(StompHeader(.ack, Decimal.encode(acknowledgment))) }
        if deliveries > 0 { own.append(StompHeader(Self.redelivered, Array("true".utf8))) }
        guard let frame = try? StompFrame(.message, own + headers, body: body) else { return BrokerDelivery([]) }
        return BrokerDelivery(head: frame.encodedHead, sharing: body)
    }

    /// Whether a MESSAGE of this SEND, with every header of ours, is at most as large as a SEND may be. A client closes its connection
    /// at one that is, gets it again when it comes back, and closes again.
    static func leavesRoom(_ frame: StompFrame, in limits: StompLimits) -> Bool {
        let headers = frame.headers.filter { !ownHeaders.contains($0.name) }
        let largest = try? StompFrame(
            .send, [StompHeader(.destination, frame.value(of: .destination) ?? [])] + headers, body: frame.body)
        guard let head = largest?.encodedHead else { return false }
        return headers.count + ownHeaderCount <= limits.headerCount
            && head.count + roomByteCount <= limits.headByteCount
    }

    /// Of a MESSAGE: destination, name, subscription, ack, redelivered and content-length.
    private static let ownHeaderCount = 6

    /// With its headers, in bytes.
    var byteCount: Int {
        body.count + headers.reduce(0) { $0 + $1.name.bytes.count + $1.value.count } + Self.roomByteCount
    }

    /// What the headers of ours take at most, in bytes, but for the subscription's name.
    private static let roomByteCount = 256

    static let expiration: StompHeaderName = "expiration"
    private static let redelivered: StompHeaderName = "redelivered"
    private static let ownHeaders: Set<StompHeaderName> = [
        .destination, .receipt, .transaction, .id, .ack, .subscription, .messageID, redelivered,
    ]
}
