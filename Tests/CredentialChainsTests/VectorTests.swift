// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import CredentialChains
import Crypto
import Foundation
import JOSE
import SelectiveDisclosure
import StrictJSON
import Testing

/// `credentials`, in a folder beside the package; absent in a bare checkout.
enum OutsideVectors {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/credentials").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder.path()) }

    static func load(_ name: String) throws -> [JSONObject] {
        let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
        let limits = JSONLimits(byteCount: bytes.count, depth: 32)
        return (try JSONValue(decoding: bytes, limits: limits).array ?? []).compactMap(\.object)
    }
}

/// The presentations of `credentials/sd-jwt-vc.json`, with and without certificates, with trusted roots.
@Suite(.enabled(if: OutsideVectors.isPresent, "the folder shared/vectors is not beside the package"))
struct VectorTests {
    private func trust(_ vector: JSONObject) throws -> IssuerTrust {
        let roots = try (vector["issuer_roots"]?.strings ?? []).map { try Base64.decode($0.utf8) }
        let issuers = try (vector["issuer_keys"]?.object ?? [:]).members.compactMap { name, key in
            try key.object.flatMap { try WebKey($0).signingKey }.map { TrustedIssuer(identifier: name, key: $0) }
        }
        return IssuerTrust(
            issuers: issuers, acceptsSelfIssued: vector["policy"]?.object?["allow_self_issued"] == .bool(true),
            certificates: try RootTrust(roots: roots))
    }

    private func request(_ vector: JSONObject) -> VerificationRequest {
        let policy = vector["policy"]?.object ?? [:]
        return VerificationRequest(
            types: policy["vct_values"]?.strings ?? [],
            requiredClaims: (policy["required_claims"]?.array ?? []).compactMap { ClaimPath($0) },
            binding: .init(
                isRequired: policy["require_key_binding"] != .bool(false), audience: vector["aud"]?.string ?? "",
                nonce: vector["nonce"]?.string ?? "", maximumAge: policy["max_kb_age"]?.integer ?? 0,
                clockSkew: policy["clock_skew"]?.integer ?? 0))
    }

    @Test func everyPresentationHasTheVerdictOfTheVectors() throws {
        let cases = try OutsideVectors.load("sd-jwt-vc.json")
        #expect(cases.count == 168)
        for vector in cases {
            let name = vector["name"]?.string?.description ?? ""
            do throws(PresentationFault) {
                let shown = try PresentationVerifier.verify(
                    vector["presentation"]?.string?.utf8 ?? [], for: request(vector),
                    trusting: (try? trust(vector)) ?? IssuerTrust(), at: vector["now"]?.integer ?? 0)
                #expect(vector["rule"] == .null, "\(name)")
                #expect(shown.claims == vector["claims"]?.object, "\(name)")
            } catch {
                #expect(vector["rule"] == .string(JSONText(error.rawValue)), "\(name)")
            }
        }
    }
}
