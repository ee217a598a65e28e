// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog

/// A published case of a contact who finds another identity key than the pinned one: the history that the directory shows,
/// what the contact knows, and what must become of it.
///
/// Byte strings are lower-case hexadecimal.
package struct RecoveryDelayVector: DirectoryVector {
    /// The word by which a file says that it holds such cases.
    package static let kind = "recovery-delay"

    /// What the contact accepted of the person.
    package struct Pinned: Codable, Hashable, Sendable {
        /// The identity key, 33 bytes.
        package let identityKey: String
        /// The state's version.
        package let version: UInt64
        /// SHA-256 of the state.
        package let state: String
    }

    /// What must become of the history.
    package struct Verdict: Codable, Hashable, Sendable {
        /// `recovered`, `rushed`, `unexplained` or `refused`.
        package let outcome: String
        /// The check that must refuse the history.
        package var check: String?
        /// When the person recovered, in seconds since 1970.
        package var at: UInt64?
    }

    /// ``kind``.
    package let kind: String
    /// A short name, unlike every other.
    package let name: String
    /// What a good case covers, or the one fault of a bad one.
    package let why: String
    /// Whose history.
    package let handle: String
    /// What is pinned of the directory.
    package let directory: VectorTrust
    /// The contact's clock, in seconds since 1970.
    package let now: UInt64
    /// What the contact accepted.
    package let pinned: Pinned
    /// When the epoch ended in which the contact last saw the person without a recovery under way, in seconds since 1970;
    /// absent when that is not known.
    package let lookedAt: UInt64?
    /// When that was by the contact's own clock, in seconds since 1970; absent when it is not compared.
    package let lookedBy: UInt64?
    /// The answer to the question for the whole history.
    package let history: String
    /// What must become of it.
    package let verdict: Verdict
}

extension RecoveryDelayVector {
    package func disagreement() throws -> String? {
        let found = try found()
        return found == verdict ? nil : "\(found) instead of \(verdict)"
    }

    /// What our verifier makes of the case, from nothing but its fields.
    package func found() throws -> Verdict {
        let (handle, verifier) = (
            try Handle(canonical: Array(handle.utf8)), HistoryVerifier(trust: try directory.trust())
        )
        let bytes = try Hex.decode(Array(history.utf8))
        let history: VerifiedHistory
        do throws(HistoryRefusal) {
            history = try verifier.verify(bytes, for: handle, knowing: nil, since: MerkleFrontier(), at: now)
        } catch { return Verdict(outcome: "refused", check: error.name) }
        guard case .registered(let lookup) = history.answer else { return Verdict(outcome: "unexplained") }
        return Verdict(
            PeerTrustDecision(
                lookup, comparedWith: try peer(handle), by: history,
                lookedAt: lookedAt.map { PeerLook(handle: handle, epochTime: $0, seenAt: lookedBy) }, at: now))
    }

    private func peer(_ handle: Handle) throws -> PinnedPeer {
        PinnedPeer(
            uncheckedHandle: handle, identityKey: try Hex.decode(Array(pinned.identityKey.utf8)),
            version: pinned.version, stateHash: try Hex.decode(Array(pinned.state.utf8)), devices: [],
            history: LabelHead(.empty), pinnedAt: 0)
    }
}

extension RecoveryDelayVector.Verdict {
    fileprivate init(_ decision: PeerTrustDecision) {
        guard case .mismatch(let change) = decision else {
            self.init(outcome: "\(decision)")
            return
        }
        switch change.identity {
        case .none: self.init(outcome: "none")
        case .recovered(let time): self.init(outcome: "recovered", at: time)
        case .rushed: self.init(outcome: "rushed")
        case .unexplained: self.init(outcome: "unexplained")
        }
    }
}

extension HistoryRefusal {
    /// The word for the check in a published case.
    package var name: String {
        switch self {
        case .envelope: "envelope"
        case .lookup(let error): "lookup: \(error.check)"
        case .accountState: "accountState"
        case .anotherAccount: "anotherAccount"
        case .otherHistory: "otherHistory"
        case .step(.noSuchEntry): "step: noSuchEntry"
        case .step(.entry): "step: entry"
        case .step(.epoch): "step: epoch"
        case .step(.anotherEpoch): "step: anotherEpoch"
        }
    }
}
