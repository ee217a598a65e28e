// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import JOSE
import SelectiveDisclosure
import StrictJSON

/// `credentials/sd-jwt-vc.json`, in a folder beside the package; absent in a bare checkout.
struct PresentationVector: Sendable {
    let fields: JSONObject

    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/credentials/sd-jwt-vc.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static func load() throws -> [PresentationVector] {
        let bytes = Array(try Data(contentsOf: file))
        let limits = JSONLimits(byteCount: bytes.count, depth: 16)
        return (try JSONValue(decoding: bytes, limits: limits).array ?? []).compactMap(\.object)
            .map(PresentationVector.init)
    }

    /// The case whose name begins so.
    static func named(_ prefix: String) throws -> PresentationVector {
        try load().first { $0.name.hasPrefix(prefix) } ?? PresentationVector(fields: [:])
    }

    var name: String { fields["name"]?.string?.description ?? "" }
    var rule: String? { fields["rule"]?.string?.description }
    var presentation: [UInt8] { fields["presentation"]?.string?.utf8 ?? [] }
    var now: Int64 { fields["now"]?.integer ?? 0 }
    var claims: JSONObject? { fields["claims"]?.object }
    private var policy: JSONObject { fields["policy"]?.object ?? [:] }

    /// Whether the case is about certificates, for which another module is needed.
    var hasCertificates: Bool {
        SeparatedHeader(presentation).contains(Array("\"x5c\"".utf8))
    }

    var request: VerificationRequest {
        VerificationRequest(
            types: policy["vct_values"]?.strings ?? [],
            requiredClaims: (policy["required_claims"]?.array ?? []).compactMap { ClaimPath($0) },
            binding: .init(
                isRequired: policy["require_key_binding"] != .bool(false), audience: fields["aud"]?.string ?? "",
                nonce: fields["nonce"]?.string ?? "", maximumAge: policy["max_kb_age"]?.integer ?? 0,
                clockSkew: policy["clock_skew"]?.integer ?? 0))
    }

    var trust: IssuerTrust {
        let issuers = (fields["issuer_keys"]?.object ?? [:]).members.compactMap { name, key in
            key.object.flatMap { try? WebKey($0).signingKey }.map { TrustedIssuer(identifier: name, key: $0) }
        }
        return IssuerTrust(issuers: issuers, acceptsSelfIssued: policy["allow_self_issued"] == .bool(true))
    }

    func verify(_ text: [UInt8]? = nil) throws(PresentationFault) -> VerifiedPresentation {
        try PresentationVerifier.verify(text ?? presentation, for: request, trusting: trust, at: now)
    }

    /// The name of the check that refuses a text, nil if none does.
    func refusal(_ text: [UInt8]? = nil) -> String? {
        do {
            _ = try verify(text)
            return nil
        } catch { return error.rawValue }
    }
}

/// The decoded header of the first token.
struct SeparatedHeader {
    private let header: [UInt8]

    init(_ text: [UInt8]) { header = (try? Base64URL.decode(Array(text.prefix { $0 != UInt8(ascii: ".") }))) ?? [] }

    func contains(_ bytes: [UInt8]) -> Bool {
        header.indices.contains { header[$0...].starts(with: bytes) }
    }
}
