// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import JOSE
import StrictJSON

extension RequestVerifier {
    static func checkKindOfAnswer(_ parameters: JSONObject) throws(RequestFault) {
        guard parameters["response_type"] == .string("vp_token") else { throw .responseType }
        guard let mode = parameters["response_mode"]?.string, ["direct_post", "direct_post.jwt"].contains(mode) else {
            throw .responseMode
        }
    }

    /// What would ask for something that the person does not see is not a request at all.
    static func checkUnknown(_ parameters: JSONObject) throws(RequestFault) {
        guard parameters["redirect_uri"] == nil else { throw .redirectAddress }
        guard parameters["scope"] == nil else { throw .scope }
        guard parameters["transaction_data"] == nil else { throw .transactionData }
    }

    /// The address to answer to: https, at the host that the certificate names, or the client itself.
    static func responseAddress(
        _ parameters: JSONObject, _ client: ClientIdentifier
    ) throws(RequestFault) -> JSONText {
        let stated = parameters["response_uri"]
        if case .address(let own) = client {
            guard stated.map({ $0 == .string(own) }) ?? true, HTTPSAddress(own) != nil else { throw .responseAddress }
            return own
        }
        guard let text = stated?.string, let address = HTTPSAddress(text) else { throw .responseAddress }
        if case .host(let host) = client, address.host != host { throw .responseAddress }
        return text
    }

    /// Digits alone would be asked of a person whom the site does not know.
    static func signIn(_ parameters: JSONObject) throws(RequestFault) -> BrowserSignIn? {
        let (stated, digits) = (parameters[BrowserSignIn.signInName], parameters[BrowserSignIn.digitsName])
        guard let stated else {
            guard digits == nil else { throw .signIn }
            return nil
        }
        guard let challenge = stated.string.flatMap({ try? Base64URL.decode($0.utf8) }),
            challenge.count == BrowserSignIn.challengeByteCount, digits == nil || digits == .bool(true)
        else { throw .signIn }
        return BrowserSignIn(challenge: challenge, needsDigits: digits != nil)
    }

    static func nonce(_ parameters: JSONObject) throws(RequestFault) -> JSONText {
        guard let nonce = parameters["nonce"]?.string, (22...512).contains(nonce.utf8.count), isUnescaped(nonce) else {
            throw .nonce
        }
        return nonce
    }

    static func state(_ parameters: JSONObject) throws(RequestFault) -> JSONText? {
        guard let value = parameters["state"] else { return nil }
        guard let state = value.string, (1...512).contains(state.utf8.count), isUnescaped(state) else { throw .state }
        return state
    }

    private static func isUnescaped(_ text: JSONText) -> Bool { text.utf8.allSatisfy(isUnescaped) }

    /// Whether a byte is a character that needs no escape in an address (RFC 3986, section 2.3).
    static func isUnescaped(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func query(_ parameters: JSONObject) throws(RequestFault) -> CredentialsQuery {
        guard let query = parameters["dcql_query"] else { throw .query }
        return try CredentialsQuery(query)
    }

    /// To whom an encrypted answer goes: the first key that is for that, and the strongest encryption that is offered.
    static func encryption(_ parameters: JSONObject) throws(RequestFault) -> EncryptionTarget? {
        guard parameters["response_mode"] == .string("direct_post.jwt") else { return nil }
        guard let metadata = parameters["client_metadata"]?.object,
            let keys = metadata["jwks"]?.object?["keys"]?.array, keys.count <= CredentialsQuery.maximumCount,
            let key = keys.lazy.compactMap({ $0.object }).first(where: isForEncryption),
            let name = key["kid"]?.string, let point = try? WebKey(key),
            let encryption = encryption(offered: metadata["encrypted_response_enc_values_supported"])
        else { throw .encryption }
        return EncryptionTarget(key: point, keyID: name, encryption: encryption)
    }

    private static func isForEncryption(_ key: JSONObject) -> Bool {
        key["alg"] == .string("ECDH-ES") && (key["use"] == nil || key["use"] == .string("enc"))
    }

    private static func encryption(offered value: JSONValue?) -> ContentEncryption? {
        guard let value else { return .a128GCM }
        let offered = value.strings ?? []
        return [.a256GCM, .a128GCM].first { offered.contains(JSONText($0.rawValue)) }
    }
}
