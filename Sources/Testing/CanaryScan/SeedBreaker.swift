// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecureCell

/// Reads everything that is sealed under a key that is in the same database: what the server of a notes app can do
/// whose secret key is `secret-` and the user's name.
///
/// It knows nothing of where in the database names and posts are: it takes every word for either.
public enum SeedBreaker {
    /// What opened, of all posts in a database and all cells in it, under keys made of its words.
    public static func opened(in database: [UInt8]) -> [[UInt8]] {
        let words = Set(words(database))
        let keys = words.filter { $0.count <= 64 }.map { SymmetricKey(data: Array("secret-".utf8) + $0) }
        let cells = words.compactMap(cell) + binaryCells(database)
        return cells.compactMap { cell in
            keys.lazy.compactMap { try? Seal.open(cell, key: $0, reading: .compatible) }.first
        }
    }

    /// Runs of letters, digits, `%`, `-` and `_`.
    private static func words(_ bytes: [UInt8]) -> [[UInt8]] {
        let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%-_".utf8)
        return bytes.split { !letters.contains($0) }.filter { $0.count >= 8 }.map(Array.init)
    }

    /// A cell in the app's own text encoding.
    private static func cell(_ word: [UInt8]) -> [UInt8]? {
        guard let cell = try? PercentBase64.decode(word, reading: .compatible), cell.starts(with: start) else {
            return nil
        }
        return cell
    }

    /// Cells as they are, of the length that they state.
    private static func binaryCells(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.indices.compactMap { index in
            guard bytes[index...].starts(with: start), bytes.count - index > 44 else { return nil }
            let count = (0..<4).reduce(0) { $0 | Int(bytes[index + 12 + $1]) << (8 * $1) }
            guard count <= bytes.count - index - 44 else { return nil }
            return Array(bytes[index..<index + 44 + count])
        }
    }

    /// Seal under a key, in the one form that Themis prints.
    private static let start: [UInt8] = [0, 1, 1, 0x40, 12, 0, 0, 0, 16, 0, 0, 0]
}
