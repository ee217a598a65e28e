// SPDX-License-Identifier: Apache-2.0

import JOSE
public import StrictJSON

/// An answer of a wallet, before it is encrypted.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 8.1 and 8.3.
public struct ResponseDraft: Sendable {
    /// The presentations, by the query's names for them.
    public let presentations: [JSONText: JSONText]

    /// An answer of these presentations.
    public init(presentations: [JSONText: JSONText]) { self.presentations = presentations }

    /// What is posted as `response`: encrypted to the key of the request; nil if the request wants an open answer.
    public func sealed(for request: AcceptedRequest) -> [UInt8]? {
        var payload: JSONObject = ["vp_token": .object(JSONObject(presentations.mapValues { .array([.string($0)]) }))]
        payload["state"] = request.state.map(JSONValue.string)
        return request.encryption.flatMap { EncryptedToken.sealed(payload.encoded, to: $0) }
    }
}
