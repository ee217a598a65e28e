// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

// How a committed head becomes one that may be shown. Each step waits for the one before.
extension LogLeadership {
    mutating func show(after event: LeaderEvent, root: (UInt64) -> TreeHash?) throws(LeadershipEnd) -> [LeaderAction] {
        switch (showing, event) {
        case (.nothing, .due): return showCommitted()
        case (_, .due): return []
        case (.placing(let head), .placed): return remember(head)
        case (.remembering(let head), .memoryUnknown): return remember(head)
        case (.remembering(let head), .memoryHolds(let other)) where other != head:
            return try remember(head, insteadOf: other, root: root)
        case (.remembering(let head), .remembered), (.remembering(let head), .memoryHolds):
            remembered = head
            showing = .witnessing(head)
            return [.witness(head)]
        case (.witnessing(let head), .witnessesShort): return [.witness(head)]
        case (.witnessing(let head), .witnessHolds(let other)):
            try judge(SeenHead(other, in: .witness(nil)), showing: head, root: root)
            return [.witness(head)]
        case (.witnessing(let head), .witnessed):
            showing = .publishing(head)
            return [.publish(head, by: generation)]
        case (.publishing(let head), .published):
            showing = .nothing
            return [.announce(head)] + (committed == head ? [] : showCommitted())
        default: throw .outOfTurn
        }
    }

    /// To put the same note again is no blind repetition: if the first one took effect, the second finds it there.
    private mutating func remember(_ head: TreeHead) -> [LeaderAction] {
        showing = .remembering(head)
        return [.remember(head, after: remembered)]
    }

    /// The memory holds something else than this leader knew. A leader before may have put down its last head only now: ours extends it.
    /// If it holds less than it did, whether what was published is still there is for the next take-over to find out.
    private mutating func remember(
        _ head: TreeHead, insteadOf other: TreeHead?, root: (UInt64) -> TreeHash?
    ) throws(LeadershipEnd) -> [LeaderAction] {
        guard (other?.size ?? 0) >= (remembered?.size ?? 0) else { throw .superseded }
        if let other { try judge(SeenHead(other, in: .secondMemory), showing: head, root: root) }
        remembered = other
        return remember(head)
    }

    /// Demands that the head being shown extends one that was found. If that is larger, somebody who has claimed later has signed it: whether
    /// the database is behind is for the next take-over to find out.
    private func judge(_ seen: SeenHead, showing head: TreeHead, root: (UInt64) -> TreeHash?) throws(LeadershipEnd) {
        do throws(HeadConflict) { try seen.requireExtended(by: head, root: root) } catch {
            guard case .databaseBehind = error else { throw .conflict(error) }
            throw .superseded
        }
    }
}
