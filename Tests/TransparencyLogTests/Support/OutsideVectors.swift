// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Published vectors of other projects, which live beside the repository and not in it.
enum OutsideVectors {
    /// The folder in `SIGNET_VECTORS`, or `../shared/vectors` seen from the package's root.
    static let root =
        ProcessInfo.processInfo.environment["SIGNET_VECTORS"].map { URL(filePath: $0) }
        ?? URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/vectors")

    /// Whether they are there. Without them a clone still tests everything else.
    static let present = FileManager.default.fileExists(atPath: root.path())

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: root.appending(path: path)))
    }

    static func list<Case: Decodable>(_ path: String) throws -> [Case] {
        try JSONDecoder().decode([Case].self, from: Data(contentsOf: root.appending(path: path)))
    }

    /// The files below a folder, as paths relative to it.
    static func files(below path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: path).path()).sorted()
    }
}
