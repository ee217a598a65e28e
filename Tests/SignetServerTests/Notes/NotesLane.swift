// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import Synchronization
import Testing

/// One note, its owner and a member who is added and removed. Its pushes come one after the other; whether the last one
/// was applied may be unknown.
final class NotesLane: Sendable {
    private struct State: Sendable {
        var sure: NoteDraft
        var next: NoteDraft
        var pending: NotePush?
        var isShared = false
        var applied = 0
        var doubtful = 0
        var foundNew = 0
    }

    private let owner, member: NotesPerson
    private let state: Mutex<State>

    /// Registers two people who have accepted each other.
    static func open(_ name: String, at notes: NotesClient) async throws -> NotesLane {
        let (owner, member) = try await (notes.join("owner-\(name)"), notes.join("member-\(name)"))
        for (one, other) in [(owner, member), (member, owner)] {
            #expect(try await notes.befriend(other, by: one) == 200)
        }
        return try NotesLane(owner, member)
    }

    private init(_ owner: NotesPerson, _ member: NotesPerson) throws {
        (self.owner, self.member) = (owner, member)
        let draft = try NoteDraft(by: owner.writer)
        state = Mutex(State(sure: draft, next: draft, pending: try draft.creation()))
    }

    var ownerHandle: Handle { owner.writer.handle }

    /// The numbers of pushes that were applied, of pushes of unknown outcome, and of those among the latter that were
    /// applied.
    var counts: [Int] { state.withLock { [$0.applied, $0.doubtful, $0.foundNew] } }

    /// Pushes until the server does not answer.
    ///
    /// - Parameter onAnswer: called after each push; the next one waits for it.
    func push(
        at notes: NotesClient, _ seed: SeededRandom, onAnswer: @Sendable () async throws -> Void
    ) async throws {
        var random = seed
        while true {
            let push = try state.withLock { state in
                if state.pending == nil {
                    state.pending = try choose(&state, random.next() % 10)
                    return state.pending
                }
                state.doubtful += 1
                return state.pending
            }
            guard let push, let outcome = try? await notes.push(push, by: owner) else { return try await onAnswer() }
            guard case .applied = outcome else {
                Issue.record("\(outcome)")
                return
            }
            state.withLock { state in
                (state.sure, state.pending) = (state.next, nil)
                state.applied += 1
            }
            try await onAnswer()
        }
    }

    private func choose(_ state: inout State, _ choice: UInt64) throws -> NotePush {
        let (owner, member) = (owner.writer, member.writer)
        switch choice {
        case 0..<4: return try state.next.write(2000, by: owner)
        case 4: return try state.next.comment(by: owner)
        case 5, 6: return try state.next.rekey(for: state.isShared ? [member] : [], by: owner)
        default:
            state.isShared.toggle()
            return try state.isShared
                ? state.next.share(with: member, by: owner) : state.next.unshare(member, by: owner)
        }
    }

    /// The server shows the acknowledged state, or the one after the push of unknown outcome, to both people.
    func check(at notes: NotesClient) async throws {
        let mine = try Shown(try await notes.feed(of: owner))
        let theirs = try Shown(try await notes.feed(of: member))
        state.withLock { state in
            let isNew = state.pending != nil && mine == Shown(state.next)
            let isOld = mine == Shown(state.sure) || (mine.control == nil && state.applied == 0)
            #expect(isNew || isOld, "half a push")
            if isNew { state.foundNew += 1 }
            let draft = isNew ? state.next : state.sure
            let isMember = draft.state.role(of: member.writer.handle) != nil
            #expect(theirs == (isMember ? mine : Shown.nothing), "the member sees something else")
        }
    }
}

/// Where a note stands, as a feed shows it.
private struct Shown: Equatable {
    static let nothing = Shown()
    var control: RecordHash?
    var revision: RecordHash?
    var children = Set<RecordHash>()

    private init() {}

    init(_ draft: NoteDraft) {
        (control, revision, children) = (draft.state.head, draft.revision?.head, draft.children)
    }

    /// Also that the chains have no gap.
    init(_ entries: [FeedPage.Entry]) throws {
        var state: ControlState?
        var count: UInt64 = 0
        for entry in entries {
            switch entry.item {
            case .control(let entry, _): state = try state?.applying(entry) ?? ControlState(first: entry)
            case .revision(let record):
                #expect(record.number == count + 1 && record.parent == revision ?? .none)
                (count, revision) = (record.number, record.hash)
            case .child(let child): children.insert(child.hash)
            default: break
            }
        }
        control = state?.head
    }
}
