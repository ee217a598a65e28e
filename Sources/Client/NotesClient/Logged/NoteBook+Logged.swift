// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import PinnedHTTP
import SignetClient
import VerifiableMap

/// Compares shared notes with their states in the directory's public log, so that this device notices what a server
/// withholds, and seals nothing for people whose removal the server hides.
extension NoteBook {
    /// Compares shared notes with the log, and fetches once more what seems to be missing.
    ///
    /// - Returns: the notes about which there is a doubt, and those for which something came.
    func checkLoggedHeads() async throws(NotesError) -> Set<NoteID> {
        let shared = Set(held.filter { isShared($0.value) }.keys)
        logged.keepDoubts(about: shared)
        try await compare(shared)
        guard logged.hasMissingDelivery else { return Set(logged.doubts.keys) }
        let received = try await pull()
        try await compare(Set(logged.doubts.keys))
        return received.union(logged.doubts.keys)
    }

    /// Makes sure that nothing is sent to a note whose state on this device differs from the log.
    ///
    /// - Returns: the doubt, if there is one.
    func doubt(about note: NoteID) async throws(NotesError) -> HeadDoubt? {
        guard let held = held[note], isShared(held) else { return nil }
        if !logged.compared.contains(note) { try await compare([note]) }
        return logged.doubts[note]
    }

    /// Whether any other person can read the note, so that it matters who that is.
    private func isShared(_ held: HeldNote) -> Bool {
        headsInLog == .demanded && held.sentHead != nil && held.role(of: author.handle) != nil
            && !held.control.state.isDeleted && !held.control.state.members.isEmpty
    }

    private func compare(_ notes: Set<NoteID>) async throws(NotesError) {
        let notes = notes.sorted()
        for start in stride(from: 0, to: notes.count, by: LoggedHeadsRequest.maximumCount) {
            let part = Array(notes[start..<min(start + LoggedHeadsRequest.maximumCount, notes.count)])
            let found = try await loggedHeads(of: part)
            for (note, head) in zip(part, found) {
                logged.add(note)
                let doubt = try await doubt(about: note, head)
                if logged.set(doubt, about: note) { try load(note) }
            }
        }
    }

    private func doubt(
        about note: NoteID, _ found: Result<VerifiedNoteHead, HeadDoubt>
    ) async throws(NotesError) -> HeadDoubt? {
        switch found {
        case .failure(let doubt): return doubt
        case .success(let logged):
            switch try await missing(of: logged) {
            case .failure(let error): return .kept(error)
            case .success(let missing):
                return try remember(missing, of: note, at: logged.root.root.time).map { .unlogged(seconds: $0) }
            }
        }
    }

    /// The records of a note that this device has and the log does not cover yet.
    private func missing(
        of logged: VerifiedNoteHead
    ) async throws(NotesError) -> Result<Set<RecordHash>, LoggedHeadError> {
        let first = try missing(of: logged, list: nil)
        guard case .failure(.noList) = first else { return first }
        let request = ChildListRequest(version: logged.root.version, note: logged.note)
        let answer: ChildListAnswer = try await calls.call(.childList, request)
        return try missing(of: logged, list: answer.list)
    }

    private func missing(
        of logged: VerifiedNoteHead, list: ChildList?
    ) throws(NotesError) -> Result<Set<RecordHash>, LoggedHeadError> {
        let (held, file) = (try heldNote(logged.note), try file(of: logged.note))
        let children = Set((file.accepted.children + file.incoming.children).map(\.hash))
        do throws(LoggedHeadError) {
            return .success(
                try LoggedHeadVerifier.verify(
                    logged, control: held.control, revisions: file.accepted.revisions + file.unbelievedRevisions,
                    children: children, list: list))
        } catch { return .failure(error) }
    }

    /// Records since when a state has been missing from the log.
    ///
    /// - Returns: for how many seconds, if that is too long.
    private func remember(
        _ missing: Set<RecordHash>, of note: NoteID, at time: UInt64
    ) throws(NotesError) -> UInt64? {
        let known = try read { try $0.unlogged(of: note) }
        let now = known.updated(missing, at: time)
        if now != known { try write { try $0.set(now, of: note) } }
        return now.overdue(at: time)
    }

    // MARK: Asking

    /// The heads that the log has for these notes, in the epoch of a lookup, of one's own account if there was no other.
    private func loggedHeads(
        of notes: [NoteID]
    ) async throws(NotesError) -> [Result<VerifiedNoteHead, HeadDoubt>] {
        switch try await provenRoot(with: notes) {
        case .failure(let doubt): return notes.map { _ in .failure(doubt) }
        case .success(let (root, heads)):
            return zip(notes, heads).map { note, head in
                guard let head else { return .failure(.noHead) }
                do throws(MapProofError) { return .success(try head.verify(note, in: root)) } catch {
                    return .failure(.head(error))
                }
            }
        }
    }

    private func provenRoot(
        with notes: [NoteID]
    ) async throws(NotesError) -> Result<(VerifiedNotesRoot, [LoggedHeadProof?]), HeadDoubt> {
        for delay in [0, 100, 400, 1600] {
            if delay > 0 { await surroundings.wait(.milliseconds(delay)) }
            let epoch = try await people.newestEpoch()
            let answer: LoggedHeadsAnswer
            do throws(NotesError) {
                answer = try await calls.call(
                    .loggedHeads, LoggedHeadsRequest(size: epoch.size, notes: notes))
            } catch {
                guard error.family != .environment else { throw error }
                return .failure(.noRoot)
            }
            guard case .heads(let proof, let heads) = answer else {
                // A newer epoch has ended, or ends now with a newer root.
                people.forgetEpoch()
                continue
            }
            guard heads.count == notes.count else { throw .malformedAnswer }
            do throws(NotesRootError) {
                return .success((try proof.verify(in: epoch, at: surroundings.now()), heads))
            } catch { return .failure(.root(error)) }
        }
        return .failure(.noRoot)
    }
}
