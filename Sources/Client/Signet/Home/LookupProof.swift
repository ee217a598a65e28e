// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetAPI
public import TransparencyLog

/// A proof that a log has an account's state. It can be kept, handed on, and checked without any server.
///
/// Spec: C2SP tlog-proof, with the VRF proof of the lookup in its `extra` line.
///
/// Security: it proves that the entry is in the log that signed the checkpoint. It does not prove that the state is the newest, nor by itself
/// whose it is: the entry hides the handle.
public struct LookupProof: Sendable {
    /// The proof.
    public let proof: TlogProof
    /// The entry of the log, as it was hashed.
    public let entry: [UInt8]

    /// The proof of a lookup.
    ///
    /// - Throws: `TlogProofError`: the parts do not make a proof, which is a bug of ours.
    public init(of lookup: VerifiedLookup) throws(TlogProofError) {
        (proof, entry) = (try lookup.tlogProof(), lookup.record.entry)
    }

    /// A proof and its entry, from two files.
    ///
    /// - Throws: `TlogProofError`: the first is not a proof.
    public init(proof: [UInt8], entry: [UInt8]) throws(TlogProofError) {
        (self.proof, self.entry) = (try TlogProof(decoding: proof), entry)
    }

    /// Checks the signatures of the log and of its witnesses, and the path from the entry to the root that they signed.
    ///
    /// - Throws: `TlogProofVerificationError`: what of it does not hold.
    public func verified(under policy: Policy) throws(TlogProofVerificationError) -> VerifiedCheckpoint {
        try proof.verify(entry: entry, policy: policy)
    }
}

extension Policy {
    /// The policy in a file: a directory file has one in it, and a C2SP tlog-policy is one.
    ///
    /// - Throws: ``PolicyFileError``: the file is neither.
    public init(inFile bytes: [UInt8]) throws(PolicyFileError) {
        do throws(DirectoryProfileError) {
            self = try DirectoryProfile(decoding: bytes).trust.policy
            return
        } catch {
            guard error == .unknownFormat else { throw .directory(error) }
        }
        do throws(PolicyError) { try self.init(decoding: bytes) } catch { throw .policy(error) }
    }

    /// How long a file with a policy may be, in bytes.
    public static var maximumFileByteCount: Int { max(maximumByteCount, DirectoryProfile.maximumByteCount) }
}

/// Why a file has no policy.
public enum PolicyFileError: Error, Hashable, Sendable {
    /// It begins as a directory file does, and is none.
    case directory(DirectoryProfileError)
    /// It is not a policy.
    case policy(PolicyError)
}
