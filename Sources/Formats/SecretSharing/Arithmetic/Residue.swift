// SPDX-License-Identifier: Apache-2.0

/// An integer modulo a prime of P-256, in Montgomery's form and always below the prime.
///
/// swift-crypto adds and multiplies scalars inside its own operations and offers neither to its callers, so evaluating
/// and interpolating a secret polynomial is done here: the one place where arithmetic of ours meets a secret.
///
/// Security: sums, differences and products take the same steps for all values; see ``Words256``. What the compiler
/// keeps in registers and on the stack meanwhile is not wiped.
struct Residue<Prime: Modulus>: Hashable, Sendable {
    /// value · 2^256 modulo the prime.
    private let form: Words256

    private init(form: Words256) { self.form = form }

    /// An integer below the prime; for a public value, or a secret that was checked to be below it.
    @inline(__always)
    init(reduced words: Words256) { form = Self.product(words, Prime.square) }

    /// A small public number.
    init(_ value: UInt64) { self.init(reduced: Words256(value, 0, 0, 0)) }

    static var zero: Residue { Residue(form: Words256(0, 0, 0, 0)) }
    static var one: Residue { Residue(form: Prime.one) }

    /// The integer, below the prime.
    @inline(__always)
    var words: Words256 { Self.product(form, Words256(1, 0, 0, 0)) }

    /// Whether the value is zero. For public values.
    var isZero: Bool { form == Words256(0, 0, 0, 0) }

    @inline(__always)
    static func + (a: Residue, b: Residue) -> Residue {
        let (sum, carry) = a.form.plus(b.form)
        return Residue(form: reduceOnce(sum, carry: carry))
    }

    @inline(__always)
    static func - (a: Residue, b: Residue) -> Residue {
        let (difference, borrow) = a.form.minus(b.form)
        return Residue(form: difference.plus(Prime.words.masked(0 &- borrow)).sum)
    }

    @inline(__always)
    static func * (a: Residue, b: Residue) -> Residue { Residue(form: product(a.form, b.form)) }

    /// 1/value; zero for zero. The steps depend on the prime alone.
    func inverted() -> Residue {
        var power = Residue.one
        for bit in (0..<256).reversed() {
            power = power * power
            if Prime.invertingPower.bit(bit) { power = power * self }
        }
        return power
    }

    /// A value below twice the prime, the carry being its bit 256, reduced below the prime.
    @inline(__always)
    private static func reduceOnce(_ value: Words256, carry: UInt64) -> Words256 {
        let (difference, borrow) = value.minus(Prime.words)
        return difference.replaced(by: value, where: 0 &- (borrow & (1 &- carry)))
    }

    /// a·b/2^256 modulo the prime: four rounds of one word of `a` each.
    ///
    /// Spec: P. Montgomery, "Modular Multiplication Without Trial Division" (1985), word by word.
    #if arch(wasm32)
        // In a browser's module, where it meets public values only, inlining it would add two fifths to the size.
        @inline(never)
    #else
        @inline(__always)
    #endif
    private static func product(_ a: Words256, _ b: Words256) -> Words256 {
        var sum = (Words256(0, 0, 0, 0), UInt64(0))
        sum = round(sum, a.word0, b)
        sum = round(sum, a.word1, b)
        sum = round(sum, a.word2, b)
        sum = round(sum, a.word3, b)
        return reduceOnce(sum.0, carry: sum.1)
    }

    /// (sum + a·b + k·m)/2^64 with the k that makes it whole. `sum` is five words, the fifth at most 1.
    @inline(__always)
    private static func round(
        _ sum: (Words256, UInt64), _ a: UInt64, _ b: Words256
    ) -> (Words256, UInt64) {
        var carry: UInt64 = 0
        let t0 = accumulate(sum.0.word0, a, b.word0, &carry)
        let t1 = accumulate(sum.0.word1, a, b.word1, &carry)
        let t2 = accumulate(sum.0.word2, a, b.word2, &carry)
        let t3 = accumulate(sum.0.word3, a, b.word3, &carry)
        let t4 = sum.1 &+ carry
        let t5 = Self.carryOut(sum.1, carry, t4)

        let factor = t0 &* Prime.negativeInverse
        carry = 0
        _ = accumulate(t0, factor, Prime.words.word0, &carry)
        let u0 = accumulate(t1, factor, Prime.words.word1, &carry)
        let u1 = accumulate(t2, factor, Prime.words.word2, &carry)
        let u2 = accumulate(t3, factor, Prime.words.word3, &carry)
        let u3 = t4 &+ carry
        return (Words256(u0, u1, u2, u3), t5 &+ Self.carryOut(t4, carry, u3))
    }

    /// The low word of value + a·b + carry; the high word becomes the carry. It cannot wrap.
    @inline(__always)
    private static func accumulate(
        _ value: UInt64, _ a: UInt64, _ b: UInt64, _ carry: inout UInt64
    ) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        let first = low &+ value
        let second = first &+ carry
        carry = high &+ carryOut(low, value, first) &+ carryOut(first, carry, second)
        return second
    }

    /// 1 when a + b wrapped around to `sum`.
    @inline(__always)
    private static func carryOut(_ a: UInt64, _ b: UInt64, _ sum: UInt64) -> UInt64 {
        ((a & b) | ((a | b) & ~sum)) &>> 63
    }
}

extension Words256 {
    /// Bit of a public number.
    func bit(_ position: Int) -> Bool {
        let word =
            switch position >> 6 {
            case 0: word0
            case 1: word1
            case 2: word2
            default: word3
            }
        return (word &>> UInt64(position & 63)) & 1 == 1
    }
}
