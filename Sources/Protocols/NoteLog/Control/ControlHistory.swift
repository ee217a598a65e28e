// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// The state of a note after one entry of its control log; `VerifiedControl` knows the members at that time.
public struct ControlMoment: Hashable, Sendable {
    /// The entry's number.
    public let number: UInt64
    /// Its hash.
    public let head: RecordHash
    /// Of the note's key.
    public let epoch: UInt32
    /// What that key is recognised by, 32 bytes.
    public let keyCommitment: [UInt8]
    /// Whether the note was gone.
    public let isDeleted: Bool

    init(_ state: ControlState) {
        number = state.number
        head = state.head
        epoch = state.epoch
        keyCommitment = state.keyCommitments.last ?? []
        isDeleted = state.isDeleted
    }
}

/// All moments of a control log, and for each person when their role changed: as long as the log, however many members.
struct ControlHistory: Sendable {
    private(set) var moments: [ControlMoment]
    private var changes: [Handle: [(number: UInt64, role: NoteRole?)]]

    init(first entry: ControlEntry, _ state: ControlState) {
        moments = [ControlMoment(state)]
        changes = [entry.author.handle: [(1, .writer)]]
    }

    /// Notes what an entry changed that was applied.
    mutating func record(_ entry: ControlEntry, _ state: ControlState, ownerBefore: Handle) {
        moments.append(ControlMoment(state))
        switch entry.action {
        case .share(let handle, _), .unshare(let handle, _): change(handle, state)
        case .transfer(let handle):
            change(handle, state)
            change(ownerBefore, state)
        case .create, .rekey, .delete, .leave: break
        }
    }

    private mutating func change(_ handle: Handle, _ state: ControlState) {
        changes[handle, default: []].append((state.number, state.role(of: handle)))
    }

    func role(of handle: Handle, after number: UInt64) -> NoteRole? {
        changes[handle]?.last { $0.number <= number }?.role
    }
}
