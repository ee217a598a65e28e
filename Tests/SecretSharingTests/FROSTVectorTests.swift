// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import SecretSharing
import Testing

@Suite(.enabled(if: OutsideVectors.arePresent, "the outside vectors are not here"))
struct FROSTVectorTests {
    @Test(arguments: [("vectors.json", 3), ("vectors-big-identifier.json", 257)])
    func dealtSharesAreThePublishedOnes(_ file: String, _ count: Int) throws {
        let inputs = try OutsideVectors.frost(file)["inputs"] as? [String: Any] ?? [:]
        let coefficients = inputs["share_polynomial_coefficients"] as? [String] ?? []
        let secret = try scalar(inputs["group_secret_key"])
        let polynomial = SharePolynomial([secret] + (try coefficients.map { try scalar($0) }))
        let commitments = try ShareCommitments(polynomial.points())
        #expect(commitments.publicKey == (try point(inputs["verifying_key_key"])))
        let published = inputs["participant_shares"] as? [[String: Any]] ?? []
        var shares: [VerifiedShare] = []
        for entry in published {
            let place = try index(entry["identifier"] as? Int ?? 0)
            let expected = SecretShare(index: place, scalar: try scalar(entry["participant_share"]))
            #expect(try polynomial.share(at: place).scalar.exposed == expected.scalar.exposed)
            shares.append(try commitments.verify(expected))
        }
        #expect(shares.count == count)
        for (a, b) in zip(shares, shares.dropFirst()) {
            #expect(try SecretScalar(combining: [a, b]).exposed == secret.exposed)
        }
    }

    @Test func sharesOfADistributedGenerationVerifyAgainstTheirDealers() throws {
        let inputs = try OutsideVectors.frost("vectors_dkg.json")["inputs"] as? [String: Any] ?? [:]
        var checked = 0
        for dealer in 1...3 {
            let entry = inputs["\(dealer)"] as? [String: Any] ?? [:]
            let points = try (entry["vss_commitments"] as? [String] ?? []).map { try point($0) }
            let commitments = try ShareCommitments(points)
            #expect(try scalar(entry["signing_key"]).publicPoint() == commitments.publicKey)
            // What this dealer sent stands with its receivers, under the dealer's number.
            for receiver in 1...3 where receiver != dealer {
                let received = (inputs["\(receiver)"] as? [String: Any])?["signing_shares"] as? [String: Any] ?? [:]
                let share = SecretShare(index: try index(receiver), scalar: try scalar(received["\(dealer)"]))
                #expect(throws: Never.self) { try commitments.verify(share) }
                checked += 1
            }
            #expect(try scalar(entry["signing_share"]).publicPoint() == (try point(entry["verifying_share"])))
        }
        #expect(checked == 6)
    }

    @Test func generatedKeysSharesRecoverTheGroupsKey() throws {
        let inputs = try OutsideVectors.frost("vectors_dkg.json")["inputs"] as? [String: Any] ?? [:]
        let groupKey = try point(inputs["verifying_key"])
        var sum: [CurvePoint]?
        for dealer in 1...3 {
            let entry = inputs["\(dealer)"] as? [String: Any] ?? [:]
            let points = try (entry["vss_commitments"] as? [String] ?? []).map { try point($0) }
            sum = try sum.map { try zip($0, points).map { try PointSum.of($0, $1) } } ?? points
        }
        let commitments = try ShareCommitments(try #require(sum))
        #expect(commitments.publicKey == groupKey)
        let shares = try (1...3).map { number in
            let entry = inputs["\(number)"] as? [String: Any] ?? [:]
            return try commitments.verify(
                SecretShare(index: try index(number), scalar: try scalar(entry["signing_share"])))
        }
        for pair in choices(of: 2, below: 3) {
            #expect(try SecretScalar(combining: pair.map { shares[$0] }).publicPoint() == groupKey)
        }
    }

    @Test func thePublishedInvalidPointIsRefused() throws {
        let elements = try OutsideVectors.frost("elements.json")["elements"] as? [String: Any]
        #expect(throws: CurvePointError.notAPoint) { try point(elements?["invalid_element"]) }
    }

    @Test func repairSharesAddUp() throws {
        let file = try OutsideVectors.frost("repair-share.json")
        let sigma = try #require(file["sigma_generation"] as? [String: Any])
        let terms = try (1...4).map { try scalar(sigma["sigma_\($0)"]) }
        #expect(try ScalarSum.of(terms).exposed == (try scalar(sigma["sigma_sum"])).exposed)
    }
}
