// SPDX-License-Identifier: Apache-2.0

public import NoteLog
public import NotesAPI
import SealedNotes
import SignetClient

extension NoteBook {
    /// Sends the pending changes, and merges them with what other people did in the meantime.
    ///
    /// - Returns: how many changes were sent, and which ones the server refuses permanently.
    func push() async throws(NotesError) -> (sentCount: Int, refused: [NoteID: PushProblem]) {
        var sentCount = 0
        var refused: [NoteID: PushProblem] = [:]
        for _ in 0..<16 {
            var waiting = try outbox.ready().filter { refused[$0.note] == nil }
            for note in Set(waiting.map(\.note)) {
                if let doubt = try await doubt(about: note) { refused[note] = .doubted(doubt) }
                let file = try file(of: note)
                guard !file.unbelievedRevisions.isEmpty, !file.pendingRevisions.isEmpty else { continue }
                refused[note] = .unbelieved(held[note]?.fault ?? .waiting)
            }
            waiting.removeAll { refused[$0.note] != nil }
            guard !waiting.isEmpty else { return (sentCount, refused) }
            var isBehind = false
            while !waiting.isEmpty, !isBehind {
                let batch = Outbox.batch(waiting)
                for (item, outcome) in zip(batch, try await send(batch)) {
                    switch outcome {
                    case .applied:
                        sentCount += 1
                        try outbox.settle(item)
                    case .conflict, .refused(.badEpoch), .refused(.forbidden): isBehind = true
                    // What follows the first refusal in a note is refused because of it.
                    case .refused(let reason): refused[item.note] = refused[item.note] ?? .refused(reason)
                    case .nameReused: refused[item.note] = refused[item.note] ?? .refused(.incomplete)
                    case .overLimit(let limit): refused[item.note] = refused[item.note] ?? .noRoom(limit)
                    }
                }
                for note in Set(batch.map(\.note)) { try load(note) }
                waiting = waiting.dropFirst(batch.count).filter { refused[$0.note] == nil }
            }
            if isBehind { try await pull() }
        }
        for item in try outbox.ready() where refused[item.note] == nil { refused[item.note] = .keepsMoving }
        return (sentCount, refused)
    }

    private func send(_ items: [OutboxItem]) async throws(NotesError) -> [NotePushOutcome] {
        try await send(items.compactMap(\.operation))
    }

    func send(_ operations: [PushOperation]) async throws(NotesError) -> [NotePushOutcome] {
        let pushes: NotePushes
        do throws(NoteBodyError) {
            var named: [NotePush] = []
            for operation in operations { named.append(try NotePush(name: operation.name, operation: operation)) }
            pushes = try NotePushes(named)
        } catch { throw .malformedAnswer }
        let answer: NotePushOutcomes = try await calls.call(.push, pushes)
        guard answer.outcomes.count == operations.count else { throw .malformedAnswer }
        return answer.outcomes
    }

    /// Sends one step.
    ///
    /// - Returns: true if the server applied the step; false if the note has changed.
    func isApplied(_ operation: PushOperation) async throws(NotesError) -> Bool {
        guard let outcome = try await send([operation]).first else { throw .malformedAnswer }
        switch outcome {
        case .applied: return true
        case .conflict: return false
        case .refused(let reason): throw .refused(reason)
        case .nameReused: throw .refused(.incomplete)
        case .overLimit(let limit): throw .noRoom(limit)
        }
    }
}

/// Why a change was not sent. The change stays pending.
public enum PushProblem: Hashable, Sendable {
    /// The server refuses the change permanently.
    case refused(PushRefusal)
    /// There is no room for the change.
    case noRoom(NoteLimit)
    /// Others changed the note again and again.
    case keepsMoving
    /// This device's state of the note may differ from that of other members.
    case doubted(HeadDoubt)
    /// A device that this device does not believe changed the note.
    case unbelieved(NoteLock)
}

extension PushOperation {
    /// The name of the push. The same change has the same name, even after a crash, so that it can be sent again.
    var name: [UInt8] {
        let record =
            switch self {
            case .control(let push): push.entry.encoded
            case .revision(let revision): revision.encoded
            case .child(let child): child.encoded
            }
        return Array(RecordHash(of: record).bytes.prefix(NotePush.nameByteCount))
    }
}
