// Products modulo p. Limbs beyond the fifth wrap round with a factor of 19, because 2^255 = 19 modulo p.
// With limbs below 2^54 every column stays below 2^114.3 and the fifth below 2^110.4: what lies above 51 bits is below
// 2^63.3 and 2^59.4, so neither it nor 19 times the fifth overflows 64 bits.

extension FieldElement {
    /// Loose in, tight out.
    static func * (a: FieldElement, b: FieldElement) -> FieldElement {
        let (a0, a1, a2, a3, a4) = (a.limb0, a.limb1, a.limb2, a.limb3, a.limb4)
        let (b0, b1, b2, b3, b4) = (b.limb0, b.limb1, b.limb2, b.limb3, b.limb4)
        let (w1, w2, w3, w4) = (b1 &* 19, b2 &* 19, b3 &* 19, b4 &* 19)
        let column0 = wide(a0, b0) &+ wide(a1, w4) &+ wide(a2, w3) &+ wide(a3, w2) &+ wide(a4, w1)
        let column1 = wide(a0, b1) &+ wide(a1, b0) &+ wide(a2, w4) &+ wide(a3, w3) &+ wide(a4, w2)
        let column2 = wide(a0, b2) &+ wide(a1, b1) &+ wide(a2, b0) &+ wide(a3, w4) &+ wide(a4, w3)
        let column3 = wide(a0, b3) &+ wide(a1, b2) &+ wide(a2, b1) &+ wide(a3, b0) &+ wide(a4, w4)
        let column4 = wide(a0, b4) &+ wide(a1, b3) &+ wide(a2, b2) &+ wide(a3, b1) &+ wide(a4, b0)
        return FieldElement(columns: column0, column1, column2, column3, column4)
    }

    /// Loose in, tight out.
    var squared: FieldElement {
        let (a0, a1, a2, a3, a4) = (limb0, limb1, limb2, limb3, limb4)
        let (d0, d1, d2) = (a0 &* 2, a1 &* 2, a2 &* 2)
        let (w3, w4) = (a3 &* 19, a4 &* 19)
        let column0 = wide(a0, a0) &+ wide(d1, w4) &+ wide(d2, w3)
        let column1 = wide(d0, a1) &+ wide(d2, w4) &+ wide(a3, w3)
        let column2 = wide(d0, a2) &+ wide(a1, a1) &+ wide(a3 &* 2, w4)
        let column3 = wide(d0, a3) &+ wide(d1, a2) &+ wide(a4, w4)
        let column4 = wide(d0, a4) &+ wide(d1, a3) &+ wide(a2, a2)
        return FieldElement(columns: column0, column1, column2, column3, column4)
    }

    /// This element raised to 2^count, `count` at least 1.
    func squared(_ count: Int) -> FieldElement {
        var result = squared
        for _ in 1..<count { result = result.squared }
        return result
    }

    /// Carries five double-width columns into tight limbs: two rounds, each on all limbs at once, because a chain from
    /// column to column makes every product wait for the one before it.
    @inline(__always)
    private init(columns c0: UInt128, _ c1: UInt128, _ c2: UInt128, _ c3: UInt128, _ c4: UInt128) {
        self = FieldElement(
            low(c0) &+ 19 &* high(c4), low(c1) &+ high(c0), low(c2) &+ high(c1),
            low(c3) &+ high(c2), low(c4) &+ high(c3)
        ).carried
    }
}

/// The lowest 51 bits.
@inline(__always)
private func low(_ column: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: column) & FieldElement.limbMask }

/// The bits above the lowest 51; they fit.
@inline(__always)
private func high(_ column: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: column >> 51) }

/// The full 128-bit product.
@inline(__always)
private func wide(_ x: UInt64, _ y: UInt64) -> UInt128 { UInt128(x) &* UInt128(y) }
