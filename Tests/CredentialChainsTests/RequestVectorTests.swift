// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import CredentialChains
import Foundation
import Presentation
import StrictJSON
import Testing

/// All requests of `credentials/request-objects.json`, with trusted roots.
@Suite(.enabled(if: OutsideVectors.isPresent, "the folder shared/vectors is not beside the package"))
struct RequestVectorTests {
    @Test func everyRequestHasTheVerdictOfTheVectors() throws {
        let vectors = try OutsideVectors.load("request-objects.json")
        #expect(vectors.count == 80)
        for vector in vectors {
            let name = vector["name"]?.string?.description ?? ""
            let roots = try (vector["roots"]?.strings ?? []).map { try Base64.decode($0.utf8) }
            let trust = try RootTrust(roots: roots)
            do throws(RequestFault) {
                let request = try RequestVerifier.verify(
                    link: vector["link"]?.string?.utf8 ?? [], object: vector["request_object"]?.string?.utf8,
                    trusting: trust, walletNonce: vector["wallet_nonce"]?.string, at: vector["now"]?.integer ?? 0)
                #expect(vector["rule"] == .null, "\(name)")
                let accepted: JSONObject = [
                    "client_id": .string(request.clientID), "response_uri": .string(request.responseAddress),
                    "nonce": .string(request.nonce), "encrypt": .bool(request.encryption != nil),
                ]
                #expect(accepted == vector["accepted"]?.object, "\(name)")
            } catch { #expect(vector["rule"] == .string(JSONText(error.rawValue)), "\(name)") }
        }
    }
}
