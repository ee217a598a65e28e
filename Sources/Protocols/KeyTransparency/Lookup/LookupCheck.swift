// SPDX-License-Identifier: Apache-2.0

/// The checks of a lookup, in order.
public enum LookupCheck: Int, CaseIterable, Hashable, Sendable {
    /// The body has the form of ``LookupResponse``.
    case envelope = 1
    /// The VRF proof ties the hidden label to the handle that was typed (C2SP vrf-r255).
    case vrf
    /// The account state is well formed, signed by its identity key, and the handle's own; device keys that came with it are
    /// those that it lists.
    case accountState
    /// The checkpoint is a signed note with a checkpoint text (C2SP signed-note, tlog-checkpoint).
    case checkpointText
    /// It is a log of our policy that speaks.
    case origin
    /// That log signed it.
    case logSignature
    /// The policy's quorum of witnesses cosigned it (C2SP tlog-cosignature, tlog-policy).
    case cosignatures
    /// The quorum vouched for the checkpoint recently.
    case freshness
    /// The log ends in the epoch record that the answer rests on (rule E), and the epoch ended when the quorum saw it: at
    /// most an hour before (``EpochTimeRule``).
    case epoch
    /// That epoch's index holds this history for the label, or does not have the label (rsc.io/tmp/mpt).
    case index
    /// The state is the last entry of that history, which only grew since this client last saw it.
    case history
    /// The state record is in the log (RFC 6962, section 2.1.1).
    case inclusion
    /// The log only grew since the largest checkpoint this client knows (RFC 6962, section 2.1.2).
    case consistency
}
