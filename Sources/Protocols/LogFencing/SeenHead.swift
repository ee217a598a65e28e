// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// A signed head that was found outside of the database.
public struct SeenHead: Hashable, Sendable {
    /// Where it was found.
    public enum Place: Hashable, Sendable {
        /// In the object in which a leader puts down what it has signed, before it leaves the process.
        case secondMemory
        /// In the checkpoint that is served.
        case publishedCheckpoint
        /// In what the machine that asks has shown before.
        case thisMachine
        /// With a witness, which has cosigned it; nil: which one is not known.
        case witness(Policy.Name?)
    }

    /// The size and root.
    public let head: TreeHead
    /// Where it was found.
    public let place: Place

    /// A head that was found somewhere, in a note whose signature by the log's key was verified.
    public init(_ head: TreeHead, in place: Place) {
        self.head = head
        self.place = place
    }
}

/// What was signed once is not in the history that the database has. Going on would fork the log, so a person must decide.
///
/// Security: neither case says who is at fault. A witness signs no size that it names, and can stop a log but prove nothing to others.
public enum HeadConflict: Error, Hashable, Sendable {
    /// More was signed than the database has: it has lost entries that it acknowledged, or an older copy was restored.
    case databaseBehind(seen: SeenHead, database: TreeHead)
    /// The log has another root at the size that was signed. Keep both notes: they are evidence.
    case forked(seen: SeenHead, own: TreeHash)
}

extension SeenHead {
    /// Demands that the log extends this head.
    ///
    /// - Parameters:
    ///   - head: the whole log, as far as it is committed.
    ///   - root: the root of its first entries; nil beyond its size.
    /// - Throws: ``HeadConflict``: never worth a retry with the same log.
    public func requireExtended(by head: TreeHead, root: (UInt64) -> TreeHash?) throws(HeadConflict) {
        guard self.head.size <= head.size, let own = root(self.head.size) else {
            throw .databaseBehind(seen: self, database: head)
        }
        guard own == self.head.root else { throw .forked(seen: self, own: own) }
    }
}
