// SPDX-License-Identifier: Apache-2.0

import JOSE
public import StrictJSON

/// What an issuer says of itself, in two documents: as an issuer, and as the server that gives tokens.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 12.2.4 and 12.3; RFC 8414, section 2; RFC 9449, section 5.1.
public struct IssuerMetadata: Sendable {
    /// The issuer.
    public let issuer: IssuerName
    /// What it calls the one kind of card that it makes.
    public let configuration: JSONText
    /// The type of the card (`vct`).
    public let type: JSONText
    /// How many copies it makes at a time.
    public let batchSize: Int

    /// A description.
    public init(issuer: IssuerName, configuration: JSONText, type: JSONText, batchSize: Int) {
        self.issuer = issuer
        self.configuration = configuration
        self.type = type
        self.batchSize = batchSize
    }

    /// The description as an issuer.
    public var issuerObject: JSONObject {
        let algorithms: JSONValue = .array([.string("ES256")])
        let card: JSONObject = [
            "format": .string("dc+sd-jwt"), "vct": .string(type),
            "cryptographic_binding_methods_supported": .array([.string("jwk")]),
            "credential_signing_alg_values_supported": algorithms,
            "proof_types_supported": .object(["jwt": .object(["proof_signing_alg_values_supported": algorithms])]),
        ]
        return [
            "credential_issuer": .string(issuer.text),
            "credential_endpoint": .string(issuer.address(of: .credential)),
            "nonce_endpoint": .string(issuer.address(of: .nonce)),
            "batch_credential_issuance": .object(["batch_size": .integer(Int64(batchSize))]),
            "credential_configurations_supported": .object([configuration: .object(card)]),
        ]
    }

    /// The description as the server that gives tokens.
    public var serverObject: JSONObject {
        [
            "issuer": .string(issuer.text), "token_endpoint": .string(issuer.address(of: .token)),
            "grant_types_supported": .array([.string(CredentialOffer.grant)]),
            "response_types_supported": .array([]),
            "pre-authorized_grant_anonymous_access_supported": .bool(true),
            "dpop_signing_alg_values_supported": .array([.string("ES256")]),
        ]
    }
}

/// An issuer whose descriptions passed every check of ``IssuerVerifier``.
public struct AcceptedIssuer: Sendable {
    /// Its name.
    public let name: IssuerName
    /// The type of the offered card.
    public let type: JSONText
    /// How many copies it makes at a time.
    public let batchSize: Int
    /// Its paths.
    public let tokenPath: JSONText
    /// Its paths.
    public let noncePath: JSONText
    /// Its paths.
    public let credentialPath: JSONText
}

/// Decides whether a wallet goes on with an offer. This page is the whole decision.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 12.2; RFC 8414, section 3.3; OpenID4VC HAIP 1.0, section 4. The profile is
/// narrower: all paths are of the issuer's own host, and the card is an SD-JWT VC whose key is proved by ES256.
public enum IssuerVerifier {
    /// Judges what an issuer says of itself.
    ///
    /// - Parameters:
    ///   - description: what was read at ``IssuerRoute/metadata`` of the offer's issuer.
    ///   - server: what was read at ``IssuerRoute/server``.
    /// - Throws: ``IssuanceFault``, the first check that fails. A retry cannot help.
    public static func verify(
        _ description: [UInt8], server: [UInt8], for offer: CredentialOffer
    ) throws(IssuanceFault) -> AcceptedIssuer {
        let issuer = try object(description)  // section 12.2.2
        try checkName(issuer["credential_issuer"], offer)  // section 12.2.1
        try checkOwnServer(issuer, offer)  // section 12.2.4, authorization_servers
        let card = try card(issuer, offer)  // section 12.2.4, credential_configurations_supported
        let type = try type(card)  // section 12.2.4, format; appendix A.3.2
        try checkProofs(card)  // section 12.2.4, proof_types_supported; appendix F.1
        let batchSize = try batchSize(issuer)  // section 12.2.4, batch_credential_issuance

        let server = try object(server)  // RFC 8414, section 3.2
        try checkName(server["issuer"], offer)  // RFC 8414, section 3.3
        try checkGrants(server)  // section 12.3; RFC 9449, section 5.1
        return AcceptedIssuer(
            name: offer.issuer, type: type, batchSize: batchSize,
            tokenPath: try offer.issuer.path(of: server["token_endpoint"]),  // RFC 8414, section 2
            noncePath: try offer.issuer.path(of: issuer["nonce_endpoint"]),  // section 12.2.4
            credentialPath: try offer.issuer.path(of: issuer["credential_endpoint"]))  // section 12.2.4
    }

    private static func object(_ text: [UInt8]) throws(IssuanceFault) -> JSONObject {
        do { return try JSONObject(decoding: text) } catch { throw IssuanceFault(error) }
    }

    private static func checkName(_ value: JSONValue?, _ offer: CredentialOffer) throws(IssuanceFault) {
        guard value == .string(offer.issuer.text) else { throw .anotherIssuer }
    }

    private static func checkOwnServer(_ issuer: JSONObject, _ offer: CredentialOffer) throws(IssuanceFault) {
        guard let servers = issuer["authorization_servers"] else { return }
        guard servers.strings == [offer.issuer.text] else { throw .anotherServer }
    }

    private static func card(_ issuer: JSONObject, _ offer: CredentialOffer) throws(IssuanceFault) -> JSONObject {
        guard let card = issuer["credential_configurations_supported"]?.object?[offer.configuration]?.object else {
            throw .unknownConfiguration
        }
        return card
    }

    private static func type(_ card: JSONObject) throws(IssuanceFault) -> JSONText {
        guard card["format"] == .string("dc+sd-jwt"), let type = card["vct"]?.string else { throw .format }
        return type
    }

    private static func checkProofs(_ card: JSONObject) throws(IssuanceFault) {
        let proof = card["proof_types_supported"]?.object?["jwt"]?.object
        guard card["cryptographic_binding_methods_supported"]?.strings?.contains("jwk") == true,
            proof?["proof_signing_alg_values_supported"]?.strings?.contains("ES256") == true
        else { throw .proofs }
    }

    private static func batchSize(_ issuer: JSONObject) throws(IssuanceFault) -> Int {
        guard let batch = issuer["batch_credential_issuance"] else { return 1 }
        guard let size = batch.object?["batch_size"]?.integer, (1...200).contains(size) else { throw .batchSize }
        return Int(size)
    }

    private static func checkGrants(_ server: JSONObject) throws(IssuanceFault) {
        guard server["grant_types_supported"]?.strings?.contains(CredentialOffer.grant) == true,
            server["dpop_signing_alg_values_supported"]?.strings?.contains("ES256") == true
        else { throw .grants }
    }
}
