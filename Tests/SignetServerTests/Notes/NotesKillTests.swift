import Foundation
import NoteDrafting
import NoteLog
import SignetAPI
import SignetServer
import Synchronization
import Testing

/// The real `signetd`, killed over and over while people write, share, take back and rekey.
///
/// `SIGNET_NOTES_KILL_ROUNDS` sets the number of rounds, `SIGNET_KILL_SEED` repeats a run's choices. The pauses before a
/// kill are the subject of the test.
@Suite(.serialized) struct NotesKillTests {
    private static let rounds = number("SIGNET_NOTES_KILL_ROUNDS") ?? 20
    private static let seed = number("SIGNET_KILL_SEED") ?? Int.random(in: 0..<1_000_000)

    @Test(.timeLimit(.minutes(10))) func aKilledServerHasTheOldStateOrTheNewAndNeverHalf() async throws {
        var random = SeededRandom(UInt64(Self.seed))
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            var lanes: [Lane] = []
            for round in 0..<Self.rounds {
                let daemon = try Daemon(data)
                let port = try #require(await daemon.port(), "signetd did not start again")
                let notes = NotesClient(TestClient(port: port, root: profile.tlsRoot))
                if round == 0 {
                    for name in ["a", "b"] {
                        lanes.append(try await Lane(notes.join("owner-\(name)"), notes.join("member-\(name)")))
                    }
                }
                for lane in lanes { try await lane.check(at: notes) }
                let (answers, answer) = AsyncStream<Void>.makeStream()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in lanes {
                        let choices = random.next()
                        group.addTask { try await lane.push(at: notes, SeededRandom(choices)) { answer.yield() } }
                    }
                    // The kill comes so many answers later, however slow the machine is, and a moment after one.
                    for _ in 0..<1 + random.next() % 16 { for await _ in answers { break } }
                    try await Task.sleep(for: .microseconds(random.next() % 10_000))
                    daemon.signal(SIGKILL)
                    try await group.waitForAll()
                }
                #expect(await daemon.ended().wasKilled)
            }
            let counts = lanes.map(\.counts)
            print("killed \(Self.rounds) times (seed \(Self.seed)): \(counts) pushes applied, in doubt, of those new")
            #expect(counts.reduce(0) { $0 + $1[0] } >= Self.rounds)
        }
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }
}

/// One note, its owner and somebody who comes and goes. Its pushes come one after the other; of the last one it may not
/// be known whether it was applied.
private final class Lane: Sendable {
    private struct State: Sendable {
        var sure: Draft
        var next: Draft
        var pending: NotePush?
        var isShared = false
        var applied = 0
        var doubtful = 0
        var foundNew = 0
    }

    private let owner, member: NotesPerson
    private let state: Mutex<State>

    init(_ owner: NotesPerson, _ member: NotesPerson) throws {
        (self.owner, self.member) = (owner, member)
        let draft = try Draft(by: owner.writer)
        state = Mutex(State(sure: draft, next: draft, pending: try draft.creation()))
    }

    var counts: [Int] { state.withLock { [$0.applied, $0.doubtful, $0.foundNew] } }

    /// Pushes until the server is gone.
    func push(at notes: NotesClient, _ seed: SeededRandom, onAnswer: @Sendable () -> Void) async throws {
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
            defer { onAnswer() }
            guard let push, let outcome = try? await notes.push(push, by: owner) else { return }
            guard case .applied = outcome else {
                Issue.record("\(outcome)")
                return
            }
            state.withLock { state in
                (state.sure, state.pending) = (state.next, nil)
                state.applied += 1
            }
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

    /// What the server shows is the state that is sure, or the one after the push in doubt; for both people.
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

    init(_ draft: Draft) {
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
