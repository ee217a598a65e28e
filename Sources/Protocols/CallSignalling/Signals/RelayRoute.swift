// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Where a relay takes a signal. All that a relay decides, it decides here; it can open nothing.
public enum RelayRoute: Hashable, Sendable {
    /// To all members of the call.
    case topic(CallID)
    /// To one device, kept until it fetches it.
    case inbox(CallDevice)

    /// Judges a signal that a device hands in.
    ///
    /// - Parameters:
    ///   - bytes: what it handed in.
    ///   - device: the device, as the connection proved it.
    ///   - callID: the call that the device is let into.
    /// - Throws: ``RelayRefusal``. A retry cannot help.
    public init(_ bytes: [UInt8], from device: CallDevice, in callID: CallID) throws(RelayRefusal) {
        let signal: Signal
        do { signal = try Signal(decoding: bytes) } catch { throw .malformed(error) }
        try self.init(signal, from: device, in: callID)
    }

    /// Judges a signal that was read already.
    ///
    /// - Throws: ``RelayRefusal``, never ``RelayRefusal/malformed(_:)``. A retry cannot help.
    public init(_ signal: Signal, from device: CallDevice, in callID: CallID) throws(RelayRefusal) {
        try self.init(JudgedSignal(signal), from: device, in: callID)
    }

    /// Judges a signal whose signature was looked at already.
    ///
    /// - Throws: ``RelayRefusal``, never ``RelayRefusal/malformed(_:)``. A retry cannot help.
    public init(_ judged: JudgedSignal, from device: CallDevice, in callID: CallID) throws(RelayRefusal) {
        let content = judged.signal.content
        guard content.callID == callID else { throw .anotherCall }
        guard content.sender == device else { throw .anotherSender }
        guard judged.isSigned else { throw .invalidSignature }
        self = content.recipient.map { .inbox($0) } ?? .topic(callID)
    }

    /// The STOMP destination: `/topic/call.` and the call, or `/queue/inbox.` and the key, in hexadecimal.
    public var destination: [UInt8] {
        switch self {
        case .topic(let callID): Self.topicPrefix + Hex.encode(callID.bytes)
        case .inbox(let device): Self.inboxPrefix + Hex.encode(device.signingKey)
        }
    }

    /// Reads a destination; nil if it is not exactly what ``destination`` prints.
    public init?(destination: [UInt8]) {
        if let call = Self.name(destination, after: Self.topicPrefix).flatMap({ CallID($0) }) {
            self = .topic(call)
        } else if let device = Self.name(destination, after: Self.inboxPrefix).flatMap({ CallDevice($0) }) {
            self = .inbox(device)
        } else {
            return nil
        }
    }

    private static let topicPrefix = Array("/topic/call.".utf8)
    private static let inboxPrefix = Array("/queue/inbox.".utf8)

    private static func name(_ destination: [UInt8], after prefix: [UInt8]) -> [UInt8]? {
        guard destination.starts(with: prefix) else { return nil }
        return try? Hex.decode(Array(destination.dropFirst(prefix.count)))
    }
}

/// A signal, and whether its sender signed it: the slow part of the check, done once, where nothing else waits for it.
public struct JudgedSignal: Hashable, Sendable {
    /// The signal.
    public let signal: Signal
    let isSigned: Bool

    /// Looks at the signature.
    public init(_ signal: Signal) {
        self.signal = signal
        isSigned = signal.isSignatureValid
    }
}

/// Why a relay does not pass a signal on.
public enum RelayRefusal: Error, Hashable, Sendable {
    /// It is none.
    case malformed(SignalDecodingError)
    /// It is of a call that the device was not let into.
    case anotherCall
    /// It names another sender than the device that hands it in.
    case anotherSender
    /// The sender did not sign it.
    case invalidSignature
}
