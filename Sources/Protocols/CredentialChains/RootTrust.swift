// SPDX-License-Identifier: Apache-2.0

public import JOSE
import StrictJSON
import SwiftASN1
import X509

/// Trust in what these roots certify, directly or through others: the certificates of issuers and of sites that ask.
///
/// Every certificate of a chain is signed by the next, the last by a root or is one itself; all are ECDSA on P-256, in time, and
/// demand nothing that is not looked at here. The holder of each signing certificate may sign certificates; the signer
/// at the end of the chain may not.
///
/// Spec: RFC 5280, sections 4.1.2.5, 4.2.1.3, 4.2.1.9 and 6.1; OpenID4VC HAIP 1.0, section 6.1.1.
///
/// Security: revocation of certificates is not checked.
public struct RootTrust: CertificateTrust {
    private let roots: [ReadSigner]

    /// More bytes of one certificate are refused unread.
    public static let maximumByteCount = 8_192

    /// Trust in roots, DER.
    ///
    /// - Throws: ``RootTrustFault``: a mistake of the caller.
    public init(roots: [[UInt8]]) throws(RootTrustFault) {
        var read: [ReadSigner] = []
        for (place, der) in roots.enumerated() {
            guard let root = ReadSigner(der) else { throw .malformed(index: place) }
            read.append(root)
        }
        self.roots = read
    }

    /// Trust in those roots of a system's list, DER, that can be read; nothing could be verified with the others.
    public init(readable roots: [[UInt8]]) { self.roots = roots.compactMap { ReadSigner($0) } }

    /// The key that a chain certifies.
    ///
    /// - Parameters:
    ///   - chain: DER, the signer's own certificate first.
    ///   - now: seconds since 1970.
    /// - Throws: ``JOSE/CertificateTrustFault``. A retry cannot help.
    public func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner {
        let sent = try read(chain)
        guard let leaf = sent.first, let last = sent.last, !leaf.mayCertify else { throw .chain }
        let path = try path(sent, from: last)
        for (place, signed) in path.enumerated() where place + 1 < path.count {
            guard path[place + 1].certifies(signed, below: place) else { throw .chain }
        }
        guard path.allSatisfy({ $0.isValid(at: now) }) else { throw .validity }
        guard let key = leaf.key else { throw .chain }
        return CertifiedSigner(
            key: key, hosts: leaf.hosts, identifiers: leaf.identifiers, certificate: leaf.der)
    }

    private func read(_ chain: [[UInt8]]) throws(CertificateTrustFault) -> [ReadSigner] {
        guard chain.count <= SignedToken.maximumCertificateCount,
            chain.allSatisfy({ $0.count <= Self.maximumByteCount })
        else { throw .chain }
        let read = chain.compactMap { ReadSigner($0) }
        guard read.count == chain.count else { throw .chain }
        return read
    }

    /// The chain up to a root, which may have been sent along.
    private func path(_ sent: [ReadSigner], from last: ReadSigner) throws(CertificateTrustFault) -> [ReadSigner] {
        if sent.count > 1, roots.contains(where: { $0.der == last.der }) { return sent }
        guard let root = roots.first(where: { $0.certifies(last, below: sent.count - 1) }) else { throw .chain }
        return sent + [root]
    }
}

/// Why roots cannot be trusted.
public enum RootTrustFault: Error, Hashable, Sendable {
    /// The certificate at this place, from 0, cannot be read.
    case malformed(index: Int)
}
