// SPDX-License-Identifier: Apache-2.0

import Foundation
import JOSE
import StrictJSON
import TokenStatusList

/// `credentials/status-list.json`, in a folder beside the package; absent in a bare checkout.
struct StatusVector {
    let fields: JSONObject

    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/credentials/status-list.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static func load() throws -> [StatusVector] {
        let bytes = Array(try Data(contentsOf: file))
        return (try JSONValue(decoding: bytes, limits: JSONLimits(byteCount: bytes.count, depth: 16)).array ?? [])
            .compactMap(\.object).map(StatusVector.init)
    }

    var name: String { fields["name"]?.string?.description ?? "" }
    var rule: String? { fields["rule"]?.string?.description }
    var value: Int64? { fields["value"]?.integer }
    var token: [UInt8] { fields["token"]?.string?.utf8 ?? [] }

    func status(_ text: [UInt8]? = nil) throws(StatusFault) -> UInt8 {
        let reference = try StatusReference(fields["status"]?.object ?? [:])
        guard let object = fields["issuer_key"]?.object, let key = try? WebKey(object).signingKey else {
            throw .signature
        }
        let limits = StatusListLimits(
            maximumAge: fields["max_age"]?.integer ?? 0, maximumByteCount: Int(fields["max_bytes"]?.integer ?? 0))
        return try StatusListVerifier.verify(
            text ?? token, for: reference, signedBy: key, limits: limits, at: fields["now"]?.integer ?? 0
        ).status(at: reference.index)
    }

    func refusal(_ text: [UInt8]? = nil) -> StatusFault? {
        do {
            _ = try status(text)
            return nil
        } catch { return error }
    }
}
