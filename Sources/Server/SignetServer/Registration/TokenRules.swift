// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import SignetAPI
import StrictJSON

/// Judges tokens of the operator's login system: each for one handle, one device key and this directory, and of now.
///
/// A token needs no memory of those that were used: with it one handle is registered by one device key, and a handle is registered once.
///
/// Spec: RFC 7519; RFC 7800, section 3.2 (`cnf`); OpenID Connect Core 1.0, section 3.1.3.7; RFC 8725.
struct TokenRules: Sendable {
    let keys: TokenKeys
    let issuer: String
    /// The client of ID tokens; nil for tokens that name the handle and the key themselves.
    let client: String?
    /// The log's origin.
    let origin: [UInt8]

    /// How long after it was made a token is taken, in seconds.
    static let lifetime: Int64 = 900
    /// How far the issuer's clock may be ahead of the server's, in seconds.
    static let maximumClockDifference: Int64 = 60

    /// Runs the checks, in order.
    ///
    /// - Parameters:
    ///   - deviceKey: the key that signed the registration, 32 bytes.
    ///   - now: seconds since 1970.
    /// - Throws: ``TokenFault`` for the first check that fails. No retry with the same token helps.
    func check(
        _ token: RegistrationToken, for handle: Handle, _ deviceKey: [UInt8], at now: UInt64
    ) throws(TokenFault) {
        let claims = try keys.payload(of: token.bytes)
        try checkIssuer(claims)
        try checkAudience(claims)
        try checkTime(claims, Int64(clamping: now))
        try checkHandle(claims, handle)
        try checkKey(claims, handle, deviceKey)
    }

    private func checkIssuer(_ claims: JSONObject) throws(TokenFault) {
        guard claims["iss"] == .string(JSONText(issuer)) else { throw .issuer }
    }

    /// The directory's own tokens are for its log; ID tokens are for the client, and for no other besides.
    private func checkAudience(_ claims: JSONObject) throws(TokenFault) {
        let own = client.map { Array($0.utf8) } ?? origin
        let audience = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.strings ?? []
        guard audience.map(\.utf8) == [own] else { throw .audience }
        guard claims["azp"] == nil || claims["azp"]?.string?.utf8 == own else { throw .audience }
    }

    private func checkTime(_ claims: JSONObject, _ now: Int64) throws(TokenFault) {
        guard let made = claims["iat"]?.integer, let end = claims["exp"]?.integer, end > now,
            made <= now + Self.maximumClockDifference, made > now - Self.lifetime
        else { throw .time }
        if let start = claims["nbf"] {
            guard let start = start.integer, start <= now + Self.maximumClockDifference else { throw .time }
        }
    }

    private func checkHandle(_ claims: JSONObject, _ handle: Handle) throws(TokenFault) {
        if client != nil {
            guard claims["email_verified"] == .bool(true) else { throw .addressNotVerified }
        }
        let named = client == nil ? claims["sub"]?.string : claims["email"]?.string
        guard let named, (try? Handle(typed: named.utf8)) == handle else { throw .handle }
    }

    private func checkKey(_ claims: JSONObject, _ handle: Handle, _ deviceKey: [UInt8]) throws(TokenFault) {
        guard client == nil else {
            let nonce = RegistrationToken.nonce(origin: origin, handle: handle, deviceKey: deviceKey)
            guard claims["nonce"]?.string?.utf8 == nonce else { throw .key }
            return
        }
        let key = claims["cnf"]?.object?["jwk"]?.object
        guard key?["kty"] == .string("OKP"), key?["crv"] == .string("Ed25519"),
            key?["x"]?.string?.utf8 == Base64URL.encode(deviceKey)
        else { throw .key }
    }
}

/// Why a token does not let anybody register.
enum TokenFault: Error, Hashable, Sendable {
    /// Not a signed token with an object inside, or one with an extension that the reader must understand.
    case form
    /// Signed with a key that the issuer's set does not have, or that the token does not name.
    case unknownKey
    /// Another algorithm than the key's, `none` included.
    case algorithm
    /// The key did not sign it.
    case signature
    /// Another issuer.
    case issuer
    /// For another directory or another client, or for others besides.
    case audience
    /// Over, made too long ago, or of the future.
    case time
    /// The issuer does not say that the address was verified.
    case addressNotVerified
    /// For another handle.
    case handle
    /// For another device key.
    case key
}
