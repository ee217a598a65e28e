// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import SealedNotes

/// What an app can show a person about a note on this device.
public struct NoteFacts: Sendable {
    /// The note's name.
    public let note: NoteID
    /// What the person may do with the note.
    public let standing: Standing
    /// The note's owner; nil while that is not certain.
    public let owner: Handle?
    /// All other members who have not left, in order of handle.
    public let members: [Member]
    /// People of whom a leave entry says that they left, and who are still members by the rules, in order of handle.
    /// The server gives them nothing. A person whose own statement this is not, or is not verified to be, is among the
    /// members too.
    public let left: [Handle]
    /// The epoch of the note's key; 0 while that is not certain.
    public let epoch: UInt32
    /// How many revisions the note has, including pending ones.
    public let revisionCount: Int
    /// The contents; nil while the note stays closed or has none.
    public let document: NoteDocument?
    /// Why the note stays closed; nil if it is open.
    public let lock: NoteLock?
    /// Why records that came for the note were not accepted; nil if nothing is wrong.
    public let fault: NoteLock?
    /// The comments, in the order of their authors' clocks.
    public let comments: [Comment]
    /// The people who star the note.
    public let stars: Set<Handle>
    /// The signer of each comment or star that the owner left out of the list that came with a new key. These no longer
    /// count for any member.
    public let leftOut: [Author]
    /// Whether a change of the note is pending.
    public let isPending: Bool

    /// What the person may do with a note.
    public enum Standing: Hashable, Sendable {
        /// Everything.
        case owner
        /// Read and write.
        case writer
        /// Read, comment, star.
        case reader
        /// Nothing, because the person was removed. What was read is kept.
        case removed
        /// Nothing, because the person left. What was read is kept.
        case left
        /// Nothing, because the note was deleted.
        case deleted
        /// It is not certain what the person may do.
        case unknown
    }

    /// A person who has the note, besides its owner.
    public struct Member: Hashable, Sendable {
        /// The person's handle.
        public let handle: Handle
        /// What the person may do.
        public let role: NoteRole
    }

    /// A comment.
    public struct Comment: Hashable, Sendable {
        /// The author.
        public let author: Handle
        /// The text, UTF-8.
        public let text: [UInt8]
        /// The time of the author's clock, in seconds since 1970.
        public let time: UInt64
    }

    /// When the last revision was made, in seconds since 1970; 0 if the note stays closed.
    public var modified: UInt64 { document?.modified ?? 0 }

    init(_ held: HeldNote, for reader: Handle) {
        let state = held.control.state
        note = held.note
        standing = held.departed.contains(reader) ? .left : Standing(state, reader)
        owner = state.owner
        members = state.members.filter { !held.departed.contains($0.key) }.map {
            Member(handle: $0.key, role: $0.value)
        }.sorted {
            $0.handle.bytes.lexicographicallyPrecedes($1.handle.bytes)
        }
        left = state.departed.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        epoch = state.epoch
        revisionCount = held.revisions.revisions.count
        switch held.document {
        case .success(let document): (self.document, lock) = (document, nil)
        case .failure(let reason): (document, lock) = (nil, reason)
        case nil: (document, lock) = (nil, nil)
        }
        fault = held.fault
        comments = held.comments
        stars = held.stars
        leftOut = held.leftOut
        isPending = held.isPending
    }

    init(_ note: NoteID, lockedBy lock: NoteLock) {
        self.note = note
        standing = .unknown
        owner = nil
        members = []
        left = []
        epoch = 0
        revisionCount = 0
        document = nil
        self.lock = lock
        fault = nil
        comments = []
        stars = []
        leftOut = []
        isPending = false
    }
}

extension NoteFacts.Standing {
    init(_ state: ControlState, _ reader: Handle) {
        if state.isDeleted {
            self = .deleted
        } else if state.owner == reader {
            self = .owner
        } else {
            switch state.members[reader] {
            case .writer: self = .writer
            case .reader: self = .reader
            case nil: self = .removed
            }
        }
    }
}

extension HeldNote {
    fileprivate var comments: [NoteFacts.Comment] {
        children.compactMap { child in
            guard case .comment(let text, let time) = child.content else { return nil }
            return NoteFacts.Comment(author: child.record.record.author.handle, text: text, time: time)
        }.sorted { ($0.time, $0.text.count) < ($1.time, $1.text.count) }
    }

    var stars: Set<Handle> {
        ChildContent.starring(
            children.compactMap { child in
                child.content.map { (author: child.record.record.author.handle, content: $0) }
            })
    }

    /// One more than the highest counter of this person's stars.
    func nextStarCounter(of handle: Handle) -> UInt64 {
        let counters = children.compactMap { child -> UInt64? in
            guard child.record.record.author.handle == handle, case .star(_, let counter) = child.content else {
                return nil
            }
            return counter
        }
        return (counters.max() ?? 0) + 1  // counts a person's own stars
    }
}
