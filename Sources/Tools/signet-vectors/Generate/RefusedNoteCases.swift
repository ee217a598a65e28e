// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// Faults of the signed note as such: its bytes and its signature lines.
enum RefusedNoteCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        try structure(bench) + unknownLines(bench) + characters(bench)
    }

    private static func structure(_ bench: VectorBench) throws -> [TlogProofCase] {
        [
            try bench.refuse("final-newline-missing", .note, "the file does not end in LF") {
                $0.signatures[2].removeLast()
            },
            try bench.refuse("empty-line-at-end", .note, "an empty line after the last signature") {
                $0.signatures.append(line(""))
            },
            try bench.refuse("line-at-end", .note, "a line that is no signature after the last one") {
                $0.signatures.append(line("end"))
            },
            try bench.refuse("no-signatures", .note, "no signature line") { $0.signatures = [] },
            try bench.refuse("no-empty-line", .note, "no empty line between text and signatures") {
                $0.noteGap = []
            },
            try bench.refuse(
                "empty-line-between-signatures", .checkpoint,
                "an empty line between signatures, so the first ones are text"
            ) {
                $0.signatures.insert(line(""), at: 1)
            },
            try bench.refuse(
                "hyphen-for-dash", .note, "a cosignature line starts with a hyphen in place of U+2014"
            ) {
                $0.signatures[1] = $0.signatures[1].replacing("—", with: "-")
            },
            try bench.refuse("en-dash", .note, "a cosignature line starts with U+2013 in place of U+2014") {
                $0.signatures[1] = $0.signatures[1].replacing("—", with: "\u{2013}")
            },
            try bench.refuse("dash-without-space", .note, "no space after the dash") {
                $0.signatures[1] = $0.signatures[1].replacing("— ", with: "—")
            },
            try bench.refuse("two-spaces-before-signature", .note, "two spaces before the base64") {
                $0.signatures[1] = $0.signatures[1].replacing("alpha ", with: "alpha  ")
            },
            try bench.refuse("trailing-space", .note, "a space at the end of a signature line") {
                $0.signatures[1] = $0.signatures[1].replacing("\n", with: " \n")
            },
            try bench.refuse("signature-crlf", .note, "a signature line ends in CR LF") {
                $0.signatures[1] = $0.signatures[1].replacing("\n", with: "\r\n")
            },
        ]
    }

    /// Lines of unknown keys, which must still be well formed.
    private static func unknownLines(_ bench: VectorBench) throws -> [TlogProofCase] {
        let lines: [(String, String, String)] = [
            (
                "unknown-line-base64", "a * in the base64 of a line of an unknown key",
                "— stranger.example AAAAAAA*"
            ),
            ("unknown-line-padding", "no padding in a line of an unknown key", "— stranger.example AAAAAAA"),
            (
                "unknown-line-pad-bits", "unused bits that are not zero in a line of an unknown key",
                "— stranger.example AAAAAAB="
            ),
            (
                "unknown-line-url-safe", "the URL-safe alphabet in a line of an unknown key",
                "— stranger.example AAAA-_-_"
            ),
            (
                "unknown-line-two-bytes", "a line of an unknown key without a whole key ID",
                "— stranger.example AAA="
            ),
            ("unknown-line-no-signature", "a line of an unknown key without base64", "— stranger.example"),
            ("unknown-line-no-name", "a signature line without a name", "—  AAAAAAA="),
            ("name-with-space", "a space in a key name", "— stranger example AAAAAAA="),
            ("name-with-plus", "a plus sign in a key name", "— stranger+example AAAAAAA="),
            ("name-with-no-break-space", "U+00A0 in a key name", "— stranger\u{A0}example AAAAAAA="),
            ("name-with-ideographic-space", "U+3000 in a key name", "— stranger\u{3000}example AAAAAAA="),
            ("name-with-line-separator", "U+2028 in a key name", "— stranger\u{2028}example AAAAAAA="),
        ]
        return try lines.map { name, reason, text in
            try bench.refuse(name, .note, reason) { $0.signatures.append(line(text)) }
        }
    }

    /// Bytes that no note may have. Those in the text are properly signed.
    private static func characters(_ bench: VectorBench) throws -> [TlogProofCase] {
        let inText: [(String, String, [UInt8])] = [
            ("text-nul", "a NUL in a signed extension line", [0x00]),
            ("text-tab", "a tab in a signed extension line", [0x09]),
            ("text-cr", "a CR in a signed extension line", [0x0D]),
            ("text-escape", "an escape character in a signed extension line", [0x1B]),
            ("text-latin-1", "a byte in a signed extension line that is Latin-1 and not UTF-8", [0xE9]),
        ]
        let inName: [(String, String, [UInt8])] = [
            ("utf8-overlong", "an overlong encoding of a slash in a key name", [0xC0, 0xAF]),
            ("utf8-surrogate", "an encoded surrogate in a key name", [0xED, 0xA0, 0x80]),
            ("utf8-beyond-unicode", "an encoding beyond U+10FFFF in a key name", [0xF4, 0x90, 0x80, 0x80]),
            ("utf8-cut-short", "half a character in a key name", [0xE2, 0x82]),
            ("utf8-byte-ff", "the byte 0xFF in a key name", [0xFF]),
        ]
        return try inText.map { name, reason, bytes in
            try bench.refuse(name, .note, reason) {
                $0.text += Array("extension ".utf8) + bytes + [0x0A]
                $0.signatures = try bench.sign($0.text)
            }
        }
            + inName.map { name, reason, bytes in
                try bench.refuse(name, .note, reason) {
                    $0.signatures.append(Array("— stranger".utf8) + bytes + line(".example AAAAAAA="))
                }
            }
    }
}
