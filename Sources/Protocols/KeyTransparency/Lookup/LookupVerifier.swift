import TransparencyLog
import VRF

/// Decides whether an answer of the directory is true. Nothing else in Signet yields a peer's key.
///
/// ``verify(_:for:knowing:at:)`` is the page of checks: one line each, in the order of ``LookupCheck``,
/// which is also the order in which they are reported. Everything comes in as an argument, the time
/// included; what to remember goes out as a value, and only if every check held.
public struct LookupVerifier: Sendable {
    /// What is pinned about the directory.
    public let trust: DirectoryTrust

    /// A verifier for one directory.
    public init(trust: DirectoryTrust) { self.trust = trust }

    /// Checks an answer to the question "which keys has `handle`?".
    ///
    /// - Parameters:
    ///   - bytes: the body as received, ``LookupResponse``.
    ///   - handle: what the user typed; never what the server echoed.
    ///   - view: the largest checkpoint this client has verified; nil on the first visit.
    ///   - now: seconds since 1970.
    /// - Returns: the verified keys, and in ``VerifiedLookup/view`` what to remember. The caller stores
    ///   the view before it uses the keys, and repeats the lookup if the stored view has moved meanwhile.
    /// - Throws: ``LookupError``: which check failed and why. Only ``LookupError/freshness(_:)`` is worth
    ///   a retry; ``LookupError/consistency(_:)`` holds evidence to keep.
    ///
    /// Security: proves that the keys are in the log that everyone else sees who knows its checkpoint.
    /// That no *later* state exists is not proven yet.
    public func verify(
        _ bytes: [UInt8], for handle: Handle, knowing view: LogView?, at now: UInt64
    ) throws(LookupError) -> VerifiedLookup {
        let response = try checkEnvelope(bytes)
        let label = try checkVRF(response, handle)
        let state = try checkAccountState(response, handle)
        let leaves = try checkLeaves(response, label, state)
        let note = try checkNote(response)
        try checkOrigin(try checkCheckpointText(note))
        let signed = try checkLogSignature(note)
        let verified = try checkCosignatures(signed)
        try checkNoContradiction(verified, view)
        try checkInclusion(response, leaves, verified)
        let age = try checkFreshness(verified, now)
        let newView = try checkConsistency(response, verified, view)
        return VerifiedLookup(
            handle: handle, label: label, state: state, kind: response.kind, checkpoint: verified,
            age: age, view: newView, leaves: leaves, response: response)
    }
}
