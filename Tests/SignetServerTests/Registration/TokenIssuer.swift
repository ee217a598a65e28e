// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import CryptoExtras
import Foundation
import KeyTransparency
import SignetAPI
public import StrictJSON

@testable import SignetServer

/// A login system of the operator's: its keys, and the tokens that it makes, by swift-crypto alone.
struct TokenIssuer: Sendable {
    static let name = "https://login.example.org"

    let edwards = Curve25519.Signing.PrivateKey()
    let curve = P256.Signing.PrivateKey()
    let rsa: _RSA.Signing.PrivateKey

    init() throws { rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// How a token is signed.
    enum Signature: CaseIterable, Sendable {
        case edDSA, es256, rs256
    }

    static func text(_ bytes: some Collection<UInt8>) -> JSONValue {
        .string(JSONText(String(decoding: Base64URL.encode(Array(bytes)), as: UTF8.self)))
    }

    /// The public keys, each under the name of its algorithm.
    func keySet() throws -> JSONObject {
        let point = curve.publicKey.rawRepresentation
        let numbers = try rsa.publicKey.getKeyPrimitives()
        let keys: [JSONObject] = [
            ["kty": "OKP", "crv": "Ed25519", "kid": "EdDSA", "x": Self.text(edwards.publicKey.rawRepresentation)],
            [
                "kty": "EC", "crv": "P-256", "kid": "ES256", "use": "sig", "x": Self.text(point.prefix(32)),
                "y": Self.text(point.suffix(32)),
            ],
            [
                "kty": "RSA", "kid": "RS256", "alg": "RS256", "n": Self.text(numbers.modulus),
                "e": Self.text(numbers.publicExponent),
            ],
        ]
        return ["keys": .array(keys.map(JSONValue.object))]
    }

    func keys() async throws -> TokenKeys { try await TokenKeys(decoding: keySet().encoded) }

    /// The claims of a right token of the directory's own kind.
    static func claims(
        for handle: Handle, _ deviceKey: [UInt8], origin: String = "example.org/signet", at now: UInt64
    ) -> JSONObject {
        [
            "iss": .string(JSONText(name)), "aud": .string(JSONText(origin)),
            "sub": .string(JSONText(handle.description)), "iat": .integer(Int64(now)),
            "exp": .integer(Int64(now) + 300),
            "cnf": ["jwk": ["kty": "OKP", "crv": "Ed25519", "x": text(deviceKey)]],
        ]
    }

    /// A token of claims.
    ///
    /// - Parameters:
    ///   - header: what is changed in the header.
    ///   - signing: makes the signature in place of the issuer's key.
    func token(
        _ claims: JSONObject, _ signature: Signature = .edDSA, header change: JSONObject = [:],
        signing: (([UInt8]) throws -> [UInt8])? = nil
    ) throws -> [UInt8] {
        let name: JSONValue =
            switch signature {
            case .edDSA: "EdDSA"
            case .es256: "ES256"
            case .rs256: "RS256"
            }
        var header: JSONObject = ["alg": name, "kid": name, "typ": "JWT"]
        for name in change.names { header[name] = change[name] == .null ? nil : change[name] }
        let dot = UInt8(ascii: ".")
        let signed = Base64URL.encode(header.encoded) + [dot] + Base64URL.encode(claims.encoded)
        return signed + [dot] + Base64URL.encode(try signing?(signed) ?? sign(signed, signature))
    }

    private func sign(_ bytes: [UInt8], _ signature: Signature) throws -> [UInt8] {
        switch signature {
        case .edDSA: Array(try edwards.signature(for: bytes))
        case .es256: Array(try curve.signature(for: bytes).rawRepresentation)
        case .rs256: Array(try rsa.signature(for: Data(bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: StaticString) { self = .string(JSONText(stringLiteral: value)) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (JSONText, JSONValue)...) {
        self = .object(JSONObject(Dictionary(elements) { first, _ in first }))
    }
}

extension JSONObject {
    /// The same with another value, or without the member for nil.
    func with(_ name: JSONText, _ value: JSONValue?) -> JSONObject {
        var object = self
        object[name] = value
        return object
    }
}
