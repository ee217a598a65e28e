// SPDX-License-Identifier: Apache-2.0

import TransparencyLog
import VRF
import VerifiableMap

/// Decides whether an answer of the directory is true. Nothing else in Signet yields a peer's key.
///
/// ``verify(_:for:knowing:history:at:)`` is the page of checks, in the order of ``LookupCheck``; the first one that fails is
/// reported. A part of the last one, ``LookupCheck/consistency``, comes before ``LookupCheck/freshness``: a checkpoint that
/// contradicts the remembered one by itself is evidence, whatever else is wrong with the answer. Everything comes in as an
/// argument, the time included; what to remember goes out as a value, and only if every check held.
public struct LookupVerifier: Sendable {
    /// What is pinned about the directory.
    public let trust: DirectoryTrust

    /// Whether the log is known to have ended: then nothing came after its last epoch, however old that is.
    let hasEnded: Bool

    /// A verifier for one directory.
    public init(trust: DirectoryTrust) { self.init(trust: trust, hasEnded: false) }

    init(trust: DirectoryTrust, hasEnded: Bool) {
        self.trust = trust
        self.hasEnded = hasEnded
    }

    /// Checks an answer to the question "which keys has `handle`?".
    ///
    /// - Parameters:
    ///   - bytes: the body as received, ``LookupResponse``.
    ///   - handle: what the user typed; never what the server echoed.
    ///   - view: the largest checkpoint this client has verified; nil on the first visit.
    ///   - history: what this client has verified of the handle's label; nil when it knows nothing of it.
    ///   - now: seconds since 1970.
    /// - Returns: the verified keys, or that there are none; and in ``VerifiedEpoch/view`` what to remember. The caller
    ///   stores the view before it uses the answer, and repeats the lookup if the stored view has moved meanwhile.
    /// - Throws: ``LookupError``: which check failed and why. Only ``LookupError/freshness(_:)`` is worth
    ///   a retry; ``LookupError/consistency(_:)`` holds evidence to keep.
    ///
    /// Security: proves that this was the latest state, or that there was none, in the index that the log's last epoch
    /// record names. That the record was made by the rules is what auditors check, by replay; without one in the policy's
    /// quorum, owners and contacts find out at the next milestone.
    public func verify(
        _ bytes: [UInt8], for handle: Handle, knowing view: LogView?, history: LabelHead? = nil, at now: UInt64
    ) throws(LookupError) -> VerifiedAnswer {
        let response = try checkEnvelope(bytes)
        let label = try checkVRF(response, handle)
        let step = try checkAccountState(response, handle, LabelIndex(label))
        let note = try checkNote(response)
        try checkOrigin(try checkCheckpointText(note))
        let signed = try checkLogSignature(note)
        let verified = try checkCosignatures(signed)
        try checkNoContradiction(verified, view)
        let age = try checkFreshness(verified, now)
        try checkEpoch(response.epoch, response.epochPath, verified, view, now)
        try checkIndex(response, LabelIndex(label))
        try checkHistory(response, step, history)
        try checkInclusion(response, step, verified)
        let newView = try checkConsistency(response, verified, view)
        let epoch = VerifiedEpoch(record: response.epoch, checkpoint: verified, age: age, view: newView)
        return VerifiedAnswer(step, of: handle, label, in: epoch, response)
    }
}
