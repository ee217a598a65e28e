// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

extension QRSymbol {
    /// The symbol as ``text``, in black on white regardless of the terminal's colours: cameras do not read a light
    /// symbol on a dark background.
    ///
    /// Spec: ECMA-48, 5th edition, section 8.3.117 (SGR), with the bright white, 97, that terminals add to it.
    public var terminalText: String {
        text.split(separator: "\n").map { line in
            // The text draws light modules in the colour of writing: here that is white, on black.
            "\u{1B}[97;40m\(line)\u{1B}[0m"
        }.joined(separator: "\n")
    }

    /// The symbol as a picture, with the quiet zone of four modules around.
    ///
    /// Spec: PNG (W3C Recommendation, third edition), sections 5 and 11: grayscale of one bit; the samples in stored blocks of
    /// RFC 1951, so that nothing is compressed.
    ///
    /// - Parameter scale: pixels on a module's side, 1 to 64.
    public func png(scale: Int = 8) -> [UInt8] {
        let scale = min(max(scale, 1), 64)
        let pixels = (side + 8) * scale
        var header: [UInt8] = Self.big(UInt32(pixels)) + Self.big(UInt32(pixels))
        header += [1, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header)
            + Self.chunk("IDAT", Self.stored(samples(scale))) + Self.chunk("IEND", [])
    }

    /// Each row begins with its filter, none; then a bit for each pixel, 1 for light.
    private func samples(_ scale: Int) -> [UInt8] {
        let pixels = (side + 8) * scale
        return (0..<side + 8).flatMap { row -> [UInt8] in
            var line = [UInt8](repeating: 0, count: 1 + (pixels + 7) / 8)
            for column in 0..<pixels where !isDark(row: row - 4, column: column / scale - 4) {
                line[1 + column / 8] |= 0x80 >> UInt8(column % 8)
            }
            return Array([[UInt8]](repeating: line, count: scale).joined())
        }
    }

    /// Zlib's frame around blocks that are stored as they are, each of at most 65,535 bytes.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65_535) {
            let block = bytes[start..<min(start + 65_535, bytes.count)]
            let (low, high) = (UInt8(block.count & 255), UInt8(block.count >> 8))
            stream += [start + block.count == bytes.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        return stream + big(adler(bytes))
    }

    /// RFC 1950, section 8.2.
    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        let (first, second) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let first = (sums.0 + UInt32(byte)) % 65_521
            return (first, (sums.1 + first) % 65_521)
        }
        return second << 16 | first
    }

    private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + bytes
        return big(UInt32(bytes.count)) + body + big(CRC32.checksum(of: body))
    }

    private static func big(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
    }
}
