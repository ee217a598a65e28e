// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The claims that a payload and disclosures give together: each digest that has a disclosure is replaced by it, the others go.
///
/// Spec: RFC 9901, section 7.1, steps 3 to 5.
struct DisclosedClaims {
    /// Arrays and objects within each other, those of disclosures counted where they come to stand.
    static let maximumDepth = 16
    /// Never from a disclosure: a verifier that gets no disclosure at all must see them.
    ///
    /// Spec: draft-ietf-oauth-sd-jwt-vc, section 2.2.2.2. `_sd_alg` would change what the digests mean.
    static let reserved: Set<JSONText> = [
        "iss", "nbf", "exp", "cnf", "vct", "vct#integrity", "aka_vcts", "status", "_sd_alg",
    ]

    private(set) var claims = JSONObject()
    private var disclosures: [JSONText: Disclosure] = [:]
    private var seen: Set<JSONText> = []
    private var used = 0

    init(_ payload: JSONObject, _ texts: [[UInt8]]) throws(PresentationFault) {
        try read(texts)
        var payload = payload
        payload["_sd_alg"] = nil
        claims = try resolved(payload, depth: 1)
        guard used == disclosures.count else { throw .disclosureUnreferenced }
    }

    private mutating func read(_ texts: [[UInt8]]) throws(PresentationFault) {
        for text in texts {
            let disclosure = try Disclosure(decoding: text)
            guard disclosures.updateValue(disclosure, forKey: disclosure.digest) == nil else {
                throw .disclosureDuplicate
            }
        }
    }

    /// The disclosure of a digest, nil if it was not sent.
    private mutating func disclosure(of digest: JSONText) throws(PresentationFault) -> Disclosure? {
        guard seen.insert(digest).inserted else { throw .digestDuplicate }
        guard let disclosure = disclosures[digest] else { return nil }
        used += 1
        return disclosure
    }

    private mutating func resolved(_ value: JSONValue, depth: Int) throws(PresentationFault) -> JSONValue {
        switch value {
        case .object(let object): return .object(try resolved(object, depth: depth + 1))
        case .array(let elements): return .array(try resolved(elements, depth: depth + 1))
        case .null, .bool, .number, .string: return value
        }
    }

    private mutating func resolved(_ object: JSONObject, depth: Int) throws(PresentationFault) -> JSONObject {
        guard depth <= Self.maximumDepth else { throw .limits }
        guard object["..."] == nil else { throw .digestForm }
        var result = JSONObject()
        for name in object.names where name != "_sd" {
            result[name] = try object[name].map { value throws(PresentationFault) in try resolved(value, depth: depth) }
        }
        guard let digests = object["_sd"] else { return result }
        guard let digests = digests.strings else { throw .digestForm }
        for digest in digests {
            guard let disclosure = try disclosure(of: digest) else { continue }
            try insert(disclosure, into: &result, depth: depth)
        }
        return result
    }

    private mutating func insert(
        _ disclosure: Disclosure, into object: inout JSONObject, depth: Int
    ) throws(PresentationFault) {
        guard let name = disclosure.name else { throw .disclosureForm }
        guard name != "_sd", name != "..." else { throw .disclosureName }
        guard depth > 1 || !Self.reserved.contains(name) else { throw .disclosureReserved }
        guard object[name] == nil else { throw .disclosureName }
        object[name] = try resolved(disclosure.value, depth: depth)
    }

    private mutating func resolved(_ elements: [JSONValue], depth: Int) throws(PresentationFault) -> [JSONValue] {
        guard depth <= Self.maximumDepth else { throw .limits }
        var result: [JSONValue] = []
        for element in elements {
            guard let object = element.object, let place = object["..."] else {
                result.append(try resolved(element, depth: depth))
                continue
            }
            guard object.members.count == 1, let digest = place.string else { throw .digestForm }
            guard let disclosure = try disclosure(of: digest) else { continue }
            guard disclosure.name == nil else { throw .disclosureForm }
            result.append(try resolved(disclosure.value, depth: depth))
        }
        return result
    }
}
