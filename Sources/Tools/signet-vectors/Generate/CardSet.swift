// SPDX-License-Identifier: Apache-2.0

import CBOR
import CanonicalCoding
import Crypto
import JOSE
import MobileDocument
import Presentation
import SelectiveDisclosure
import StrictJSON
import TokenStatusList

/// Good presentations, answers, documents and status lists, in the schemas of the sets around credentials: for other
/// people's programs to read. Keys, salts and signatures are new in each run.
struct CardSet {
    static let audience: JSONText = "x509_san_dns:shop.example"
    static let documentType: CBORText = "eu.europa.ec.av.1"

    /// The issuer's key, whose certificate this is.
    let key: P256.Signing.PrivateKey
    /// DER.
    let certificate: [UInt8]
    /// The certificate of the authority that certified the issuer, DER.
    let root: [UInt8]
    /// Seconds since 1970.
    let now: Int64
    /// How many cases each file has.
    let count: Int

    /// The files, by name.
    func files() throws -> [(name: String, bytes: [UInt8])] {
        try [
            ("sd-jwt-vc.json", presentation), ("responses.json", response), ("mdoc.json", document),
            ("status-list.json", status),
        ].map { name, make in
            (name, JSONValue.array(try (0..<count).map { .object(try make($0)) }).encoded)
        }
    }

    private func good(_ number: Int) -> JSONObject {
        ["name": .string(JSONText("made-\(number)")), "valid": .bool(true), "rule": .null, "now": .integer(now)]
    }

    private func sign(_ bytes: [UInt8]) -> [UInt8]? {
        (try? key.signature(for: bytes)).map { Array($0.rawRepresentation) }
    }

    private func nonce() -> JSONText {
        JSONText(String(decoding: Base64URL.encode((0..<24).map { _ in UInt8.random(in: 0...255) }), as: UTF8.self))
    }

    private func base64(_ bytes: [UInt8]) -> JSONValue {
        .string(JSONText(String(decoding: Base64.encode(bytes), as: UTF8.self)))
    }

    // MARK: SD-JWT VC

    /// Of each card, its holder shows the claims whose bit in the case's number is set. Every other issuer has a certificate.
    private func presentation(_ number: Int) throws -> JSONObject {
        let (issuer, type): (JSONText, JSONText) = ("https://club.example", "urn:signet:member-card:1")
        let hidden: JSONObject = [
            "member": .bool(true), "name": .string("Zoë \u{1F3B7} \"Marić\""), "since": .integer(2019),
            "address": .object(["city": .string("Ljubljana"), "lines": .array([.string("Trg 1"), .null])]),
        ]
        let holder = P256.Signing.PrivateKey()
        let isCertified = number.isMultiple(of: 2)
        let open: JSONObject = ["iss": .string(issuer), "vct": .string(type), "exp": .integer(now + 86_400)]
        let draft = CredentialDraft(
            open: open, hidden: hidden, holder: WebKey(holder.publicKey), digestCount: 7,
            certificates: isCertified ? [certificate] : [])
        var generator = SystemRandomNumberGenerator()
        let held = try HeldCredential(decoding: try draft.issued(using: &generator, sign: sign))
        let shown = Set(hidden.names.sorted().enumerated().filter { number >> $0.offset & 1 == 1 }.map(\.element))
        let nonce = nonce()
        let text = try held.presented(
            disclosing: { $0.name.map(shown.contains) ?? false }, audience: Self.audience, nonce: nonce, at: now
        ) { Array(try holder.signature(for: $0).rawRepresentation) }
        var claims = open
        claims["cnf"] = .object(["jwk": .object(WebKey(holder.publicKey).object)])
        for name in shown { claims[name] = hidden[name] }
        var fields = good(number)
        fields["presentation"] = JSONText(utf8: text).map(JSONValue.string)
        fields["aud"] = .string(Self.audience)
        fields["nonce"] = .string(nonce)
        fields["policy"] = .object([
            "require_key_binding": .bool(true), "vct_values": .array([.string(type)]), "max_kb_age": .integer(300),
            "clock_skew": .integer(60), "allow_self_issued": .bool(false),
        ])
        let keys: JSONObject = isCertified ? [:] : [issuer: .object(WebKey(key.publicKey).object)]
        fields["issuer_keys"] = .object(keys)
        fields["issuer_roots"] = .array(isCertified ? [base64(root)] : [])
        fields["claims"] = .object(claims)
        return fields
    }

    // MARK: OpenID4VP

    private func response(_ number: Int) throws -> JSONObject {
        let receiver = P256.KeyAgreement.PrivateKey()
        let (name, state, credential): (JSONText, JSONText, JSONText) = (nonce(), nonce(), "card")
        let encryption: ContentEncryption = number.isMultiple(of: 2) ? .a128GCM : .a256GCM
        let presentations: JSONObject = [credential: .array([.string(nonce())])]
        let said: JSONObject = ["vp_token": .object(presentations), "state": .string(state)]
        let target = EncryptionTarget(key: WebKey(receiver.publicKey), keyID: name, encryption: encryption)
        var fields = good(number)
        fields["response"] = EncryptedToken.sealed(said.encoded, to: target).flatMap(JSONText.init(utf8:)).map(
            JSONValue.string)
        var key = WebKey(receiver.publicKey).object
        key["kid"] = .string(name)
        key["d"] = JSONText(utf8: Base64URL.encode(Array(receiver.rawRepresentation))).map(JSONValue.string)
        fields["key"] = .object(key)
        fields["enc_values"] = .array(["A128GCM", "A256GCM"].map { .string($0) })
        fields["state"] = .string(state)
        fields["credential_ids"] = .array([.string(credential)])
        fields["vp_token"] = .object(presentations)
        return fields
    }

    // MARK: Mobile documents

    private func document(_ number: Int) throws -> JSONObject {
        let device = P256.Signing.PrivateKey()
        let (client, address): (CBORText, CBORText) = ("x509_san_dns:shop.example", "https://shop.example/answer")
        let (nonce, thumbprint) = (nonce(), WebKey(P256.KeyAgreement.PrivateKey().publicKey).thumbprint)
        let session = SessionTranscript(
            clientID: client, nonce: CBORText(nonce.description), keyThumbprint: thumbprint, responseAddress: address)
        let ages = [(12, true), (18, true), (21, number.isMultiple(of: 3)), (65, false)]
        let elements = ages.map { age, isOver in
            (name: ElementName(Self.documentType, CBORText("age_over_\(age)")), value: CBORValue.bool(isOver))
        }
        let draft = MobileDocumentDraft(
            documentType: Self.documentType, elements: elements, deviceKey: device.publicKey, certificate: certificate,
            validity: now - 60...now + 86_400)
        var generator = SystemRandomNumberGenerator()
        let held = try draft.issued(using: &generator, sign: sign)
        let shown = elements.enumerated().filter { (number % 15 + 1) >> $0.offset & 1 == 1 }.map(\.element.name)
        let bytes = try held.presented(disclosing: shown.contains, in: session) {
            Array(try device.signature(for: $0).rawRepresentation)
        }
        var claims = JSONObject()
        for (name, value) in elements where shown.contains(name) {
            claims[JSONText(name.identifier.description)] = .bool(value == .bool(true))
        }
        var fields = good(number)
        fields["device_response"] = JSONText(utf8: Hex.encode(bytes)).map(JSONValue.string)
        fields["doctype"] = .string(JSONText(Self.documentType.description))
        fields["client_id"] = .string(JSONText(client.description))
        fields["nonce"] = .string(nonce)
        fields["jwk_thumbprint"] = JSONText(utf8: Hex.encode(thumbprint)).map(JSONValue.string)
        fields["response_uri"] = .string(JSONText(address.description))
        fields["roots"] = .array([base64(root)])
        fields["required"] = .array([])
        fields["claims"] = .object([JSONText(Self.documentType.description): .object(claims)])
        return fields
    }

    // MARK: Status lists

    private func status(_ number: Int) throws -> JSONObject {
        let bits = [1, 2, 4, 8][number % 4]
        let (address, length): (JSONText, Int64) = ("https://club.example/status/1", 4096)
        var list = try StatusListDraft(bitsPerEntry: bits, count: length)
        for _ in 0..<512 {
            let value = UInt8.random(in: 0...UInt8(truncatingIfNeeded: 1 << bits - 1))
            try list.set(value, at: Int64.random(in: 0..<length))
        }
        let (index, value) = (Int64.random(in: 0..<length), UInt8(number % 2))
        try list.set(value, at: index)
        let claim: JSONObject = ["status_list": .object(["idx": .integer(index), "uri": .string(address)])]
        let text = try list.signed(for: try StatusReference(claim), at: now) {
            Array(try key.signature(for: $0).rawRepresentation)
        }
        var fields = good(number)
        fields["token"] = JSONText(utf8: text).map(JSONValue.string)
        fields["status"] = .object(claim)
        fields["max_age"] = .integer(86_400)
        fields["max_bytes"] = .integer(1 << 20)
        fields["issuer_key"] = .object(WebKey(key.publicKey).object)
        fields["value"] = .integer(Int64(value))
        return fields
    }
}
