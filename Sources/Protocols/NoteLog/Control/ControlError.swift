// SPDX-License-Identifier: Apache-2.0

/// Why a control log is not believed. The server, a member or an old device misbehaved; a retry does not help.
public enum ControlError: Error, Hashable, Sendable {
    /// No entry, or the first does not create the note.
    case noBeginning
    /// An entry of another note.
    case anotherNote
    /// Entry `number` does not follow the one before: its number or its hash is another.
    case brokenChain(number: UInt64)
    /// Entry `number` breaks a rule.
    case refused(number: UInt64, ControlRule)
    /// Entry `number` was signed by a device that its author does not have now, and no current device stands behind
    /// it. Either a stolen device signed it, or its author replaced the device after giving the note away: ask a person.
    case noAuthority(number: UInt64)
    /// The log is shorter than what this client has seen.
    case rollback(known: UInt64, received: UInt64)
    /// Another entry stands where this client has seen one. Both are evidence: freeze the note and keep them.
    case fork(number: UInt64)
}

/// A rule of the control log.
public enum ControlRule: Hashable, Sendable {
    /// Only the owner signs; but who leaves signs that themself.
    case authorIsOwner
    /// A note is created once.
    case createdOnce
    /// Nothing follows a deletion.
    case notDeleted
    /// The target is the owner, or already has this role or a higher one.
    case shareAdds
    /// Only members are removed, leave or become owner.
    case isMember
    /// Epochs step by one.
    case epochStepsByOne
    /// The stated members are the ones that the entries give.
    case membersAreStated
    /// At most ``ControlState/maximumMemberCount`` members.
    case memberCount
    /// A key commitment is never used again.
    case keyIsNew
}
