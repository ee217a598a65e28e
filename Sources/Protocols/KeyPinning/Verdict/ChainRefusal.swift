// SPDX-License-Identifier: Apache-2.0

/// A chain that was refused: why, and what was tried. Nothing was sent to the server but the greeting of TLS.
public struct ChainRefusal: Error, Hashable, Sendable {
    /// Whose chain it should have been.
    public let host: ServerName
    /// Why.
    public let reason: Reason
    /// Every path to a trust anchor that was found, and what spoke against it.
    public let candidates: [CandidatePath]
    /// The pins of the certificates as presented, in that order; those that cannot be read are left out.
    public let presented: [SPKIPin]
    /// The version of the policy that decided.
    public let policyVersion: UInt64

    /// A refusal.
    package init(
        host: ServerName, reason: Reason, candidates: [CandidatePath] = [], presented: [SPKIPin] = [],
        policyVersion: UInt64
    ) {
        self.host = host
        self.reason = reason
        self.candidates = candidates
        self.presented = presented
        self.policyVersion = policyVersion
    }

    /// Why a chain is refused.
    public enum Reason: Hashable, Sendable {
        /// No rule covers the host.
        case unknownHost
        /// The rule's time is over and it says to block.
        case policyExpired(time: UInt64)
        /// A proxy is set, and the policy wants none.
        case proxy(ProxyState)
        /// No certificate was presented.
        case noCertificate
        /// More certificates than any honest server sends.
        case tooManyCertificates(Int)
        /// More bytes of certificates than any honest server sends.
        case tooManyBytes(Int)
        /// The server's certificate cannot be read.
        case malformedCertificate
        /// No path leads to a trust anchor.
        case untrusted
        /// Paths lead to trust anchors, and this spoke against the best of them.
        case path(PathFault)
        /// Trusted paths were found, and no pinned key is on any.
        case noPinMatched
        /// The certificates are so entangled that the search was given up.
        case searchTooLong
    }
}

/// A path that was found and not accepted.
public struct CandidatePath: Hashable, Sendable {
    /// The path.
    public let path: CertificatePath
    /// What spoke against it; nil if only that no key is pinned.
    public let fault: PathFault?

    /// A candidate.
    package init(path: CertificatePath, fault: PathFault?) {
        self.path = path
        self.fault = fault
    }
}

/// What speaks against a path. The depth counts certificates from the server's own, which has depth 0.
public enum PathFault: Error, Hashable, Sendable {
    /// Not of version 3.
    case version(depth: Int)
    /// Not valid yet.
    case notYetValid(depth: Int)
    /// Not valid any more.
    case expired(depth: Int)
    /// Its serial number is not positive, or has more than 20 bytes.
    case serialNumber(depth: Int)
    /// A signature over SHA-1.
    case weakSignature(depth: Int)
    /// Signs others and is not an authority.
    case notAnAuthority(depth: Int)
    /// An authority without a name.
    case namelessAuthority(depth: Int)
    /// Has more authorities below it than it may.
    case tooLong(depth: Int)
    /// The server's certificate is an authority's.
    case authorityAsServer
    /// The key may not be used so.
    case keyUsage(depth: Int)
    /// Not for servers.
    case notForServers(depth: Int)
    /// The server's certificate is not for this host.
    case otherName
    /// The server's certificate names no host outside of its subject.
    case noNames
    /// A name that the authority at this depth may not certify.
    case constrainedName(depth: Int)
    /// A constraint of a kind that is not understood.
    case unknownConstraint(depth: Int)
    /// More names and constraints than any honest certificate has.
    case tooManyNames
    /// A critical extension that is not understood.
    case unknownExtension(depth: Int)
    /// An extension that cannot be read.
    case malformedExtension(depth: Int)
}

extension ChainRefusal: CustomStringConvertible {
    /// Server and reason, without the certificates.
    public var description: String {
        let reason = Mirror(reflecting: reason).children.first?.label ?? "\(reason)"
        return "\(host) refused: \(reason), \(presented.count) certificates"
    }
}
