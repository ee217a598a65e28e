// SPDX-License-Identifier: Apache-2.0

public import CallSignalling

/// A connection to a broker.
public struct SessionID: Hashable, Sendable, Comparable {
    let number: UInt64

    /// In the order of opening.
    public static func < (left: SessionID, right: SessionID) -> Bool { left.number < right.number }
}

/// What is to be done, in order.
public enum BrokerAction: Hashable, Sendable {
    /// Bytes for a connection.
    case send(SessionID, BrokerDelivery)
    /// Bytes for a connection that say that something is done: to be sent when all that was to be written before is on the disk.
    case confirm(SessionID, BrokerDelivery)
    /// The connection is over once everything has been sent to it.
    case close(SessionID)
    /// The connection is over at once, and with it what was on its way: its place is needed.
    case cut(SessionID)
    /// A device is in a call no more.
    case departed(CallDevice, from: CallID)
    /// To be written: a signal that waits in an inbox.
    case keep(KeptSignal)
    /// To be written: the signal of this number waits no longer.
    case drop(UInt64)
    /// To be written: a call as it is now.
    case record(CallRecord)
    /// To be written: a call is over.
    case forget(CallID)

    /// Whether it is to be written.
    var isWrite: Bool {
        switch self {
        case .keep, .drop, .record, .forget: true
        case .send, .confirm, .close, .cut, .departed: false
        }
    }
}

/// A signal that waits in an inbox, as it is written.
public struct KeptSignal: Hashable, Sendable {
    /// Larger than that of every signal before.
    public let number: UInt64
    /// Whose inbox.
    public let recipient: CallDevice
    /// Whose signal.
    public let sender: CallDevice
    /// The sender's account; 0 if it was written before accounts were.
    public let account: Int64
    /// In milliseconds since 1970.
    public let expiresAt: UInt64
    /// The SEND frame's wire form.
    public let frame: [UInt8]

    /// A signal that was read from the disk.
    public init(
        number: UInt64, recipient: CallDevice, sender: CallDevice, of account: Int64, expiresAt: UInt64, frame: [UInt8]
    ) {
        self.number = number
        self.account = account
        self.recipient = recipient
        self.sender = sender
        self.expiresAt = expiresAt
        self.frame = frame
    }
}
