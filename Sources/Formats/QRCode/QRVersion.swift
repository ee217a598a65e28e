// SPDX-License-Identifier: Apache-2.0

/// A size of symbol, with the way its bytes are cut into blocks at level L.
struct QRVersion {
    /// 1 to 40.
    let number: Int

    var side: Int { 17 + 4 * number }

    /// Error correction bytes in each block, and number of blocks, at level L (table 9).
    private static let correction = [
        7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30,
        30, 30,
        30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ]
    private static let blocks = [
        1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19,
        19,
        20, 21, 22, 24, 25,
    ]

    var correctionCount: Int { Self.correction[number - 1] }
    var blockCount: Int { Self.blocks[number - 1] }

    /// Rows and columns of the centers of alignment patterns (annex E).
    var alignment: [Int] {
        guard number > 1 else { return [] }
        let count = number / 7 + 2
        let last = side - 7
        // Even steps from the end, rounded up to the next even number; version 32 is the exception of the table.
        let step = number == 32 ? 26 : (4 * number + 4 + 2 * count - 3) / (2 * count - 2) * 2
        return [6] + (0..<count - 1).map { last - (count - 2 - $0) * step }
    }

    /// All bytes of the symbol: what is neither a pattern nor information about format and version, divided by eight.
    var codewordCount: Int {
        var bits = (16 * number + 128) * number + 64
        if number >= 2 {
            let count = number / 7 + 2
            bits -= (25 * count - 10) * count - 55
            if number >= 7 { bits -= 36 }
        }
        return bits / 8
    }

    var contentCount: Int { codewordCount - correctionCount * blockCount }

    /// Of the length in the header, in bits.
    private var lengthBits: Int { number < 10 ? 8 : 16 }

    static func smallest(for count: Int) -> QRVersion? {
        (1...40).lazy.map { QRVersion(number: $0) }.first { version in
            4 + version.lengthBits + 8 * count <= 8 * version.contentCount
        }
    }

    /// Header, bytes and padding, cut into blocks, each with its correction bytes, interleaved.
    func codewords(for bytes: [UInt8]) -> [UInt8] {
        let content = padded(bytes)
        let short = contentCount / blockCount
        let longCount = contentCount % blockCount
        var parts: [[UInt8]] = []
        var start = 0
        for block in 0..<blockCount {
            let count = short + (block >= blockCount - longCount ? 1 : 0)
            parts.append(Array(content[start..<start + count]))
            start += count
        }
        let generator = ReedSolomon(correctionCount)
        let corrections = parts.map(generator.remainder)
        return Self.interleaved(parts) + Self.interleaved(corrections)
    }

    private static func interleaved(_ parts: [[UInt8]]) -> [UInt8] {
        let longest = parts.map(\.count).max() ?? 0
        return (0..<longest).flatMap { place in parts.compactMap { place < $0.count ? $0[place] : nil } }
    }

    private func padded(_ bytes: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, lengthBits)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, 8 * contentCount - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var content = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var padding: UInt8 = 0xEC
        while content.count < contentCount {
            content.append(padding)
            padding ^= 0xEC ^ 0x11
        }
        return content
    }
}

/// The code of section 7.5: GF(256) with x^8 + x^4 + x^3 + x^2 + 1, generator with the roots 2^0 … 2^(n-1).
struct ReedSolomon {
    private let divisor: [UInt8]

    init(_ count: Int) {
        var divisor = [UInt8](repeating: 0, count: count)
        divisor[count - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in divisor.indices {
                divisor[index] = Self.product(divisor[index], root)
                if index + 1 < count { divisor[index] ^= divisor[index + 1] }
            }
            root = Self.product(root, 2)
        }
        self.divisor = divisor
    }

    func remainder(_ bytes: [UInt8]) -> [UInt8] {
        bytes.reduce(into: [UInt8](repeating: 0, count: divisor.count)) { rest, byte in
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in rest.indices { rest[index] ^= Self.product(divisor[index], factor) }
        }
    }

    static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            if second >> bit & 1 == 1 { result ^= Int(first) }
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
