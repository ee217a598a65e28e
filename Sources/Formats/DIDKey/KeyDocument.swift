// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// How a document writes the key down.
public enum KeyForm: Hashable, Sendable, CaseIterable {
    /// `Multikey` with `publicKeyMultibase`, the present form.
    case multikey
    /// `JsonWebKey2020` with `publicKeyJwk`, which older verifiers want.
    case jsonWebKey
}

extension KeyDID {
    /// The document that the identifier resolves to: JSON in UTF-8, no spaces, members in a fixed order.
    ///
    /// An Ed25519 key is listed for signing only (no agreement key is derived from it), an X25519 key for agreement
    /// only, a P-256 or P-384 key for both.
    ///
    /// Spec: W3C CCG, The did:key Method, section "Document Creation Algorithm", with
    /// `enableEncryptionKeyDerivation` false; DID Core 1.0, section 5.
    public func document(as form: KeyForm = .multikey) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("{\"@context\":[\"https://www.w3.org/ns/did/v1\",\"")
        writer.write(form.context)
        writer.write("\"],\"id\":\"")
        writer.write(encoded)
        writer.write("\",\"verificationMethod\":[")
        writer.write(method(as: form))
        writer.write("]")
        for relation in relations {
            writer.write(",\"")
            writer.write(relation)
            writer.write("\":[\"")
            writer.write(keyID)
            writer.write("\"]")
        }
        writer.write("}")
        return writer.bytes
    }

    /// The key as a JSON Web Key: `kty`, `crv`, `x` and, for the NIST curves, `y`.
    ///
    /// Spec: RFC 7517, section 4; RFC 7518, section 6.2.1; RFC 8037, section 2.
    public var jsonWebKey: [UInt8] {
        // A key of this type has been checked, so the coordinates are there.
        guard let coordinates = CurveCoordinates(publicKey, of: algorithm) else { return [] }
        var writer = ByteWriter()
        writer.write("{\"kty\":\"")
        writer.write(algorithm.jsonWebKeyNames.type)
        writer.write("\",\"crv\":\"")
        writer.write(algorithm.jsonWebKeyNames.curve)
        writer.write("\",\"x\":\"")
        writer.write(Base64URL.encode(coordinates.x))
        if !coordinates.y.isEmpty {
            writer.write("\",\"y\":\"")
            writer.write(Base64URL.encode(coordinates.y))
        }
        writer.write("\"}")
        return writer.bytes
    }

    private func method(as form: KeyForm) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("{\"id\":\"")
        writer.write(keyID)
        writer.write("\",\"type\":\"")
        writer.write(form.type)
        writer.write("\",\"controller\":\"")
        writer.write(encoded)
        switch form {
        case .multikey:
            writer.write("\",\"publicKeyMultibase\":\"")
            writer.write(fingerprint)
            writer.write("\"}")
        case .jsonWebKey:
            writer.write("\",\"publicKeyJwk\":")
            writer.write(jsonWebKey)
            writer.write("}")
        }
        return writer.bytes
    }

    private var relations: [StaticString] {
        let signing: [StaticString] = [
            "authentication", "assertionMethod", "capabilityInvocation", "capabilityDelegation",
        ]
        return (algorithm.signs ? signing : []) + (algorithm.agrees ? ["keyAgreement"] : [])
    }
}

extension KeyForm {
    fileprivate var context: StaticString {
        switch self {
        case .multikey: "https://w3id.org/security/multikey/v1"
        case .jsonWebKey: "https://w3id.org/security/suites/jws-2020/v1"
        }
    }

    fileprivate var type: StaticString {
        switch self {
        case .multikey: "Multikey"
        case .jsonWebKey: "JsonWebKey2020"
        }
    }
}
