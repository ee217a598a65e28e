// SPDX-License-Identifier: Apache-2.0

/// A policy's decision, independent of the builder of the path: shared by every platform.
extension PinPolicy {
    /// The rule for a host, if the policy lets anyone speak to it now.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``ChainRefusal``: unknown host, expired rule, or a proxy that the policy does not want.
    public func admit(
        _ host: ServerName, at now: UInt64, proxy: ProxyState = .none
    ) throws(ChainRefusal) -> PinRule {
        guard let rule = rule(for: host) else { throw refusal(of: host, .unknownHost) }
        if let expiry = rule.expiry, expiry.action == .block, now > expiry.time {
            throw refusal(of: host, .policyExpired(time: expiry.time))
        }
        if proxies == .refuse, proxy != .none { throw refusal(of: host, .proxy(proxy)) }
        return rule
    }

    /// Judges a path that a system's own verification has built and found valid for the host.
    ///
    /// - Parameter evaluated: the path, DER, the server's own certificate first, the anchor last.
    /// - Throws: ``ChainRefusal``.
    ///
    /// Security: never give it the certificates as a server sent them. What is not on the validated path proves nothing.
    public func judge(
        evaluated: [[UInt8]], for host: ServerName, at now: UInt64, proxy: ProxyState = .none
    ) throws(ChainRefusal) -> PinVerdict {
        let rule = try admit(host, at: now, proxy: proxy)
        let keys = evaluated.compactMap { try? CertificateFields($0).pin }
        guard !keys.isEmpty else { throw refusal(of: host, .noCertificate) }
        guard keys.count == evaluated.count else { throw refusal(of: host, .malformedCertificate) }
        let path = CertificatePath(certificates: evaluated, keys: keys)
        let basis: PinVerdict.Basis
        if let match = rule.match(keys) {
            basis = .pinned(match)
        } else {
            switch rule.mode {
            case .trustOnly: basis = .trustOnly
            case .reportOnly: basis = .reportOnly
            case .enforce:
                throw ChainRefusal(
                    host: host, reason: .noPinMatched, candidates: [CandidatePath(path: path, fault: nil)],
                    presented: keys, policyVersion: version)
            }
        }
        return PinVerdict(
            host: host, path: path, basis: basis, isOverdue: rule.expiry.map { now > $0.time } ?? false,
            policyVersion: version)
    }

    /// A refusal by this policy.
    package func refusal(of host: ServerName, _ reason: ChainRefusal.Reason) -> ChainRefusal {
        ChainRefusal(host: host, reason: reason, policyVersion: version)
    }
}
