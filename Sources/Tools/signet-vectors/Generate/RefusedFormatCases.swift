// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// Faults of the proof's own lines, before the checkpoint.
enum RefusedFormatCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        try headers(bench) + extras(bench) + indexes(bench) + hashes(bench)
    }

    private static func headers(_ bench: VectorBench) throws -> [TlogProofCase] {
        let headers: [(String, String, [UInt8])] = [
            ("header-missing", "no header line", []),
            ("header-version", "the header names version 2", line("c2sp.org/tlog-proof@v2")),
            ("header-upper-case", "the header is in upper case", line("C2SP.ORG/TLOG-PROOF@V1")),
            ("header-trailing-space", "a space after the header", line("c2sp.org/tlog-proof@v1 ")),
            ("header-crlf", "the header ends in CR LF", line("c2sp.org/tlog-proof@v1\r")),
            (
                "header-byte-order-mark", "a byte order mark before the header",
                line("\u{FEFF}c2sp.org/tlog-proof@v1")
            ),
            ("header-after-empty-line", "an empty line before the header", line("\nc2sp.org/tlog-proof@v1")),
        ]
        return try headers.map { name, reason, bytes in
            try bench.refuse(name, .format, reason) { $0.header = bytes }
        }
            + [
                try bench.refuse("crlf-everywhere", .format, "every line ends in CR LF") {
                    $0.replace(inProof: "\n", with: "\r\n")
                },
                try bench.refuse("gap-missing", .format, "no empty line before the checkpoint") {
                    $0.gap = []
                },
                try bench.refuse("gap-with-space", .format, "a space on the empty line before the checkpoint") {
                    $0.gap = line(" ")
                },
                try bench.refuse(
                    "gap-doubled", .checkpoint,
                    "two empty lines before the checkpoint, so its first line is empty"
                ) {
                    $0.gap = line("\n")
                },
                try bench.refuse(
                    "empty-line-before-hashes", .checkpoint,
                    "an empty line before the hashes, so they are not read as such"
                ) {
                    $0.hashes.insert(line(""), at: 0)
                },
            ]
    }

    private static func extras(_ bench: VectorBench) throws -> [TlogProofCase] {
        let lines: [(String, String, [UInt8])] = [
            ("extra-empty", "an extra line without data; without data the line is left out", line("extra ")),
            ("extra-no-space", "no space after the word extra", line("extra")),
            ("extra-two-spaces", "two spaces after the word extra", line("extra  AAAA")),
            ("extra-trailing-space", "a space after the extra data", line("extra AAAA ")),
            ("extra-not-base64", "a * in the extra data", line("extra AA*A")),
            ("extra-url-safe", "the extra data is in the URL-safe alphabet", line("extra -_-_")),
            ("extra-padding-missing", "the extra data has no padding", line("extra AA")),
            ("extra-padding-surplus", "the extra data has surplus padding", line("extra AAAA====")),
            ("extra-pad-bits", "the unused bits of the extra data are not zero", line("extra AB==")),
            ("extra-cr", "the extra line ends in CR LF", line("extra AAAA\r")),
            ("extra-twice", "two extra lines", line("extra AAAA\nextra AAAA")),
            ("extra-upper-case", "the word extra is in upper case", line("EXTRA AAAA")),
        ]
        return try lines.map { name, reason, bytes in
            try bench.refuse(name, .format, reason) { $0.extra = bytes }
        }
            + [
                try bench.refuse("extra-after-index", .format, "the extra line stands after the index") {
                    $0.index += line("extra AAAA")
                }
            ]
    }

    private static func indexes(_ bench: VectorBench) throws -> [TlogProofCase] {
        let lines: [(String, String, [UInt8])] = [
            ("index-missing", "no index line", []),
            ("index-empty", "no number on the index line", line("index ")),
            ("index-plus-sign", "the index has a plus sign", line("index +6")),
            ("index-minus-sign", "the index has a minus sign", line("index -6")),
            ("index-leading-zero", "the index has a leading zero", line("index 06")),
            ("index-two-spaces", "two spaces after the word index", line("index  6")),
            ("index-tab", "a tab after the word index", line("index\t6")),
            ("index-trailing-space", "a space after the index", line("index 6 ")),
            ("index-cr", "the index line ends in CR LF", line("index 6\r")),
            ("index-hexadecimal", "the index is hexadecimal", line("index 0x6")),
            ("index-fraction", "the index is a decimal fraction", line("index 6.0")),
            ("index-arabic-digit", "the index is an Arabic-Indic digit", line("index \u{666}")),
            ("index-two-to-64-plus-6", "the index is 2^64 + 6", line("index 18446744073709551622")),
            ("index-twice", "two index lines", line("index 6\nindex 6")),
        ]
        return try lines.map { name, reason, bytes in
            try bench.refuse(name, .format, reason) { $0.index = bytes }
        }
            + [
                try bench.refuse("index-minus-zero", .format, "the index is written -0") {
                    $0 = try bench.draft(index: 0)
                    $0.index = line("index -0")
                }
            ]
    }

    private static func hashes(_ bench: VectorBench) throws -> [TlogProofCase] {
        let bytes = [UInt8](repeating: 0xFB, count: 32)
        let faults: [(String, String, ([UInt8]) -> [UInt8])] = [
            ("hash-31-bytes", "a hash of 31 bytes", { _ in base64Line(Array(bytes.dropLast())) }),
            ("hash-33-bytes", "a hash of 33 bytes", { _ in base64Line(bytes + [1]) }),
            (
                "hash-pad-bits", "the unused bits of a hash are not zero",
                { $0.incrementing(at: $0.lastSignificantCharacter) }
            ),
            ("hash-padding-missing", "a hash without its =", { $0.dropLast(2) + [0x0A] }),
            ("hash-padding-doubled", "a hash with two =", { $0.dropLast() + line("=") }),
            (
                "hash-url-safe", "a hash in the URL-safe alphabet",
                { _ in base64Line(bytes).replacing("+", with: "-") }
            ),
            ("hash-hexadecimal", "a hash in hexadecimal", { _ in Hex.encode(bytes) + [0x0A] }),
            ("hash-cr-at-end", "a hash line ends in CR LF", { $0.dropLast() + line("\r") }),
            ("hash-cr-inside", "a CR within a hash", { $0[..<9] + [0x0D] + $0[9...] }),
            ("hash-trailing-space", "a space after a hash", { $0.dropLast() + line(" ") }),
            ("hash-leading-space", "a space before a hash", { [0x20] + $0 }),
            ("hash-nul", "a NUL after a hash", { $0.dropLast() + [0x00, 0x0A] }),
        ]
        return try faults.map { name, reason, spoil in
            try bench.refuse(name, .format, reason) { $0.hashes[1] = spoil($0.hashes[1]) }
        } + [
            try bench.refuse("hash-count-65", .format, "65 hashes, where no tree has a path of more than 64") {
                $0.hashes = Array(repeating: $0.hashes[0], count: 65)
            }
        ]
    }
}

extension [UInt8] {
    /// The character of the base64 alphabet after the one at `place`: another value for the unused bits.
    fileprivate func incrementing(at place: Int) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var bytes = self
        if let value = alphabet.firstIndex(of: bytes[place]) { bytes[place] = alphabet[value + 1] }
        return bytes
    }
}
