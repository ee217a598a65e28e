// SPDX-License-Identifier: Apache-2.0

/// One person's share of a secret: the polynomial's value at their place. It is a P-256 private key of its own.
public struct SecretShare: Sendable {
    /// The place.
    public let index: ShareIndex
    /// The value.
    public let scalar: SecretScalar

    /// A share that was stored or received; nothing is verified.
    public init(index: ShareIndex, scalar: SecretScalar) {
        self.index = index
        self.scalar = scalar
    }
}

/// A share of which is known that it belongs to a dealing. Only ``ShareCommitments/verify(_:)`` makes one.
public struct VerifiedShare: Sendable {
    /// The share.
    public let share: SecretShare
    /// The dealing it belongs to.
    public let commitments: ShareCommitments

    init(share: SecretShare, commitments: ShareCommitments) {
        self.share = share
        self.commitments = commitments
    }
}
