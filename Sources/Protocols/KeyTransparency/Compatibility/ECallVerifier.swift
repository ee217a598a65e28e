// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// The check that the eCall client makes, strictly: a key, a proof and a label from the server, a raw
/// pinned log key.
///
/// The label is believed, no witness is asked, no time is known and no earlier checkpoint is compared:
/// ``ECallVerifiedKey/unproven`` says so. Use ``LookupVerifier`` where you can.
///
/// Spec: eCall Key Transparency guide, "The Verification Algorithm".
public struct ECallVerifier: Sendable {
    private let policy: Policy

    /// A verifier for a log known by its raw key, as `KT_PUBLIC_KEY` gives it, and its origin.
    ///
    /// The guide pins the key alone. The origin is needed to recompute the key ID that it throws away.
    ///
    /// - Throws: ``ECallSetupError/invalidLogKey``: the key is not 32 bytes of Ed25519.
    public init(origin: KeyName, logKey: [UInt8]) throws(ECallSetupError) {
        do {
            let key = try VerifierKey(name: origin, algorithm: .ed25519, publicKey: logKey)
            policy = try Policy(logs: [Policy.Log(key: key)], quorum: .none)
        } catch { throw .invalidLogKey }
    }

    /// Checks one element of the answer of `POST /api/get-public-keys`.
    ///
    /// - Parameters:
    ///   - publicKey: base64 of the 32-byte Ed25519 key.
    ///   - proof: a tlog-proof.
    ///   - vrfHash: base64 of the 64-byte label.
    /// - Throws: ``ECallError``. None is worth a retry.
    public func verifyPeerKey(
        publicKey: [UInt8], proof: [UInt8], vrfHash: [UInt8]
    ) throws(ECallError) -> ECallVerifiedKey {
        let key: [UInt8]
        let label: [UInt8]
        do {
            key = try Base64.decode(publicKey)
            label = try Base64.decode(vrfHash)
        } catch { throw .invalidBase64 }
        guard key.count == 32, !label.isEmpty else { throw .invalidBase64 }
        let parsed: TlogProof
        do { parsed = try TlogProof(decoding: proof) } catch { throw ECallError(error) }
        let entry = vrfHash + [UInt8(ascii: "\n")] + publicKey + [UInt8(ascii: "\n")]
        do {
            let checkpoint = try parsed.verify(entry: entry, policy: policy)
            return ECallVerifiedKey(publicKey: key, label: label, checkpoint: checkpoint)
        } catch { throw ECallError(error) }
    }
}

/// Why a compatibility verifier cannot be set up. The caller has to correct the pinned key.
public enum ECallSetupError: Error, Hashable, Sendable {
    /// Not a 32-byte Ed25519 public key.
    case invalidLogKey
}

/// A key that a holder of the log's key put under the label that the server named.
public struct ECallVerifiedKey: Hashable, Sendable {
    /// What this verdict leaves open, and a native lookup does not.
    public enum Unproven: Hashable, Sendable, CaseIterable {
        /// The server named the label; nothing ties it to the person.
        case labelBelongsToThePerson
        /// Old checkpoints pass.
        case checkpointIsRecent
        /// Other clients may be shown another log.
        case everyoneSeesTheSameLog
        /// The log may have dropped what it showed before.
        case logOnlyGrew
        /// Devices may be missing or revoked.
        case deviceListIsComplete
    }

    /// Ed25519, 32 bytes.
    public let publicKey: [UInt8]
    /// The label as decoded.
    public let label: [UInt8]
    /// The checkpoint that the log signed.
    public let checkpoint: VerifiedCheckpoint

    /// Everything, always: the guide's algorithm proves none of it.
    public var unproven: [Unproven] { Unproven.allCases }
}

/// The errors of the eCall guide, to which ours map.
public enum ECallError: Error, Hashable, Sendable {
    /// The proof or its checkpoint does not have the form.
    case invalidNoteFormat
    /// A field is not canonical base64 of the right length.
    case invalidBase64
    /// The pinned key did not sign this checkpoint.
    case signatureVerificationFailed
    /// The entry is not in the tree that was signed.
    case invalidInclusionProof
}

extension ECallError {
    /// Unreadable base64 is told apart from a wrong form, as the guide does.
    init(_ error: TlogProofError) {
        switch error {
        case .extra, .malformedHash: self = .invalidBase64
        default: self = .invalidNoteFormat
        }
    }

    init(_ error: TlogProofVerificationError) {
        switch error {
        case .inclusion: self = .invalidInclusionProof
        case .checkpoint(.checkpoint): self = .invalidNoteFormat
        case .checkpoint: self = .signatureVerificationFailed
        }
    }
}
