import CanonicalCoding

/// Where a relay takes a signal. All that a relay decides, it decides here; it can open nothing.
public enum RelayRoute: Hashable, Sendable {
    /// To everybody in the call.
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
        guard signal.content.callID == callID else { throw .anotherCall }
        guard signal.content.sender == device else { throw .anotherSender }
        guard signal.isSignatureValid else { throw .invalidSignature }
        self = signal.content.recipient.map { .inbox($0) } ?? .topic(callID)
    }

    /// The STOMP destination: `/topic/call.` and the call, or `/queue/inbox.` and the key, in hexadecimal.
    public var destination: [UInt8] {
        switch self {
        case .topic(let callID): Array("/topic/call.".utf8) + Hex.encode(callID.bytes)
        case .inbox(let device): Array("/queue/inbox.".utf8) + Hex.encode(device.signingKey)
        }
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
