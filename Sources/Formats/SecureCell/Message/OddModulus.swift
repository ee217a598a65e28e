// SPDX-License-Identifier: Apache-2.0

/// Powers modulo an odd number of 2^k bits whose top bit is set, by Montgomery multiplication. Public values only.
///
/// Spec: Montgomery, "Modular multiplication without trial division", 1985; word-by-word form (CIOS).
struct OddModulus {
    /// Little-endian words.
    private let words: [UInt64]
    /// −n⁻¹ modulo 2⁶⁴.
    private let inverse: UInt64

    /// A big-endian number, as long as an ``RSASize`` says; the caller has checked that it is odd and its top bit is set.
    init(_ bytes: [UInt8]) {
        words = Self.words(bytes)
        let low = words.first ?? 1
        // Newton: each step doubles the bits that are right; low itself is right in 3.
        var inverse = low
        for _ in 0..<5 { inverse &*= 2 &- low &* inverse }
        self.inverse = 0 &- inverse
    }

    /// `number` to the power of 3 or 65537 modulo this, as many bytes as it came in; nil if it is not below this.
    func power(_ number: [UInt8], exponent: UInt32) -> [UInt8]? {
        let number = Self.words(number)
        guard number.count == words.count, isLess(number, words) else { return nil }
        let start = multiply(number, squareOfRadix)
        var power = start
        // Bits below the highest, which `power` already stands for.
        for bit in (0..<(31 - exponent.leadingZeroBitCount)).reversed() {
            power = multiply(power, power)
            if exponent >> UInt32(bit) & 1 == 1 { power = multiply(power, start) }
        }
        var one = [UInt64](repeating: 0, count: words.count)
        one[0] = 1
        return Self.bytes(multiply(power, one))
    }

    /// R² modulo n, R = 2^(64 · words): 2R, which stands for 2, squared k times stands for 2^(2^k) = R.
    private var squareOfRadix: [UInt64] {
        let radix = subtract([UInt64](repeating: 0, count: words.count), words)  // R − n
        var value = double(radix)
        for _ in 0..<(words.count * 64).trailingZeroBitCount { value = multiply(value, value) }
        return value
    }

    private func double(_ value: [UInt64]) -> [UInt64] {
        var result = value
        var carry: UInt64 = 0
        for index in value.indices {
            result[index] = value[index] << 1 | carry
            carry = value[index] >> 63
        }
        return carry == 1 || !isLess(result, words) ? subtract(result, words) : result
    }

    /// a · b / R modulo n.
    private func multiply(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
        let count = words.count
        var sum = [UInt64](repeating: 0, count: count + 2)
        for i in 0..<count {
            Self.accumulate(&sum, b, times: a[i], count)
            let factor = sum[0] &* inverse
            Self.accumulate(&sum, words, times: factor, count)
            for index in 0...count { sum[index] = sum[index + 1] }
            sum[count + 1] = 0
        }
        let result = Array(sum.prefix(count))
        return sum[count] != 0 || !isLess(result, words) ? subtract(result, words) : result
    }

    /// sum += value · factor.
    private static func accumulate(_ sum: inout [UInt64], _ value: [UInt64], times factor: UInt64, _ count: Int) {
        var carry: UInt64 = 0
        for index in 0..<count {
            let (high, low) = value[index].multipliedFullWidth(by: factor)
            let (first, overflowed) = low.addingReportingOverflow(sum[index])
            let (second, overflowedAgain) = first.addingReportingOverflow(carry)
            sum[index] = second
            carry = high &+ (overflowed ? 1 : 0) &+ (overflowedAgain ? 1 : 0)
        }
        let (word, overflowed) = sum[count].addingReportingOverflow(carry)
        sum[count] = word
        sum[count + 1] &+= overflowed ? 1 : 0
    }

    private func isLess(_ a: [UInt64], _ b: [UInt64]) -> Bool {
        for index in a.indices.reversed() where a[index] != b[index] { return a[index] < b[index] }
        return false
    }

    /// a − b modulo R.
    private func subtract(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
        var result = a
        var borrow: UInt64 = 0
        for index in a.indices {
            let (first, wrapped) = a[index].subtractingReportingOverflow(b[index])
            let (second, wrappedAgain) = first.subtractingReportingOverflow(borrow)
            result[index] = second
            borrow = wrapped || wrappedAgain ? 1 : 0
        }
        return result
    }

    private static func words(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: bytes.count, to: 0, by: -8).map { end in
            bytes[max(0, end - 8)..<end].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    private static func bytes(_ words: [UInt64]) -> [UInt8] {
        words.reversed().flatMap { word in
            stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}
