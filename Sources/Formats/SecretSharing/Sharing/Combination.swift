// SPDX-License-Identifier: Apache-2.0

extension SecretScalar {
    /// Recovers a secret from shares of one dealing; those beyond the threshold are not needed.
    ///
    /// - Throws: ``CombinationError``: too few (ask one more person), two at one place, or of several dealings.
    ///
    /// Security: that the result is the dealt secret is checked against its public key.
    public init(combining shares: [VerifiedShare]) throws(CombinationError) {
        guard let commitments = shares.first?.commitments else { throw .notEnough(missing: nil) }
        guard shares.allSatisfy({ $0.commitments == commitments }) else { throw .severalDealings }
        guard Set(shares.map(\.share.index)).count == shares.count else { throw .repeatedIndex }
        let missing = commitments.threshold - shares.count
        guard missing <= 0 else { throw .notEnough(missing: missing) }
        let used = shares.prefix(commitments.threshold).map(\.share)
        self = try Self.interpolated(used, publicKey: commitments.publicKey)
    }

    private static func interpolated(
        _ shares: [SecretShare], publicKey: CurvePoint
    ) throws(CombinationError) -> SecretScalar {
        let factors = Interpolation.factors(for: shares.map(\.index))
        var sum = Residue<GroupOrder>.zero
        for (share, factor) in zip(shares, factors) { sum = sum + share.scalar.residue * factor }
        guard let secret = try? SecretScalar(sum), (try? secret.publicPoint()) == publicKey else {
            throw .contradictsPublicKey
        }
        return secret
    }
}

/// Lagrange's factors for the value at zero. Places are public, and so are the factors.
enum Interpolation {
    /// For each place x(i), the product of x(j) / (x(j) - x(i)) over all others. The places are distinct.
    static func factors(for indices: [ShareIndex]) -> [Residue<GroupOrder>] {
        let places = indices.map(\.residue)
        var numerators: [Residue<GroupOrder>] = []
        var denominators: [Residue<GroupOrder>] = []
        for i in places.indices {
            var (numerator, denominator) = (Residue<GroupOrder>.one, Residue<GroupOrder>.one)
            for j in places.indices where j != i {
                numerator = numerator * places[j]
                denominator = denominator * (places[j] - places[i])
            }
            numerators.append(numerator)
            denominators.append(denominator)
        }
        return zip(numerators, inverted(denominators)).map { $0 * $1 }
    }

    /// The inverses of values that are not zero, for the price of one.
    private static func inverted(_ values: [Residue<GroupOrder>]) -> [Residue<GroupOrder>] {
        var products: [Residue<GroupOrder>] = []
        var product = Residue<GroupOrder>.one
        for value in values {
            products.append(product)
            product = product * value
        }
        var inverse = product.inverted()
        var inverses = values
        for index in values.indices.reversed() {
            inverses[index] = inverse * products[index]
            inverse = inverse * values[index]
        }
        return inverses
    }
}

/// Why shares did not give a secret.
public enum CombinationError: Error, Hashable, Sendable {
    /// This many more are needed; nil when there is none from which to tell.
    case notEnough(missing: Int?)
    /// Two shares at one place.
    case repeatedIndex
    /// The shares were verified against different commitments.
    case severalDealings
    /// Verified shares gave another secret: a bug of ours.
    case contradictsPublicKey
}
