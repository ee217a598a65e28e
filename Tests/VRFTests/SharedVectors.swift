// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One entry of `vrf-r255/vrf-r255.json`; every string is lower-case hex.
struct VRFVector: Decodable, Sendable {
    let sk: String?
    let pk: String
    let alpha: String
    let pi: String
    let beta: String?
    let why: String?
}

/// The vectors shared with other languages, in a folder beside the package; absent in a bare checkout.
struct SharedVectors: Decodable {
    let valid: [VRFVector]
    let invalid: [VRFVector]

    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/vrf-r255/vrf-r255.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static func load() throws -> SharedVectors {
        try JSONDecoder().decode(SharedVectors.self, from: Data(contentsOf: file))
    }
}
