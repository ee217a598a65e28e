// SPDX-License-Identifier: Apache-2.0

import JOSE
public import StrictJSON

/// A wallet's request for the copies of a card: one proof for the key of each.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 8.2.
public struct CopiesRequest: Hashable, Sendable {
    /// What the issuer calls the kind of card.
    public let configuration: JSONText
    /// The proofs, as ``KeyProof`` makes them.
    public let proofs: [[UInt8]]

    /// A request.
    public init(configuration: JSONText, proofs: [[UInt8]]) {
        self.configuration = configuration
        self.proofs = proofs
    }

    /// Reads a request.
    ///
    /// - Throws: ``CopiesRefusal/form``, ``CopiesRefusal/encryption``.
    public init(decoding text: [UInt8]) throws(CopiesRefusal) {
        let limits = JSONLimits(byteCount: IssuerRoute.credential.maximumByteCount, depth: 6)
        guard let object = try? JSONObject(decoding: text, limits: limits) else { throw .form }
        guard object["credential_response_encryption"] == nil else { throw .encryption }
        guard let name = object["credential_configuration_id"]?.string, object["credential_identifier"] == nil,
            let proofs = object["proofs"]?.object, proofs.names == ["jwt"], let texts = proofs["jwt"]?.strings
        else { throw .form }
        self.init(configuration: name, proofs: texts.map(\.utf8))
    }

    /// The request as JSON.
    public var object: JSONObject {
        let texts = proofs.map { JSONValue.string(JSONText(String(decoding: $0, as: UTF8.self))) }
        return [
            "credential_configuration_id": .string(configuration), "proofs": .object(["jwt": .array(texts)]),
        ]
    }
}

/// The issuer's answer: the copies of a card.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 8.3.
public struct CopiesAnswer: Hashable, Sendable {
    /// More bytes are refused unread.
    public static let maximumByteCount = 1 << 20
    /// The copies, as issued.
    public let copies: [[UInt8]]

    /// An answer.
    public init(copies: [[UInt8]]) { self.copies = copies }

    /// Reads an answer to a request with so many keys. The copies themselves are not looked at.
    ///
    /// - Throws: ``IssuanceFault/credentials``, ``IssuanceFault/count``, or a fault of the JSON.
    public init(decoding text: [UInt8], keyCount: Int) throws(IssuanceFault) {
        let object: JSONObject
        do {
            object = try JSONObject(decoding: text, limits: JSONLimits(byteCount: Self.maximumByteCount, depth: 6))
        } catch { throw IssuanceFault(error) }
        guard let elements = object["credentials"]?.array else { throw .credentials }
        let copies = elements.compactMap { $0.object?["credential"]?.string?.utf8 }
        guard copies.count == elements.count else { throw .credentials }
        guard copies.count == keyCount else { throw .count }
        self.copies = copies
    }

    /// The answer as JSON.
    public var object: JSONObject {
        let elements = copies.map { copy -> JSONValue in
            .object(["credential": .string(JSONText(String(decoding: copy, as: UTF8.self)))])
        }
        return ["credentials": .array(elements)]
    }
}

/// Why no card is made.
public enum CopiesRefusal: Error, Hashable, Sendable {
    /// Not the JSON that there must be.
    case form
    /// The wallet wants the answer encrypted once more, which this issuer does not do.
    case encryption
    /// No token, or one that does not count any more.
    case token
    /// The proof that the request is the wallet's.
    case sender(WalletTokenFault)
    /// The token is another wallet's.
    case anotherSender
    /// The issuer does not make this card.
    case unknownConfiguration
    /// A proof of a key.
    case proof(WalletTokenFault)
    /// The card was made before, for other keys.
    case made
    /// The card was withdrawn before it was made.
    case withdrawn

    /// The `error` of the answer.
    ///
    /// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 8.3.1.1 and 8.3.1.2; RFC 6750, section 3.1; RFC 9449, section 7.1.
    public var code: JSONText {
        switch self {
        case .form: "invalid_credential_request"
        case .encryption: "invalid_encryption_parameters"
        case .token, .anotherSender: "invalid_token"
        case .sender: "invalid_dpop_proof"
        case .unknownConfiguration: "unknown_credential_configuration"
        case .proof(.nonce): "invalid_nonce"
        case .proof: "invalid_proof"
        case .made, .withdrawn: "credential_request_denied"
        }
    }

    /// Whether it is about the token, which HTTP answers with status 401.
    public var isAboutToken: Bool {
        switch self {
        case .token, .anotherSender, .sender: true
        default: false
        }
    }
}
