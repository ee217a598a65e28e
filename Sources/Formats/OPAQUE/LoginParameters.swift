// SPDX-License-Identifier: Apache-2.0

/// What client and server must agree on besides their keys. Both put it into the transcript, so that a login with
/// other parameters fails.
///
/// Spec: RFC 9807, section 2.1 and section 6.
public struct LoginParameters: Hashable, Sendable {
    /// Names the application and its version; at most 65,535 bytes.
    public let context: [UInt8]
    /// The server's name; nil for its public key. 1 to 65,535 bytes.
    public let serverIdentity: [UInt8]?
    /// The client's name; nil for its public key. 1 to 65,535 bytes.
    public let clientIdentity: [UInt8]?

    /// Parameters of one account.
    ///
    /// - Throws: ``OPAQUEError/invalidParameters``: a part is too long, or an identity empty.
    public init(
        context: [UInt8], serverIdentity: [UInt8]? = nil, clientIdentity: [UInt8]? = nil
    ) throws(OPAQUEError) {
        let identities = [serverIdentity, clientIdentity].compactMap { $0?.count }
        guard context.count <= 65_535, identities.allSatisfy((1...65_535).contains) else { throw .invalidParameters }
        self.context = context
        self.serverIdentity = serverIdentity
        self.clientIdentity = clientIdentity
    }
}

extension [UInt8] {
    /// Behind its length in two bytes, big-endian; the caller has bounded it.
    var withLength: [UInt8] {
        [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] + self
    }
}
