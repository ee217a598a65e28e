// SPDX-License-Identifier: Apache-2.0

import JOSE
import StrictJSON

extension RequestVerifier {
    /// The request object, nil if the link has no address of one.
    static func token(_ link: RequestLink, _ object: [UInt8]?) throws(RequestFault) -> SignedToken? {
        guard link.requestAddress != nil else { return nil }
        guard let object else { throw .form }
        do { return try SignedToken(decoding: object) } catch { throw RequestFault(reading: error) }
    }

    static func checkHeader(_ token: SignedToken) throws(RequestFault) {
        guard token.isES256 else { throw .algorithm }
        guard token.hasType("oauth-authz-req+jwt") else { throw .type }
        guard !token.hasCriticalParameters else { throw .critical }
    }

    static func payload(of token: SignedToken) throws(RequestFault) -> JSONObject {
        do { return try JSONObject(decoding: token.unverifiedPayload) } catch { throw RequestFault(error) }
    }

    static func checkClient(_ parameters: JSONObject, _ link: RequestLink) throws(RequestFault) {
        guard parameters["client_id"] == .string(link.clientID) else { throw .clientMismatch }
    }

    static func checkSignature(
        _ token: SignedToken, _ client: ClientIdentifier, _ certificates: any CertificateTrust, _ now: Int64
    ) throws(RequestFault) {
        let key = try client.key(of: token, trusting: certificates, at: now)
        do { try token.verify(by: key) } catch { throw .signature }
    }

    static func checkAudience(_ parameters: JSONObject) throws(RequestFault) {
        guard parameters["aud"] == .string("https://self-issued.me/v2") else { throw .audience }
    }

    static func checkExpiry(_ parameters: JSONObject, _ now: Int64) throws(RequestFault) {
        guard let value = parameters["exp"] else { return }
        guard let end = value.integer, now < end else { throw .expired }
    }

    static func checkWalletNonce(_ parameters: JSONObject, _ nonce: JSONText?) throws(RequestFault) {
        guard let nonce else { return }
        guard parameters["wallet_nonce"] == .string(nonce) else { throw .walletNonce }
    }

    static func checkNotNested(_ parameters: JSONObject) throws(RequestFault) {
        guard parameters["request"] == nil, parameters["request_uri"] == nil else { throw .nested }
    }

    /// The parameters of a link that is the whole request: only a client that is an address may ask so.
    static func unsigned(_ link: RequestLink, _ client: ClientIdentifier) throws(RequestFault) -> JSONObject {
        guard case .address = client else { throw .unsigned }
        var parameters = JSONObject()
        for (name, value) in link.parameters {
            parameters[name] = ["dcql_query", "client_metadata"].contains(name) ? try json(value) : .string(value)
        }
        return parameters
    }

    private static func json(_ text: JSONText) throws(RequestFault) -> JSONValue {
        do { return try JSONValue(decoding: text.utf8) } catch { throw RequestFault(error) }
    }
}
