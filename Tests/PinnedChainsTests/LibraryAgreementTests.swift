// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinScenarios
import PinnedChains
import SwiftASN1
import Testing
import X509

/// Our checks are our own; those of the library must never be stricter.
@Suite struct LibraryAgreementTests {
    @Test func theLibrarysPolicyAcceptsEveryChainThatWeAccept() async throws {
        let now = Date()
        for scenario in try PinScenario.all(at: now) where scenario.mustPass {
            let verifier = ChainVerifier(policy: try scenario.policy(), anchors: try TrustAnchors(scenario.anchors))
            let verdict = try await verifier.verify(
                scenario.presented, for: ScenarioTests.host, at: UInt64(now.timeIntervalSince1970))
            let path = try verdict.path.certificates.map { try Certificate(derEncoded: $0) }
            var library = Verifier(rootCertificates: CertificateStore(path.suffix(1))) {
                RFC5280Policy()
                ServerIdentityPolicy(serverHostname: PinScenario.host, serverIP: nil)
            }
            let result = await library.validate(
                leaf: path[0], intermediates: CertificateStore(path.dropFirst().dropLast()))
            guard case .validCertificate = result else {
                Issue.record("\(scenario): \(result)")
                continue
            }
        }
    }
}
