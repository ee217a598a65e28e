// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency

/// The public part of an account's recovery: the commitment, and the label under which its guardians were chosen, which
/// is that of an earlier log after a handover. Wire form, 136 bytes: 104 of `RecoveryCommitment`, 32 of the label's index.
///
/// Security: the account's state vouches for the commitment. The label is the server's word; guardians and the bundle refuse
/// another one.
public struct RecoveryPromise: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = RecoveryCommitment.byteCount + 32

    /// Which of an account's commitments: the one in force or the former one. Wire form: 32-byte hash, handle.
    public struct Query: Hashable, Sendable {
        /// Whose.
        public let owner: Handle
        /// As the account's state names it, 32 bytes.
        public let commitment: [UInt8]

        /// A question for one commitment.
        public init(owner: Handle, commitment: [UInt8]) {
            self.owner = owner
            self.commitment = commitment
        }

        /// The wire form.
        public var encoded: [UInt8] { commitment + owner.bytes }

        /// Reads the wire form.
        ///
        /// - Throws: ``RecoveryMessageError``.
        public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
            guard bytes.count > 32 else { throw .invalidLength }
            do { owner = try Handle(canonical: Array(bytes.dropFirst(32))) } catch { throw .invalidHandle(error) }
            commitment = Array(bytes.prefix(32))
        }
    }

    /// What the account committed to.
    public let commitment: RecoveryCommitment
    /// Of the account, in the log in which its guardians were chosen.
    public let label: LabelIndex

    /// A commitment and its label.
    public init(_ commitment: RecoveryCommitment, label: LabelIndex) {
        self.commitment = commitment
        self.label = label
    }

    /// The wire form.
    public var encoded: [UInt8] { commitment.encoded + label.bytes }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        guard bytes.count == Self.byteCount, let label = LabelIndex(Array(bytes.suffix(32))) else {
            throw .invalidLength
        }
        do { commitment = try RecoveryCommitment(decoding: Array(bytes.dropLast(32))) } catch {
            throw .invalidCommitment(error)
        }
        self.label = label
    }
}
