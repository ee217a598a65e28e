// SPDX-License-Identifier: Apache-2.0

import CBOR
import CanonicalCoding
import CredentialChains
import MobileDocument
import StrictJSON
import Testing

/// All answers of `credentials/mdoc.json`, with trusted roots.
@Suite(.enabled(if: OutsideVectors.isPresent, "the folder shared/vectors is not beside the package"))
struct MobileDocumentVectorTests {
    private func text(_ value: JSONValue?) -> CBORText { CBORText(value?.string?.description ?? "") }

    private func request(_ vector: JSONObject) throws -> MobileDocumentRequest {
        let thumbprint = vector["jwk_thumbprint"]?.string?.utf8 ?? []
        let session = SessionTranscript(
            clientID: text(vector["client_id"]), nonce: text(vector["nonce"]),
            keyThumbprint: thumbprint.isEmpty ? nil : try Hex.decode(thumbprint),
            responseAddress: text(vector["response_uri"]))
        let required = (vector["required"]?.array ?? []).compactMap(\.array).map { parts in
            ElementName(text(parts[0]), text(parts[1]))
        }
        return MobileDocumentRequest(
            documentType: text(vector["doctype"]), requiredElements: required, session: session)
    }

    private func elements(_ vector: JSONObject) -> [ElementName: CBORValue] {
        var elements: [ElementName: CBORValue] = [:]
        for (space, values) in vector["claims"]?.object?.members ?? [:] {
            for (name, value) in values.object?.members ?? [:] {
                let read = value.string.map { CBORValue.text(CBORText($0.description)) } ?? .bool(value == .bool(true))
                elements[ElementName(CBORText(space.description), CBORText(name.description))] = read
            }
        }
        return elements
    }

    @Test func everyAnswerHasTheVerdictOfTheVectors() throws {
        let vectors = try OutsideVectors.load("mdoc.json")
        #expect(vectors.count == 39)
        for vector in vectors {
            let name = vector["name"]?.string?.description ?? ""
            let roots = try (vector["roots"]?.strings ?? []).map { try Base64.decode($0.utf8) }
            let (trust, request) = (try RootTrust(roots: roots), try request(vector))
            let bytes = try Hex.decode(vector["device_response"]?.string?.utf8 ?? [])
            do throws(MobileDocumentFault) {
                let shown = try MobileDocumentVerifier.verify(
                    bytes, for: request, trusting: trust, at: vector["now"]?.integer ?? 0)
                #expect(vector["rule"] == .null, "\(name)")
                #expect(shown.elements == elements(vector), "\(name)")
            } catch { #expect(vector["rule"] == .string(JSONText(error.rawValue)), "\(name)") }
        }
    }
}
