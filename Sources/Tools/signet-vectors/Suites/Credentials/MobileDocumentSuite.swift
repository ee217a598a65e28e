// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CBOR
import CanonicalCoding
import MobileDocument
import StrictJSON

/// Judges answers with a mobile document over OpenID4VP, as a site does.
struct MobileDocumentSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "mdoc",
        abstract: "ISO mdoc: each answer gives its elements, or is refused.",
        discussion: "If a check other than the named one refuses an answer, the case passes with a remark.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        for vector in try CredentialCase.load(path) {
            let (request, trust, now) = (
                try request(vector), try vector.roots("roots"), try vector.number("now")
            )
            guard let bytes = try hex(vector, "device_response") else { throw malformed("device_response") }
            var (refusal, difference): (String?, String?)
            do throws(MobileDocumentFault) {
                let shown = try MobileDocumentVerifier.verify(bytes, for: request, trusting: trust, at: now)
                difference = said(shown) == vector.fields["claims"]?.object ? nil : "gives other elements"
            } catch { refusal = error.rawValue }
            try vector.count(&report, refusal: refusal, difference: difference)
        }
    }

    private func malformed(_ name: JSONText) -> VectorFileError {
        .malformed(path: path, reason: "field \"\(name)\" is missing or of another kind")
    }

    /// The bytes of a field; nil if it is empty.
    private func hex(_ vector: CredentialCase, _ name: JSONText) throws(VectorFileError) -> [UInt8]? {
        let text = try vector.text(name).utf8
        guard !text.isEmpty else { return nil }
        do { return try Hex.decode(text) } catch { throw malformed(name) }
    }

    private func text(_ vector: CredentialCase, _ name: JSONText) throws(VectorFileError) -> CBORText {
        CBORText(try vector.text(name).description)
    }

    private func request(_ vector: CredentialCase) throws(VectorFileError) -> MobileDocumentRequest {
        let thumbprint = vector.fields["jwk_thumbprint"] == .null ? nil : try hex(vector, "jwk_thumbprint")
        let session = SessionTranscript(
            clientID: try text(vector, "client_id"), nonce: try text(vector, "nonce"), keyThumbprint: thumbprint,
            responseAddress: try text(vector, "response_uri"))
        var required: [ElementName] = []
        for name in try vector.array("required") {
            guard let parts = name.strings, parts.count == 2 else { throw malformed("required") }
            required.append(ElementName(CBORText(parts[0].description), CBORText(parts[1].description)))
        }
        return MobileDocumentRequest(
            documentType: try text(vector, "doctype"), requiredElements: required, session: session)
    }

    /// The elements in the form of the set: name spaces, with names and values.
    private func said(_ shown: VerifiedMobileDocument) -> JSONObject {
        var spaces: [JSONText: JSONObject] = [:]
        for (name, value) in shown.elements {
            spaces[JSONText(name.space.description), default: [:]][JSONText(name.identifier.description)] = json(value)
        }
        return JSONObject(spaces.mapValues(JSONValue.object))
    }

    private func json(_ value: CBORValue) -> JSONValue {
        switch value {
        case .bool(let value): .bool(value)
        case .text(let text): .string(JSONText(text.description))
        default: value.integer.map(JSONValue.integer) ?? .null
        }
    }
}
