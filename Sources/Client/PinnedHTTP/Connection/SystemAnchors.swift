// SPDX-License-Identifier: Apache-2.0

import KeyPinning
public import PinnedChains

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PinnedConnector {
    /// A connector to one server for which no pin is known: any path to one of the system's roots is accepted.
    ///
    /// Security: use it for files that authenticate themselves, such as those of a log; never for data that a user sends.
    ///
    /// - Throws: ``TransportError/invalidAddress``, or ``TransportError/invalidRoot`` if the system has no list of roots.
    public static func trustingSystemRoots(for address: ServerAddress) throws(TransportError) -> PinnedConnector {
        guard let system = TrustAnchors.ofSystem() else { throw .invalidRoot }
        return try withoutPins(for: address, trusting: system.anchors)
    }

    /// A connector to one server for which no pin is known: any path to one of these roots is accepted.
    ///
    /// Security: anyone to whom one of the roots issues a certificate for this host can impersonate it. What is sent must be
    /// useless elsewhere, such as a statement that names its site.
    ///
    /// - Throws: ``TransportError/invalidAddress``.
    public static func withoutPins(
        for address: ServerAddress, trusting anchors: TrustAnchors,
        clock: @escaping @Sendable () -> UInt64 = SystemClock.now
    ) throws(TransportError) -> PinnedConnector {
        guard let host = try? ServerName(address.host.utf8) else { throw .invalidAddress }
        let policy: PinPolicy
        do {
            // A policy for production has to enforce pins somewhere; this one says that it does not.
            policy = try PinPolicy(
                version: 1, environment: .development,
                rules: [PinRule(for: .exactly(host), mode: .trustOnly, pins: [])])
        } catch { throw .unknown }
        return try PinnedConnector(
            ChainVerifier(policy: policy, anchors: anchors), environment: .development, clock: clock)
    }
}

extension TrustAnchors {
    /// The roots that this system trusts, from the first of the usual files that exists.
    ///
    /// - Returns: the anchors, and the file that they came from; nil if no such file exists.
    public static func ofSystem() -> (anchors: TrustAnchors, path: String)? {
        let paths = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        for path in paths {
            guard let text = FileManager.default.contents(atPath: path).map({ Array($0) }), text.count <= 16_777_216,
                let certificates = try? PEMBlock.certificates(in: text)
            else { continue }
            return (TrustAnchors(readable: certificates), path)
        }
        return nil
    }
}
