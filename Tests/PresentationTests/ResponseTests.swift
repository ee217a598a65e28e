// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import Presentation
import StrictJSON
import Testing

/// Answers of outside vectors, each bad one with one fault.
@Suite(.enabled(if: CredentialVectors.arePresent, "the folder shared/vectors is not beside the package"))
struct ResponseVectorTests {
    private func open(
        _ vector: JSONObject, _ text: [UInt8]? = nil
    ) throws -> Result<[JSONText: JSONText], ResponseFault> {
        let key = try #require(vector["key"]?.object)
        let secret = try Base64URL.decode(try #require(key["d"]?.string?.utf8))
        let request = OpenRequest(
            keyID: try #require(key["kid"]?.string),
            offered: (vector["enc_values"]?.strings ?? []).compactMap { ContentEncryption(rawValue: $0.description) },
            state: try #require(vector["state"]?.string), credentials: Set(vector["credential_ids"]?.strings ?? []))
        let own = try P256.KeyAgreement.PrivateKey(rawRepresentation: secret)
        do throws(ResponseFault) {
            return .success(
                try ResponseOpener.open(text ?? vector.bytes("response") ?? [], to: request, with: own).presentations)
        } catch { return .failure(error) }
    }

    @Test func everyAnswerHasTheVerdictOfTheVectors() throws {
        let vectors = try CredentialVectors.load("responses.json")
        #expect(vectors.count == 34)
        for vector in vectors {
            let name = vector.text("name") ?? ""
            switch try open(vector) {
            case .success(let presentations):
                #expect(vector["rule"] == .null, "\(name)")
                let expected = vector["vp_token"]?.object?.members.compactMapValues { $0.strings?.first }
                #expect(presentations == expected, "\(name)")
            case .failure(let fault): #expect(vector.text("rule") == fault.rawValue, "\(name)")
            }
        }
    }

    @Test func everyFlippedBitIsRefused() async throws {
        let vector = try #require(try CredentialVectors.load("responses.json").first)
        let text = try #require(vector.bytes("response"))
        let owners: Set<ResponseFault> = [
            .form, .base64URL, .json, .duplicateMember, .algorithm, .encryption, .keyID, .ephemeralKey, .tag,
        ]
        for place in text.indices {
            for bit in 0..<8 {
                var flipped = text
                flipped[place] ^= 1 << UInt8(bit)
                guard case .failure(let fault) = try open(vector, flipped), owners.contains(fault) else {
                    Issue.record("byte \(place), bit \(bit)")
                    continue
                }
            }
            await Task.yield()
        }
    }
}

/// A wallet's answer, opened by the site that asked.
struct ResponseTests {
    @Test func aWalletsAnswerOpensAtTheSiteForItsRequestOnly() throws {
        let site = try AskingSite()
        let request = try site.accepted()
        let open = OpenRequest(
            keyID: "e1", offered: [.a256GCM], state: try #require(request.state), credentials: ["card"])
        let answer = try #require(ResponseDraft(presentations: ["card": "a~b~c"]).sealed(for: request))
        #expect(try ResponseOpener.open(answer, to: open, with: site.key).presentations == ["card": "a~b~c"])
        for presentations in [[:], ["other": "a"], ["card": "a", "other": "b"]] as [[JSONText: JSONText]] {
            let answer = try #require(ResponseDraft(presentations: presentations).sealed(for: request))
            #expect(throws: ResponseFault.presentations) { try ResponseOpener.open(answer, to: open, with: site.key) }
        }
        let other = OpenRequest(keyID: "e1", offered: [.a256GCM], state: "another", credentials: ["card"])
        #expect(throws: ResponseFault.state) { try ResponseOpener.open(answer, to: other, with: site.key) }
        #expect(throws: ResponseFault.limits) {
            try ResponseOpener.open([UInt8](repeating: 0x2E, count: 262_145), to: open, with: site.key)
        }
    }
}
