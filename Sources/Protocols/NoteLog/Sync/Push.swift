// SPDX-License-Identifier: Apache-2.0

/// One change that a device sends. It is applied whole or not at all.
public enum PushOperation: Hashable, Sendable {
    /// A step of the control log with everything that must go with it.
    case control(ControlPush)
    /// A revision.
    case revision(RevisionRecord)
    /// A comment or star.
    case child(ChildRecord)

    /// Whose change it is.
    public var note: NoteID {
        switch self {
        case .control(let push): push.entry.note
        case .revision(let revision): revision.note
        case .child(let child): child.note
        }
    }

    /// Who signed it.
    public var author: Author {
        switch self {
        case .control(let push): push.entry.author
        case .revision(let revision): revision.author
        case .child(let child): child.author
        }
    }
}

/// A step of the control log with its wraps; after a rekeying also the head, resealed.
public struct ControlPush: Hashable, Sendable {
    /// The step.
    public let entry: ControlEntry
    /// The key, for the members whom the step gives it.
    public let wraps: [WrapRecord]
    /// The key for the owner's own devices, as the client sealed it; present when the step makes a key.
    public let ownWrap: [UInt8]?
    /// After a rekeying of a note that has revisions: its head under the new key.
    public let revision: RevisionRecord?
    /// With a rekeying: the children that count, to which the step commits.
    public let children: ChildList?
    /// With a rekeying: all others that the server has. This list is not signed; it says that the author knows of them.
    public let leftOut: ChildList

    /// A step with what goes with it; ``PushRules`` says what must.
    public init(
        entry: ControlEntry, wraps: [WrapRecord] = [], ownWrap: [UInt8]? = nil, revision: RevisionRecord? = nil,
        children: ChildList? = nil, leftOut: ChildList = ChildList([])
    ) {
        self.entry = entry
        self.wraps = wraps
        self.ownWrap = ownWrap
        self.revision = revision
        self.children = children
        self.leftOut = leftOut
    }
}

/// Where a note stands at the server: everything that decides on the next push.
public struct NoteSnapshot: Hashable, Sendable {
    /// After the last control entry.
    public var control: ControlState
    /// The last revision; nil if there is none.
    public var revision: RevisionView?
    /// All comments and stars.
    public var children: ChildList

    /// A snapshot.
    public init(control: ControlState, revision: RevisionView? = nil, children: ChildList = ChildList([])) {
        self.control = control
        self.revision = revision
        self.children = children
    }
}

/// What the server answers to a push.
public enum PushVerdict: Hashable, Sendable {
    /// Applied: the note stands so now.
    case applied(NoteSnapshot)
    /// Not applied: the note stands elsewhere than the push assumes. Pull, join, push again.
    case conflict
    /// Not applied, and never will be.
    case refused(PushRefusal)
}

/// Why a push is refused.
public enum PushRefusal: Hashable, Sendable {
    /// The record is another person's or another device's than the request.
    case notTheRequesters
    /// The device is not one that its account has now.
    case deviceNotCurrent
    /// There is no such note.
    case unknownNote
    /// The requester may not do this.
    case forbidden
    /// Sealed under a key of another epoch than this, the current one.
    case badEpoch(UInt32)
    /// The step breaks a rule.
    case rule(ControlRule)
    /// A wrap is missing, or one is for a device to which the step gives no key, or belongs to another step.
    case wraps
    /// Something that must go with the step is missing, or something came that must not.
    case incomplete
}
