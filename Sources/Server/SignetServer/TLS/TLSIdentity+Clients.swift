// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinnedChains
import SignetAPI

/// What clients would say of an identity, by the rules that they have themselves.
extension TLSIdentity {
    /// Looks at the certificates as a client does that knows the newest pins.
    ///
    /// - Parameters:
    ///   - trust: the authority that clients trust, and the keys.
    ///   - url: under which they reach the server.
    ///   - time: seconds since 1970.
    /// - Returns: nil: clients accept them; else a word that says why they do not.
    func refusal(by trust: ServerTrust, at url: String, _ time: UInt64) async -> String? {
        guard let chain = try? PEMBlock.certificates(in: certificateChain) else { return "notPEM" }
        guard let name = URLComponents(string: url)?.host?.trimmingCharacters(in: ["[", "]"]),
            let host = try? ServerName(name.utf8)
        else { return nil }
        let verifier: ChainVerifier
        do {
            let policy = try PinPolicy(version: 1, rules: [try PinRule(for: .exactly(host), pins: trust.pins)])
            verifier = ChainVerifier(policy: policy, anchors: try TrustAnchors([trust.root]))
        } catch { return Self.label(of: error) }
        do throws(ChainRefusal) { _ = try await verifier.verify(chain, for: host, at: time) } catch {
            guard case .path(let fault) = error.reason else { return Self.label(of: error.reason) }
            return Self.label(of: fault)
        }
        return nil
    }

    /// The same of a directory that is to be made for this identity.
    ///
    /// - Parameter root: the certificate that clients are to trust, PEM.
    package func refusal(trusting root: [UInt8], at url: String, _ time: UInt64) async -> String? {
        guard let pin = try? pin, let der = (try? PEMBlock.certificates(in: root))?.first else { return "notPEM" }
        let pins = [Pin(pin, tier: .leaf), Pin(SPKIPin(hashing: []), tier: .leaf, isBackup: true)]
        return await refusal(by: ServerTrust(root: der, pins: pins), at: url, time)
    }

    private static func label(of value: Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }
}
