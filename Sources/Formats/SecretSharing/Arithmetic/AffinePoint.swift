// SPDX-License-Identifier: Apache-2.0

/// A **public** point of P-256 that is not the identity, by its two coordinates.
struct AffinePoint: Hashable, Sendable {
    let x: Residue<FieldPrime>
    let y: Residue<FieldPrime>
}

/// A **public** point of P-256, in coordinates that need no division: x = X/Z², y = Y/Z³; Z = 0 is the identity.
///
/// Security: variable time. No secret and no multiple of a point by a secret is ever computed here.
struct JacobianPoint: Sendable {
    var x: Residue<FieldPrime>
    var y: Residue<FieldPrime>
    var z: Residue<FieldPrime>

    static var identity: JacobianPoint { JacobianPoint(x: .one, y: .one, z: .zero) }

    var isIdentity: Bool { z.isZero }

    /// Twice the point.
    ///
    /// Spec: Explicit-Formulas Database, short Weierstrass with a = -3, "dbl-2001-b".
    var doubled: JacobianPoint {
        let delta = z * z
        let gamma = y * y
        let beta = x * gamma
        let third = (x - delta) * (x + delta)
        let alpha = third + third + third
        let beta4 = beta.doubled.doubled
        let x3 = alpha * alpha - beta4.doubled
        let z3 = (y + z) * (y + z) - gamma - delta
        let y3 = alpha * (beta4 - x3) - (gamma * gamma).doubled.doubled.doubled
        return JacobianPoint(x: x3, y: y3, z: z3)
    }

    /// The sum with a point whose Z is 1; every special case is one.
    ///
    /// Spec: Explicit-Formulas Database, "madd" by Cohen, Miyaji and Ono (1998).
    static func + (a: JacobianPoint, b: AffinePoint) -> JacobianPoint {
        guard !a.isIdentity else { return JacobianPoint(x: b.x, y: b.y, z: .one) }
        let zz = a.z * a.z
        let h = b.x * zz - a.x
        let r = b.y * zz * a.z - a.y
        guard !h.isZero else { return r.isZero ? a.doubled : .identity }
        let hh = h * h
        let hhh = hh * h
        let v = a.x * hh
        let x3 = r * r - hhh - v.doubled
        return JacobianPoint(x: x3, y: r * (v - x3) - a.y * hhh, z: a.z * h)
    }

    /// Whether this is the point with these coordinates, without dividing.
    func equals(_ point: AffinePoint) -> Bool {
        guard !isIdentity else { return false }
        let zz = z * z
        return point.x * zz == x && point.y * zz * z == y
    }

    /// The coordinates; nil for the identity.
    var affine: AffinePoint? {
        guard !isIdentity else { return nil }
        let inverse = z.inverted()
        let square = inverse * inverse
        return AffinePoint(x: x * square, y: y * square * inverse)
    }

    /// Σ scalar·point. All terms share one run of doublings.
    static func variableTimeSum(_ terms: [PublicTerm]) -> JacobianPoint {
        var sum = JacobianPoint.identity
        for bit in (0..<(terms.map { $0.bitCount }.max() ?? 0)).reversed() {
            sum = sum.doubled
            for term in terms where term.scalar.bit(bit) { sum = sum + term.point }
        }
        return sum
    }
}

/// One term of a sum: a **public** scalar below the group order and a point.
struct PublicTerm: Sendable {
    let scalar: Words256
    let point: AffinePoint

    init(_ scalar: Residue<GroupOrder>, _ point: AffinePoint) {
        self.scalar = scalar.words
        self.point = point
    }

    /// The position of the highest bit that is set, plus one.
    var bitCount: Int {
        let words = [scalar.word0, scalar.word1, scalar.word2, scalar.word3]
        guard let top = words.lastIndex(where: { $0 != 0 }) else { return 0 }
        return top * 64 + 64 - words[top].leadingZeroBitCount
    }
}

extension Residue {
    var doubled: Residue { self + self }
}
