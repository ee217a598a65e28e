// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import JOSE
public import StrictJSON

/// The proof that a wallet has the private half of a key to which a copy is to be bound.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, appendices F.1 and F.4.
public enum KeyProof {
    /// How long before now a proof may have been made, and how far the wallet's clock may be ahead, in seconds.
    public static let maximumAge: Int64 = 300

    /// Makes a proof.
    ///
    /// - Parameters:
    ///   - nonce: the issuer's.
    ///   - now: seconds since 1970.
    ///   - sign: gives r and s of the ECDSA signature by the key.
    /// - Throws: what `sign` throws.
    public static func encoded<Failure: Error>(
        of key: WebKey, for issuer: IssuerName, nonce: JSONText, at now: Int64,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let payload: JSONObject = [
            "aud": .string(issuer.text), "nonce": .string(nonce), "iat": .integer(now),
        ]
        return try SignedToken.encoded(
            header: WalletToken.header("openid4vci-proof+jwt", key), payload: payload.encoded, sign: sign)
    }

    /// Judges a proof. This function is the whole decision.
    ///
    /// - Parameters:
    ///   - isFresh: whether a nonce is one that the issuer gave out and that still counts.
    ///   - now: seconds since 1970.
    /// - Returns: the key.
    /// - Throws: ``WalletTokenFault``, the first check that fails. With ``WalletTokenFault/nonce``, a new nonce helps.
    public static func verify(
        _ text: [UInt8], for issuer: IssuerName, isFresh: (JSONText) -> Bool, at now: Int64
    ) throws(WalletTokenFault) -> WebKey {
        let token = try WalletToken(text, type: "openid4vci-proof+jwt")  // appendix F.1, typ, alg and jwk
        try token.checkSignature()  // appendix F.4: the signature verifies with the key in the header
        guard token.payload["aud"] == .string(issuer.text) else { throw .audience }  // appendix F.1, aud
        guard let nonce = token.payload["nonce"]?.string, isFresh(nonce) else { throw .nonce }  // appendix F.4
        try token.checkTime(now)  // appendix F.4: within an acceptable window
        return token.key
    }

    /// Judges the proofs of a batch, each of another key.
    ///
    /// Spec: OpenID for Verifiable Credential Issuance 1.0, section 8.2 (`proofs`).
    ///
    /// - Parameter batchSize: at most so many.
    /// - Returns: the keys, in the order of the proofs.
    /// - Throws: ``WalletTokenFault``.
    public static func verify(
        batch texts: [[UInt8]], batchSize: Int, for issuer: IssuerName, isFresh: (JSONText) -> Bool, at now: Int64
    ) throws(WalletTokenFault) -> [WebKey] {
        guard (1...batchSize).contains(texts.count) else { throw .count }
        var keys: [WebKey] = []
        for text in texts {
            let key = try verify(text, for: issuer, isFresh: isFresh, at: now)
            guard !keys.contains(key) else { throw .keyTwice }
            keys.append(key)
        }
        return keys
    }
}

/// The proof that a request comes from the wallet that holds a key, so that a code or token is worth nothing to anyone else.
///
/// Spec: RFC 9449 (DPoP), sections 4.2, 4.3 and 7.1.
///
/// Security: the issuer does not remember `jti`. A copy of a proof is of use only inside the TLS connection of the wallet, for a minute or
/// five, and repeats there what the wallet asked for.
public enum SenderProof {
    /// Makes a proof for one POST.
    ///
    /// - Parameters:
    ///   - address: the address of the request.
    ///   - accessToken: the token that goes along; nil if there is none yet.
    ///   - random: 16 unpredictable bytes.
    ///   - now: seconds since 1970.
    ///   - sign: gives r and s of the ECDSA signature by the key.
    /// - Throws: what `sign` throws.
    public static func encoded<Failure: Error>(
        of key: WebKey, to address: JSONText, accessToken: JSONText?, random: [UInt8], at now: Int64,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        var payload: JSONObject = [
            "htm": .string("POST"), "htu": .string(address), "iat": .integer(now),
            "jti": .string(JSONText(String(decoding: Base64URL.encode(random), as: UTF8.self))),
        ]
        payload["ath"] = accessToken.map { .string(hash(of: $0)) }
        return try SignedToken.encoded(
            header: WalletToken.header("dpop+jwt", key), payload: payload.encoded, sign: sign)
    }

    /// Judges a proof. This function is the whole decision.
    ///
    /// - Parameters:
    ///   - address: the address of the request that it came with.
    ///   - accessToken: the token that came along; nil if there is none yet.
    ///   - now: seconds since 1970.
    /// - Returns: the wallet's key.
    /// - Throws: ``WalletTokenFault``, the first check that fails.
    public static func verify(
        _ text: [UInt8], to address: JSONText, accessToken: JSONText?, at now: Int64
    ) throws(WalletTokenFault) -> WebKey {
        let token = try WalletToken(text, type: "dpop+jwt")  // section 4.3, steps 2 to 5
        try token.checkSignature()  // section 4.3, step 6
        guard token.payload["htm"] == .string("POST") else { throw .method }  // section 4.3, step 8
        guard token.payload["htu"] == .string(address) else { throw .audience }  // section 4.3, step 9
        try token.checkTime(now)  // section 4.3, step 11
        try checkHash(token.payload["ath"], of: accessToken)  // section 4.3, step 12.a
        return token.key
    }

    private static func checkHash(_ value: JSONValue?, of token: JSONText?) throws(WalletTokenFault) {
        guard value == token.map({ .string(hash(of: $0)) }) else { throw .accessToken }
    }

    private static func hash(of token: JSONText) -> JSONText {
        JSONText(String(decoding: Base64URL.encode(Array(SHA256.hash(data: token.utf8))), as: UTF8.self))
    }
}

/// The check that a proof of a wallet does not pass. A retry cannot help, unless the case says so.
///
/// The raw value is the check's name in reports.
public enum WalletTokenFault: String, Error, Hashable, Sendable, CaseIterable {
    /// Not three parts with full stops between.
    case form
    /// More bytes, or deeper values, than are read.
    case limits
    /// A part that is not base64url without padding.
    case base64URL = "base64url"
    /// Not JSON, or not an object where there must be one.
    case json
    /// A name that stands twice in one object.
    case duplicateMember = "json.duplicate-member"
    /// An algorithm other than ES256.
    case algorithm = "alg"
    /// A token of another type.
    case type = "typ"
    /// An extension that the reader must understand.
    case critical = "crit"
    /// No public P-256 key in the header, or one that the header names in another way beside.
    case key = "jwk"
    /// Not signed by the key in the header.
    case signature
    /// Made for another issuer or address.
    case audience = "aud"
    /// Made for another method of HTTP.
    case method = "htm"
    /// Not made for the access token that came with it, or with none.
    case accessToken = "ath"
    /// The nonce is not the issuer's, or too old. With a new nonce, a new proof passes.
    case nonce
    /// Made too long ago, or in the future.
    case time = "iat"
    /// No proof, or more than the issuer makes copies at a time.
    case count
    /// Two proofs are of one key.
    case keyTwice = "key.twice"
}

extension WalletTokenFault: TokenReadingFault {}

/// A token that a wallet signs with the key in its header.
struct WalletToken {
    let key: WebKey
    let payload: JSONObject
    private let token: SignedToken
    private static let limits = JSONLimits(byteCount: 4096, depth: 4)

    static func header(_ type: JSONText, _ key: WebKey) -> JSONObject {
        ["alg": .string("ES256"), "typ": .string(type), "jwk": .object(key.object)]
    }

    /// Reads a token, of which nothing is verified but the form.
    init(_ text: [UInt8], type: JSONText) throws(WalletTokenFault) {
        do { token = try SignedToken(decoding: text, limits: Self.limits) } catch {
            throw WalletTokenFault(reading: error)
        }
        guard token.isES256 else { throw .algorithm }
        guard token.hasType(type) else { throw .type }
        guard !token.hasCriticalParameters else { throw .critical }
        guard let object = token.header["jwk"]?.object, let key = try? WebKey(object), token.header["kid"] == nil,
            token.header["x5c"] == nil
        else { throw .key }
        self.key = key
        do { payload = try JSONObject(decoding: token.unverifiedPayload, limits: Self.limits) } catch {
            throw WalletTokenFault(error)
        }
    }

    func checkSignature() throws(WalletTokenFault) {
        guard let key = key.signingKey else { throw .key }
        do { try token.verify(by: key) } catch { throw .signature }
    }

    func checkTime(_ now: Int64) throws(WalletTokenFault) {
        guard let time = payload["iat"]?.integer, time >= 0, abs(now - time) <= KeyProof.maximumAge else { throw .time }
    }
}
