// SPDX-License-Identifier: Apache-2.0

public import KeyPinning

/// Why there is no usable HTTP response.
public enum TransportError: Error, Hashable, Sendable {
    /// The address is not `https://host[:port]`.
    case invalidAddress
    /// The certificate to trust is not a valid certificate.
    case invalidRoot
    /// The host name does not exist.
    case nameNotFound
    /// Nothing answers at the address.
    case unreachable
    /// A wait took too long; the phase says which.
    case timedOut(TransportPhase)
    /// The connection ended before the response did.
    case closedEarly
    /// The connection was closed before it became a TLS connection: so does a server that has as many as it takes.
    case closedInHandshake
    /// The connection did not become a TLS connection.
    case handshakeFailed
    /// The policy, the chain or the pins forbid the connection; no byte of a request was sent.
    case refused(ChainRefusal)
    /// There are no pins for the server, and no connection is made without pins.
    case noPins
    /// The pins for the server cannot be valid.
    case invalidPins(PinRuleFault)
    /// The pin policy is for another environment than the one this program runs in.
    case policyForAnotherEnvironment
    /// The server does not open a WebSocket here; its HTTP status says why.
    case notUpgraded(status: Int)
    /// The server chose a WebSocket sub-protocol that was not offered, or none although one was.
    case wrongSubprotocol
    /// The response is not HTTP/1.1.
    case malformedResponse
    /// The body is longer than any honest answer, in bytes.
    case tooLong(limit: Int)
    /// The document is not of the kind that was requested.
    case unexpectedMediaType
    /// The network library misbehaved.
    case unknown

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .invalidAddress, .invalidRoot, .noPins, .invalidPins, .policyForAnotherEnvironment: .caller
        case .refused(let refusal): Self.family(of: refusal.reason)
        case .nameNotFound, .unreachable, .timedOut, .closedEarly, .closedInHandshake, .handshakeFailed: .environment
        case .notUpgraded(let status): TransportResponse.mayPass(status) ? .environment : .peer
        case .wrongSubprotocol, .malformedResponse, .tooLong, .unexpectedMediaType: .peer
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

/// A phase in which a client waits.
public enum TransportPhase: Hashable, Sendable, CaseIterable {
    /// Connecting with TCP.
    case connecting
    /// The TLS handshake, until the request is sent.
    case handshake
    /// Waiting for the response, or for its next bytes.
    case reading
}
