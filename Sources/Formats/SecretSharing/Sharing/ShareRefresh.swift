// SPDX-License-Identifier: Apache-2.0

/// New shares for the same secret, made without the secret and without the old shares.
///
/// Each holder adds a delta to their share; an old share that a holder keeps is then worthless. Deltas are values of a
/// random polynomial that is zero at zero.
///
/// Spec: A. Herzberg et al., "Proactive Secret Sharing" (1995), section 3.
public struct ShareRefresh: Sendable {
    /// What to add to the share at each place, in the order asked for.
    public let deltas: [ShareDelta]
    /// What new shares are checked with: the same secret, the same threshold.
    public let commitments: ShareCommitments

    /// Draws deltas for the holders of a dealing.
    ///
    /// - Throws: ``DealingError``: as for a new dealing.
    public init(
        of old: ShareCommitments, at indices: [ShareIndex], using generator: inout some RandomNumberGenerator
    ) throws(DealingError) {
        guard indices.count <= Dealing.maximumShareCount else { throw .shareCountOutOfRange(indices.count) }
        guard old.threshold <= indices.count else { throw .thresholdOutOfRange(old.threshold) }
        guard Set(indices).count == indices.count else { throw .repeatedIndex }
        let polynomial = SharePolynomial(zeroWithThreshold: old.threshold, using: &generator)
        do {
            commitments = try ShareCommitments(
                [old.publicKey] + Self.sums(Array(old.points.dropFirst()), polynomial.points(from: 1)))
            let new = commitments
            deltas = try indices.map { index in
                guard let point = new.publicPoint(at: index) else { throw DealingError.degenerate }
                return ShareDelta(index: index, scalar: try polynomial.share(at: index).scalar, newPoint: point)
            }
        } catch { throw .degenerate }
    }

    private static func sums(_ a: [CurvePoint], _ b: [CurvePoint]) throws(DealingError) -> [CurvePoint] {
        var sums: [CurvePoint] = []
        for (a, b) in zip(a, b) {
            guard let sum = CurvePoint(JacobianPoint.identity + a.affine + b.affine) else { throw .degenerate }
            sums.append(sum)
        }
        return sums
    }
}

/// What one holder adds to a share to refresh it.
public struct ShareDelta: Sendable {
    /// The share's place.
    public let index: ShareIndex
    /// What to add.
    public let scalar: SecretScalar
    /// The public half of the new share.
    public let newPoint: CurvePoint

    /// A delta that was received; ``SecretShare/refreshed(by:)`` verifies it.
    public init(index: ShareIndex, scalar: SecretScalar, newPoint: CurvePoint) {
        self.index = index
        self.scalar = scalar
        self.newPoint = newPoint
    }
}

extension SecretShare {
    /// The share after a refresh. Keep the old one until the owner says that the new one is in force.
    ///
    /// - Throws: ``ShareError/wrongValue(_:)``: the delta is for another share, or does not lead to the point it names.
    ///
    /// Security: `delta` must come from the owner, signed.
    public func refreshed(by delta: ShareDelta) throws(ShareError) -> SecretShare {
        guard delta.index == index, let scalar = try? SecretScalar(self.scalar.residue + delta.scalar.residue),
            (try? scalar.publicPoint()) == delta.newPoint
        else { throw .wrongValue(index) }
        return SecretShare(index: index, scalar: scalar)
    }
}
