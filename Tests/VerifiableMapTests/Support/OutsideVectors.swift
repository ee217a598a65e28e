// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Published vectors of other projects, which live beside the repository and not in it.
enum OutsideVectors {
    /// `../shared/vectors`, seen from the package's root.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/vectors")

    /// Whether they are there. Without them a clone still tests everything else.
    static let present = FileManager.default.fileExists(atPath: root.path())

    static func list<Case: Decodable>(_ path: String) throws -> [Case] {
        try JSONDecoder().decode([Case].self, from: Data(contentsOf: root.appending(path: path)))
    }
}
