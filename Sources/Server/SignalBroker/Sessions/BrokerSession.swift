// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP

/// A subscription, by its connection and the name it has there.
struct SubscriptionKey: Hashable, Sendable {
    let session: SessionID
    let name: [UInt8]
}

/// A connection.
struct BrokerSession: Sendable {
    let device: CallDevice
    let account: Int64
    let openedAt: UInt64
    var isConnected = false
    var subscriptions: [[UInt8]: BrokerSubscription] = [:]
    /// The name of the subscription to its inbox that another session took over last; nil if none did, or it was ended since.
    var takenOver: [UInt8]?
    /// Frames of each open transaction.
    var transactions: [[UInt8]: [JudgedFrame]] = [:]
    /// Which subscription a message that can be acknowledged belongs to.
    var acknowledgments: [UInt64: [UInt8]] = [:]
    private var lastAcknowledgment: UInt64 = 0
    /// In milliseconds; nil for never.
    private var sendInterval: UInt64?
    private var receiveInterval: UInt64?
    private var lastSentAt: UInt64
    private var lastReceivedAt: UInt64

    init(_ device: CallDevice, of account: Int64, at uptime: UInt64) {
        self.device = device
        self.account = account
        openedAt = uptime
        (lastSentAt, lastReceivedAt) = (uptime, uptime)
    }

    mutating func connect(_ ours: HeartBeat, _ theirs: HeartBeat) {
        isConnected = true
        sendInterval = ours.sendInterval(to: theirs)
        receiveInterval = ours.receiveInterval(from: theirs)
    }

    mutating func noteSent(at uptime: UInt64) { lastSentAt = uptime }
    mutating func noteReceived(at uptime: UInt64) { lastReceivedAt = uptime }

    /// Two thirds of the promised time have passed since the last byte.
    func owesHeartBeat(at uptime: UInt64) -> Bool {
        sendInterval.map { uptime - min(uptime, lastSentAt) >= $0 - $0 / 3 } ?? false
    }

    /// Twice the promised time has passed since the last byte.
    func isSilent(at uptime: UInt64) -> Bool {
        receiveInterval.map { uptime - min(uptime, lastReceivedAt) > $0 * 2 } ?? false
    }

    mutating func nextAcknowledgment(of subscription: [UInt8]) -> UInt64 {
        lastAcknowledgment += 1
        acknowledgments[lastAcknowledgment] = subscription
        return lastAcknowledgment
    }
}

/// What a connection wants to hear.
struct BrokerSubscription: Sendable {
    let route: RelayRoute
    let mode: AcknowledgmentMode
    /// Of a call; what is for a device waits in its inbox.
    var waiting: [RelayedSignal] = []
    /// Sent and not acknowledged, in order.
    var outstanding: [(acknowledgment: UInt64, signal: RelayedSignal)] = []

    /// Takes what an ACK or NACK is for: nothing, if it was forgotten since.
    mutating func take(_ acknowledgment: UInt64) -> [(acknowledgment: UInt64, signal: RelayedSignal)] {
        let mode = mode
        let isMeant = { (other: UInt64) in mode == .cumulative ? other <= acknowledgment : other == acknowledgment }
        defer { outstanding.removeAll { isMeant($0.acknowledgment) } }
        return outstanding.filter { isMeant($0.acknowledgment) }
    }

    /// Takes out the signal of this number, as if it had been acknowledged.
    mutating func forget(_ number: UInt64) -> RelayedSignal? {
        outstanding.firstIndex { $0.signal.number == number }.map { outstanding.remove(at: $0).signal }
    }
}
