// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// Judges a push: compare-and-set on the heads of one note, and the rules of the control log. The server applies what this
/// says in one transaction; a client can ask first.
///
/// Security: the server sees no content and opens nothing here. It keeps order; the clients verify everything again.
public enum PushRules {
    /// Checks, in this order: requester, device, note, then what the kind of change asks for.
    ///
    /// - Parameters:
    ///   - requester: who signed the request.
    ///   - snapshot: where the note stands; nil if there is none.
    ///   - authors: the requester's devices now.
    public static func judge(
        _ operation: PushOperation, by requester: Author, on snapshot: NoteSnapshot?, authors: KnownAuthors
    ) -> PushVerdict {
        guard operation.author == requester else { return .refused(.notTheRequesters) }
        guard authors.isCurrent(requester) else { return .refused(.deviceNotCurrent) }
        guard let snapshot else { return create(operation) }
        switch operation {
        case .control(let push): return control(push, snapshot)
        case .revision(let revision): return self.revision(revision, snapshot)
        case .child(let child): return self.child(child, snapshot)
        }
    }

    private static func create(_ operation: PushOperation) -> PushVerdict {
        guard case .control(let push) = operation, case .create = push.entry.action else {
            return .refused(.unknownNote)
        }
        guard let state = try? ControlState(first: push.entry) else { return .refused(.rule(.createdOnce)) }
        guard push.ownWrap != nil, push.revision == nil, push.children == nil else { return .refused(.incomplete) }
        guard push.wraps.isEmpty else { return .refused(.wraps) }
        return .applied(NoteSnapshot(control: state))
    }

    private static func control(_ push: ControlPush, _ snapshot: NoteSnapshot) -> PushVerdict {
        guard snapshot.control.isServed(push.entry.author.handle) else { return .refused(.forbidden) }
        let state: ControlState
        do throws(ControlError) {
            state = try snapshot.control.applying(push.entry)
        } catch {
            guard case .refused(_, let rule) = error else { return .conflict }
            return .refused(.rule(rule))
        }
        guard wrapsAreRight(push, state) else { return .refused(.wraps) }
        switch push.entry.action {
        case .unshare(_, let rekeying), .rekey(let rekeying): return rekey(push, rekeying, snapshot, state)
        default:
            let isBare =
                push.ownWrap == nil && push.revision == nil && push.children == nil && push.leftOut.children.isEmpty
            guard isBare else { return .refused(.incomplete) }
            return .applied(
                NoteSnapshot(control: state, revision: snapshot.revision, children: snapshot.children))
        }
    }

    /// The epoch ends where the note stands, and the head goes on under the new key. Which children count is the owner's
    /// word; the step names all others too, so that none is left out that the owner's device has not seen.
    private static func rekey(
        _ push: ControlPush, _ rekeying: Rekeying, _ snapshot: NoteSnapshot, _ state: ControlState
    ) -> PushVerdict {
        guard let children = push.children, rekeying.children == children.hash,
            children.children.isDisjoint(with: push.leftOut.children)
        else { return .refused(.incomplete) }
        guard rekeying.revisionHead == snapshot.revision?.head ?? .none,
            children.children.union(push.leftOut.children) == snapshot.children.children
        else { return .conflict }
        guard push.ownWrap != nil,
            (push.revision == nil) == (snapshot.revision == nil),
            push.revision?.author ?? push.entry.author == push.entry.author
        else { return .refused(.incomplete) }
        let next = NoteSnapshot(control: state, revision: snapshot.revision, children: snapshot.children)
        guard let revision = push.revision else { return .applied(next) }
        return self.revision(revision, next)
    }

    private static func revision(_ revision: RevisionRecord, _ snapshot: NoteSnapshot) -> PushVerdict {
        let state = snapshot.control
        guard !state.isDeleted, state.isServed(revision.author.handle),
            state.role(of: revision.author.handle) == .writer
        else { return .refused(.forbidden) }
        guard revision.epoch == state.epoch else { return .refused(.badEpoch(state.epoch)) }
        guard revision.control == state.head, revision.parent == snapshot.revision?.head ?? .none,
            revision.number == (snapshot.revision?.number ?? 0) + 1
        else { return .conflict }
        var next = snapshot
        next.revision = RevisionView(number: revision.number, head: revision.hash)
        return .applied(next)
    }

    private static func child(_ child: ChildRecord, _ snapshot: NoteSnapshot) -> PushVerdict {
        let state = snapshot.control
        guard !state.isDeleted, state.isServed(child.author.handle) else { return .refused(.forbidden) }
        guard child.epoch == state.epoch else { return .refused(.badEpoch(state.epoch)) }
        guard child.control == state.head else { return .conflict }
        var next = snapshot
        next.children = ChildList(snapshot.children.children.union([child.hash]))
        return .applied(next)
    }

    /// Each wrap belongs to this step, is by its author, and is for a person to whom the step gives the key. Each such
    /// person has at least one wrap, and at most one for each device that an account can have.
    private static func wrapsAreRight(_ push: ControlPush, _ state: ControlState) -> Bool {
        let expected: Set<Handle> =
            switch push.entry.action {
            case .share(let handle, _): [handle]
            case .unshare, .rekey: Set(state.members.keys)
            default: []
            }
        let areOfThisStep = push.wraps.allSatisfy {
            $0.header.note == state.note && $0.header.epoch == state.epoch && $0.header.control == state.head
                && $0.header.sender == push.entry.author
        }
        let devices = Dictionary(grouping: push.wraps.map(\.header.recipient), by: \.handle)
        let isOneEach = devices.values.allSatisfy {
            $0.count <= AccountState.maximumDeviceCount && Set($0).count == $0.count
        }
        return areOfThisStep && isOneEach && Set(devices.keys) == expected
    }
}

/// A push that may be sent again after an answer was lost: 16 random bytes name it.
public enum PushReplay: Hashable, Sendable {
    /// Never seen: judge it.
    case new
    /// Seen, the same bytes: give the old answer.
    case repeated
    /// The name was used for other bytes.
    case misused

    /// - Parameter remembered: hash of the bytes that came under this name before; nil if none did.
    public static func classify(_ bytes: [UInt8], remembered: RecordHash?) -> PushReplay {
        guard let remembered else { return .new }
        return remembered == RecordHash(of: bytes) ? .repeated : .misused
    }
}

/// The position of a device in its account's feed.
public enum PullStart: Hashable, Sendable {
    /// From the position after the cursor.
    case after(UInt64)
    /// The changes in between are no longer kept: begin again from 0, and keep what is pending.
    case resyncRequired
    /// The cursor is ahead of the feed: the server lost what it had shown. Stop and tell the user.
    case serverWentBack

    /// - Parameters:
    ///   - cursor: the last position the device has seen; 0 for none.
    ///   - oldest: the first position still kept; one more than `newest` when nothing is.
    ///   - newest: the last position; 0 when nothing was ever there.
    public static func judge(cursor: UInt64, oldest: UInt64, newest: UInt64) -> PullStart {
        guard cursor <= newest else { return .serverWentBack }
        return cursor == newest || oldest <= cursor + 1 ? .after(cursor) : .resyncRequired
    }
}
