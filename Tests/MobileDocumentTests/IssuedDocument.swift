// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto
import JOSE
import MobileDocument
import SeededRandomness

/// Trust in the certificates of these tests, which are no real certificates: their bytes stand for a key and a time.
struct TestTrust: CertificateTrust {
    var keys: [[UInt8]: P256.Signing.PublicKey]
    var validity: ClosedRange<Int64> = 0...4_000_000_000

    func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner {
        guard chain.count == 1, let key = keys[chain[0]] else { throw .chain }
        guard validity.contains(now) else { throw .validity }
        return CertifiedSigner(key: key, hosts: [], identifiers: [], certificate: chain[0])
    }
}

/// A document that was issued and shown here.
struct IssuedDocument {
    static let type: CBORText = "eu.europa.ec.av.1"
    static let now: Int64 = 1_800_000_000
    let issuer = P256.Signing.PrivateKey()
    let device = P256.Signing.PrivateKey()
    let certificate: [UInt8] = Array("a certificate".utf8)
    let session = SessionTranscript(
        clientID: "x509_san_dns:shop.example", nonce: "DIUuBXAsDikTJAnHI39VOw7C",
        keyThumbprint: [UInt8](repeating: 7, count: 32), responseAddress: "https://shop.example/response")

    var trust: TestTrust { TestTrust(keys: [certificate: issuer.publicKey]) }

    var request: MobileDocumentRequest {
        MobileDocumentRequest(
            documentType: Self.type, requiredElements: [ElementName(Self.type, "age_over_18")], session: session)
    }

    var draft: MobileDocumentDraft {
        MobileDocumentDraft(
            documentType: Self.type,
            elements: [
                (ElementName(Self.type, "age_over_18"), .bool(true)), (ElementName(Self.type, "given_name"), "Ming"),
                (ElementName("org.iso.18013.5.1", "portrait"), .bytes([1, 2, 3])),
            ], deviceKey: device.publicKey, certificate: certificate, validity: Self.now - 60...Self.now + 60)
    }

    static func sign(_ key: P256.Signing.PrivateKey) -> ([UInt8]) throws -> [UInt8] {
        { Array(try key.signature(for: $0).rawRepresentation) }
    }

    func held(_ draft: MobileDocumentDraft? = nil) throws -> HeldMobileDocument {
        var generator = SeededGenerator(seed: 18013)
        return try (draft ?? self.draft).issued(using: &generator) { try? Self.sign(issuer)($0) }
    }

    func shown(_ names: Set<CBORText> = ["age_over_18"]) throws -> [UInt8] {
        try held().presented(
            disclosing: { names.contains($0.identifier) }, in: session, sign: Self.sign(device))
    }

    func verified(
        _ bytes: [UInt8], for request: MobileDocumentRequest? = nil, trusting trust: TestTrust? = nil,
        at now: Int64 = Self.now
    ) throws(MobileDocumentFault) -> VerifiedMobileDocument {
        try MobileDocumentVerifier.verify(bytes, for: request ?? self.request, trusting: trust ?? self.trust, at: now)
    }

    func fault(
        _ bytes: [UInt8], for request: MobileDocumentRequest? = nil, trusting trust: TestTrust? = nil,
        at now: Int64 = Self.now
    ) -> MobileDocumentFault? {
        do throws(MobileDocumentFault) {
            _ = try verified(bytes, for: request, trusting: trust, at: now)
            return nil
        } catch { return error }
    }

    /// A shown document in which an attacker has replaced one value.
    func changed(_ path: [CBORValue], to value: CBORValue?) throws -> [UInt8] {
        try CBORValue(decoding: shown()).replacing(path[...], by: value).encoded
    }

    /// A shown document whose security object the issuer signed with one other value.
    func misissued(_ path: [CBORValue], to value: CBORValue?) throws -> [UInt8] {
        let shown = try CBORValue(decoding: shown())
        let proofPath: [CBORValue] = ["documents", 0, "issuerSigned", "issuerAuth"]
        let payload = try needed(shown.value(at: proofPath + [2])?.bytes)
        let object = try needed(try CBORValue(decoding: payload).encodedItem)
        let changed = try CBORValue(decoding: object).replacing(path[...], by: value)
        let proof = try COSESign1.encoded(
            payload: CBORValue.encodedItem(changed.encoded).encoded,
            unprotected: try CBORMap([(33 as CBORValue, .bytes(certificate))]), sign: Self.sign(issuer))
        return try shown.replacing(proofPath[...], by: proof).encoded
    }
}

struct NoValue: Error {}

/// A value that a test cannot go on without.
func needed<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw NoValue() }
    return value
}

extension CBORValue {
    /// A map of literals.
    static func entries(_ entries: KeyValuePairs<CBORValue, CBORValue>) throws -> CBORValue {
        .map(try CBORMap(entries.map { ($0.key, $0.value) }))
    }

    /// The value at the end of a path of keys and indexes.
    func value(at path: [CBORValue]) -> CBORValue? {
        path.reduce(self) { value, step in
            value?.map?[step] ?? value?.array.flatMap { elements in step.integer.map { elements[Int($0)] } }
        }
    }

    /// This value with another at the end of a path, or with none there.
    func replacing(_ path: ArraySlice<CBORValue>, by value: CBORValue?) throws -> CBORValue {
        guard let step = path.first else { return try needed(value) }
        let isLast = path.count == 1
        if let map {
            var entries: [(CBORValue, CBORValue)] = []
            for entry in map.entries where entry.key != step || !isLast {
                let isOnWay = entry.key == step
                entries.append(
                    (entry.key, isOnWay ? try entry.value.replacing(path.dropFirst(), by: value) : entry.value))
            }
            if isLast, let value { entries.append((step, value)) }
            return .map(try CBORMap(entries))
        }
        var elements = try needed(array)
        let place = Int(try needed(step.integer))
        if isLast, value == nil {
            elements.remove(at: place)
        } else {
            elements[place] = try elements[place].replacing(path.dropFirst(), by: value)
        }
        return .array(elements)
    }
}
