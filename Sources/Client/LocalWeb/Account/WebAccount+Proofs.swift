// SPDX-License-Identifier: Apache-2.0

import Signet
import TransparencyLog

/// Proofs that the user saves, and those that somebody gave them.
extension WebAccount {
    /// Keeps the proof of a lookup that a page shows, so that its files belong together.
    func keepProof(of answer: DirectoryAnswer, about handle: Handle) {
        guard case .success(.registered(let verdict)) = answer.result else { return proofs[handle] = nil }
        proofs[handle] = try? LookupProof(of: verdict.lookup)
    }

    /// The proof of the last lookup that a page showed, or of one that is made now; nil if the account is not in the log.
    func proof(about handle: Handle) async throws(SignetError) -> LookupProof? {
        if let kept = proofs[handle] { return kept }
        keepProof(of: try await look(at: handle), about: handle)
        return proofs[handle]
    }
}

/// A file of a proof.
enum ProofFile: String, CaseIterable, Sendable {
    case proof, entry, policy

    /// What the name of the file ends in.
    var ending: StaticString {
        switch self {
        case .proof: "tlog-proof"
        case .entry: "entry"
        case .policy: "policy"
        }
    }

    func bytes(of proof: LookupProof, under policy: Policy) -> [UInt8] {
        switch self {
        case .proof: proof.proof.encoded
        case .entry: proof.entry
        case .policy: policy.encoded
        }
    }
}
