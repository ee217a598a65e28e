// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import SealedNotes

/// What a person may know of a note on this device.
public struct NoteFacts: Sendable {
    /// Its name.
    public let note: NoteID
    /// What the person may do.
    public let standing: Standing
    /// Who has it; nil while not even that is certain.
    public let owner: Handle?
    /// All other members who did not leave, in order of handle.
    public let members: [Member]
    /// Who is said to have left and is still a member by the rules, in order of handle: the server gives them nothing. Whose word it was
    /// not, or could not be verified, stands among the members, too.
    public let left: [Handle]
    /// Of the note's key; 0 while that is not certain.
    public let epoch: UInt32
    /// How many revisions it has, with those that wait to be sent.
    public let revisionCount: Int
    /// What it says; nil while it stays closed or has no content.
    public let document: NoteDocument?
    /// Why it stays closed; nil if it does not.
    public let lock: NoteLock?
    /// Why news of it were not accepted; nil if there is nothing wrong.
    public let fault: NoteLock?
    /// In the order of their authors' clocks.
    public let comments: [Comment]
    /// Who stars it.
    public let stars: Set<Handle>
    /// Who signed comments and stars that its owner left out of the list that a new key came with, one for each: these
    /// no longer count for any member.
    public let leftOut: [Author]
    /// Whether something of it waits to be sent.
    public let isPending: Bool

    /// What the person may do with a note.
    public enum Standing: Hashable, Sendable {
        /// Everything.
        case owner
        /// Read and write.
        case writer
        /// Read, comment, star.
        case reader
        /// Nothing any more: what was read is kept.
        case removed
        /// The same, as the person wanted it.
        case left
        /// It was deleted.
        case deleted
        /// Not certain.
        case unknown
    }

    /// A person who has the note, besides its owner.
    public struct Member: Hashable, Sendable {
        /// Who.
        public let handle: Handle
        /// What they may do.
        public let role: NoteRole
    }

    /// A comment.
    public struct Comment: Hashable, Sendable {
        /// Whose.
        public let author: Handle
        /// UTF-8.
        public let text: [UInt8]
        /// What the author's clock said, in seconds since 1970.
        public let time: UInt64
    }

    /// When the last revision was made, in seconds since 1970; 0 if it stays closed.
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
