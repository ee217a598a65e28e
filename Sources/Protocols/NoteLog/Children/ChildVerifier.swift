// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// Judges a comment or star: whether a member made it while being one.
public enum ChildVerifier {
    /// Checks, in this order: note, control, membership, closed epoch or authority.
    ///
    /// - Parameters:
    ///   - control: the note's control log, checked.
    ///   - closed: the list that the last rekeying names; nil while the note is in its first epoch.
    ///   - accepted: whether this client has accepted this very record before.
    /// - Throws: ``ChildError``.
    public static func verify(
        _ child: ChildRecord, control: VerifiedControl, closed: ChildList?, authors: KnownAuthors, accepted: Bool
    ) throws(ChildError) -> VerifiedChild {
        guard child.note == control.state.note else { throw .anotherNote }
        guard let moment = control.moment(after: child.control) else { throw .unknownControl }
        guard child.epoch == moment.epoch else { throw .wrongEpoch }
        guard !moment.isDeleted, control.role(of: child.author.handle, at: moment) != nil else { throw .notAMember }
        if child.epoch < control.state.epoch {
            try checkClosed(child, control, closed)
        } else {
            // Still a member, with a device they still have.
            let isMember = control.state.role(of: child.author.handle) != nil
            guard accepted || (isMember && authors.isCurrent(child.author)) else { throw .noAuthority }
        }
        return VerifiedChild(record: child)
    }

    /// A child of an epoch that is over is on the list that the last rekeying names.
    private static func checkClosed(
        _ child: ChildRecord, _ control: VerifiedControl, _ closed: ChildList?
    ) throws(ChildError) {
        guard let closed, closed.hash == control.state.closings.last?.children else { throw .wrongList }
        guard closed.children.contains(child.hash) else { throw .lateForItsEpoch }
    }
}

/// Why a child is not believed. A retry helps only with a newer control log.
public enum ChildError: Error, Hashable, Sendable {
    /// Of another note.
    case anotherNote
    /// It names a control entry that the log does not have. A newer control log may help.
    case unknownControl
    /// It is sealed for another epoch than the entry it names.
    case wrongEpoch
    /// Its author was not a member.
    case notAMember
    /// The list of the closed epochs' children is not the one that the rekeying names.
    case wrongList
    /// It came into an epoch that was over.
    case lateForItsEpoch
    /// It was signed by a device that its author does not have now, or its author is not a member any more.
    case noAuthority
}

/// A child that was checked. Only ``ChildVerifier`` makes one.
public struct VerifiedChild: Hashable, Sendable {
    /// The record.
    public let record: ChildRecord

    init(record: ChildRecord) { self.record = record }
}
