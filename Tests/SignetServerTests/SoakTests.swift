// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NotesAPI
import OPAQUE
import ProcessTesting
import ProtocolTesting
import SignetAPI
import SignetServer
import Synchronization
import Testing

/// The real `signetd` with its default limits, under honest and hostile load at once, killed again and again.
///
/// `SIGNET_SOAK_SECONDS` says for how long; `make soak` asks for an hour. Between two kills is a twelfth of that, five
/// seconds to a minute.
@Suite(.serialized) struct SoakTests {
    private static let seconds =
        ProcessInfo.processInfo.environment["SIGNET_SOAK_SECONDS"].flatMap { Int($0) } ?? 10
    private static let roundSeconds = min(60, max(5, seconds / 12))

    @Test(.timeLimit(.minutes(90))) func underHostileLoadAndKillsNoRegistrationOrPushIsLostAndMemoryDoesNotGrow()
        async throws
    {
        try await withDataDirectory { data in
            let witnessed = Witnessed(try StoredDirectory.readProfile(data))
            let attackers = Attack.allCases.map(Attacker.init)
            var (lanes, rounds): ([NotesLane], [SoakRound]) = ([], [])
            for number in 0..<max(2, Self.seconds / Self.roundSeconds) {
                let daemon = try Daemon(data, limits: [])
                let port = try #require(await daemon.port(), "signetd did not start again")
                let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
                try await witnessed.check(at: client)
                for lane in lanes.suffix(2) { try await lane.check(at: NotesClient(client)) }
                let lane = try await NotesLane.open("\(number)", at: NotesClient(client))
                lanes.append(lane)
                let round = SoakRound(daemon.identifier)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        while !round.isOver {
                            try await lane.push(at: NotesClient(client), SeededRandom(UInt64(number))) {
                                try await Task.sleep(for: .milliseconds(150))
                            }
                        }
                    }
                    group.addTask {
                        var count = 0
                        while !round.isOver {
                            _ = await witnessed.register("soak-\(number)-\(count)", at: client, atMost: 1)
                            try? await witnessed.noteCheckpoint(at: client)
                            count += 1
                            try await Task.sleep(for: .milliseconds(500))
                        }
                    }
                    group.addTask {
                        while !round.isOver {
                            await round.measure { try? await client.get("/health")?.status }
                            try await Task.sleep(for: .milliseconds(100))
                        }
                    }
                    for attacker in attackers {
                        group.addTask {
                            while !round.isOver {
                                await attacker.attack(client, lane.ownerHandle, until: round)
                                try await Task.sleep(for: .milliseconds(10))
                            }
                        }
                    }
                    try await Task.sleep(for: .seconds(Self.roundSeconds))
                    round.end()
                    daemon.signal(SIGKILL)
                    try await group.waitForAll()
                }
                #expect(await daemon.ended().wasKilled)
                rounds.append(round)
            }
            try await checkEverything(data, witnessed, lanes)
            report(rounds, lanes, attackers)
        }
    }

    /// After the last round, all that was acknowledged in any round must be found.
    private func checkEverything(_ data: DataDirectory, _ witnessed: Witnessed, _ lanes: [NotesLane]) async throws {
        let daemon = try Daemon(data)
        let port = try #require(await daemon.port())
        let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
        try await witnessed.check(everyone: true, at: client)
        try await witnessed.checkHistory(at: client)
        for lane in lanes { try await lane.check(at: NotesClient(client)) }
        daemon.signal(SIGTERM)
        #expect(await daemon.ended().status == 0)
        let applied = lanes.reduce(0) { $0 + $1.counts[0] }
        #expect(applied >= lanes.count, "too few honest pushes were applied")
    }

    private func report(_ rounds: [SoakRound], _ lanes: [NotesLane], _ attackers: [Attacker]) {
        let third = max(1, rounds.count / 3)
        let (first, last) = (SoakRound.Peak(rounds.prefix(third)), SoakRound.Peak(rounds.suffix(third)))
        let attempts = attackers.map { "\($0.attack) \($0.count)" }.joined(separator: ", ")
        print(
            """
            soak: \(rounds.count) kills in \(rounds.count * Self.roundSeconds) s; \
            \(lanes.reduce(0) { $0 + $1.counts[0] }) pushes applied; attacks: \(attempts)
              first third: \(first)
              last third:  \(last)
            """)
        #if os(Linux)
            #expect(first.memory > 0 && first.files > 0)
            #expect(
                last.memory <= first.memory + first.memory / 2 + 64 << 10, "memory grows, in KiB: \(first), \(last)")
            #expect(last.files <= 2 * first.files + 64, "open files grow: \(first), \(last)")
        #endif
    }
}

/// What was measured between two kills.
private final class SoakRound: Sendable {
    private struct State {
        var isOver = false
        /// In KiB.
        var memory = 0
        var files = 0
        var latencies: [Duration] = []
    }

    /// The most of several rounds.
    struct Peak: CustomStringConvertible {
        let memory: Int
        let files: Int
        private let latencies: [Duration]

        init(_ rounds: some Sequence<SoakRound>) {
            let states = rounds.map { $0.state.withLock { $0 } }
            memory = states.map(\.memory).max() ?? 0
            files = states.map(\.files).max() ?? 0
            latencies = states.flatMap(\.latencies).sorted()
        }

        var description: String {
            let median = latencies.isEmpty ? .zero : latencies[latencies.count / 2]
            return
                "\(memory) KiB of memory, \(files) open files, \(latencies.count) answers to GET /health, median \(median), worst \(latencies.last ?? .zero)"
        }
    }

    private let process: Int32
    private let state = Mutex(State())

    init(_ process: Int32) { self.process = process }

    var isOver: Bool { state.withLock { $0.isOver } }

    func end() { state.withLock { $0.isOver = true } }

    /// One honest request from connection to answer, and what the process holds.
    func measure(_ request: () async -> Int?) async {
        let start = ContinuousClock.now
        let status = await request()
        let time = ContinuousClock.now - start
        let (memory, files) = (memory, files)
        state.withLock { state in
            guard !state.isOver else { return }
            if status == 200 { state.latencies.append(time) }
            state.memory = max(state.memory, memory)
            state.files = max(state.files, files)
        }
    }

    private var memory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    private var files: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"))?.count ?? 0
    }
}

/// What an attacker, with an account or without one, does all the time.
private enum Attack: CaseIterable {
    case holdConnections, speakNoTLS, sendGarbage, sendLongBodies, fillNotes, shareWithStrangers, guessPasswords
    case askForFriendship, repeatRequests, lookUpNobody
}

/// One attacker at an address of their own.
private final class Attacker: Sendable {
    let attack: Attack
    private let source: String
    private let done = Mutex(0)
    private let account = Mutex<(person: NotesPerson, draft: NoteDraft)?>(nil)

    init(_ attack: Attack) {
        self.attack = attack
        source = "127.0.1.\(1 + (Attack.allCases.firstIndex(of: attack) ?? 0))"
    }

    var count: Int { done.withLock { $0 } }

    func attack(_ client: TestClient, _ victim: Handle, until round: SoakRound) async {
        var client = client
        client.source = source
        done.withLock { $0 += 1 }
        do {
            switch attack {
            case .holdConnections: try await hold(client, until: round)
            case .speakNoTLS:
                let connection = try await Connection.open(
                    port: client.port, root: nil, greeting: TestPerson.random(100), from: source)
                _ = await connection.readToEnd()
            case .sendGarbage:
                let route = NoteRoute.allCases.randomElement() ?? .push
                _ = try await client.call(route, TestPerson.random(.random(in: 0..<1000)), signature: "v1=garbage")
            case .sendLongBodies:
                _ = try await client.call(.register, [UInt8](repeating: 7, count: 1 << 20), signature: "none")
            case .fillNotes: try await write(NotesClient(client), victim)
            case .shareWithStrangers: try await write(NotesClient(client), victim)
            case .guessPasswords:
                let login = try ClientLogin(password: TestPerson.random(8).span)
                let beginning = try LoginBeginning(handle: victim, message: login.request.encoded)
                _ = try await client.call(NoteRoute.beginLogin, beginning.encoded)
            case .askForFriendship:
                let person = try NotesPerson("asks-\(UInt64.random(in: 0 ... .max))")
                guard try await person.person.register(client)?.status == 200 else { return }
                _ = try await person.person.call(.addFriend, Array("{\"handle\":\"\(victim)\"}".utf8), client)
            case .repeatRequests:
                let person = try await registered(client).person.person
                let signature = try person.signature(.listFriends, [], client)
                for _ in 0..<10 { _ = try await client.call(.listFriends, [], signature: signature) }
            case .lookUpNobody:
                let handle = try Handle(typed: Array("nobody-\(UInt64.random(in: 0 ... .max))@example.org".utf8))
                _ = try await client.call(.lookup, LookupRequest(handle: handle, knownSize: 0).encoded)
            }
        } catch {}
    }

    /// Opens as many connections as the server accepts, and sends nothing on them.
    private func hold(_ client: TestClient, until round: SoakRound) async throws {
        var connections: [Connection] = []
        while !round.isOver, connections.count < 500,
            let connection = try? await Connection.open(port: client.port, root: client.root, from: source)
        { connections.append(connection) }
        for connection in connections { await connection.close() }
    }

    private func registered(_ client: TestClient) async throws -> (person: NotesPerson, draft: NoteDraft) {
        if let account = account.withLock({ $0 }) { return account }
        let person = try NotesPerson("\(attack)-\(UInt64.random(in: 0 ... .max))".lowercased())
        guard try await person.person.register(client)?.status == 200 else { throw Missing() }
        let made = (person: person, draft: try NoteDraft(by: person.writer))
        account.withLock { $0 = made }
        return made
    }

    /// Pushes revisions of the maximum length, or shares the note with a person who is no friend.
    private func write(_ notes: NotesClient, _ victim: Handle) async throws {
        var (person, draft) = try await registered(notes.client)
        if draft.revision == nil { _ = try await notes.push(draft.creation(), by: person) }
        if attack == .shareWithStrangers, draft.revision != nil {
            var copy = draft
            let stranger = NoteWriter(victim, device: person.person.signing)
            let outcome = try await notes.push(copy.share(with: stranger, by: person.writer), by: person)
            if case .applied = outcome { Issue.record("a stranger's note was taken") }
            return
        }
        guard case .applied = try await notes.push(draft.write(900_000, by: person.writer), by: person) else { return }
        account.withLock { $0 = (person, draft) }
    }
}
