public import KeyPinning

/// Why there is no usable HTTP response.
public enum TransportError: Error, Hashable, Sendable {
    /// The address is not `https://host[:port]`.
    case invalidAddress
    /// The certificate to trust is not one.
    case invalidRoot
    /// No such host name.
    case nameNotFound
    /// Nothing answers at the address.
    case unreachable
    /// It took too long; the phase says where.
    case timedOut(TransportPhase)
    /// The connection ended before the response did.
    case closedEarly
    /// The connection did not become a TLS connection.
    case handshakeFailed
    /// Policy, chain or pins forbid the connection; no byte of a request was sent.
    case refused(ChainRefusal)
    /// There are no pins for the server, and without pins no connection is made.
    case noPins
    /// The pins for the server cannot be right.
    case invalidPins(PinRuleFault)
    /// The pin policy is for another environment than the one this program runs in.
    case policyForAnotherEnvironment
    /// The server does not open a WebSocket here; its HTTP status says why.
    case notUpgraded(status: Int)
    /// The server chose a WebSocket sub-protocol that was not offered, or none although one was.
    case wrongSubprotocol
    /// Not HTTP/1.1.
    case malformedResponse
    /// The body is longer than any honest answer, in bytes.
    case tooLong(limit: Int)
    /// Another kind of document than the one that was asked for.
    case unexpectedMediaType
    /// The network library misbehaved.
    case unknown

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .invalidAddress, .invalidRoot, .noPins, .invalidPins, .policyForAnotherEnvironment: .caller
        case .refused(let refusal): Self.family(of: refusal.reason)
        case .nameNotFound, .unreachable, .timedOut, .closedEarly, .handshakeFailed: .environment
        case .notUpgraded, .wrongSubprotocol, .malformedResponse, .tooLong, .unexpectedMediaType: .peer
        case .unknown: .bug
        }
    }

    private static func family(of reason: ChainRefusal.Reason) -> ErrorFamily {
        switch reason {
        case .unknownHost, .policyExpired, .proxy: .caller
        default: .peer
        }
    }
}

/// What a client waits for.
public enum TransportPhase: Hashable, Sendable, CaseIterable {
    /// TCP.
    case connecting
    /// TLS, up to the moment the request is sent.
    case handshake
    /// The response, or its next bytes.
    case reading
}
