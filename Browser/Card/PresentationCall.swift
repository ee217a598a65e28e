// SPDX-License-Identifier: Apache-2.0

import JOSE
import SelectiveDisclosure
import StrictJSON

// For tests alone, and not in the module of the page: the whole verifier, on cases as outside vectors spell them.

/// A presentation. Input: a case as JSON, with its length, without certificates. Result: 1 accepted, and the output has its claims as JSON; 0 refused, and the
/// output has the name of the check; -1 it is no case.
@_cdecl("signet_presentation") public func signetPresentation() -> Int32 {
    output = []
    var fields = Fields()
    guard let bytes = try? fields.bytes(),
        let vector = try? JSONObject(decoding: bytes, limits: JSONLimits(byteCount: bytes.count, depth: 32)),
        let text = vector["presentation"]?.string, let now = vector["now"]?.integer,
        let policy = vector["policy"]?.object, let types = policy["vct_values"]?.strings,
        let audience = vector["aud"]?.string, let nonce = vector["nonce"]?.string,
        let age = policy["max_kb_age"]?.integer, let skew = policy["clock_skew"]?.integer,
        let keys = vector["issuer_keys"]?.object
    else { return -1 }
    var issuers: [TrustedIssuer] = []
    for name in keys.names {
        guard let key = keys[name]?.object, let web = try? WebKey(key), let signing = web.signingKey else { return -1 }
        issuers.append(TrustedIssuer(identifier: name, key: signing))
    }
    var paths: [ClaimPath] = []
    for value in policy["required_claims"]?.array ?? [] {
        guard let path = ClaimPath(value) else { return -1 }
        paths.append(path)
    }
    let request = VerificationRequest(
        types: types, requiredClaims: paths,
        binding: .init(
            isRequired: policy["require_key_binding"] != .bool(false), audience: audience, nonce: nonce,
            maximumAge: age, clockSkew: skew))
    let trust = IssuerTrust(issuers: issuers, acceptsSelfIssued: policy["allow_self_issued"] == .bool(true))
    do throws(PresentationFault) {
        output = try PresentationVerifier.verify(text.utf8, for: request, trusting: trust, at: now).claims.encoded
        return 1
    } catch {
        output = Array(error.rawValue.utf8)
        return 0
    }
}
