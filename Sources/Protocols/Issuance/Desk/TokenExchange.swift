// SPDX-License-Identifier: Apache-2.0

import JOSE
import Presentation
public import StrictJSON

/// A wallet's request for a token: the code of an offer, and what the person entered.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 6.1.
public struct TokenRequest: Hashable, Sendable {
    /// The code of the offer.
    public let code: JSONText
    /// What the person entered; nil if the offer asks for nothing.
    public let transactionCode: JSONText?

    /// A request.
    public init(code: JSONText, transactionCode: JSONText?) {
        self.code = code
        self.transactionCode = transactionCode
    }

    /// Reads the form. Fields that are not known are left out, as OAuth demands.
    ///
    /// - Throws: ``TokenRefusal/form``, ``TokenRefusal/grant``.
    public init(decoding form: [UInt8]) throws(TokenRefusal) {
        guard let fields = FormText.fields(form), let grant = fields["grant_type"] else { throw .form }
        guard grant == CredentialOffer.grant else { throw .grant }
        guard let code = fields["pre-authorized_code"] else { throw .form }
        self.init(code: code, transactionCode: fields["tx_code"])
    }

    /// The form.
    public var encoded: [UInt8] {
        var fields: [(name: String, value: [UInt8])] = [
            ("grant_type", CredentialOffer.grant.utf8), ("pre-authorized_code", code.utf8),
        ]
        if let transactionCode { fields.append(("tx_code", transactionCode.utf8)) }
        let parts = fields.map { Array("\($0.name)=".utf8) + FormText.escaped($0.value) }
        return Array(parts.joined(separator: [UInt8(ascii: "&")]))
    }
}

/// The issuer's answer: a token that only the wallet's key can use.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 6.2; RFC 9449, section 5.
public struct TokenAnswer: Hashable, Sendable {
    /// The token.
    public let accessToken: JSONText
    /// For how long it counts, in seconds.
    public let lifetime: Int64

    /// An answer.
    public init(accessToken: JSONText, lifetime: Int64) {
        self.accessToken = accessToken
        self.lifetime = lifetime
    }

    /// Reads an answer.
    ///
    /// - Throws: ``IssuanceFault/token``, or a fault of the JSON.
    public init(decoding text: [UInt8]) throws(IssuanceFault) {
        let object: JSONObject
        do { object = try JSONObject(decoding: text) } catch { throw IssuanceFault(error) }
        guard object["token_type"] == .string("DPoP"), let token = object["access_token"]?.string,
            (16...512).contains(token.utf8.count), FormText.escaped(token.utf8) == token.utf8,
            let lifetime = object["expires_in"].map(\.integer) ?? 0, lifetime >= 0
        else { throw .token }
        self.init(accessToken: token, lifetime: lifetime)
    }

    /// The answer as JSON.
    public var object: JSONObject {
        [
            "access_token": .string(accessToken), "token_type": .string("DPoP"), "expires_in": .integer(lifetime),
        ]
    }
}

/// The issuer's answer to a request for a nonce.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 7.2.
public enum NonceAnswer {
    /// The answer as JSON.
    public static func object(_ nonce: JSONText) -> JSONObject { ["c_nonce": .string(nonce)] }

    /// Reads an answer.
    ///
    /// - Throws: ``IssuanceFault/nonce``, or a fault of the JSON.
    public static func nonce(decoding text: [UInt8]) throws(IssuanceFault) -> JSONText {
        let object: JSONObject
        do { object = try JSONObject(decoding: text) } catch { throw IssuanceFault(error) }
        guard let nonce = object["c_nonce"]?.string, (8...512).contains(nonce.utf8.count) else { throw .nonce }
        return nonce
    }
}

/// Why a code becomes no token.
public enum TokenRefusal: Error, Hashable, Sendable {
    /// Not the form that there must be.
    case form
    /// Another kind of permission than the code of an offer.
    case grant
    /// The proof that the request is the wallet's.
    case sender(WalletTokenFault)
    /// No offer has this code.
    case unknown
    /// The offer has expired.
    case expired
    /// The card was withdrawn before it was made.
    case withdrawn
    /// The person entered too many wrong codes: only a new offer helps.
    case locked
    /// Another wallet has used the code.
    case used
    /// The person has to enter a code, or must not.
    case transactionCodePresence
    /// The person entered another code. Another attempt can help.
    case transactionCode

    /// The `error` of the answer.
    ///
    /// Spec: OpenID for Verifiable Credential Issuance 1.0, section 6.3; RFC 6749, section 5.2; RFC 9449, section 5. Whether an offer is
    /// unknown, used, locked or expired is the same word, so that one who guesses learns nothing.
    public var code: JSONText {
        switch self {
        case .form, .transactionCodePresence: "invalid_request"
        case .grant: "unsupported_grant_type"
        case .sender: "invalid_dpop_proof"
        case .unknown, .expired, .withdrawn, .locked, .used, .transactionCode: "invalid_grant"
        }
    }
}
