// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import StrictJSON

extension CredentialDraft {
    /// Signs the credential, with 16 fresh random bytes as the salt of each hidden claim.
    ///
    /// - Parameters:
    ///   - generator: the salts come from it, and the digests that stand for nothing.
    ///   - sign: gives r and s of the issuer's ECDSA signature over SHA-256 of the bytes, or nil.
    /// - Returns: the issuer's token and all disclosures, with tildes between: for the holder alone.
    /// - Throws: ``CredentialDraftFault``. A retry helps only where the signature could not be made.
    public func issued(
        using generator: inout some RandomNumberGenerator, sign: ([UInt8]) -> [UInt8]?
    ) throws(CredentialDraftFault) -> [UInt8] {
        try check()
        let disclosures = hidden.names.map { name in
            Disclosure(salt: Self.random(16, &generator), name: name, value: hidden[name] ?? .null)
        }
        let payload = payload(disclosures.map(\.digest) + decoys(beside: disclosures.count, &generator))
        let token = try signed(payload, sign)
        return ([token] + disclosures.map(\.text)).reduce(into: []) { $0 += $1 + [UInt8(ascii: "~")] }
    }

    private func check() throws(CredentialDraftFault) {
        guard open["vct"]?.string != nil else { throw .noType }
        for name in hidden.names {
            guard !DisclosedClaims.reserved.contains(name), name != "_sd", name != "..." else { throw .reserved(name) }
            guard open[name] == nil else { throw .twice(name) }
        }
    }

    private func payload(_ digests: [JSONText]) -> JSONObject {
        var payload = open
        payload["cnf"] = .object(["jwk": .object(holder.object)])
        payload["_sd"] = digests.isEmpty ? nil : .array(digests.sorted().map(JSONValue.string))
        return payload
    }

    private func signed(_ payload: JSONObject, _ sign: ([UInt8]) -> [UInt8]?) throws(CredentialDraftFault) -> [UInt8] {
        var header: JSONObject = ["alg": .string("ES256"), "typ": .string("dc+sd-jwt")]
        if !certificates.isEmpty {
            header["x5c"] = .array(
                certificates.map { .string(JSONText(String(decoding: Base64.encode($0), as: UTF8.self))) })
        }
        return try SignedToken.encoded(header: header, payload: payload.encoded) { bytes throws(CredentialDraftFault) in
            guard let signature = sign(bytes) else { throw .signing }
            return signature
        }
    }

    /// Digests that look like the others and stand for nothing.
    ///
    /// Spec: RFC 9901, section 4.2.5.
    private func decoys(beside count: Int, _ generator: inout some RandomNumberGenerator) -> [JSONText] {
        var decoys: [JSONText] = []
        while count + decoys.count < digestCount {
            decoys.append(PresentationVerifier.hash(of: Self.random(32, &generator)))
        }
        return decoys
    }

    private static func random(_ count: Int, _ generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes.append(UInt8.random(in: .min ... .max, using: &generator)) }
        return bytes
    }
}
