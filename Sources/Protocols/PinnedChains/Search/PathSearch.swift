// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import X509

/// One search for a path, with the library's path building, ``PathCheck`` as its policy and an end to its patience.
struct PathSearch {
    let anchors: TrustAnchors
    let intermediates: [ReadCertificate]
    /// Nil to find every trusted path and accept none.
    let rule: PinRule?
    let host: ServerName
    let now: UInt64

    struct Accepted {
        let path: CertificatePath
        let basis: PinVerdict.Basis
    }

    struct Result {
        let accepted: Accepted?
        let reason: ChainRefusal.Reason
        let candidates: [CandidatePath]
    }

    func run(from leaf: ReadCertificate) async -> Result {
        let patience = Patience()
        let roots = IssuerStore(anchors.issuers, patience)
        let others = IssuerStore(
            Dictionary(grouping: intermediates, by: \.certificate.subject).mapValues(ReadCertificate.distinct),
            patience)
        let check = PathCheck(rule: rule, host: host, now: now)
        var verifier = Verifier(rootCertificates: CertificateStore(custom: roots), policy: { return check })
        _ = await verifier.validate(leaf: leaf.certificate, intermediates: CertificateStore(custom: others))
        let checked = verifier.policy
        let accepted = checked.accepted.map { Accepted(path: certificatePath($0.path, leaf), basis: $0.basis) }
        let candidates =
            accepted != nil
            ? []
            : checked.candidates.map { candidate in
                CandidatePath(path: certificatePath(candidate.path, leaf), fault: candidate.fault)
            }
        return Result(
            accepted: accepted, reason: reason(checked, isExhausted: await patience.isExhausted),
            candidates: candidates)
    }

    /// The path with the bytes of its certificates, as presented or as trusted.
    private func certificatePath(_ path: CheckedPath, _ leaf: ReadCertificate) -> CertificatePath {
        let known = [leaf] + intermediates
        let certificates = path.chain.map { certificate in
            (known.first { $0.certificate == certificate }
                ?? anchors.bySubject[certificate.subject]?.first { $0.certificate == certificate })?.der ?? []
        }
        return CertificatePath(certificates: certificates, keys: path.keys)
    }

    private func reason(_ checked: PathCheck, isExhausted: Bool) -> ChainRefusal.Reason {
        if checked.hasTrustedPath { return .noPinMatched }
        if isExhausted { return .searchTooLong }
        return checked.bestFault.map { .path($0) } ?? .untrusted
    }
}

/// How many signatures a search may check. Without an end, ten certificates of one name could cost minutes.
actor Patience {
    private var left = 64
    private(set) var isExhausted = false

    func allows(_ count: Int) -> Bool {
        guard count <= left else {
            isExhausted = true
            return false
        }
        left -= count
        return true
    }
}

/// Certificates by subject, as long as there is patience.
struct IssuerStore: CustomCertificateStore {
    private var bySubject: [DistinguishedName: [Certificate]]
    private let patience: Patience

    init(_ certificates: [DistinguishedName: [Certificate]], _ patience: Patience) {
        bySubject = certificates
        self.patience = patience
    }

    subscript(subject: DistinguishedName) -> [Certificate]? {
        get async {
            guard let found = bySubject[subject], await patience.allows(found.count) else { return nil }
            return found
        }
    }

    func contains(_ certificate: Certificate) async -> Bool {
        bySubject[certificate.subject]?.contains(certificate) ?? false
    }

    mutating func append(contentsOf certificates: some Sequence<Certificate>) {
        for certificate in certificates { bySubject[certificate.subject, default: []].append(certificate) }
    }

    static func == (first: IssuerStore, second: IssuerStore) -> Bool {
        first.bySubject == second.bySubject && first.patience === second.patience
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bySubject) }
}
