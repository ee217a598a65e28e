/// An integer modulo p = 2^255 - 19, in five limbs of 51 bits. Variable time: public values only.
///
/// Two sizes of limb occur, and every operation says which it takes and gives:
/// - *tight*: below 2^51 + 2^15. Products, squares, `+`, `-` and decoded values are tight.
/// - *loose*: below 2^54. What ``sum(_:_:)`` and ``difference(_:_:)`` give for tight operands; a product or
///   square takes loose operands, so the hot formulas skip the carries of `+` and `-`.
///
/// Spec: RFC 9496, section 4 (the field of ristretto255).
struct FieldElement: Sendable {
    let limb0, limb1, limb2, limb3, limb4: UInt64

    static let zero = FieldElement(0, 0, 0, 0, 0)
    static let one = FieldElement(1, 0, 0, 0, 0)
    static let limbMask: UInt64 = (1 << 51) - 1

    @inline(__always)
    init(_ limb0: UInt64, _ limb1: UInt64, _ limb2: UInt64, _ limb3: UInt64, _ limb4: UInt64) {
        self.limb0 = limb0
        self.limb1 = limb1
        self.limb2 = limb2
        self.limb3 = limb3
        self.limb4 = limb4
    }

    /// One round of carries, all limbs at once: any limbs in, tight limbs out.
    @inline(__always)
    var carried: FieldElement {
        let mask = Self.limbMask
        return FieldElement(
            (limb0 & mask) &+ 19 &* (limb4 >> 51),
            (limb1 & mask) &+ (limb0 >> 51),
            (limb2 & mask) &+ (limb1 >> 51),
            (limb3 & mask) &+ (limb2 >> 51),
            (limb4 & mask) &+ (limb3 >> 51))
    }

    /// `a + b` without carries: tight in, loose (below 2^52 + 2^16) out.
    @inline(__always)
    static func sum(_ a: FieldElement, _ b: FieldElement) -> FieldElement {
        FieldElement(
            a.limb0 &+ b.limb0, a.limb1 &+ b.limb1, a.limb2 &+ b.limb2,
            a.limb3 &+ b.limb3, a.limb4 &+ b.limb4)
    }

    /// `a + 4p - b` without carries. `a` below 3·2^51 + 2^17 and `b` below 2^52 + 2^16 a limb: loose out.
    @inline(__always)
    static func difference(_ a: FieldElement, _ b: FieldElement) -> FieldElement {
        let low: UInt64 = (1 << 53) - 76
        let high: UInt64 = (1 << 53) - 4
        return FieldElement(
            (a.limb0 &+ low) &- b.limb0, (a.limb1 &+ high) &- b.limb1, (a.limb2 &+ high) &- b.limb2,
            (a.limb3 &+ high) &- b.limb3, (a.limb4 &+ high) &- b.limb4)
    }

    /// Tight in, tight out.
    static func + (a: FieldElement, b: FieldElement) -> FieldElement { sum(a, b).carried }

    /// Tight in, tight out.
    static func - (a: FieldElement, b: FieldElement) -> FieldElement { difference(a, b).carried }

    /// Tight in, tight out.
    static prefix func - (a: FieldElement) -> FieldElement { zero - a }
}
