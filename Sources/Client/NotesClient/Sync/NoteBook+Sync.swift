// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
import NotesAPI
import PinnedHTTP
import SealedNotes
public import SignetClient

/// The result of a sync.
public struct SyncReport: Hashable, Sendable {
    /// The notes for which something came.
    public let received: Set<NoteID>
    /// How many changes were sent.
    public let sentCount: Int
    /// The changes that are still pending, and why.
    public let refused: [NoteID: PushProblem]
    /// Notes that keep the other side of a conflict, made by this sync.
    public let copies: Set<NoteID>
    /// The results for the checkpoints that others sent with the keys of notes, by sender.
    public let met: [Handle: MetCheckpoint]
    /// Notes whose state on this device differs, or may differ, from the state in the directory's log.
    public let doubts: [NoteID: HeadDoubt]
    /// The user's own notes that have a new key, because a member left or because a removed device knew the old one.
    public let rekeyed: Set<NoteID>
    /// The notes that needed another key and did not get it, and why. The next sync tries again.
    public let notRekeyed: [NoteID: NotesError]
    /// Notes of which more unbelieved records came than a device keeps, so that the rest was dropped.
    /// ``NoteBook/sync(fromStart:)`` fetches them again.
    public let dropped: Set<NoteID>
}

extension NoteBook {
    /// Fetches, verifies and merges what is new, sends the pending changes, and compares the notes with what the
    /// account's other devices have seen.
    ///
    /// - Parameter isFromStart: whether to fetch everything that the server has once more, including what was dropped
    ///   (``SyncReport/dropped``).
    /// - Throws: ``NotesError``. The steps that were completed before are kept.
    public func sync(fromStart isFromStart: Bool = false) async throws(NotesError) -> SyncReport {
        forgetPeople()
        news.begin()
        if isFromStart { try fetchFromStart() }
        let removals = try await removalsToSettle()
        let before = Set(held.keys)
        let believed = people.devicesOfBefore
        if !removals.isEmpty {
            people.devicesOfBefore += removals.map(\.device)
            forgetPeople()
        }
        defer {
            if !removals.isEmpty {
                people.devicesOfBefore = believed
                forgetPeople()
            }
        }
        try await settleAccountKey()
        var received = try await pull()
        received.formUnion(try await checkAccountHead())
        received.formUnion(try await checkLoggedHeads())
        let met = try await meetCheckpoints(in: received)
        let (sentCount, refused) = try await push()
        try await replaceAccountKey(knownTo: removals)
        let (rekeyed, notRekeyed) = try await rekeyWhatIsDue(after: removals)
        try await keepKeysForOwnDevices()
        try await advanceAccountHead()
        try write { tables in for removal in removals { try tables.forget(removal) } }
        let copies = held.filter { !before.contains($0.key) && !received.contains($0.key) }.keys
        return SyncReport(
            received: received, sentCount: sentCount, refused: refused, copies: Set(copies), met: met,
            doubts: logged.doubts,
            rekeyed: rekeyed, notRekeyed: notRekeyed, dropped: news.dropped)
    }

    /// Waits until something is new for this account, or the server has waited long enough.
    ///
    /// - Parameter seconds: the longest wait, at most 25.
    /// - Returns: whether something is new.
    /// - Throws: ``NotesError``.
    public func wait(atMost seconds: UInt8) async throws(NotesError) -> Bool {
        let cursor = try read { try $0.account() }.cursor
        let request = WaitRequest(cursor: cursor, seconds: min(seconds, WaitRequest.maximumSeconds))
        let answer: WaitAnswer = try await calls.call(.wait, request)
        return answer.newest > cursor
    }

    /// Removes members who left. Gives another key to each of the user's own notes whose key a device knows from before
    /// the account got another master key, or that builds on what a removed device signed, so that an interrupted
    /// rotation is completed.
    private func rekeyWhatIsDue(
        after removals: [DeviceRemoval]
    ) async throws(NotesError) -> (rekeyed: Set<NoteID>, not: [NoteID: NotesError]) {
        var rekeyed: Set<NoteID> = []
        var problems: [NoteID: NotesError] = [:]
        for note in ownNotes() where try isDue(note, after: removals) {
            do throws(NotesError) {
                for handle in try heldNote(note).departed { try await rekey(note, without: handle) }
                if try isDue(note, after: removals) { try await rekey(note) }
                rekeyed.insert(note)
            } catch {
                guard error.family != .environment || error == .keepsMoving else { throw error }
                problems[note] = error
            }
        }
        return (rekeyed, problems)
    }

    func isDue(_ note: NoteID, after removals: [DeviceRemoval] = []) throws(NotesError) -> Bool {
        guard try !stands(note, on: removals) else { return true }
        let held = try heldNote(note)
        guard held.departed.isEmpty else { return true }
        guard let account else { return false }
        let state = held.control.state
        return try file(of: note).ownWraps.contains { $0.epoch == state.epoch && $0.accountEpoch < account.epoch }
    }

    /// Wraps a note that came wrapped to this device for all devices of the account, including later ones, and wraps it
    /// again under a newer account key.
    private func keepKeysForOwnDevices() async throws(NotesError) {
        guard let account else { return }
        var changes: [(OwnWrapChange, OwnWrap)] = []
        for note in held.keys.sorted() {
            let file = try file(of: note)
            guard let held = held[note], held.sentHead != nil, held.role(of: author.handle) != nil else { continue }
            for (epoch, key) in held.keys.sorted(by: { $0.key < $1.key }) {
                let there = file.ownWraps.filter { $0.epoch == epoch }.max { $0.accountEpoch < $1.accountEpoch }
                guard there?.accountEpoch != account.epoch else { continue }
                let wrap = try sealed { () throws(SealedNoteError) in try OwnWrap(key, under: account) }
                let replaced = there.map { RecordHash(of: $0.encoded) } ?? .none
                changes.append(
                    (OwnWrapChange(note: note, epoch: epoch, replaced: replaced, wrap: wrap.encoded), wrap))
            }
        }
        for start in stride(from: 0, to: changes.count, by: OwnWrapChanges.maximumCount) {
            try await send(Array(changes[start..<min(start + OwnWrapChanges.maximumCount, changes.count)]))
        }
    }

    private func send(_ changes: [(OwnWrapChange, OwnWrap)]) async throws(NotesError) {
        guard let batch = try? OwnWrapChanges(changes.map(\.0)) else { return }
        let answer: OwnWrapOutcomes = try await calls.call(.ownWraps, batch)
        let applied = zip(changes, answer.outcomes).filter { $0.1 == .applied }.map(\.0)
        try write { tables in
            for (_, wrap) in applied { try tables.keep(.ownWrap(wrap), of: wrap.note, isAccepted: true) }
        }
    }
}
