// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// Judges a note's revisions: which ones members with the right to write have written, and which is the last.
public enum RevisionVerifier {
    /// Checks, in this order: chain, control, role, closed epochs, consistency, authority.
    ///
    /// - Parameters:
    ///   - revisions: all of them, from the first on.
    ///   - control: the note's control log, checked, at least as new as the revisions.
    ///   - authors: the keys of every signer of one, from verified lookups.
    ///   - view: what this client remembers; nil if it has never seen the note.
    /// - Throws: ``RevisionError``.
    ///
    /// Security: when this returns, each revision was signed by a member who had the right to write when they signed,
    /// and no removed member has written since. That nothing newer exists is not proven; ``AccountHead`` and the
    /// remembered view notice it.
    public static func verify(
        _ revisions: [RevisionRecord], control: VerifiedControl, authors: KnownAuthors, knowing view: RevisionView?
    ) throws(RevisionError) -> VerifiedRevisions {
        try checkChain(revisions, control)
        try checkControl(revisions, control)
        try checkRoles(revisions, control)
        try checkClosedEpochs(revisions, control)
        try checkConsistency(revisions, view)
        try checkAuthority(revisions, control, authors, view)
        return VerifiedRevisions(revisions: revisions.map { VerifiedRevision(record: $0) })
    }

    /// Each follows the one before, and all are of this note.
    private static func checkChain(
        _ revisions: [RevisionRecord], _ control: VerifiedControl
    ) throws(RevisionError) {
        var (number, parent) = (UInt64(1), RecordHash.none)
        for revision in revisions {
            guard revision.note == control.state.note else { throw .anotherNote }
            guard revision.number == number, revision.parent == parent else { throw .brokenChain(number: number) }
            number += 1  // counts an array
            parent = revision.hash
        }
    }

    /// Each names an entry of the control log, none an older one than a revision before it, and has that entry's epoch.
    private static func checkControl(
        _ revisions: [RevisionRecord], _ control: VerifiedControl
    ) throws(RevisionError) {
        var last: UInt64 = 0
        for revision in revisions {
            guard let moment = control.moment(after: revision.control) else {
                throw .unknownControl(number: revision.number)
            }
            guard moment.number >= last else { throw .controlGoesBack(number: revision.number) }
            guard revision.epoch == moment.epoch else { throw .wrongEpoch(number: revision.number) }
            guard !moment.isDeleted else { throw .mayNotWrite(number: revision.number) }
            last = moment.number
        }
    }

    /// Each author had the right to write after the entry they name.
    private static func checkRoles(
        _ revisions: [RevisionRecord], _ control: VerifiedControl
    ) throws(RevisionError) {
        for revision in revisions {
            guard let moment = control.moment(after: revision.control),
                control.role(of: revision.author.handle, at: moment) == .writer
            else { throw .mayNotWrite(number: revision.number) }
        }
    }

    /// Each closed epoch ends with the revision that the rekeying names: a member who was removed by it, or lost a
    /// device before it, writes nothing into that epoch any more.
    private static func checkClosedEpochs(
        _ revisions: [RevisionRecord], _ control: VerifiedControl
    ) throws(RevisionError) {
        for (closing, epoch) in zip(control.state.closings, UInt32(1)...) {
            let last = revisions.last { $0.epoch <= epoch }?.hash ?? .none
            guard last == closing.revisionHead else { throw .closedEpochChanged(epoch: epoch) }
        }
    }

    /// The chain holds what this client has seen, where it has seen it.
    private static func checkConsistency(
        _ revisions: [RevisionRecord], _ view: RevisionView?
    ) throws(RevisionError) {
        guard let view else { return }
        guard let seen = revisions.first(where: { $0.number == view.number }) else {
            throw .rollback(known: view.number, received: UInt64(revisions.count))
        }
        guard seen.hash == view.head else { throw .fork(number: view.number) }
    }

    /// Behind each revision stands a current device: its own, that of a later writer who built on it, a rekeying that
    /// closed its epoch, or what this client accepted before. So it is enough to look at the last.
    private static func checkAuthority(
        _ revisions: [RevisionRecord], _ control: VerifiedControl, _ authors: KnownAuthors, _ view: RevisionView?
    ) throws(RevisionError) {
        guard let last = revisions.last, last.number > view?.number ?? 0, last.epoch == control.state.epoch else {
            return
        }
        guard authors.isCurrent(last.author), control.state.role(of: last.author.handle) == .writer else {
            throw .noAuthority(number: last.number)
        }
    }
}

/// Why revisions are not believed. The server, a member or an old device misbehaved; a retry does not help.
public enum RevisionError: Error, Hashable, Sendable {
    /// A revision of another note.
    case anotherNote
    /// Revision `number` does not follow the one before.
    case brokenChain(number: UInt64)
    /// It names a control entry that the log does not have. A newer control log may help.
    case unknownControl(number: UInt64)
    /// It names an older control entry than the one before it.
    case controlGoesBack(number: UInt64)
    /// It is sealed for another epoch than the entry it names.
    case wrongEpoch(number: UInt64)
    /// Its author had no right to write.
    case mayNotWrite(number: UInt64)
    /// An epoch that is over has another last revision than its closing says.
    case closedEpochChanged(epoch: UInt32)
    /// The chain is shorter than what this client has seen.
    case rollback(known: UInt64, received: UInt64)
    /// Another revision stands where this client has seen one. Both are evidence.
    case fork(number: UInt64)
    /// It is the newest, and was signed by a device that its author does not have now.
    case noAuthority(number: UInt64)
}

/// What a client remembers of a note's revisions.
public struct RevisionView: Hashable, Sendable {
    /// The number of the last revision seen.
    public let number: UInt64
    /// Its hash.
    public let head: RecordHash

    /// A remembered view.
    public init(number: UInt64, head: RecordHash) {
        self.number = number
        self.head = head
    }
}

/// A revision that was checked, with all before it. Only ``RevisionVerifier`` makes one.
public struct VerifiedRevision: Hashable, Sendable {
    /// The record.
    public let record: RevisionRecord

    init(record: RevisionRecord) { self.record = record }
}

/// A note's revisions, checked. Only ``RevisionVerifier`` makes them.
public struct VerifiedRevisions: Sendable {
    /// From the first to the last.
    public let revisions: [VerifiedRevision]

    init(revisions: [VerifiedRevision]) { self.revisions = revisions }

    /// The last; nil if the note has none yet.
    public var head: VerifiedRevision? { revisions.last }

    /// What to remember; nil if there is nothing.
    public var view: RevisionView? { head.map { RevisionView(number: $0.record.number, head: $0.record.hash) } }

    /// Whether the chain holds a remembered view, such as a device's ``AccountHead``.
    public func holds(_ view: RevisionView) -> Bool {
        revisions.contains { $0.record.number == view.number && $0.record.hash == view.head }
    }
}
