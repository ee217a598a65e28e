// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Crypto
import JOSE
import Presentation
import StrictJSON

/// Answers of OpenID for Verifiable Presentations, as a site opens them.
struct ResponseSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "responses",
        abstract: "OpenID4VP 1.0: each encrypted answer gives its presentations, or is refused.",
        discussion: "An answer that another check refuses than the one the set names passes, with a remark.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        for vector in try CredentialCase.load(path) {
            let (text, key) = (try vector.text("response").utf8, try privateKey(vector))
            let request = try request(vector)
            var (refusal, difference): (String?, String?)
            do throws(ResponseFault) {
                let presentations = try ResponseOpener.open(text, to: request, with: key).presentations
                let expected = vector.fields["vp_token"]?.object?.members.compactMapValues { $0.strings?.first }
                difference = presentations == expected ? nil : "gives other presentations"
            } catch { refusal = error.rawValue }
            try vector.count(&report, refusal: refusal, difference: difference)
        }
    }

    private func request(_ vector: CredentialCase) throws(VectorFileError) -> OpenRequest {
        let key = CredentialCase(path: path, fields: try vector.object("key"))
        return OpenRequest(
            keyID: try key.text("kid"),
            offered: try vector.array("enc_values").compactMap {
                $0.string.flatMap { ContentEncryption(rawValue: $0.description) }
            }, state: try vector.text("state"),
            credentials: Set(try vector.array("credential_ids").compactMap(\.string)))
    }

    private func privateKey(_ vector: CredentialCase) throws(VectorFileError) -> P256.KeyAgreement.PrivateKey {
        guard let text = try vector.object("key")["d"]?.string, let secret = try? Base64URL.decode(text.utf8),
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: secret)
        else { throw .malformed(path: path, reason: "field \"key\" is not a private key") }
        return key
    }
}
