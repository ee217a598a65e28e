// SPDX-License-Identifier: Apache-2.0

public import KeyPinning
import PinnedChains
public import PinnedHTTP
public import SignetAPI

extension NIOTransport {
    /// A transport to the directory of a profile: only its root certificate is trusted, and one of its pins must be on the
    /// server's path.
    ///
    /// - Throws: `TransportError` if its address, root or pins cannot be used.
    public convenience init(
        to profile: DirectoryProfile, deadlines: ConnectionDeadlines = .standard
    ) throws(TransportError) {
        self.init(
            to: try ServerAddress(profile.url), through: try profile.connector(), deadlines: deadlines)
    }
}

extension DirectoryProfile {
    /// A connector to the directory: only its root certificate is trusted, and one of its pins must be on the path.
    ///
    /// - Parameters:
    ///   - surroundings: supplies the clock that decides whether a certificate has expired.
    ///   - onViolation: receives a report for every trusted chain in which no key is pinned. It must not block.
    /// - Throws: `TransportError` if its address, root or pins cannot be used.
    public func connector(
        in surroundings: Surroundings = .system, onViolation: (@Sendable (ViolationReport) -> Void)? = nil
    ) throws(TransportError) -> PinnedConnector {
        let anchors: TrustAnchors
        do { anchors = try TrustAnchors([tlsRoot]) } catch { throw .invalidRoot }
        return try PinnedConnector(
            ChainVerifier(policy: try pinPolicy, anchors: anchors), clock: surroundings.now, onViolation: onViolation)
    }

    /// The policy made from the profile's pins, for one host, enforced.
    ///
    /// - Throws: `TransportError` if its address or pins cannot be used.
    public var pinPolicy: PinPolicy {
        get throws(TransportError) {
            guard !pins.isEmpty else { throw .noPins }
            let address = try ServerAddress(url)
            guard let host = try? ServerName(address.host.utf8) else { throw .invalidAddress }
            let rule: PinRule
            do { rule = try PinRule(for: .exactly(host), pins: pins) } catch { throw .invalidPins(error) }
            do { return try PinPolicy(version: 1, proxies: server.proxies, rules: [rule]) } catch { throw .unknown }
        }
    }
}
