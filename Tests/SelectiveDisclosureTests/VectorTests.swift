// SPDX-License-Identifier: Apache-2.0

import SelectiveDisclosure
import StrictJSON
import Testing

/// Presentations of outside vectors, each bad one with one fault. CredentialChainsTests has those with certificates.
@Suite(.enabled(if: PresentationVector.isPresent, "the folder shared/vectors is not beside the package"))
struct VectorTests {
    @Test func everyGoodPresentationGivesItsClaims() throws {
        let good = try PresentationVector.load().filter { $0.rule == nil && !$0.hasCertificates }
        #expect(good.count >= 30)
        for vector in good {
            #expect(vector.refusal() == nil, "\(vector.name)")
            #expect(try vector.verify().claims == vector.claims, "\(vector.name)")
        }
    }

    @Test func everyBadPresentationIsRefusedByItsCheck() throws {
        let bad = try PresentationVector.load().filter { $0.rule != nil && !$0.hasCertificates }
        #expect(bad.count >= 130)
        for vector in bad { #expect(vector.refusal() == vector.rule, "\(vector.name)") }
    }

    @Test func everyCheckHasAVectorThatItRefuses() throws {
        let rules = Set(try PresentationVector.load().compactMap(\.rule))
        #expect(rules == Set(PresentationFault.allCases.map(\.rawValue)))
    }
}
