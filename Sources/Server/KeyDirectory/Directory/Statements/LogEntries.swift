// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog
import VRF

/// What the log gets for one state: the one place where entries are laid out.
///
/// Leaves of devices that the log does not have yet come first and the state record last, in one append: a reader who
/// sees the record finds every device of it. A device that comes back is not logged again.
struct LogEntries: Sendable {
    /// The state record's leaf hash.
    let recordLeaf: TreeHash
    /// The entries, in order.
    let entries: [[UInt8]]

    /// Lays out the entries for a state.
    ///
    /// - Parameter isLogged: whether the log has an entry with this leaf hash.
    init(
        label: VRFHash, state: AccountState, kind: StateKind, opening: [UInt8], isLogged: (TreeHash) -> Bool
    ) {
        let record = Self.record(label: label, state: state, kind: kind, opening: opening)
        recordLeaf = TreeHash.leaf(record.entry)
        let devices = state.devices.map { DeviceLeaf(label: label, device: $0.keys).entry }
        entries = devices.filter { !isLogged(TreeHash.leaf($0)) } + [record.entry]
    }

    /// The state record of a state.
    static func record(
        label: VRFHash, state: AccountState, kind: StateKind, opening: [UInt8]
    ) -> StateRecord {
        StateRecord(
            label: LabelIndex(label), version: state.version, kind: kind,
            commitment: StateCommitment(to: state, opening: opening))
    }
}
