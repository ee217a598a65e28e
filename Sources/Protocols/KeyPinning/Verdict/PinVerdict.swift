// SPDX-License-Identifier: Apache-2.0

/// Certificates from the server's own to a trust anchor, each signed by the next.
public struct CertificatePath: Hashable, Sendable {
    /// The certificates, DER, the server's own first.
    public let certificates: [[UInt8]]
    /// The pins of their keys, in the same order.
    public let keys: [SPKIPin]

    /// A path; the caller has verified its signatures.
    package init(certificates: [[UInt8]], keys: [SPKIPin]) {
        self.certificates = certificates
        self.keys = keys
    }
}

/// What was found out about proxies before connecting. It says nothing about interception: a transparent one is not seen.
public enum ProxyState: Hashable, Sendable {
    /// No proxy is set for the host.
    case none
    /// One is set, under this name of a setting.
    case configured(setting: [UInt8])
}

/// A chain that was accepted, and why.
public struct PinVerdict: Hashable, Sendable {
    /// Why a trusted path was accepted.
    public enum Basis: Hashable, Sendable {
        /// A pinned key is on it.
        case pinned(PinMatch)
        /// No pinned key is on it, and the rule only reports that.
        case reportOnly
        /// The rule has no pins.
        case trustOnly
    }

    /// Whose chain it is.
    public let host: ServerName
    /// The validated path.
    public let path: CertificatePath
    /// Why it was accepted.
    public let basis: Basis
    /// The rule's pins should have been replaced by now.
    public let isOverdue: Bool
    /// The version of the policy that decided.
    public let policyVersion: UInt64

    /// A verdict; only a verifier makes one.
    package init(
        host: ServerName, path: CertificatePath, basis: Basis, isOverdue: Bool, policyVersion: UInt64
    ) {
        self.host = host
        self.path = path
        self.basis = basis
        self.isOverdue = isOverdue
        self.policyVersion = policyVersion
    }
}
