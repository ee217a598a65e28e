// SPDX-License-Identifier: Apache-2.0

import Foundation
import StrictJSON

/// The sets of `credentials`, in a folder beside the package; absent in a bare checkout.
enum CredentialVectors {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/credentials").standardized

    static var arePresent: Bool { FileManager.default.fileExists(atPath: folder.path()) }

    static func load(_ name: String) throws -> [JSONObject] {
        let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
        let limits = JSONLimits(byteCount: bytes.count, depth: 32)
        return (try JSONValue(decoding: bytes, limits: limits).array ?? []).compactMap(\.object)
    }
}

extension JSONObject {
    func text(_ name: JSONText) -> String? { self[name]?.string?.description }
    func bytes(_ name: JSONText) -> [UInt8]? { self[name]?.string?.utf8 }
}
