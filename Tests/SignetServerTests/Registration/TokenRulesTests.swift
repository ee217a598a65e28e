// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import CryptoExtras
import Foundation
import KeyTransparency
import SignetAPI
import StrictJSON
import Testing

@testable import SignetServer

/// Tokens that are not for this registration: each test has one thing wrong.
@Suite struct TokenRulesTests {
    static let now: UInt64 = 1_800_000_000
    let issuer: TokenIssuer
    let keys: TokenKeys
    let handle: Handle
    let deviceKey = [UInt8](repeating: 7, count: 32)

    init() async throws {
        issuer = try TokenIssuer()
        keys = try await issuer.keys()
        handle = try Handle(typed: Array("alice@example.org".utf8))
    }

    private func rules(client: String? = nil) -> TokenRules {
        TokenRules(keys: keys, issuer: TokenIssuer.name, client: client, origin: Array("example.org/signet".utf8))
    }

    private var claims: JSONObject { TokenIssuer.claims(for: handle, deviceKey, at: Self.now) }

    private func fault(
        _ token: [UInt8], client: String? = nil, at now: UInt64 = now
    ) throws -> TokenFault? {
        let token = try #require(RegistrationToken(bytes: token))
        do throws(TokenFault) { try rules(client: client).check(token, for: handle, deviceKey, at: now) } catch {
            return error
        }
        return nil
    }

    // MARK: Tokens of the directory's own kind

    @Test(arguments: TokenIssuer.Signature.allCases)
    func aTokenForTheHandleAndTheKeyIsTaken(_ signature: TokenIssuer.Signature) throws {
        #expect(try fault(issuer.token(claims, signature)) == nil)
        #expect(try fault(issuer.token(claims.with("aud", .array(["example.org/signet"])), signature)) == nil)
    }

    @Test func aTokenForAnotherHandleIsRefused() throws {
        #expect(try fault(issuer.token(claims.with("sub", "bob@example.org"))) == .handle)
        #expect(try fault(issuer.token(claims.with("sub", nil))) == .handle)
        // An address in a claim of the other kind of tokens says nothing.
        #expect(
            try fault(issuer.token(claims.with("sub", "0815").with("email", "alice@example.org"))) == .handle)
    }

    @Test func aTokenForAnotherDeviceKeyIsRefused() throws {
        let other = TokenIssuer.claims(for: handle, [UInt8](repeating: 8, count: 32), at: Self.now)
        #expect(try fault(issuer.token(other)) == .key)
        #expect(try fault(issuer.token(claims.with("cnf", nil))) == .key)
        let curve: JSONValue = ["jwk": ["kty": "OKP", "crv": "X25519", "x": TokenIssuer.text(deviceKey)]]
        #expect(try fault(issuer.token(claims.with("cnf", curve))) == .key)
    }

    @Test func aTokenForAnotherAudienceIsRefused() throws {
        #expect(try fault(issuer.token(claims.with("aud", "example.com/signet"))) == .audience)
        #expect(try fault(issuer.token(claims.with("aud", nil))) == .audience)
        let both: JSONValue = .array(["example.org/signet", "example.com/signet"])
        #expect(try fault(issuer.token(claims.with("aud", both))) == .audience, "who else has it could use it here")
        #expect(try fault(issuer.token(claims.with("azp", "example.com/signet"))) == .audience)
    }

    @Test func aTokenOfAnotherIssuerIsRefused() throws {
        #expect(try fault(issuer.token(claims.with("iss", "https://login.example.com"))) == .issuer)
        #expect(try fault(issuer.token(claims.with("iss", nil))) == .issuer)
    }

    @Test func aTokenIsTakenForAQuarterOfAnHour() throws {
        let long = claims.with("exp", .integer(Int64(Self.now) + 86_400))
        let token = try issuer.token(long)
        #expect(try fault(token, at: Self.now + 899) == nil)
        #expect(try fault(token, at: Self.now + 900) == .time, "however long the issuer says")
        let short = try issuer.token(claims)
        #expect(try fault(short, at: Self.now + 299) == nil)
        #expect(try fault(short, at: Self.now + 300) == .time)
    }

    @Test func aTokenOfTheFutureOrWithoutATimeIsRefused() throws {
        #expect(try fault(issuer.token(claims), at: Self.now - 60) == nil, "clocks differ")
        #expect(try fault(issuer.token(claims), at: Self.now - 61) == .time)
        #expect(try fault(issuer.token(claims.with("exp", nil))) == .time)
        #expect(try fault(issuer.token(claims.with("iat", nil))) == .time)
        #expect(try fault(issuer.token(claims.with("exp", "9999999999"))) == .time, "a text is no time")
        #expect(try fault(issuer.token(claims.with("nbf", .integer(Int64(Self.now) + 61)))) == .time)
    }

    // MARK: Signatures

    @Test func aTokenWithoutASignatureIsRefused() throws {
        let none: JSONObject = ["alg": "none"]
        #expect(try fault(issuer.token(claims, header: none)) == .algorithm)
        let empty = try issuer.token(claims, header: none) { _ in [] }
        #expect(RegistrationToken(bytes: empty) == nil)
        #expect(throws: TokenFault.algorithm) { try keys.payload(of: empty) }
        for name: JSONValue in ["None", "NONE", "nOnE", ""] {
            #expect(try fault(issuer.token(claims, header: ["alg": name])) == .algorithm)
        }
    }

    /// Whoever takes the algorithm from the token checks an HMAC whose key, the public key, everybody has.
    @Test func aPublicKeyIsNoSecretOfAnHMAC() throws {
        let spellings = [
            Array(issuer.rsa.publicKey.derRepresentation), Array(issuer.rsa.publicKey.pemRepresentation.utf8),
            Array(try issuer.rsa.publicKey.getKeyPrimitives().modulus),
        ]
        for spelling in spellings {
            let forged = try issuer.token(claims, .rs256, header: ["alg": "HS256"]) { bytes in
                Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: spelling)))
            }
            #expect(try fault(forged) == .algorithm)
        }
    }

    @Test(arguments: ["RS512", "PS256", "ES256", "EdDSA", "ES384"])
    func aKeyHasOneAlgorithm(_ name: String) throws {
        #expect(try fault(issuer.token(claims, .rs256, header: ["alg": .string(JSONText(name))])) == .algorithm)
    }

    @Test func aTokenOfAnUnknownKeyIsRefused() throws {
        #expect(try fault(issuer.token(claims, header: ["kid": "another"])) == .unknownKey)
        #expect(
            try fault(issuer.token(claims, header: ["kid": .null])) == .unknownKey, "no key is taken for lack of a name"
        )
        let own: JSONValue = [
            "kty": "OKP", "crv": "Ed25519", "kid": "mine",
            "x": TokenIssuer.text(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation),
        ]
        #expect(try fault(issuer.token(claims, header: ["kid": "mine", "jwk": own])) == .unknownKey)
    }

    @Test(arguments: TokenIssuer.Signature.allCases)
    func aTokenThatTheKeyDidNotSignIsRefused(_ signature: TokenIssuer.Signature) throws {
        let another = try TokenIssuer()
        #expect(try fault(another.token(claims, signature)) == .signature)
        // Signed for one person, changed for another.
        let right = try issuer.token(claims.with("sub", "bob@example.org"), signature).split(
            separator: UInt8(ascii: "."))
        let parts: [[UInt8]] = [Array(right[0]), Base64URL.encode(claims.encoded), Array(right[2])]
        #expect(try fault(Array(parts.joined(separator: [UInt8(ascii: ".")]))) == .signature)
        let short = try issuer.token(claims, signature) { _ in [1] }
        #expect(try fault(short) == .signature)
    }

    @Test func anExtensionThatMustBeUnderstoodIsRefused() throws {
        #expect(try fault(issuer.token(claims, header: ["crit": .array(["b64"]), "b64": .bool(false)])) == .form)
    }

    // MARK: ID tokens of OpenID Connect

    private var identity: JSONObject {
        let nonce = RegistrationToken.nonce(
            origin: Array("example.org/signet".utf8), handle: handle, deviceKey: deviceKey)
        return [
            "iss": .string(JSONText(TokenIssuer.name)), "aud": "signet", "sub": "0815", "email": "Alice@example.org",
            "email_verified": .bool(true), "iat": .integer(Int64(Self.now)), "exp": .integer(Int64(Self.now) + 3600),
            "nonce": .string(JSONText(String(decoding: nonce, as: UTF8.self))),
        ]
    }

    @Test func anIdentityTokenForTheAddressAndTheNonceIsTaken() throws {
        #expect(try fault(issuer.token(identity), client: "signet") == nil)
        #expect(try fault(issuer.token(identity.with("azp", "signet")), client: "signet") == nil)
    }

    @Test func anAddressThatWasNotVerifiedIsNoProof() throws {
        for value: JSONValue? in [.bool(false), "true", .integer(1), .null, nil] {
            let token = try issuer.token(identity.with("email_verified", value))
            #expect(try fault(token, client: "signet") == .addressNotVerified)
        }
    }

    @Test func anIdentityTokenForAnotherAddressIsRefused() throws {
        #expect(try fault(issuer.token(identity.with("email", "bob@example.org")), client: "signet") == .handle)
        #expect(try fault(issuer.token(identity.with("email", nil)), client: "signet") == .handle)
        let named = identity.with("email", nil).with("sub", "alice@example.org")
        #expect(try fault(issuer.token(named), client: "signet") == .handle)
    }

    /// A token of another login of the same person, or for another device.
    @Test func anIdentityTokenWithAnotherNonceIsRefused() throws {
        #expect(try fault(issuer.token(identity.with("nonce", "n-0S6_WzA2Mj")), client: "signet") == .key)
        #expect(try fault(issuer.token(identity.with("nonce", nil)), client: "signet") == .key)
        let other = RegistrationToken.nonce(
            origin: Array("example.com/signet".utf8), handle: handle, deviceKey: deviceKey)
        let nonce: JSONValue = .string(JSONText(String(decoding: other, as: UTF8.self)))
        #expect(try fault(issuer.token(identity.with("nonce", nonce)), client: "signet") == .key, "another directory")
    }

    @Test func anIdentityTokenForAnotherClientIsRefused() throws {
        #expect(try fault(issuer.token(identity.with("aud", "mail")), client: "signet") == .audience)
        #expect(try fault(issuer.token(identity.with("azp", "mail")), client: "signet") == .audience)
        #expect(try fault(issuer.token(claims), client: "signet") == .audience, "a token of the other kind")
        #expect(try fault(issuer.token(identity)) == .audience)
    }

    /// SHA-256 and base64url by another program: `printf 'signet-registration/v1\nexample.org/signet\nalice@example.org\n'`, then
    /// the key, into `openssl dgst -sha256 -binary | basenc --base64url`.
    @Test func theNonceIsWhatTheFormatSays() {
        let nonce = RegistrationToken.nonce(
            origin: Array("example.org/signet".utf8), handle: handle, deviceKey: deviceKey)
        #expect(String(decoding: nonce, as: UTF8.self) == "jsggSxSKpo9RW_rnNylLGCbtaF9en5zu-S3qSeNqfdA")
    }

    // MARK: The file of keys

    @Test func aFileWithASecretIsNoFileOfPublicKeys() async throws {
        let secrets: [JSONObject] = [
            ["kty": "oct", "kid": "a", "k": "AAAA"],
            [
                "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": TokenIssuer.text(deviceKey),
                "d": TokenIssuer.text(deviceKey),
            ],
        ]
        for secret in secrets {
            var keys = try issuer.keySet()["keys"]?.array ?? []
            keys.append(.object(secret))
            let set: JSONObject = ["keys": .array(keys)]
            await #expect(throws: TokenKeysError.secretKey) { try await TokenKeys(decoding: set.encoded) }
        }
    }

    @Test func whatIsNoSetOfKeysIsRefused() async throws {
        let point = TokenIssuer.text([UInt8](repeating: 1, count: 32))
        let small = TokenIssuer.text([UInt8](repeating: 0xFF, count: 128))
        let cases: [(JSONObject, TokenKeysError)] = [
            ([:], .notAKeySet), (["keys": .array([])], .noKey), (["keys": .array(["x"])], .notAKeySet),
            (["keys": .array([["kty": "OKP", "crv": "Ed25519", "x": point]])], .keyWithoutName),
            (["keys": .array([["kty": "EC", "crv": "P-256", "kid": "a", "x": point, "y": point]])], .notAKey("a")),
            (["keys": .array([["kty": "RSA", "kid": "a", "n": small, "e": "AQAB"]])], .notAKey("a")),
            (["keys": .array([["kty": "EC", "crv": "P-384", "kid": "a", "x": point, "y": point]])], .noKey),
            (["keys": .array([["kty": "OKP", "crv": "Ed25519", "kid": "a", "use": "enc", "x": point]])], .noKey),
        ]
        for (set, error) in cases {
            await #expect(throws: error) { try await TokenKeys(decoding: set.encoded) }
        }
        let first = try issuer.keySet()["keys"]?.array?.first ?? .null
        let twice: JSONObject = ["keys": .array([first, first])]
        await #expect(throws: TokenKeysError.nameTwice("EdDSA")) { try await TokenKeys(decoding: twice.encoded) }
        await #expect(throws: TokenKeysError.notAKeySet) { try await TokenKeys(decoding: Array("keys".utf8)) }
    }
}
