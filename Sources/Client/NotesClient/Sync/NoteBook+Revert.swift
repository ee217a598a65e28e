// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import NotesAPI

/// Revisions that this device does not believe block every later one, because the server requires later ones to build
/// on them. A writer may therefore add a revision after them that restores the earlier text.
extension NoteBook {
    /// Restores the text of a note from before the revisions that this device does not believe. A device that its
    /// author no longer has made them, or one that is part of a change of devices that the user has not accepted.
    /// Pending changes are merged with the restored text.
    ///
    /// The reverted revisions stay in the note's history, and every member sees who signed them and what replaced them.
    ///
    /// - Returns: the signer of each reverted revision.
    /// - Throws: ``NotesError``; ``NotesError/nothingToRevert``.
    @discardableResult
    public func revert(_ note: NoteID) async throws(NotesError) -> [Author] {
        forgetPeople()
        try spare(note)
        defer { news.spared = nil }
        for _ in 0..<8 {
            try await pull()
            var file = try file(of: note)
            file.outbox = []
            guard let held = try opened(file) else { throw .noSuchNote(note) }
            try checkMayWrite(held)
            if let doubt = try await doubt(about: note) { throw .doubted(doubt) }
            let unbelieved = file.unbelievedRevisions
            guard !unbelieved.isEmpty else { throw .nothingToRevert }
            let revision = try seal(
                try content(of: held), into: held, after: try verified(unbelieved, behind: held).head)
            guard try await isApplied(.revision(revision)) else { continue }
            try write { tables in
                for record in unbelieved + [revision] {
                    try tables.keep(.revision(record), of: note, isAccepted: true)
                }
            }
            try load(note)
            return unbelieved.map(\.author)
        }
        throw .keepsMoving
    }

    private func opened(_ file: NoteFile) throws(NotesError) -> HeldNote? {
        do { return try opener.open(file) } catch { throw .locked(error) }
    }

    /// Verifies the unbelieved revisions in everything but their signers: each follows the one before, and its author
    /// had the right to write.
    private func verified(
        _ unbelieved: [RevisionRecord], behind held: HeldNote
    ) throws(NotesError) -> VerifiedRevisions {
        do { return try opener.verified(held.revisions.revisions.map(\.record) + unbelieved, held.control) } catch {
            throw .locked(error)
        }
    }
}

extension NoteFile {
    /// The unbelieved revisions that follow the accepted ones, each built on the one before; empty if two have the same
    /// place.
    var unbelievedRevisions: [RevisionRecord] {
        let byParent = Dictionary(grouping: incoming.revisions, by: \.parent)
        var chain: [RevisionRecord] = []
        while let next = byParent[chain.last?.hash ?? accepted.revisionView?.head ?? .none], next.count == 1 {
            chain += next
        }
        return chain
    }
}
