// SPDX-License-Identifier: Apache-2.0

public import KeyPinning
import X509

/// Decides whether a server's chain is trusted and pinned: one search, one path.
///
/// The certificates a server sends are material for the search and nothing more. A path counts when every certificate
/// on it is signed by the next, it ends in a trust anchor and passes ``PathCheck``, whose last check is the pin: a
/// trusted path without a pinned key is given up for another one that has one.
public struct ChainVerifier: Sendable {
    /// What is demanded.
    public let policy: PinPolicy
    /// Who is trusted to certify.
    public let anchors: TrustAnchors

    /// More certificates than this are refused unread. Honest chains have at most five.
    public static let maximumCertificateCount = 10
    /// More bytes of certificates than this are refused unread.
    public static let maximumByteCount = 65_536

    /// A verifier.
    public init(policy: PinPolicy, anchors: TrustAnchors) {
        self.policy = policy
        self.anchors = anchors
    }

    /// The rule for a host, if the policy lets anyone speak to it now.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``KeyPinning/ChainRefusal``: unknown host, expired rule, or a proxy that the policy does not want.
    public func admit(
        _ host: ServerName, at now: UInt64, proxy: ProxyState = .none
    ) throws(ChainRefusal) -> PinRule {
        try policy.admit(host, at: now, proxy: proxy)
    }

    /// Judges a chain.
    ///
    /// - Parameters:
    ///   - presented: the certificates as sent, DER, the server's own first.
    ///   - host: whom the client means to reach.
    ///   - now: seconds since 1970.
    /// - Returns: the validated path and why it is accepted.
    /// - Throws: ``KeyPinning/ChainRefusal``. A retry helps only after server or policy have changed.
    ///
    /// Security: TLS proves possession of the private key of the path's first certificate; this does not.
    public func verify(
        _ presented: [[UInt8]], for host: ServerName, at now: UInt64
    ) async throws(ChainRefusal) -> PinVerdict {
        let rule = try admit(host, at: now)
        let result = try await search(presented, host, now, rule)
        guard let accepted = result.accepted else {
            throw refusal(host, result.reason, presented, candidates: result.candidates)
        }
        let isOverdue = rule.expiry.map { now > $0.time } ?? false
        return PinVerdict(
            host: host, path: accepted.path, basis: accepted.basis, isOverdue: isOverdue,
            policyVersion: policy.version)
    }

    /// Every trusted path of a chain, pinned or not, for a rehearsal of what happens when one of them goes.
    ///
    /// - Throws: ``KeyPinning/ChainRefusal``: there is none.
    public func trustedPaths(
        _ presented: [[UInt8]], for host: ServerName, at now: UInt64
    ) async throws(ChainRefusal) -> [CertificatePath] {
        let result = try await search(presented, host, now, nil)
        let paths = result.candidates.filter { $0.fault == nil }.map(\.path)
        guard !paths.isEmpty else { throw refusal(host, result.reason, presented, candidates: result.candidates) }
        return paths
    }

    private func search(
        _ presented: [[UInt8]], _ host: ServerName, _ now: UInt64, _ rule: PinRule?
    ) async throws(ChainRefusal) -> PathSearch.Result {
        if let reason = Self.excess(of: presented) { throw refusal(host, reason) }
        guard let leaf = ReadCertificate(presented[0]) else { throw refusal(host, .malformedCertificate, presented) }
        guard leaf.hasOnlyKnownCriticalExtensions else {
            throw refusal(host, .path(.unknownExtension(depth: 0)), presented)
        }
        let intermediates = presented.dropFirst().compactMap { ReadCertificate($0) }
        return await PathSearch(anchors: anchors, intermediates: intermediates, rule: rule, host: host, now: now)
            .run(from: leaf)
    }

    private static func excess(of presented: [[UInt8]]) -> ChainRefusal.Reason? {
        let byteCount = presented.reduce(0) { $0 + $1.count }
        if presented.isEmpty { return .noCertificate }
        if presented.count > maximumCertificateCount { return .tooManyCertificates(presented.count) }
        return byteCount > maximumByteCount ? .tooManyBytes(byteCount) : nil
    }

    private func refusal(
        _ host: ServerName, _ reason: ChainRefusal.Reason, _ presented: [[UInt8]] = [],
        candidates: [CandidatePath] = []
    ) -> ChainRefusal {
        let keys = presented.compactMap { try? CertificateFields($0).pin }
        return ChainRefusal(
            host: host, reason: reason, candidates: candidates, presented: keys, policyVersion: policy.version)
    }
}
