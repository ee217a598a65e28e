// SPDX-License-Identifier: Apache-2.0

import Presentation
public import StrictJSON

/// The name of an issuer of cards: `https://` and its host, with the port if it is not 443.
///
/// There is one spelling, so that equal names are equal bytes. A path is not part of it: one host is one issuer.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 12.2.1. The profile is narrower.
public struct IssuerName: Hashable, Sendable {
    /// The name as issuers and wallets write it.
    public let text: JSONText
    /// The host, with the port if there is one.
    public let authority: JSONText

    /// Reads a name.
    ///
    /// - Throws: ``IssuanceFault/issuer``.
    public init(_ text: JSONText) throws(IssuanceFault) {
        guard let address = HTTPSAddress(text), address.path.utf8.isEmpty,
            !address.authority.utf8.reversed().starts(with: ":443".utf8.reversed())
        else { throw .issuer }
        (self.text, authority) = (text, address.authority)
    }

    /// The address of a path of the issuer.
    public func address(of route: IssuerRoute) -> JSONText { JSONText("\(text)\(route.path)") }

    /// The path of an address, if it is one of this issuer.
    func path(of value: JSONValue?) throws(IssuanceFault) -> JSONText {
        guard let address = value?.string.flatMap({ HTTPSAddress($0) }), address.authority == authority,
            address.path.utf8.first == UInt8(ascii: "/"), !address.path.utf8.contains(UInt8(ascii: "?"))
        else { throw .endpoint }
        return address.path
    }
}

/// The paths of an issuer.
///
/// | route | method | body | answer |
/// |---|---|---|---|
/// | metadata, server | GET | | JSON: the issuer's description |
/// | token | POST | form: the code, and what the person enters | JSON: a token |
/// | nonce | POST | | JSON: a nonce |
/// | credential | POST | JSON: one proof for each key | JSON: one copy of the card for each key |
/// | status | GET | | the status list, `application/statuslist+jwt` |
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 6, 7, 8 and 12.2.2; RFC 8414, section 3.
public enum IssuerRoute: String, CaseIterable, Hashable, Sendable {
    /// What the issuer makes.
    case metadata
    /// Where it gives tokens.
    case server
    /// A code becomes a token.
    case token
    /// A nonce for the proofs.
    case nonce
    /// A token becomes a card.
    case credential
    /// Which cards are withdrawn.
    case status

    /// The path. Those of the descriptions are fixed, the others are this issuer's choice.
    public var path: String {
        switch self {
        case .metadata: "/.well-known/openid-credential-issuer"
        case .server: "/.well-known/oauth-authorization-server"
        case .token, .nonce, .credential: "/\(rawValue)"
        case .status: "/status/1"
        }
    }

    /// Whether it is read with GET, and not sent something with POST.
    public var isRead: Bool { [.metadata, .server, .status].contains(self) }

    /// The longest body, in bytes.
    public var maximumByteCount: Int {
        switch self {
        case .metadata, .server, .status, .nonce: 0
        case .token: 4096
        case .credential: 65_536
        }
    }
}
