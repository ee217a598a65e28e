// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A site, by the host that proved to be it. Two hosts are two sites.
///
/// The text is the host in lower-case ASCII, with `:port` unless the port is 443; names in other scripts come in their
/// `xn--` form. There is one spelling, so that one site has one identity and no site gets another's.
///
/// Spec: RFC 1123, section 2.1; RFC 5890, section 2.3.2.1 (A-labels).
public struct VerifiedHost: Hashable, Sendable {
    /// What proved the host. There is no case for a host that a message merely names.
    public enum Evidence: Hashable, Sendable {
        /// The TLS connection that the request came over, its certificate checked for this name.
        case tlsConnection
        /// A request signed with a key that the host published.
        case signedRequest
        /// A site's own name, from its own configuration.
        case ownName
    }

    /// Host, and port unless 443, ASCII.
    public let text: [UInt8]

    /// A host that proved to be one.
    ///
    /// - Parameters:
    ///   - host: lower-case ASCII; at least two labels, or `localhost` as the last; no address, no final dot.
    ///   - port: not zero.
    ///   - evidence: how the caller knows.
    /// - Throws: ``VerifiedHostError``: not a host in its one spelling. There is no identity for it, and none is used
    ///   in its place.
    public init(_ host: [UInt8], port: UInt16 = 443, evidence: Evidence) throws(VerifiedHostError) {
        guard (1...253).contains(host.count) else { throw .invalidLength(host.count) }
        guard port != 0 else { throw .invalidPort }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy(Self.isLabel) else { throw .invalidLabel }
        guard let last = labels.last, labels.count > 1 || last.elementsEqual("localhost".utf8) else {
            throw .notQualified
        }
        guard !last.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .isAddress }
        text = port == 443 ? host : host + [UInt8(ascii: ":")] + Decimal.encode(UInt64(port))
    }

    /// What a store kept, or a statement says; the same checks.
    ///
    /// Security: nothing is proven here. For comparing with a host that was verified.
    ///
    /// - Throws: ``VerifiedHostError``.
    package init(stored text: [UInt8]) throws(VerifiedHostError) {
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            try self.init(text, evidence: .tlsConnection)
            return
        }
        guard let port = try? Decimal.decode(parts[1]), port <= 65_535, port != 443 else { throw .invalidPort }
        try self.init(Array(parts[0]), port: UInt16(port), evidence: .tlsConnection)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
            && label.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

/// Why a text is not a host.
public enum VerifiedHostError: Error, Hashable, Sendable {
    /// Empty, or more than 253 bytes.
    case invalidLength(Int)
    /// A label is empty, too long, or has another character than `a-z 0-9 -`; or a hyphen at an end.
    case invalidLabel
    /// One label alone, which is a different machine in every network.
    case notQualified
    /// An IP address, which can change owner.
    case isAddress
    /// Port zero, or written otherwise than in its one way.
    case invalidPort
}
