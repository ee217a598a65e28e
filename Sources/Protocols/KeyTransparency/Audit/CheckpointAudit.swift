// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// What the entries of a log say about a checkpoint that the log signed.
public enum AuditFinding: Hashable, Sendable {
    /// The entries are the checkpoint's, and they keep every rule.
    case sound
    /// The entries are the checkpoint's, and this rule is broken at this entry: the signature is the log's confession.
    case fault(IndexFault, at: UInt64)
    /// The entries are not the checkpoint's, so nothing is said about the log: their source is at fault, or the log
    /// forked.
    case otherEntries(computed: TreeHash)
    /// The log has more entries than this program can hold. Nothing is said about it.
    case tooLarge
}

/// Reads a log from its first entry on, and says at any checkpoint what is true of it.
///
/// A fault is reported only when the entries lead to the root that the log signed: until then, a third party may have
/// made them up.
public struct CheckpointAudit: ~Copyable, Sendable {
    private var replay = DirectoryReplay()
    /// The first broken rule; from then on only the right edge of the tree is followed.
    private var fault: (fault: IndexFault, at: UInt64)?
    private var frontierAfterFault = MerkleFrontier()

    /// An audit that has read nothing.
    public init() {}

    /// How many entries it has read.
    public var size: UInt64 { head.size }

    /// Size and root of what it has read.
    public var head: TreeHead { fault == nil ? replay.frontier.head : frontierAfterFault.head }

    /// The last epoch before any fault; nil before the first.
    public var lastEpoch: EpochRecord? { replay.lastEpoch }

    /// The first epoch before any fault; nil before it.
    public var firstEpoch: EpochRecord? { replay.firstEpoch }

    /// Whether the log has handed over to another one.
    public var hasEnded: Bool { replay.histories.hasEnded }

    /// How many labels the log has.
    public var labelCount: UInt64 { replay.histories.labelCount }

    /// Whether a rule was broken, if the entries were the log's.
    public var isBroken: Bool { fault != nil }

    /// Reads the log's next entry.
    public mutating func add(_ entry: [UInt8]) {
        guard fault == nil else { return frontierAfterFault.append(.leaf(entry)) }
        let frontier = replay.frontier
        do throws(IndexFault) { try replay.add(entry) } catch {
            fault = (error, frontier.size)
            frontierAfterFault = frontier
            frontierAfterFault.append(.leaf(entry))
        }
    }

    /// What is true of a checkpoint of this size and root, once as many entries have been read.
    ///
    /// Security: whether the log signed the checkpoint is the caller's to know.
    public func finding(at head: TreeHead) -> AuditFinding {
        let own = self.head
        guard own == head else { return .otherEntries(computed: own.root) }
        if let fault { return fault.fault == .tooLarge ? .tooLarge : .fault(fault.fault, at: fault.at) }
        // A log is published empty once, before its first epoch.
        guard head.size > 0 else { return .sound }
        do throws(IndexFault) { try replay.requireEnd() } catch { return .fault(error, at: head.size) }
        return .sound
    }
}
