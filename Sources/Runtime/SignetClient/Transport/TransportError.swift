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
    /// The server's certificate is not vouched for by the pinned root, or its dates do not cover today.
    case certificateRefused
    /// The certificate is for another name.
    case certificateForAnotherName
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
        case .invalidAddress, .invalidRoot: .caller
        case .nameNotFound, .unreachable, .timedOut, .closedEarly, .handshakeFailed: .environment
        case .certificateRefused, .certificateForAnotherName, .malformedResponse, .tooLong,
            .unexpectedMediaType:
            .peer
        case .unknown: .bug
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
