// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// Proof that the signer holds a share at this moment: a signature made with the share itself over the owner's
/// challenge.
///
/// The owner needs no share for it, only the commitments.
public struct HoldingProof: Hashable, Sendable {
    /// The length of a challenge in bytes; random, for one use.
    public static let challengeByteCount = 32
    /// The length of a proof in bytes.
    public static let byteCount = 64

    /// ECDSA with SHA-256, r || s, big-endian.
    public let signature: [UInt8]

    /// Takes 64 received bytes; nil for any other count.
    public init?(_ signature: [UInt8]) {
        guard signature.count == Self.byteCount else { return nil }
        self.signature = signature
    }

    /// What is signed: `signet-share-holding/v1`, LF, challenge, place in two bytes, public half.
    fileprivate static func statement(
        challenge: [UInt8], index: ShareIndex, point: CurvePoint
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-share-holding/v1\n")
        writer.write(challenge)
        writer.write(index.value)
        writer.write(point.encoded)
        return writer.bytes
    }
}

/// A share that its holder provably held when they answered. Only ``ShareCommitments/verify(_:for:at:)`` makes one.
public struct HeldShare: Hashable, Sendable {
    /// The place.
    public let index: ShareIndex
    /// The public half, as its holder has it.
    public let point: CurvePoint
    let commitments: ShareCommitments
}

extension SecretShare {
    /// Answers the owner's challenge.
    ///
    /// - Parameter challenge: 32 bytes.
    /// - Throws: ``HoldingError/invalidChallenge(_:)``; ``HoldingError/signingFailed``, which no share causes.
    public func proveHolding(of challenge: [UInt8]) throws(HoldingError) -> HoldingProof {
        guard challenge.count == HoldingProof.challengeByteCount else { throw .invalidChallenge(challenge.count) }
        guard let key = try? scalar.signingKey(), let point = try? scalar.publicPoint(),
            let signature = try? key.signature(
                for: HoldingProof.statement(challenge: challenge, index: index, point: point)),
            let proof = HoldingProof(Array(signature.rawRepresentation))
        else { throw .signingFailed }
        return proof
    }
}

extension ShareCommitments {
    /// Demands that the holder of the share at a place has it.
    ///
    /// - Parameter challenge: the 32 bytes that this holder was asked with.
    /// - Throws: ``HoldingError``: the share is lost, damaged or another. Replace the holder, or refresh.
    public func verify(
        _ proof: HoldingProof, for challenge: [UInt8], at index: ShareIndex
    ) throws(HoldingError) -> HeldShare {
        guard challenge.count == HoldingProof.challengeByteCount else { throw .invalidChallenge(challenge.count) }
        guard let point = publicPoint(at: index),
            let key = try? P256.Signing.PublicKey(compressedRepresentation: point.encoded),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: proof.signature),
            key.isValidSignature(
                signature, for: HoldingProof.statement(challenge: challenge, index: index, point: point))
        else { throw .notHeld(index) }
        return HeldShare(index: index, point: point, commitments: self)
    }

    /// Demands that the shares held would recover the secret, without recovering it: their public halves, interpolated
    /// to zero, give the secret's public key.
    ///
    /// - Throws: ``RehearsalError``: too few, two at one place, of another dealing, or they lead to another key.
    public func rehearse(_ held: [HeldShare]) throws(RehearsalError) {
        guard held.allSatisfy({ $0.commitments == self }) else { throw .severalDealings }
        guard Set(held.map(\.index)).count == held.count else { throw .repeatedIndex }
        guard held.count >= threshold else { throw .notEnough(missing: threshold - held.count) }
        let terms = zip(Interpolation.factors(for: held.map(\.index)), held)
            .map { PublicTerm($0, $1.point.affine) }
        guard JacobianPoint.variableTimeSum(terms).equals(publicKey.affine) else { throw .anotherSecret }
    }
}

/// Why a share counts as not held.
public enum HoldingError: Error, Hashable, Sendable {
    /// The challenge has this many bytes; the caller's mistake.
    case invalidChallenge(Int)
    /// The signature is not by the share at this place.
    case notHeld(ShareIndex)
    /// swift-crypto would not sign.
    case signingFailed
}

/// Why a rehearsal did not succeed.
public enum RehearsalError: Error, Hashable, Sendable {
    /// This many more holders have to answer.
    case notEnough(missing: Int)
    /// One holder counted twice; the caller's mistake.
    case repeatedIndex
    /// A share was verified against other commitments.
    case severalDealings
    /// The shares lead to another secret: a bug, or commitments that were never dealt together.
    case anotherSecret
}
