// SPDX-License-Identifier: Apache-2.0

/// A secret cut into shares, of which any `threshold` recover it and fewer say nothing about it.
///
/// Security: give each share to its holder and let it go. Keep or publish the commitments; they tell the threshold
/// and the secret's public key, nothing else.
public struct Dealing: Sendable {
    /// The most shares of one secret.
    public static let maximumShareCount = 16

    /// One share a place, in the order asked for.
    public let shares: [SecretShare]
    /// What shares are checked with.
    public let commitments: ShareCommitments

    /// Cuts a secret.
    ///
    /// - Parameters:
    ///   - threshold: how many shares recover it, at least 2.
    ///   - indices: a place for each share, distinct, `threshold` to 16 of them.
    ///   - generator: a cryptographic source for the polynomial.
    /// - Throws: ``DealingError``: the caller's numbers are out of range; ``DealingError/degenerate``, which chance does
    ///   not cause, is worth a retry.
    public init(
        of secret: SecretScalar, threshold: Int, at indices: [ShareIndex],
        using generator: inout some RandomNumberGenerator
    ) throws(DealingError) {
        guard indices.count <= Self.maximumShareCount else { throw .shareCountOutOfRange(indices.count) }
        guard threshold >= 2 && threshold <= indices.count else { throw .thresholdOutOfRange(threshold) }
        guard Set(indices).count == indices.count else { throw .repeatedIndex }
        let polynomial = SharePolynomial(secret: secret, threshold: threshold, using: &generator)
        do {
            commitments = try ShareCommitments(polynomial.points())
            shares = try indices.map { try polynomial.share(at: $0) }
        } catch { throw .degenerate }
    }
}

/// Why a secret was not cut into shares.
public enum DealingError: Error, Hashable, Sendable {
    /// Below 2 or above the number of shares.
    case thresholdOutOfRange(Int)
    /// More than ``Dealing/maximumShareCount``.
    case shareCountOutOfRange(Int)
    /// Two shares at one place.
    case repeatedIndex
    /// A share or a coefficient came out as zero.
    case degenerate
}
