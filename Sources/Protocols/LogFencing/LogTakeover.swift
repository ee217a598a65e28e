// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// What a candidate is to do next.
public enum TakeoverAction: Hashable, Sendable {
    /// Execute ``LogRow/claimed()`` under quorum commit, if the lease is free or our own, on a connection that is kept as long as we lead.
    case claim
    /// Read the frames up to this head from the database, check them, and make the tree of them.
    case replay(TreeHead)
    /// Read the second memory, which must answer, and of the served checkpoint and the witnesses those that do.
    case recall
    /// Execute ``LogRow/confirming(_:)`` under quorum commit.
    case confirm(generation: UInt64)
    /// Lead.
    case lead(LogLeadership)
}

/// What has happened to a candidate.
public enum TakeoverEvent: Hashable, Sendable {
    /// The claim was acknowledged by the quorum, and left this row.
    case claimed(LogRow)
    /// The frames are contiguous, their checksums hold, and they make this tree.
    case replayed(TreeHead)
    /// What the second memory holds, nil if nothing was ever signed; and what the others hold who answered.
    case recalled(memory: TreeHead?, others: [SeenHead])
    /// The confirmation was acknowledged by the quorum.
    case confirmed
    /// A statement found another row than it expected, or the lease is another one's.
    case refused
    /// A connection broke, or gave a warning, while a statement was under way. PostgreSQL answers a commit whose wait for the standby was
    /// cancelled with success and a warning.
    case unknown
}

/// Why a candidate does not lead.
public enum TakeoverEnd: Error, Hashable, Sendable {
    /// Another one leads, or is about to. Stand by, and try again when the lease has run out.
    case othersLead
    /// Whether a write took effect cannot be known from here. Begin again from nothing, on another connection.
    case outcomeUnknown
    /// The database is not fit. Look for another one, and tell the operator.
    case unfitDatabase(DatabaseFault)
    /// The frames do not make the head that the row names. Stop: a person must decide.
    case framesDiffer(row: TreeHead, frames: TreeHead)
    /// The second memory holds less than the database has published, or nothing: it was lost, or an older copy was restored. Stop: a person
    /// must decide.
    case memoryBehind(TreeHead?, published: TreeHead)
    /// The database is not the whole history. Stop: a person must decide.
    case conflict(HeadConflict)
    /// An answer to a question that was not asked: a bug of ours. Stop.
    case outOfTurn
}

/// How a server becomes the leader of a log: the decisions between the claim and the first head that it signs.
///
/// The order matters. A database that has come back shows rows which no standby has, so nothing is believed before a write of our own was
/// acknowledged by the quorum: it proves that this database is the one that can commit, and that all before it is on a standby.
///
/// Spec: `Documentation/architecture.md`, "Who may lead a log"; `Models/fencing.pml`, F3 and F5.
public struct LogTakeover: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        case claiming
        case replaying(LogRow)
        case recalling(LogRow)
        case confirming(LogRow, HeadConflict)
        case over(TakeoverEnd)
    }

    private var phase = Phase.claiming

    /// Begins: the first action is ``TakeoverAction/claim``.
    ///
    /// - Throws: ``TakeoverEnd/unfitDatabase(_:)``: nothing was claimed.
    public init(on facts: DatabaseFacts, _ demands: DatabaseDemands) throws(TakeoverEnd) {
        do throws(DatabaseFault) { try demands.check(facts) } catch { throw .unfitDatabase(error) }
    }

    /// Decides what follows from an event.
    ///
    /// - Parameter root: the root of the first entries of the tree that was replayed; nil beyond its size.
    /// - Throws: ``TakeoverEnd``, and from then on the same one for every event.
    public mutating func take(
        _ event: TakeoverEvent, root: (UInt64) -> TreeHash?
    ) throws(TakeoverEnd) -> TakeoverAction {
        do throws(TakeoverEnd) { return try next(after: event, root: root) } catch {
            phase = .over(error)
            throw error
        }
    }

    private mutating func next(
        after event: TakeoverEvent, root: (UInt64) -> TreeHash?
    ) throws(TakeoverEnd) -> TakeoverAction {
        switch (phase, event) {
        case (.over(let end), _): throw end
        case (_, .refused): throw .othersLead
        case (_, .unknown): throw .outcomeUnknown
        case (.claiming, .claimed(let row)):
            phase = .replaying(row)
            return .replay(row.head)
        case (.replaying(let row), .replayed(let tree)):
            guard tree == row.head else { throw .framesDiffer(row: row.head, frames: tree) }
            phase = .recalling(row)
            return .recall
        case (.recalling(let row), .recalled(let memory, let others)):
            return try judge((memory.map { [SeenHead($0, in: .secondMemory)] } ?? []) + others, memory, row, root)
        case (.confirming(_, let conflict), .confirmed): throw .conflict(conflict)
        default: throw .outOfTurn
        }
    }

    /// Leads if the row's log extends all that was signed. A head that is larger may be of somebody who has claimed after us, and then we
    /// are not behind but late: so the generation is confirmed before anybody is told to decide.
    private mutating func judge(
        _ seen: [SeenHead], _ memory: TreeHead?, _ row: LogRow, _ root: (UInt64) -> TreeHash?
    ) throws(TakeoverEnd) -> TakeoverAction {
        guard (memory?.size ?? 0) >= row.published.size else { throw .memoryBehind(memory, published: row.published) }
        do throws(HeadConflict) {
            for one in seen { try one.requireExtended(by: row.head, root: root) }
        } catch {
            guard case .databaseBehind = error else { throw .conflict(error) }
            phase = .confirming(row, error)
            return .confirm(generation: row.generation)
        }
        return .lead(LogLeadership(row, remembered: memory))
    }
}
