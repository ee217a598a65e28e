// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Presentation
import StrictJSON

/// Requests of OpenID for Verifiable Presentations, as a wallet reads them.
struct RequestObjectSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "request-objects",
        abstract: "OpenID4VP 1.0: each request is accepted with what it says, or refused.",
        discussion: "A request that another check refuses than the one the set names passes, with a remark.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        for vector in try CredentialCase.load(path) {
            let (link, trust, now) = (
                try vector.text("link").utf8, try vector.roots("roots"), try vector.number("now")
            )
            var (refusal, difference): (String?, String?)
            do throws(RequestFault) {
                let request = try RequestVerifier.verify(
                    link: link, object: vector.fields["request_object"]?.string?.utf8, trusting: trust,
                    walletNonce: vector.fields["wallet_nonce"]?.string, at: now)
                let isExpected = said(request) == vector.fields["accepted"]?.object
                difference = isExpected ? nil : "is read to say something else"
            } catch { refusal = error.rawValue }
            try vector.count(&report, refusal: refusal, difference: difference)
        }
    }

    private func said(_ request: AcceptedRequest) -> JSONObject {
        [
            "client_id": .string(request.clientID), "response_uri": .string(request.responseAddress),
            "nonce": .string(request.nonce), "encrypt": .bool(request.encryption != nil),
        ]
    }
}
