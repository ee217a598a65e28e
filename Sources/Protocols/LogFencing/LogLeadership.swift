// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// What a leader is to do next.
public enum LeaderAction: Hashable, Sendable {
    /// Execute ``LogRow/committing(_:)`` with the frame, in one transaction under quorum commit, on the connection of the claim.
    case commit(CommitRequest)
    /// Put the full tiles and bundles of this head into the object store, and the entries that no full bundle holds. They follow from
    /// frames that are committed and are never overwritten, so that it does no harm if somebody else does the same.
    case place(TreeHead)
    /// Sign this head, and put the note into the second memory if that still holds the note of `after`. The note does not leave the process.
    case remember(TreeHead, after: TreeHead?)
    /// Let witnesses cosign the note.
    case witness(TreeHead)
    /// Execute ``LogRow/publishing(_:by:)`` under quorum commit, on the connection of the claim.
    case publish(TreeHead, by: UInt64)
    /// Put the note where mirrors look, and wake the front ends. Nothing depends on the outcome.
    case announce(TreeHead)
}

/// What has happened to a leader.
public enum LeaderEvent: Hashable, Sendable {
    /// The committed head is to be shown: at the beginning, when a leader before may not have come so far, and whenever its cosignatures
    /// have become old.
    case due
    /// What waited was made into a frame, with which the log has this head. Only while ``LogLeadership/isWriting`` is false.
    case sealed(TreeHead)
    /// The quorum has acknowledged the frame.
    case committed
    /// The objects are in the store.
    case placed
    /// The second memory holds the note.
    case remembered
    /// The second memory holds the note of another head, nil if none, and was not changed.
    case memoryHolds(TreeHead?)
    /// Whether the second memory was changed is not known.
    case memoryUnknown
    /// A quorum of witnesses has cosigned.
    case witnessed
    /// Too few witnesses have answered.
    case witnessesShort
    /// A witness has cosigned this head, and refuses ours.
    case witnessHolds(TreeHead)
    /// The quorum has acknowledged that the head may be shown.
    case published
    /// A statement found another row than it expected.
    case refused
    /// The connection broke, or gave a warning, while a statement was under way, as in ``TakeoverEvent/unknown``.
    case unknown
}

/// Why a server leads no more.
public enum LeadershipEnd: Error, Hashable, Sendable {
    /// Another one leads, or the second memory has lost what it held. What was under way in the database has not taken effect. Stand by,
    /// and take over when the lease has run out.
    case superseded
    /// Whether a write took effect cannot be known from here, and is not to be found out by reading or by trying again: take over from the
    /// beginning, on another connection. The claim and the replay say what the log holds.
    case outcomeUnknown
    /// The log was forked. Stop: a person must decide, and both notes are kept.
    case conflict(HeadConflict)
    /// What is committed could not be shown for too long: see ``ShowingWatch``. Give the lease back, and let another one try.
    case unshown
    /// This process's clock is ahead of the database's: see ``ClockDifference``. Give the lease back. Nothing is committed with such a time.
    case clockAhead
    /// An answer to a question that was not asked: a bug of ours. Stop.
    case outOfTurn

    /// Whether the same server may lead again, without anything that a person would have to decide.
    public var isPassing: Bool {
        switch self {
        case .superseded, .outcomeUnknown, .unshown, .clockAhead: true
        case .conflict, .outOfTurn: false
        }
    }
}

/// What the leader of one generation does with each frame, from the claim to the end. It is made by ``LogTakeover`` only.
///
/// One frame is being committed and one head being shown at a time, side by side. A head is shown in this order: placed, signed and
/// remembered, witnessed, published; and it is one that the quorum has acknowledged. A signature of Ed25519 is the same each time, so two
/// leaders that show one committed head make the same note.
///
/// Spec: `Documentation/architecture.md`, "Who may lead a log"; `Models/fencing.pml`, F1 to F3.
public struct LogLeadership: Hashable, Sendable {
    /// How far the head that is being shown is.
    enum Showing: Hashable, Sendable {
        case nothing
        case placing(TreeHead)
        case remembering(TreeHead)
        case witnessing(TreeHead)
        case publishing(TreeHead)
    }

    /// The generation of the claim.
    public let generation: UInt64
    /// What the quorum has acknowledged: the only head that may be signed.
    public internal(set) var committed: TreeHead
    /// What the second memory holds, as far as this leader knows; nil if nothing was ever signed.
    public internal(set) var remembered: TreeHead?
    var writing: TreeHead?
    var showing = Showing.nothing
    private var end: LeadershipEnd?

    init(_ row: LogRow, remembered: TreeHead?) {
        generation = row.generation
        committed = row.head
        self.remembered = remembered
    }

    /// Whether a frame is under way to the database. No other may be sealed meanwhile.
    public var isWriting: Bool { writing != nil }

    /// Decides what follows from an event.
    ///
    /// - Parameter root: the root of the first entries of this leader's tree; nil beyond its size.
    /// - Throws: ``LeadershipEnd``, and from then on the same one for every event: an end is for good.
    public mutating func take(_ event: LeaderEvent, root: (UInt64) -> TreeHash?) throws(LeadershipEnd) -> [LeaderAction]
    {
        if let end { throw end }
        do throws(LeadershipEnd) { return try next(after: event, root: root) } catch {
            end = error
            throw error
        }
    }

    private mutating func next(
        after event: LeaderEvent, root: (UInt64) -> TreeHash?
    ) throws(LeadershipEnd) -> [LeaderAction] {
        switch event {
        case .refused: throw .superseded
        case .unknown: throw .outcomeUnknown
        case .sealed(let next): return try commit(next)
        case .committed: return try acknowledge()
        default: return try show(after: event, root: root)
        }
    }

    // MARK: The frame

    private mutating func commit(_ next: TreeHead) throws(LeadershipEnd) -> [LeaderAction] {
        guard writing == nil, next.size > committed.size else { throw .outOfTurn }
        writing = next
        return [.commit(CommitRequest(generation: generation, after: committed, next: next))]
    }

    private mutating func acknowledge() throws(LeadershipEnd) -> [LeaderAction] {
        guard let written = writing else { throw .outOfTurn }
        writing = nil
        committed = written
        return showing == .nothing ? showCommitted() : []
    }

    mutating func showCommitted() -> [LeaderAction] {
        showing = .placing(committed)
        return [.place(committed)]
    }
}
