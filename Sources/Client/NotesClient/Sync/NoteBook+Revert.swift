// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import NotesAPI

/// Revisions that this device does not believe block every later one: the server demands that later ones build on them. So a
/// writer may put what was there before behind them.
extension NoteBook {
    /// Puts back what a note said before revisions that came and that this device does not believe: they were made by a
    /// device that its author no longer has, or that is part of a change of devices that the user has not accepted.
    /// What waits to be sent is joined with it.
    ///
    /// They stay in the note's history, and every member sees whose they are and what took their place.
    ///
    /// - Returns: who signed what was reverted, one for each revision.
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

    /// All but who signed the last of them: each follows the one before, and its author might write.
    private func verified(
        _ unbelieved: [RevisionRecord], behind held: HeldNote
    ) throws(NotesError) -> VerifiedRevisions {
        do { return try opener.verified(held.revisions.revisions.map(\.record) + unbelieved, held.control) } catch {
            throw .locked(error)
        }
    }
}

extension NoteFile {
    /// Revisions that came and stand behind what is accepted, one on the other, without being believed. None where two have one place.
    var unbelievedRevisions: [RevisionRecord] {
        let byParent = Dictionary(grouping: incoming.revisions, by: \.parent)
        var chain: [RevisionRecord] = []
        while let next = byParent[chain.last?.hash ?? accepted.revisionView?.head ?? .none], next.count == 1 {
            chain += next
        }
        return chain
    }
}
