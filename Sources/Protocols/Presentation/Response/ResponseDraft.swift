// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import JOSE
public import StrictJSON

/// An answer of a wallet, before it is encrypted.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 8.1 and 8.3.
public struct ResponseDraft: Sendable {
    /// The presentations, by the query's names for them.
    public let presentations: [JSONText: JSONText]
    /// For a browser's session: the person's key at the site, and what it signed; nil without one.
    public let signIn: [UInt8]?
    /// What the page of that session shows; nil unless the request asks for it.
    public let digits: JSONText?

    /// An answer of these presentations.
    public init(presentations: [JSONText: JSONText], signIn: [UInt8]? = nil, digits: JSONText? = nil) {
        (self.presentations, self.signIn, self.digits) = (presentations, signIn, digits)
    }

    /// What is posted as `response`: encrypted to the key of the request; nil if the request wants an open answer.
    public func sealed(for request: AcceptedRequest) -> [UInt8]? {
        var payload: JSONObject = ["vp_token": .object(JSONObject(presentations.mapValues { .array([.string($0)]) }))]
        payload["state"] = request.state.map(JSONValue.string)
        payload[BrowserSignIn.signInName] = signIn.map {
            .string(JSONText(String(decoding: Base64URL.encode($0), as: UTF8.self)))
        }
        payload[BrowserSignIn.digitsName] = digits.map(JSONValue.string)
        return request.encryption.flatMap { EncryptedToken.sealed(payload.encoded, to: $0) }
    }
}
