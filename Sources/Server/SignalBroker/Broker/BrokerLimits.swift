// SPDX-License-Identifier: Apache-2.0

public import STOMP

/// What one device, one account, and all of them together, may take of a broker. Times are in milliseconds.
public struct BrokerLimits: Hashable, Sendable {
    /// The size of a frame: the body of the longest signal, and headers.
    public var frames = StompLimits(headByteCount: 8192, headerCount: 64, bodyByteCount: 65_536)
    /// The longest frame, in bytes.
    public var frameByteCount: Int { frames.headByteCount + frames.bodyByteCount + 1 }
    /// Frames of an account in a second, on average, WebSocket's pings among them; heart-beats do not count.
    public var framesPerSecond: UInt64 = 100
    /// Frames of an account at once, after a pause long enough.
    public var frameBurst: UInt64 = 1000
    /// Bytes that go out in a second, on average, because of frames of an account: the size of each times those who get it.
    public var spreadPerSecond: UInt64 = 8 << 20
    /// The same at once, after a pause long enough.
    public var spreadBurst: UInt64 = 64 << 20
    /// Connections of a device.
    public var sessionsPerDevice = 4
    /// Connections of an account.
    public var sessionsPerAccount = 16
    /// Bytes held for a connection: on their way to it, in its queues and transactions.
    public var heldPerSession = 4 << 20
    /// Bytes held for all connections of an account.
    public var heldPerAccount = 8 << 20
    /// Bytes held for all connections.
    public var heldAltogether = 24 << 20
    /// From the opened connection to CONNECT.
    public var connectTime: UInt64 = 10_000
    /// After this long a device has to connect, and to show that it is still one, again.
    public var sessionTime: UInt64 = 3_600_000
    /// The most often the broker sends heart-beats, and wants them.
    public var heartBeat: UInt64 = 1000
    /// Subscriptions of a connection.
    public var subscriptions = 64
    /// Open transactions of a connection.
    public var transactions = 8
    /// Frames in a transaction.
    public var transactionFrames = 64
    /// Messages that a subscription has not acknowledged before it gets more.
    public var unacknowledged = 64
    /// Messages that wait for a subscription to a call.
    public var queueLength = 512
    /// How often a message that is sent back is delivered.
    public var deliveries = 8
    /// Signals that wait in an inbox.
    public var inboxLength = 512
    /// How long a signal waits in an inbox.
    public var inboxTime: UInt64 = 3_600_000
    /// Signals of one account that wait in all inboxes.
    public var keptPerAccount = 2048
    /// Their bytes, headers among them.
    public var keptBytesPerAccount = 1 << 20
    /// Bytes that wait in all inboxes.
    public var keptByteCount = 24 << 20
    /// Calls that the devices of one account started.
    public var callsPerAccount = 16
    /// Calls.
    public var calls = 65_536
    /// How long a call without listeners lives.
    public var callTime: UInt64 = 600_000

    /// The limits `signetd` starts with.
    public init() {}
}
