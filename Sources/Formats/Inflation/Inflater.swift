// SPDX-License-Identifier: Apache-2.0

/// Inflates deflated bytes. The output is what the stream gave until it ended, broke, or reached the limit.
///
/// Spec: RFC 1951.
package struct Inflater {
    /// The outcome of a stream.
    package enum Ending: Hashable, Sendable {
        /// The stream ended before the byte at this place.
        case complete(at: Int)
        /// The stream broke off, or the bytes are not a deflate stream.
        case broken
        /// The stream reached the limit before its end.
        case tooLong
    }

    private let maximumByteCount: Int
    /// The inflated bytes.
    package private(set) var output: [UInt8] = []
    private var place = 0
    private var bits: UInt32 = 0
    private var bitCount: UInt32 = 0

    /// An inflater that gives at most this many bytes of one stream.
    package init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Replaces ``output`` by what the stream that begins at `start` gives.
    @discardableResult
    package mutating func inflate(_ input: Span<UInt8>, from start: Int) -> Ending {
        output.removeAll(keepingCapacity: true)
        (place, bits, bitCount) = (start, 0, 0)
        while true {
            guard let isLast = take(1, input), let kind = take(2, input) else { return .broken }
            let isWhole =
                switch kind {
                case 0: copyStored(input)
                case 1: readBlock(input, .fixedLengths, .fixedDistances)
                case 2: readDynamicBlock(input)
                default: false
                }
            // A stored block, or a copy, may have gone a little beyond the limit.
            guard output.count <= maximumByteCount else { return .tooLong }
            guard isWhole else { return .broken }
            if isLast == 1 { return .complete(at: place - Int(bitCount / 8)) }
        }
    }

    private mutating func take(_ count: UInt32, _ input: Span<UInt8>) -> Int? {
        while bitCount < count {
            guard place < input.count else { return nil }
            bits |= UInt32(input[place]) << bitCount
            place += 1
            bitCount += 8
        }
        let value = bits & ((1 << count) - 1)
        bits >>= count
        bitCount -= count
        return Int(value)
    }

    private mutating func copyStored(_ input: Span<UInt8>) -> Bool {
        (bits, bitCount) = (0, 0)
        guard let count = take(16, input), let complement = take(16, input), count ^ complement == 0xFFFF,
            input.count - place >= count
        else { return false }
        for index in place..<place + count { output.append(input[index]) }
        place += count
        return true
    }

    private mutating func readDynamicBlock(_ input: Span<UInt8>) -> Bool {
        guard let literals = take(5, input), let distances = take(5, input), let codes = take(4, input), literals < 30
        else { return false }
        var codeLengths = [UInt8](repeating: 0, count: 19)
        for code in Self.codeOrder.prefix(codes + 4) {
            guard let length = take(3, input) else { return false }
            codeLengths[code] = UInt8(length)
        }
        guard let code = PrefixCode(codeLengths[...]), code.isComplete,
            let lengths = readLengths(input, code, count: literals + distances + 258)
        else { return false }
        guard lengths[256] != 0, let literalCode = PrefixCode(lengths[..<(literals + 257)]),
            let distanceCode = PrefixCode(lengths[(literals + 257)...])
        else { return false }
        return readBlock(input, literalCode, distanceCode)
    }

    private static let codeOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func readLengths(_ input: Span<UInt8>, _ code: PrefixCode, count: Int) -> [UInt8]? {
        var lengths: [UInt8] = []
        while lengths.count < count {
            guard let symbol = read(code, input) else { return nil }
            switch symbol {
            case 0..<16: lengths.append(UInt8(symbol))
            case 16:
                guard let last = lengths.last, let more = take(2, input) else { return nil }
                lengths += [UInt8](repeating: last, count: more + 3)
            default:
                guard let more = take(symbol == 17 ? 3 : 7, input) else { return nil }
                lengths += [UInt8](repeating: 0, count: more + (symbol == 17 ? 3 : 11))
            }
        }
        return lengths.count == count ? lengths : nil
    }

    /// Reads a symbol bit by bit; nil if the bits are not a code.
    private mutating func read(_ code: PrefixCode, _ input: Span<UInt8>) -> Int? {
        var (value, first, index) = (0, 0, 0)
        for length in 1...15 {
            guard let bit = take(1, input) else { return nil }
            value |= bit
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        return nil
    }

    private mutating func readBlock(_ input: Span<UInt8>, _ literals: PrefixCode, _ distances: PrefixCode) -> Bool {
        while output.count <= maximumByteCount {
            guard let symbol = read(literals, input) else { return false }
            if symbol < 256 {
                output.append(UInt8(symbol))
            } else if symbol == 256 {
                return true
            } else if symbol > 285 || !copy(symbol - 257, input, distances) {
                return false
            }
        }
        return false
    }

    private mutating func copy(_ symbol: Int, _ input: Span<UInt8>, _ distances: PrefixCode) -> Bool {
        guard let extra = take(Self.lengthBits(symbol), input), let code = read(distances, input), code < 30,
            let extraDistance = take(Self.distanceBits(code), input)
        else { return false }
        let distance = Self.base(code, perStep: 2) + extraDistance + 1
        guard distance <= output.count else { return false }
        let length = symbol == 28 ? 258 : Self.base(symbol, perStep: 4) + extra + 3
        for _ in 0..<length { output.append(output[output.count - distance]) }
        return true
    }

    private static func lengthBits(_ symbol: Int) -> UInt32 { symbol < 8 || symbol == 28 ? 0 : UInt32(symbol / 4 - 1) }
    private static func distanceBits(_ code: Int) -> UInt32 { code < 4 ? 0 : UInt32(code / 2 - 1) }

    /// The first value of a code, if each step of `perStep` codes has one extra bit more than the step before.
    private static func base(_ code: Int, perStep: Int) -> Int {
        guard code >= 2 * perStep else { return code }
        return (code % perStep + perStep) << (code / perStep - 1)
    }
}

/// A prefix code of deflate: codes in the order of their lengths, then of their symbols.
struct PrefixCode {
    let counts: [Int]
    let symbols: [Int]
    let isComplete: Bool

    /// Returns nil if there are more codes of some length than can exist.
    init?(_ lengths: ArraySlice<UInt8>) {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths { counts[Int(length)] += 1 }
        counts[0] = 0
        var room = 1
        for length in 1...15 {
            room = room << 1 - counts[length]
            guard room >= 0 else { return nil }
        }
        isComplete = room == 0
        var starts = [Int](repeating: 0, count: 16)
        for length in 1..<15 { starts[length + 1] = starts[length] + counts[length] }
        var symbols = [Int](repeating: 0, count: lengths.count)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[starts[Int(length)]] = symbol
            starts[Int(length)] += 1
        }
        self.counts = counts
        self.symbols = symbols
    }

    private init(counts: [Int], symbols: [Int]) {
        self.counts = counts
        self.symbols = symbols
        isComplete = true
    }

    static let fixedLengths = PrefixCode(
        counts: [0, 0, 0, 0, 0, 0, 0, 24, 152, 112, 0, 0, 0, 0, 0, 0],
        symbols: Array(256...279) + Array(0...143) + Array(280...287) + Array(144...255))
    static let fixedDistances = PrefixCode(
        counts: [0, 0, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], symbols: Array(0..<30))
}
