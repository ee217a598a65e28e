// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient

extension NoteBook {
    /// Fetches new records and judges them. Records that are not accepted are kept within ``FeedBounds``, and judged
    /// again with every pull.
    ///
    /// - Returns: the notes for which records came.
    /// - Throws: ``NotesError/endlessFeed``: the records that came are kept, and the next pull continues after them.
    @discardableResult
    func pull() async throws(NotesError) -> Set<NoteID> {
        var (touched, unjudged): (Set<NoteID>, Set<NoteID>) = ([], [])
        var (unjudgedBytes, isFromStart) = (0, false)
        for _ in 0..<news.bounds.pages {
            let cursor = try read { try $0.account() }.cursor
            let answer: FeedAnswer = try await calls.call(.pull, FeedRequest(cursor: cursor))
            switch answer {
            case .serverWentBack: throw .serverWentBack
            case .resyncRequired:
                guard cursor > 0, !isFromStart else { throw .malformedAnswer }
                isFromStart = true
                try setCursor(0)
            case .page(let page):
                let (notes, byteCount) = try keep(page)
                unjudged.formUnion(notes)
                touched.formUnion(notes)
                unjudgedBytes += byteCount
                let isLast = page.next >= page.newest
                guard isLast || (page.next > cursor && !page.entries.isEmpty) else { throw .malformedAnswer }
                guard isLast || unjudgedBytes > news.bounds.unjudgedBytes else { continue }
                let isDue = try await judge(unjudged)
                (unjudged, unjudgedBytes) = ([], 0)
                guard isLast else { continue }
                // What was dropped before may be believed now.
                guard isDue, !isFromStart else { return touched }
                isFromStart = true
                try fetchFromStart()
            }
        }
        _ = try await judge(unjudged)
        throw .endlessFeed
    }

    /// Makes the next pull read the feed from its beginning, so that dropped records come again.
    func fetchFromStart() throws(NotesError) {
        try write { try $0.forgetOverfull() }
        try setCursor(0)
    }

    private func setCursor(_ cursor: UInt64) throws(NotesError) {
        try files.changeAccount { $0.cursor = cursor }
    }

    /// Stores a page and the cursor after it in one transaction.
    private func keep(_ page: FeedPage) throws(NotesError) -> (notes: Set<NoteID>, byteCount: Int) {
        let author = author
        return try write { tables in
            var (touched, byteCount): (Set<NoteID>, Int) = ([], 0)
            for entry in page.entries {
                for (note, record) in HeldRecord.records(of: entry.item, for: author) {
                    try tables.keep(record, of: note)
                    touched.insert(note)
                    byteCount += record.encoded.count + FeedBounds.recordByteCount
                }
            }
            var account = try tables.account()
            account.cursor = page.next
            try tables.set(account)
            return (touched, byteCount)
        }
    }

    /// Judges these notes and all notes for which records wait, and drops the records that exceed a bound.
    ///
    /// - Returns: whether a record was believed of a note from which others had been dropped.
    private func judge(_ notes: Set<NoteID>) async throws(NotesError) -> Bool {
        var isDue = false
        for note in notes.union(try read { try $0.notesWithNews() }).sorted() {
            if try await judge(note) { isDue = true }
            try settleKeys(of: note)
        }
        try dropWhatIsTooMuch()
        return isDue
    }

    private func judge(_ note: NoteID) async throws(NotesError) -> Bool {
        let file = try file(of: note)
        guard !file.incoming.isEmpty else {
            try load(note)
            return false
        }
        let authors = try await people.authors(file.newAuthors, expecting: file.believedPeople)
        let verdict = opener.verdict(on: file, authors: authors)
        let bounds = news.bounds
        try write { tables in
            for record in verdict.accepted {
                try tables.accept(record, of: note)
                guard case .control(let entry) = record, entry.action == .leave, authors.isCurrent(entry.author) else {
                    continue
                }
                try tables.keep(.leaving(entry), of: note, isAccepted: true)
            }
            for record in verdict.settled { try tables.settle(record, of: note) }
            var room = verdict.refuted.isEmpty ? 0 : bounds.refutedBytes - (try tables.refutedByteCount())
            for record in verdict.refuted {
                room -= record.encoded.count + FeedBounds.recordByteCount
                if room >= 0 { try tables.setAside(record, of: note) } else { try tables.drop(record, of: note) }
            }
        }
        try load(note, fault: verdict.fault.map { reason($0, among: file.newAuthors) })
        return file.isOverfull && !verdict.accepted.isEmpty
    }

    /// A change that the user has not accepted explains a missing authority.
    private func reason(_ fault: NoteLock, among authors: Set<Handle>) -> NoteLock {
        switch fault {
        case .control(.noAuthority), .revisions(.noAuthority), .child(.noAuthority):
            authors.first(where: people.changed.contains).map { .changedKeys($0) } ?? fault
        default: fault
        }
    }
}

/// The verdict on the records that came for a note.
struct NewsVerdict {
    var accepted: [HeldRecord] = []
    /// Records that the owner left out, so that they count for no member.
    var settled: [HeldRecord] = []
    /// Records that can never hold: their signers had no right to make them, and other records have their places.
    var refuted: [HeldRecord] = []
    /// Why the other records do not hold; nil if all hold.
    var fault: NoteLock?
}

extension NoteOpener {
    /// Judges the records that came for a note. If not all of them hold, judges those that hold without the others, so
    /// that one record of a forger does not keep out later ones.
    func verdict(on file: NoteFile, authors: KnownAuthors) -> NewsVerdict {
        let whole = wholeVerdict(on: file, authors: authors)
        guard let fault = whole.fault, file.incoming.control.count + file.incoming.revisions.count > 0 else {
            return whole
        }
        var (sifted, refuted) = (file, [HeldRecord]())
        sift(&sifted, authors, &refuted)
        var verdict = wholeVerdict(on: sifted, authors: authors)
        (verdict.refuted, verdict.fault) = (refuted, verdict.fault ?? fault)
        return verdict
    }

    /// Keeps of the new records only those that follow what is known, one after the other.
    private func sift(_ file: inout NoteFile, _ authors: KnownAuthors, _ refuted: inout [HeldRecord]) {
        let note = file.note
        let control = NewsSieve(known: file.accepted.control, news: file.incoming.control, number: \.number) {
            entries in
            let view = entries.dropLast().last.map { ControlView(number: $0.number, head: $0.hash) }
            return (try? ControlVerifier.verify(entries, of: note, authors: authors, knowing: view)) != nil
        }
        file.incoming.control = control.kept
        refuted += control.refuted.map { .control($0) }
        let entries = file.accepted.control + control.kept
        guard let last = entries.last, let log = try? verified(entries, note, upTo: last),
            let readable = try? readable(log, entries, note)
        else { return }
        let revisions = NewsSieve(
            known: file.accepted.revisions, news: file.incoming.revisions, number: \.number
        ) { revisions in
            let view = revisions.dropLast().last.map { RevisionView(number: $0.number, head: $0.hash) }
            return (try? RevisionVerifier.verify(revisions, control: readable, authors: authors, knowing: view)) != nil
        }
        file.incoming.revisions = revisions.kept
        refuted += revisions.refuted.map { .revision($0) }
    }

    /// Control log and revisions are accepted together or not at all, and comments one by one.
    private func wholeVerdict(on file: NoteFile, authors: KnownAuthors) -> NewsVerdict {
        let candidate = file.accepted.joined(with: file.incoming)
        var verdict = NewsVerdict()
        do throws(NoteLock) {
            let control = try judged(candidate.control, file, authors)
            let readable = try readable(control, candidate.control, file.note)
            let isMember = control.state.role(of: owner) != nil && !control.state.isDeleted
            do throws(NoteLock) {
                try judge(candidate.revisions, readable, authors, file.accepted.revisionView)
                verdict.accepted += file.incoming.revisions.map { .revision($0) }
            } catch {
                // A person who lost the note sees that from the log alone, without the revisions.
                guard !isMember else { throw error }
                if !file.incoming.revisions.isEmpty { verdict.fault = error }
            }
            verdict.accepted += file.incoming.control.map { .control($0) }
            judge(file, readable, authors, &verdict)
        } catch { return NewsVerdict(fault: error) }
        return verdict
    }

    private func judged(
        _ entries: [ControlEntry], _ file: NoteFile, _ authors: KnownAuthors
    ) throws(NoteLock) -> VerifiedControl {
        do {
            return try ControlVerifier.verify(
                entries, of: file.note, authors: authors, knowing: file.accepted.controlView)
        } catch { throw .control(error) }
    }

    private func judge(
        _ revisions: [RevisionRecord], _ control: VerifiedControl, _ authors: KnownAuthors, _ view: RevisionView?
    ) throws(NoteLock) {
        do {
            _ = try RevisionVerifier.verify(revisions, control: control, authors: authors, knowing: view)
        } catch { throw .revisions(error) }
    }

    private func judge(
        _ file: NoteFile, _ control: VerifiedControl, _ authors: KnownAuthors, _ verdict: inout NewsVerdict
    ) {
        let closed = file.closedChildren(control)
        for child in file.incoming.children {
            do throws(ChildError) {
                _ = try ChildVerifier.verify(
                    child, control: control, closed: closed, authors: authors, accepted: false)
                verdict.accepted.append(.child(child))
            } catch {
                // The owner left it out for good: it is stored, and counts for no member.
                if error == .lateForItsEpoch {
                    verdict.settled.append(.child(child))
                } else {
                    verdict.fault = .child(error)
                }
            }
        }
    }
}

extension NoteFile {
    /// The people who have or had the note, according to believed records.
    fileprivate var believedPeople: Set<Handle> {
        let named = accepted.control.compactMap { entry -> Handle? in
            switch entry.action {
            case .share(let handle, _), .unshare(let handle, _), .transfer(let handle): handle
            case .create, .rekey, .delete, .leave: nil
            }
        }
        return Set(named + accepted.control.map(\.author.handle))
    }

    /// The people by whose keys the records are judged.
    var newAuthors: Set<Handle> {
        let authors =
            incoming.control.map(\.author) + incoming.revisions.map(\.author) + incoming.children.map(\.author)
        return Set(authors.map(\.handle))
    }
}

extension HeldRecord {
    /// The notes that an item of the feed is about, each with the record that this device stores.
    static func records(of item: FeedItem, for author: Author) -> [(NoteID, HeldRecord)] {
        switch item {
        case .control(let entry, let children):
            [(entry.note, .control(entry))] + (children.map { [(entry.note, .childList($0))] } ?? [])
        case .left(let entry): [(entry.note, .control(entry))]
        case .revision(let revision): [(revision.note, .revision(revision))]
        case .child(let child): [(child.note, .child(child))]
        // Those for the account's other devices open nothing here.
        case .wrap(let wrap): wrap.header.recipient == author ? [(wrap.header.note, .wrap(wrap))] : []
        // A wrap that cannot be read opens nothing, so it counts as missing.
        case .ownWrap(let note, _, let bytes): (try? OwnWrap(decoding: bytes)).map { [(note, .ownWrap($0))] } ?? []
        case .gone(let note): [(note, .gone)]
        case .accountHead, .accountKeys: []
        }
    }
}
