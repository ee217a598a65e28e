// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// A file that an option names.
enum OptionFile {
    /// All of its bytes.
    ///
    /// - Throws: `ValidationError`: it cannot be read, or is empty.
    static func read(_ path: String, _ option: String) throws -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else {
            throw ValidationError("\(option): \(path) cannot be read, or is empty")
        }
        return Array(bytes)
    }
}
