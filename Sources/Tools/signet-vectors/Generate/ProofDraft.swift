// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// A proof in pieces of bytes, each of which a case may spoil alone. Lines have their LF.
struct ProofDraft {
    var header = line("c2sp.org/tlog-proof@v1")
    var extra: [UInt8] = []
    var index: [UInt8]
    var hashes: [[UInt8]]
    var gap = line("")
    var text: [UInt8]
    var noteGap = line("")
    var signatures: [[UInt8]]

    var entry: [UInt8]
    var policy: [UInt8]
    /// The tree size and leaf index of the case before its fault was made.
    var size: UInt64
    var leafIndex: UInt64

    var proof: [UInt8] {
        header + extra + index + hashes.joined() + gap + text + noteGap + signatures.joined()
    }

    /// The proof with every LF, or the chosen ones, as CR LF.
    mutating func replace(inProof pattern: String, with replacement: String) {
        for path in [\ProofDraft.header, \.extra, \.index, \.gap, \.text, \.noteGap] {
            self[keyPath: path] = self[keyPath: path].replacing(pattern, with: replacement)
        }
        hashes = hashes.map { $0.replacing(pattern, with: replacement) }
        signatures = signatures.map { $0.replacing(pattern, with: replacement) }
    }
}

/// The bytes of a line.
func line(_ text: String) -> [UInt8] { Array(text.utf8) + [0x0A] }

/// The bytes of a line of base64.
func base64Line(_ bytes: [UInt8]) -> [UInt8] { Base64.encode(bytes) + [0x0A] }

extension [UInt8] {
    /// Every occurrence of `pattern` replaced.
    func replacing(_ pattern: String, with replacement: String) -> [UInt8] {
        replacing(Array(pattern.utf8), with: Array(replacement.utf8), maxReplacements: .max)
    }

    /// One bit flipped; a negative place counts from the end.
    func flipping(bit: Int = 0, at place: Int) -> [UInt8] {
        var bytes = self
        bytes[place < 0 ? bytes.count + place : place] ^= 1 << UInt8(bit)
        return bytes
    }

    /// The place before the LF, and any `=`, of a line of base64.
    var lastSignificantCharacter: Int { (lastIndex { $0 != 0x0A && $0 != UInt8(ascii: "=") }) ?? 0 }
}
