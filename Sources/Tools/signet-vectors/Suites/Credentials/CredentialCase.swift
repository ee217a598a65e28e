// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import CredentialChains
import Crypto
import JOSE
import StrictJSON

/// One case of a set around credentials: named inputs, a verdict, and the check that refuses a bad one.
struct CredentialCase {
    let path: String
    let fields: JSONObject

    /// The cases of a file.
    static func load(_ path: String) throws(VectorFileError) -> [CredentialCase] {
        let bytes = try VectorFile(path).bytes()
        let value: JSONValue
        do { value = try JSONValue(decoding: bytes, limits: JSONLimits(byteCount: bytes.count, depth: 32)) } catch {
            throw .malformed(path: path, reason: "not JSON: \(error)")
        }
        guard let cases = value.array else { throw .malformed(path: path, reason: "not a list") }
        guard !cases.isEmpty else { throw .noCases(path: path) }
        var read: [CredentialCase] = []
        for element in cases {
            guard let fields = element.object else { throw .malformed(path: path, reason: "a case is not an object") }
            read.append(CredentialCase(path: path, fields: fields))
        }
        return read
    }

    private func missing(_ name: JSONText) -> VectorFileError {
        .malformed(path: path, reason: "field \"\(name)\" is missing or of another kind")
    }

    func text(_ name: JSONText) throws(VectorFileError) -> JSONText {
        guard let text = fields[name]?.string else { throw missing(name) }
        return text
    }

    func number(_ name: JSONText) throws(VectorFileError) -> Int64 {
        guard let number = fields[name]?.integer else { throw missing(name) }
        return number
    }

    func object(_ name: JSONText) throws(VectorFileError) -> JSONObject {
        guard let object = fields[name]?.object else { throw missing(name) }
        return object
    }

    func array(_ name: JSONText) throws(VectorFileError) -> [JSONValue] {
        guard let array = fields[name]?.array else { throw missing(name) }
        return array
    }

    func key(_ name: JSONText) throws(VectorFileError) -> WebKey {
        guard let key = try? WebKey(try object(name)) else { throw missing(name) }
        return key
    }

    /// Trust in the roots of a field, DER in base64.
    func roots(_ name: JSONText) throws(VectorFileError) -> RootTrust {
        let certificates = try array(name).compactMap { $0.string.flatMap { try? Base64.decode($0.utf8) } }
        guard let trust = try? RootTrust(roots: certificates), certificates.count == fields[name]?.array?.count else {
            throw missing(name)
        }
        return trust
    }

    /// Counts a case: the verdict decides; another check than the set names is remarked.
    ///
    /// - Parameters:
    ///   - refusal: the name of the check that refused it, nil if none did.
    ///   - difference: what an accepted case gives otherwise than the set says.
    func count(_ report: inout VectorReport, refusal: String?, difference: String?) throws(VectorFileError) {
        let name = try text("name").description
        guard case .bool(let isValid)? = fields["valid"] else { throw missing("valid") }
        if isValid, refusal == nil, let difference { return report.add(name, failure: difference) }
        report.add(name, valid: isValid, refusal: refusal, about: fields["why"]?.string?.description)
        guard let refusal, let rule = fields["rule"]?.string?.description, rule != refusal else { return }
        report.remark("\(name): refused by \(refusal), the set says \(rule)")
    }
}
