// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import JOSE
import JWTKit
import StrictJSON

/// The public keys of a token issuer, each for one algorithm that the kind of key decides.
///
/// Spec: RFC 7517 (JSON Web Key Set); RFC 8725, sections 3.1 and 3.2 (the algorithm is not the sender's choice).
package struct TokenKeys: Sendable {
    private let keys: [JSONText: (name: JSONText, algorithm: any JWTAlgorithm)]

    /// The longest file, in bytes.
    package static let maximumByteCount = 65_536

    /// Reads a JSON Web Key Set.
    ///
    /// - Throws: ``TokenKeysError``.
    package init(decoding bytes: [UInt8]) async throws(TokenKeysError) {
        let limits = JSONLimits(byteCount: Self.maximumByteCount, depth: 8)
        guard let set = try? JSONObject(decoding: bytes, limits: limits), let elements = set["keys"]?.array else {
            throw .notAKeySet
        }
        var keys: [JSONText: (name: JSONText, algorithm: any JWTAlgorithm)] = [:]
        for element in elements {
            guard let object = element.object else { throw .notAKeySet }
            guard let (name, algorithm) = try Self.algorithm(of: object) else { continue }
            guard let id = object["kid"]?.string, !id.utf8.isEmpty else { throw .keyWithoutName }
            guard keys[id] == nil else { throw .nameTwice(id.description) }
            keys[id] = (name, try await Self.key(object, id, algorithm))
        }
        guard !keys.isEmpty else { throw .noKey }
        self.keys = keys
    }

    /// The one algorithm of a key; nil for a key that is not for signatures, or of a kind that is not read.
    private static func algorithm(of key: JSONObject) throws(TokenKeysError) -> (JSONText, JWK.Algorithm)? {
        guard key["kty"] != .string("oct"), ["d", "k", "p", "q"].allSatisfy({ key[$0] == nil }) else {
            throw .secretKey
        }
        guard key["use"] == nil || key["use"] == .string("sig") else { return nil }
        let found: (JSONText, JWK.Algorithm)? =
            switch (key["kty"], key["crv"]) {
            case (.string("OKP"), .string("Ed25519")): ("EdDSA", .eddsa)
            case (.string("EC"), .string("P-256")): ("ES256", .es256)
            case (.string("RSA"), nil): ("RS256", .rs256)
            default: nil
            }
        guard let found, key["alg"] == nil || key["alg"] == .string(found.0) else { return nil }
        return found
    }

    private static func key(
        _ object: JSONObject, _ id: JSONText, _ algorithm: JWK.Algorithm
    ) async throws(TokenKeysError) -> any JWTAlgorithm {
        do {
            var key = try JSONDecoder().decode(JWK.self, from: Data(object.encoded))
            key.algorithm = algorithm
            let collection = try await JWTKeyCollection().add(jwk: key)
            return try await collection.getKey(for: JWKIdentifier(string: id.description))
        } catch { throw .notAKey(id.description) }
    }

    /// The object under the signature of one of the keys.
    ///
    /// - Throws: ``TokenFault``: `form`, `unknownKey`, `algorithm`, `signature`.
    func payload(of token: [UInt8]) throws(TokenFault) -> JSONObject {
        guard let signed = try? SignedToken(decoding: token), !signed.hasCriticalParameters,
            let payload = try? JSONObject(decoding: signed.unverifiedPayload)
        else { throw .form }
        guard let id = signed.header["kid"]?.string, let key = keys[id] else { throw .unknownKey }
        guard signed.header["alg"] == .string(key.name) else { throw .algorithm }
        guard (try? key.algorithm.verify(signed.signature, signs: signed.signedBytes)) == true else { throw .signature }
        return payload
    }
}

/// Why a file is not the keys of an issuer. The operator has to correct it.
package enum TokenKeysError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case unreadable
    /// Not JSON, or not an object with an array `keys` of objects.
    case notAKeySet
    /// A secret: a symmetric key, or the private half of a pair.
    case secretKey
    /// A key without `kid`.
    case keyWithoutName
    /// Two keys with this `kid`.
    case nameTwice(String)
    /// The key with this `kid` is none of its kind, or an RSA key of less than 2,048 bits.
    case notAKey(String)
    /// No key for signatures: Ed25519, P-256 or RSA.
    case noKey
}
