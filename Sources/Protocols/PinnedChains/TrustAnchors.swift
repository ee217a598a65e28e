// SPDX-License-Identifier: Apache-2.0

import X509

/// The certificates at which paths may end.
public struct TrustAnchors: Sendable {
    let bySubject: [DistinguishedName: [ReadCertificate]]
    /// The same as the search takes them.
    let issuers: [DistinguishedName: [Certificate]]

    /// The certificates, DER, in no order.
    public var certificates: [[UInt8]] { bySubject.values.flatMap { $0 }.map(\.der) }

    /// How many there are.
    public var count: Int { bySubject.values.reduce(0) { $0 + $1.count } }

    /// Anchors that a person or a profile names, DER, all of which must be readable.
    ///
    /// - Throws: ``TrustAnchorFault``.
    public init(_ certificates: [[UInt8]]) throws(TrustAnchorFault) {
        var read: [ReadCertificate] = []
        for (index, der) in certificates.enumerated() {
            guard let certificate = ReadCertificate(der) else { throw .malformed(index: index) }
            read.append(certificate)
        }
        guard !read.isEmpty else { throw .none }
        self.init(read)
    }

    /// Anchors of a system's list, DER; those that cannot be read are left out, for nothing could be verified with them.
    public init(readable certificates: [[UInt8]]) {
        self.init(certificates.compactMap { ReadCertificate($0) })
    }

    private init(_ read: [ReadCertificate]) {
        bySubject = Dictionary(grouping: read, by: \.certificate.subject)
        issuers = bySubject.mapValues(ReadCertificate.distinct)
    }

    /// These without one, such as a root that a system will stop to trust.
    ///
    /// - Parameter der: the certificate, DER.
    public func removing(_ der: [UInt8]) -> TrustAnchors {
        TrustAnchors(readable: certificates.filter { $0 != der })
    }
}

/// Why trust anchors cannot be used.
public enum TrustAnchorFault: Error, Hashable, Sendable {
    /// The certificate at this place, from 0, cannot be read.
    case malformed(index: Int)
    /// There is none.
    case none
}
