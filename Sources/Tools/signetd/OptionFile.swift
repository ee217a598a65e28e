// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// A file that an option names.
enum OptionFile {
    /// All of its bytes.
    ///
    /// - Throws: `ValidationError`: it cannot be read, or is empty.
    static func read(_ path: String, _ option: String) throws -> [UInt8] {
        guard let bytes = contents(path), !bytes.isEmpty else {
            throw ValidationError("\(option): \(path) cannot be read, or is empty")
        }
        return bytes
    }

    /// All of a file's bytes; nil if it cannot be read.
    static func contents(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

    /// Whether a file can be read; a folder cannot.
    static func canBeRead(_ path: String) -> Bool { contents(path) != nil }
}
