// SPDX-License-Identifier: Apache-2.0

/// A polynomial with secret coefficients, of which shares are values. Coefficient 0 is the secret.
///
/// The number of shares has no bound here; ``Dealing`` has.
package struct SharePolynomial: Sendable {
    private let coefficients: [Residue<GroupOrder>]

    /// A polynomial of these coefficients, lowest first.
    package init(_ coefficients: [SecretScalar]) { self.coefficients = coefficients.map(\.residue) }

    /// A secret with `threshold` - 1 random coefficients above it.
    init(secret: SecretScalar, threshold: Int, using generator: inout some RandomNumberGenerator) {
        self.init([secret] + (1..<threshold).map { _ in SecretScalar.random(using: &generator) })
    }

    /// A polynomial that is zero at zero: added to another it changes every share and not the secret.
    init(zeroWithThreshold threshold: Int, using generator: inout some RandomNumberGenerator) {
        coefficients = [.zero] + (1..<threshold).map { _ in SecretScalar.random(using: &generator).residue }
    }

    /// The value at a place, from the highest coefficient down (Horner).
    ///
    /// - Throws: ``SecretScalarError/zero``: the value is not a share; take another place.
    package func share(at index: ShareIndex) throws(SecretScalarError) -> SecretShare {
        let place = index.residue
        var value = Residue<GroupOrder>.zero
        for coefficient in coefficients.reversed() { value = value * place + coefficient }
        return SecretShare(index: index, scalar: try SecretScalar(value))
    }

    /// The coefficients from `first` on, times the generator.
    package func points(from first: Int = 0) throws(SecretScalarError) -> [CurvePoint] {
        var points: [CurvePoint] = []
        for coefficient in coefficients[first...] {
            points.append(try SecretScalar(coefficient).publicPoint())
        }
        return points
    }
}
