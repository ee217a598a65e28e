// SPDX-License-Identifier: Apache-2.0

import JOSE
import Presentation
public import StrictJSON

/// An issuer's offer of one card, to whoever has the link and the code that was told in another way.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 4.1.1 and 3.5 (pre-authorized code flow).
///
/// Security: an offer is not authenticated. Who issues is what the certificate of the connection says, and the link is as good as the card
/// until it is used: only the code that the person enters keeps a card from one who sees the link.
public struct CredentialOffer: Hashable, Sendable {
    /// The code that the person enters, as the issuer describes it.
    public struct TransactionCode: Hashable, Sendable {
        /// How many characters it has.
        public let length: Int
        /// Whether it has digits only.
        public let isNumeric: Bool

        /// A code of 4 to 16 characters.
        ///
        /// - Throws: ``IssuanceFault/transactionCode``.
        public init(length: Int, isNumeric: Bool = true) throws(IssuanceFault) {
            guard (4...16).contains(length) else { throw .transactionCode }
            (self.length, self.isNumeric) = (length, isNumeric)
        }

        /// Whether a text has this form.
        public func accepts(_ text: String) -> Bool {
            text.utf8.count == length
                && text.utf8.allSatisfy { isNumeric ? (0x30...0x39).contains($0) : (0x21...0x7E).contains($0) }
        }
    }

    /// The issuer, as the offer names it.
    public let issuer: IssuerName
    /// What the issuer calls the kind of card.
    public let configuration: JSONText
    /// Stands for the permission to get the card, once.
    public let code: JSONText
    /// What the person enters; nil if the link suffices.
    public let transactionCode: TransactionCode?

    static let grant: JSONText = "urn:ietf:params:oauth:grant-type:pre-authorized_code"

    /// An offer.
    ///
    /// - Throws: ``IssuanceFault/configurations``, ``IssuanceFault/code``.
    public init(
        of configuration: JSONText, by issuer: IssuerName, code: JSONText, transactionCode: TransactionCode?
    ) throws(IssuanceFault) {
        guard Self.isName(configuration, atMost: 100) else { throw .configurations }
        guard code.utf8.count >= 16, Self.isName(code, atMost: 512) else { throw .code }
        self.issuer = issuer
        self.configuration = configuration
        self.code = code
        self.transactionCode = transactionCode
    }

    /// Reads an offer. Members that are not known are left out, as the specification demands.
    ///
    /// - Throws: ``IssuanceFault``, the first check that fails.
    public init(decoding text: [UInt8]) throws(IssuanceFault) {
        let object: JSONObject
        do { object = try JSONObject(decoding: text, limits: OfferLink.limits) } catch { throw IssuanceFault(error) }
        guard let issuer = object["credential_issuer"]?.string else { throw .issuer }
        guard let names = object["credential_configuration_ids"]?.strings, names.count == 1 else {
            throw .configurations
        }
        guard let grant = object["grants"]?.object?[Self.grant]?.object,
            let code = grant["pre-authorized_code"]?.string
        else { throw .code }
        try self.init(
            of: names[0], by: IssuerName(issuer), code: code,
            transactionCode: try Self.transactionCode(grant["tx_code"]))
    }

    private static func transactionCode(_ value: JSONValue?) throws(IssuanceFault) -> TransactionCode? {
        guard let value else { return nil }
        guard let object = value.object, let length = object["length"]?.integer,
            [nil, "numeric", "text"].contains(object["input_mode"]?.string)
        else { throw .transactionCode }
        return try TransactionCode(
            length: Int(clamping: length), isNumeric: object["input_mode"]?.string != "text")
    }

    /// Characters that need no escape in an address.
    private static func isName(_ text: JSONText, atMost count: Int) -> Bool {
        (1...count).contains(text.utf8.count) && FormText.escaped(text.utf8) == text.utf8
    }

    /// The offer as JSON.
    public var object: JSONObject {
        var grant: JSONObject = ["pre-authorized_code": .string(code)]
        grant["tx_code"] = transactionCode.map {
            .object(["length": .integer(Int64($0.length)), "input_mode": .string($0.isNumeric ? "numeric" : "text")])
        }
        return [
            "credential_issuer": .string(issuer.text), "credential_configuration_ids": .array([.string(configuration)]),
            "grants": .object([Self.grant: .object(grant)]),
        ]
    }
}

/// A link or QR code that offers a card.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 4.1.2 and 4.1.3; RFC 6749, appendix B.
public enum OfferLink: Hashable, Sendable {
    /// The link is the whole offer.
    case offer(CredentialOffer)
    /// The offer is at this path of this issuer.
    case reference(IssuerName, path: JSONText)

    /// More bytes are refused unread.
    public static let maximumByteCount = 8192
    static let limits = JSONLimits(byteCount: maximumByteCount, depth: 8)
    private static let start = Array("openid-credential-offer://?".utf8)

    /// Reads a link.
    ///
    /// - Throws: ``IssuanceFault``, the first check that fails.
    public init(decoding text: [UInt8]) throws(IssuanceFault) {
        guard text.count <= Self.maximumByteCount else { throw .limits }
        guard text.starts(with: Self.start) else { throw .link }
        let fields: [JSONText: JSONText]
        do throws(RequestFault) { fields = try FormText.parameters(text.dropFirst(Self.start.count)) } catch {
            throw error == .linkDuplicate ? .linkDuplicate : .link
        }
        switch (fields["credential_offer"], fields["credential_offer_uri"]) {
        case (let offer?, nil): self = .offer(try CredentialOffer(decoding: offer.utf8))
        case (nil, let address?): self = try Self.reference(address)
        default: throw .link
        }
    }

    private static func reference(_ text: JSONText) throws(IssuanceFault) -> OfferLink {
        guard let address = HTTPSAddress(text), address.path.utf8.first == UInt8(ascii: "/") else {
            throw .offerAddress
        }
        return .reference(try IssuerName(JSONText("https://\(address.authority)")), path: address.path)
    }

    /// The issuer to connect to. Nothing is proved about it.
    public var issuer: IssuerName {
        switch self {
        case .offer(let offer): offer.issuer
        case .reference(let issuer, _): issuer
        }
    }

    /// Reads the offer that a server gave for a link to it.
    ///
    /// - Throws: ``IssuanceFault``: ``IssuanceFault/offerAddress``: it is an offer of another issuer than the server.
    public static func offer(_ text: [UInt8], from server: IssuerName) throws(IssuanceFault) -> CredentialOffer {
        let offer = try CredentialOffer(decoding: text)
        guard offer.issuer == server else { throw .offerAddress }
        return offer
    }
}

extension CredentialOffer {
    /// The link, ASCII.
    public var link: [UInt8] {
        Array("openid-credential-offer://?credential_offer=".utf8) + FormText.escaped(object.encoded)
    }
}
