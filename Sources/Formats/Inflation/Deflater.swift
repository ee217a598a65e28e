// SPDX-License-Identifier: Apache-2.0

/// Deflates bytes that are mostly runs of one byte, such as lists in which few entries are set.
///
/// It compresses only such runs, as copies of the byte before them, and no other repetition.
///
/// Spec: RFC 1951, section 3.2.7: one block with dynamic Huffman codes.
package enum Deflater {
    /// A whole stream that ``Inflater`` reads as these bytes.
    package static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        let symbols = RunSymbol.symbols(of: bytes)
        var frequencies = [Int](repeating: 0, count: 286)
        for symbol in symbols { frequencies[symbol.code] += 1 }
        frequencies[0] = max(1, frequencies[0])  // at least two codes, because some readers refuse a single one
        let lengths = CodeLengths.of(frequencies, atMost: 15)
        var writer = BitWriter()
        writer.write(1, 1)  // the last block
        writer.write(2, 2)  // with dynamic Huffman codes
        writeCodes(lengths, to: &writer)
        let codes = CodeLengths.codes(lengths)
        for symbol in symbols {
            writer.write(codes[symbol.code], lengths[symbol.code])
            guard symbol.code > 256 else { continue }
            writer.write(symbol.extra, symbol.extraCount)
            writer.write(0, 1)  // the only distance: one byte back
        }
        return writer.whole
    }

    /// Writes the lengths of the codes, which are themselves encoded (section 3.2.7).
    private static func writeCodes(_ lengths: [Int], to writer: inout BitWriter) {
        let count = max(257, (lengths.lastIndex { $0 > 0 } ?? 0) + 1)
        let items = lengthItems(Array(lengths[..<count]) + [1])
        var frequencies = [Int](repeating: 0, count: 19)
        for item in items { frequencies[item.code] += 1 }
        for code in [0, 18] { frequencies[code] = max(1, frequencies[code]) }
        let codeLengths = CodeLengths.of(frequencies, atMost: 7)
        let codes = CodeLengths.codes(codeLengths)
        writer.write(count - 257, 5)
        writer.write(0, 5)  // one distance
        writer.write(15, 4)  // all 19 lengths
        for code in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
            writer.write(codeLengths[code], 3)
        }
        for item in items {
            writer.write(codes[item.code], codeLengths[item.code])
            writer.write(item.extra, item.code == 18 ? 7 : 0)
        }
    }

    /// The lengths one by one, with 11 or more zeros in a row as one item.
    private static func lengthItems(_ lengths: [Int]) -> [(code: Int, extra: Int)] {
        var items: [(code: Int, extra: Int)] = []
        var place = 0
        while place < lengths.count {
            let zeros = lengths[place...].prefix(138).prefix { $0 == 0 }.count
            items.append(zeros >= 11 ? (18, zeros - 11) : (lengths[place], 0))
            place += zeros >= 11 ? zeros : 1
        }
        return items
    }
}

/// A byte, a number of copies of the byte before, or the end of the stream.
private struct RunSymbol {
    /// Shorter runs are written byte by byte, because a frequent byte takes a bit or two and a copy about ten.
    static let shortestRun = 10

    let code: Int
    var extra = 0
    var extraCount = 0

    static func symbols(of bytes: [UInt8]) -> [RunSymbol] {
        var symbols: [RunSymbol] = []
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            symbols.append(RunSymbol(code: Int(byte)))
            place += 1
            while place < bytes.count {
                let count = bytes[place...].prefix(258).prefix { $0 == byte }.count
                guard count >= shortestRun else { break }
                symbols.append(RunSymbol(copies: count))
                place += count
            }
        }
        return symbols + [RunSymbol(code: 256)]
    }

    private init(code: Int) { self.code = code }

    /// The symbol for a number of copies (section 3.2.5).
    private init(copies count: Int) {
        let value = count - 3
        guard count < 258 else {
            code = 285
            return
        }
        guard value >= 8 else {
            code = 257 + value
            return
        }
        extraCount = Int.bitWidth - value.leadingZeroBitCount - 3
        code = 257 + 4 * extraCount + value >> extraCount
        extra = value & (1 << extraCount - 1)
    }
}

/// The lengths of prefix codes, and the codes themselves.
private enum CodeLengths {
    /// The lengths of Huffman codes. Frequencies are flattened until no code is longer than the limit.
    static func of(_ frequencies: [Int], atMost longest: Int) -> [Int] {
        var weights = frequencies
        while true {
            let lengths = unbounded(weights)
            guard lengths.contains(where: { $0 > longest }) else { return lengths }
            weights = weights.map { $0 == 0 ? 0 : $0 / 2 + 1 }
        }
    }

    private static func unbounded(_ weights: [Int]) -> [Int] {
        var lengths = [Int](repeating: 0, count: weights.count)
        var groups = weights.indices.filter { weights[$0] > 0 }.map { (weight: weights[$0], symbols: [$0]) }
        while groups.count > 1 {
            groups.sort { $0.weight > $1.weight }
            let (first, second) = (groups.removeLast(), groups.removeLast())
            let symbols = first.symbols + second.symbols
            for symbol in symbols { lengths[symbol] += 1 }
            groups.append((first.weight + second.weight, symbols))
        }
        return lengths
    }

    /// The codes of section 3.2.2, with their bits in the order in which they are written.
    static func codes(_ lengths: [Int]) -> [Int] {
        var codes = [Int](repeating: 0, count: lengths.count)
        var next = 0
        for length in 1...15 {
            next <<= 1
            for symbol in lengths.indices where lengths[symbol] == length {
                codes[symbol] = (0..<length).reduce(0) { $0 | (next >> $1 & 1) << (length - 1 - $1) }
                next += 1
            }
        }
        return codes
    }
}

/// Writes bits, beginning with the lowest bit of each byte.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var bits = 0
    private var count = 0

    mutating func write(_ value: Int, _ bitCount: Int) {
        bits |= value << count
        count += bitCount
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
            count -= 8
        }
    }

    /// All bytes; unused bits of the last byte are zero.
    var whole: [UInt8] { count > 0 ? bytes + [UInt8(truncatingIfNeeded: bits)] : bytes }
}
